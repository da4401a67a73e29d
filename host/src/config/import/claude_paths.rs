//! Path patterns of Claude Code's rules, which follow gitignore, as globs of ours.
//!
//! There, `//x` stands on the file system's root, `~/x` on the home directory, `/x` on the project of the settings file,
//! and `./x` or `x` on the working directory, which is the workspace here. A pattern without a slash in it holds at every
//! depth, a pattern that matches a directory holds for all below it, and braces are braces.

use std::path::{Path, PathBuf};

use crate::policy::{Decision, PathPattern, fold};

/// Where the patterns of a settings file stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    home: Option<PathBuf>,
    /// The folder of the file, if its path is absolute.
    folder: Option<PathBuf>,
    /// The project of the file: the folder above `.claude`.
    project: Option<PathBuf>,
}

/// What a pattern becomes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Globs {
    pub(super) globs: Vec<String>,
    pub(super) note: Option<&'static str>,
}

const NARROWER: &str =
    "allows less: what lies below a directory that the '*' matches is not meant here";
const ANCHORED: &str = "allows less: only directly in the workspace, not in its folders";
const WIDER: &str = "refuses or asks for more: every place that the pattern may mean";

impl Places {
    /// For a settings file. What is not known stays out of what is allowed.
    pub(super) fn new(file: &Path, home: Option<&Path>) -> Self {
        let folder = file.is_absolute().then(|| fold(Path::new("/"), file));
        let folder = folder.and_then(|file| file.parent().map(Path::to_owned));
        let project = folder.as_deref().and_then(|folder| {
            if folder.file_name().is_some_and(|name| name == ".claude") {
                folder.parent()
            } else {
                Some(folder)
            }
        });
        Self {
            home: home.map(Path::to_owned),
            // The settings of a person belong to no project.
            project: project
                .filter(|project| Some(*project) != home)
                .map(Path::to_owned),
            folder,
        }
    }

    /// The project of the settings file, if it belongs to one.
    pub(super) fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// The globs for a pattern: for an allow rule none that matches more, for the others none that matches less.
    pub(super) fn globs(&self, effect: Decision, pattern: &str) -> Result<Globs, String> {
        let allow = effect == Decision::Allow;
        check(pattern, allow)?;
        let (bases, rest, floats) = self.bases(pattern, allow)?;
        let trimmed = rest.trim_end_matches('/');
        if trimmed.is_empty() && allow {
            return Err(
                "names a directory and nothing in it: write what is allowed, as in 'src/**'"
                    .to_owned(),
            );
        }
        let core = if trimmed.is_empty() { "**" } else { trimmed };
        let floats = floats && !core.contains('/');
        let mut note = (!allow && bases.len() > 1).then_some(WIDER);
        let mut globs = Vec::new();
        for base in &bases {
            for core in spellings(core, allow) {
                let (forms, narrower) = below(&core, rest.ends_with('/'), allow);
                if narrower {
                    note = Some(NARROWER);
                }
                for form in forms {
                    match floats {
                        true if allow && pattern.starts_with("./") => {
                            note = Some(ANCHORED);
                            globs.push(placed(base, &form));
                        }
                        true if core == "**" => globs.push(placed(base, &form)),
                        true => globs.push(placed(base, &format!("**/{form}"))),
                        false => globs.push(placed(base, &form)),
                    }
                }
            }
        }
        globs.dedup();
        for glob in &globs {
            PathPattern::compile(glob, Path::new("/"), self.home.as_deref(), !allow)
                .map_err(|error| format!("is no pattern here: {error}"))?;
        }
        Ok(Globs { globs, note })
    }

