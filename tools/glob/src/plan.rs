//! What to walk for a pattern.
//!
//! Guarantees that a pattern never leaves the path that the call names as its subject, and that one without wildcards
//! reaches ignored files. Matches nothing itself: the host does, with the same grammar.

/// What to walk.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where the walk starts.
    pub start: String,
    /// The pattern, relative to the start.
    pub include: String,
    /// How ignored files count.
    pub ignored: Ignored,
    /// Levels below the start; 0 is no limit.
    pub max_depth: u32,
}

/// How files that ignore rules leave out count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Left out.
    Out,
    /// Left out, unless nothing else matches.
    IfNothingElse,
    /// In.
    In,
}

/// The plan for a pattern below a path.
///
/// # Errors
///
/// A sentence, if the pattern is empty, goes up with `..`, or is absolute and outside the path.
pub fn plan(pattern: &str, path: &str) -> Result<Plan, String> {
    let mut pattern = pattern;
    while let Some(rest) = pattern.strip_prefix("./") {
        pattern = rest;
    }
    if pattern.is_empty() {
        return Err("The pattern is empty. Give a glob such as **/*.rs.".to_owned());
    }
    if pattern.split('/').any(|part| part == "..") {
        return Err(
            "The pattern must not contain '..'. Give the directory as path instead.".to_owned(),
        );
    }
    let whole_directory = if pattern.ends_with('/') {
        format!("{pattern}**")
    } else {
        pattern.to_owned()
    };
    match whole_directory.strip_prefix('/') {
        Some(rooted) => absolute(rooted, path),
        None => Ok(relative(&whole_directory, path)),
    }
}

fn relative(pattern: &str, path: &str) -> Plan {
    let (ignored, max_depth) = if has_wildcard(pattern) {
        (Ignored::Out, 0)
    } else if pattern.contains('/') {
        // One path, so there is nothing to find deeper.
        (Ignored::In, depth(pattern))
    } else {
        // A bare name is searched at every depth, where ignored directories can hold thousands of it.
        (Ignored::IfNothingElse, 0)
    };
    Plan {
        start: path.to_owned(),
        include: pattern.to_owned(),
        ignored,
        max_depth,
    }
}

/// An absolute pattern, without its leading slash: its literal directories become the start.
fn absolute(pattern: &str, path: &str) -> Result<Plan, String> {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let literal = parts
        .iter()
        .take_while(|part| !has_wildcard(part))
        .count()
        .min(parts.len().saturating_sub(1));
    let (directories, rest) = parts.split_at_checked(literal).unwrap_or((&[], &[]));
    let start = format!("/{}", directories.join("/"));
    if path.starts_with('/') && !is_inside(&start, path) {
        return Err(format!(
            "The pattern's directory {} is not inside the path {}. Give it as path, and a relative pattern.",
            toolgate_reply::cut(&start, 200),
            toolgate_reply::cut(path, 200)
        ));
    }
    let include = rest.join("/");
    let ignored = if has_wildcard(&include) {
        Ignored::Out
    } else {
        Ignored::In
    };
    // A relative pattern without a slash matches at every depth; an absolute one names its directory.
    let max_depth = u32::from(rest.len() == 1 && include != "**");
    Ok(Plan {
        start,
        include,
        ignored,
        max_depth,
    })
}

/// Whether a path is another one or below it, compared by components.
fn is_inside(inner: &str, outer: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect()
    };
    parts(inner).starts_with(&parts(outer))
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{', '\\'])
}

fn depth(pattern: &str) -> u32 {
    let parts = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .count();
    u32::try_from(parts).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: &str, include: &str, ignored: Ignored, max_depth: u32) -> Plan {
        Plan {
            start: start.to_owned(),
            include: include.to_owned(),
            ignored,
            max_depth,
        }
    }

    #[test]
    fn wildcards_respect_ignore_rules() {
        for pattern in [
            "**/*.js",
            "modules/**/*.nix",
            "**/*.{nix,toml}",
            "a?c",
            "[ab]",
        ] {
            assert_eq!(plan(pattern, "."), Ok(of(".", pattern, Ignored::Out, 0)));
        }
        assert_eq!(
            plan("./src/*.rs", "/ws"),
            Ok(of("/ws", "src/*.rs", Ignored::Out, 0))
        );
        assert_eq!(
            plan("src/", "/ws"),
            Ok(of("/ws", "src/**", Ignored::Out, 0))
        );
    }

    #[test]
    fn an_exact_path_reaches_ignored_files() {
        assert_eq!(
            plan("dist/a.js", "."),
            Ok(of(".", "dist/a.js", Ignored::In, 2))
        );
        assert_eq!(
            plan("a.js", "."),
            Ok(of(".", "a.js", Ignored::IfNothingElse, 0))
        );
    }

    #[test]
    fn an_absolute_pattern_starts_at_its_literal_directories() {
        assert_eq!(
            plan("/ws/src/**/*.rs", "/ws"),
            Ok(of("/ws/src", "**/*.rs", Ignored::Out, 0))
        );
        assert_eq!(
            plan("/ws/src/**/*.rs", "."),
            Ok(of("/ws/src", "**/*.rs", Ignored::Out, 0))
        );
        assert_eq!(
            plan("/ws/*.rs", "/ws/"),
            Ok(of("/ws", "*.rs", Ignored::Out, 1))
        );
        assert_eq!(plan("/ws/**", "/ws"), Ok(of("/ws", "**", Ignored::Out, 0)));
        assert_eq!(
            plan("/ws/dist/a.js", "/ws"),
            Ok(of("/ws/dist", "a.js", Ignored::In, 1))
        );
        assert_eq!(
            plan("/ws/src/", "/ws"),
            Ok(of("/ws/src", "**", Ignored::Out, 0))
        );
    }

    #[test]
    fn a_pattern_never_leaves_its_path() {
        for (pattern, path) in [
            ("/etc/*", "/ws"),
            ("/ws_evil/*", "/ws"),
            ("/ws/*", "/ws/src"),
            ("/*", "/ws"),
            ("../x/*", "/ws"),
            ("a/../../b", "/ws"),
            ("/ws/../etc/*", "/ws"),
            ("", "/ws"),
        ] {
            assert!(plan(pattern, path).is_err(), "{pattern} below {path}");
        }
        assert!(
            plan("/etc/*", "/ws")
                .unwrap_err()
                .contains("/etc is not inside the path /ws")
        );
    }
}
