//! Lexical path arithmetic. Whatever it says is judged again on the opened handle.

use std::path::{Component, Path, PathBuf};

/// Makes `path` absolute on `base` and folds `.`, `..` and repeated slashes, without looking at the file system. `..`
/// at the top stays at the top.
pub fn fold(base: &Path, path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                folded.push(component)
            }
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_folded_lexically() {
        for (path, folded) in [
            ("a.txt", "/ws/a.txt"),
            ("./a/../b", "/ws/b"),
            ("../../../etc/passwd", "/etc/passwd"),
            ("/a//b/./c/", "/a/b/c"),
            ("", "/ws"),
            ("/..", "/"),
        ] {
            assert_eq!(
                fold(Path::new("/ws"), Path::new(path)),
                Path::new(folded),
                "{path}"
            );
        }
    }
}