    /// What a pattern may stand on (escaped, with its slash), the rest, and whether a name alone holds at every depth.
    fn bases<'a>(
        &self,
        pattern: &'a str,
        allow: bool,
    ) -> Result<(Vec<String>, &'a str, bool), &'static str> {
        if let Some(rest) = pattern.strip_prefix("//") {
            return Ok((vec!["/".to_owned()], rest.trim_start_matches('/'), false));
        }
        if let Some(rest) = pattern.strip_prefix("~/") {
            return Ok((vec!["~/".to_owned()], rest.trim_start_matches('/'), false));
        }
        if let Some(rest) = pattern.strip_prefix('/') {
            return Ok((self.of_the_file(allow)?, rest, false));
        }
        let rest = pattern.strip_prefix("./").unwrap_or(pattern);
        Ok((vec![String::new()], rest.trim_start_matches('/'), true))
    }

    /// What `/` alone may stand on.
    fn of_the_file(&self, allow: bool) -> Result<Vec<String>, &'static str> {
        let escaped = |folder: &Path| match folder.to_str() {
            Some(text) if !text.contains('\\') => {
                Ok(format!("{}/", globset::escape(text.trim_end_matches('/'))))
            }
            _ => Err(
                "stands on the folder of the settings file, whose name cannot be written in a pattern",
            ),
        };
        match (&self.folder, &self.project, allow) {
            (_, Some(project), true) => Ok(vec![escaped(project)?]),
            (_, None, true) => {
                Err("stands on the project of the settings file, and it is not known which that is")
            }
            (Some(folder), project, false) => {
                let above = project.as_deref().or(folder.parent()).unwrap_or(folder);
                Ok(vec![String::new(), escaped(above)?, escaped(folder)?])
            }
            (None, _, false) => {
                Err("stands on the folder of the settings file, and it is not known where that is")
            }
        }
    }
}

/// Refuses what has a meaning that cannot be carried over.
fn check(pattern: &str, allow: bool) -> Result<(), &'static str> {
    if pattern.trim() != pattern || pattern.chars().any(char::is_control) {
        return Err(
            "has blanks around it or a control character in it, which gitignore reads in its own way",
        );
    }
    if pattern.starts_with('!') || pattern.starts_with('#') {
        return Err("begins with a '!' or '#': here, a pattern has no exceptions and no comments");
    }
    if pattern == "~" || (pattern.starts_with('~') && !pattern.starts_with("~/")) {
        return Err("begins with a '~' without a '/' behind it");
    }
    if pattern.contains("[:") {
        return Err("has a named class of characters, which patterns here do not know");
    }
    let mut letters = pattern.chars();
    if letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':') {
        return Err("has a drive in it, and this host runs where there are none");
    }
    let rest = pattern.strip_prefix("./").unwrap_or(pattern);
    let dots = |segment: &str| segment == "." || segment == "..";
    if allow && rest.split('/').any(dots) {
        return Err(
            "has a '.' or '..' in it, which matches nothing there: write the path that is meant",
        );
    }
    Ok(())
}

/// Braces are braces there; what refuses also takes them as a choice, which is what most people mean.
fn spellings(core: &str, allow: bool) -> Vec<String> {
    if !core.contains(['{', '}']) {
        return vec![core.to_owned()];
    }
    let mut literal = String::new();
    let mut escaped = false;
    for c in core.chars() {
        if matches!(c, '{' | '}') && !escaped {
            literal.push('\\');
        }
        escaped = c == '\\' && !escaped;
        literal.push(c);
    }
    let choice = PathPattern::compile(core, Path::new("/"), None, false).is_ok();
    if allow || !choice {
        vec![literal]
    } else {
        vec![literal, core.to_owned()]
    }
}

/// The pattern and what is below it, and whether that says less.
fn below(core: &str, directory: bool, allow: bool) -> (Vec<String>, bool) {
    let last = core.rsplit('/').next().unwrap_or_default();
    let below = format!("{core}/**");
    let wild = last.contains(['*', '?', '[']);
    match (last == "**", directory, allow) {
        // What lies in a directory below, and no file beside those directories.
        (true, true, true) => (vec![format!("{core}/*/**")], false),
        (true, _, _) => (vec![core.to_owned()], false),
        (false, true, true) => (vec![below], false),
        (false, false, true) if wild => (vec![core.to_owned()], true),
        (false, _, _) => (vec![core.to_owned(), below], false),
    }
}

fn placed(base: &str, form: &str) -> String {
    match base {
        // `~/` at the beginning would be the home directory.
        "" if form.starts_with('~') => format!("./{form}"),
        base => format!("{base}{form}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs_of(file: &str, effect: Decision, pattern: &str) -> Result<Vec<String>, String> {
        Places::new(Path::new(file), Some(Path::new("/home/u")))
            .globs(effect, pattern)
            .map(|globs| globs.globs)
    }

    fn project(effect: Decision, pattern: &str) -> Vec<String> {
        globs_of("/p[1]/.claude/settings.json", effect, pattern).unwrap()
    }

    #[test]
    fn what_allows_never_matches_more() {
        for (pattern, globs) in [
            ("//etc/hosts", &["/etc/hosts", "/etc/hosts/**"][..]),
            ("~/.zshrc", &["~/.zshrc", "~/.zshrc/**"]),
            ("/src/**", &["/p[[]1[]]/src/**"]),
            ("src/**", &["src/**"]),
            ("src/", &["**/src/**"]),
            ("a/src/", &["a/src/**"]),
            ("a/**/", &["a/**/*/**"]),
            ("./src/a.rs", &["src/a.rs", "src/a.rs/**"]),
            ("*.ts", &["**/*.ts"]),
            ("src/*", &["src/*"]),
            ("./.env", &[".env", ".env/**"]),
            (".env", &["**/.env", "**/.env/**"]),
            ("**", &["**"]),
            ("**/*.md", &["**/*.md"]),
            ("//**", &["/**"]),
            ("a/{x}.rs", &["a/\\{x\\}.rs", "a/\\{x\\}.rs/**"]),
            ("./~/x", &["./~/x", "./~/x/**"]),
            (
                "report(1).csv",
                &["**/report(1).csv", "**/report(1).csv/**"],
            ),
        ] {
            assert_eq!(project(Decision::Allow, pattern), globs, "{pattern}");
        }
        let note = |pattern| {
            let places = Places::new(Path::new("/p/.claude/settings.json"), None);
            places.globs(Decision::Allow, pattern).unwrap().note
        };
        assert_eq!(note("src/*"), Some(NARROWER));
        assert_eq!(note("./.env"), Some(ANCHORED));
        assert_eq!(note("src/**"), None);
    }

    #[test]
    fn what_denies_never_matches_less() {
        for (pattern, globs) in [
            ("./.env", &["**/.env", "**/.env/**"][..]),
            ("src/*", &["src/*", "src/*/**"]),
            ("secrets/", &["**/secrets", "**/secrets/**"]),
            ("//etc/", &["/etc", "/etc/**"]),
            (
                "/x/**",
                &["x/**", "/p[[]1[]]/x/**", "/p[[]1[]]/.claude/x/**"],
            ),
            (
                "a/*.{pem,key}",
                &[
                    "a/*.\\{pem,key\\}",
                    "a/*.\\{pem,key\\}/**",
                    "a/*.{pem,key}",
                    "a/*.{pem,key}/**",
                ],
            ),
            ("../x/**", &["../x/**"]),
            ("**x", &["**/**x", "**/**x/**"]),
            ("./", &["**"]),
        ] {
            assert_eq!(project(Decision::Deny, pattern), globs, "{pattern}");
            assert_eq!(project(Decision::Ask, pattern), globs, "{pattern}");
        }
        let of_a_person = "/home/u/.claude/settings.json";
        assert_eq!(
            globs_of(of_a_person, Decision::Deny, "/x/**").unwrap(),
            ["x/**", "/home/u/x/**", "/home/u/.claude/x/**"]
        );
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        for pattern in [
            "!x",
            "#x",
            " x",
            "x ",
            "x\ny",
            "~",
            "~root/x",
            "[[:alpha:]]",
            "C:\\x",
            "c:/x",
            "a[",
            "a\\",
        ] {
            for effect in [Decision::Allow, Decision::Ask, Decision::Deny] {
                let globs = globs_of("/p/settings.json", effect, pattern);
                assert!(globs.is_err(), "{pattern}: {globs:?}");
            }
        }
        for pattern in [
            "../x", "a/../x", ".", "a/./x", "**/./", "./", "//", "/", "~/",
        ] {
            let globs = globs_of("/p/settings.json", Decision::Allow, pattern);
            assert!(globs.is_err(), "{pattern}: {globs:?}");
        }
        // Whose project is meant is not known.
        for file in [
            "/home/u/.claude/settings.json",
            "settings.json",
            ".claude/settings.json",
        ] {
            assert!(
                globs_of(file, Decision::Allow, "/src/**").is_err(),
                "{file}"
            );
        }
        assert!(globs_of("settings.json", Decision::Deny, "/src/**").is_err());
        let homeless = Places::new(Path::new("/p/settings.json"), None);
        assert!(homeless.globs(Decision::Deny, "~/x").is_err());
    }
}
