//! The rule that means one subject and nothing else: what "always" stands for, and what is proposed from past calls.
//!
//! Owns how a subject is written so that its pattern matches it alone. Never widens: where no such text can be vouched for,
//! there is no rule.

use std::path::Path;

use super::{
    CommandIndex, CommandLine, CommandPattern, PathPattern, UrlIndex, UrlPattern, UrlReadings,
    UrlSubject,
};
use crate::model::{Subject, SubjectKind, ToolName};

/// What a path pattern does not take literally.
const GLOB_CHARACTERS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// The rule `TOOL(pattern)` that covers this subject of this tool alone.
///
/// A relative path stays relative, and then means the file in whatever workspace the rule is used in: give an absolute
/// one where that is too much. A command's rule covers the same words however they are quoted. A URL's rule covers every
/// query of that URL, because queries play no part in rules; for a URL that has one there is no rule.
///
/// None: for an empty text, a text with control characters, a command line that is not one simple command of literal
/// words or that runs another command, and a URL with a star in its host or a percent sign in its path.
pub fn exact_rule(tool: &ToolName, subject: &Subject) -> Option<String> {
    if subject.value.is_empty() || subject.value.contains(char::is_control) {
        return None;
    }
    let pattern = match subject.kind {
        SubjectKind::Path => path_pattern(&subject.value)?,
        SubjectKind::Command => command_pattern(&subject.value)?,
        SubjectKind::Url => url_pattern(&subject.value)?,
    };
    Some(format!("{tool}({pattern})"))
}

/// The path with glob characters taken literally: this text as a pattern is this path.
pub fn literal_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for c in path.chars() {
        if GLOB_CHARACTERS.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn path_pattern(path: &str) -> Option<String> {
    let trimmed = match path.trim_end_matches('/') {
        "" => "/",
        trimmed => trimmed,
    };
    let escaped = literal_path(trimmed);
    // A directory of that name, not the home directory.
    let pattern = match escaped.strip_prefix("~/") {
        Some(_) => format!("./{escaped}"),
        None => escaped,
    };
    matches_alone(&pattern, trimmed).then_some(pattern)
}

/// The pattern compiles to a glob that matches the path; that it matches nothing else is what the escapes are for.
fn matches_alone(pattern: &str, path: &str) -> bool {
    let workspace = Path::new("/");
    let compiled = PathPattern::compile(pattern, workspace, None, false);
    compiled.is_ok_and(|compiled| {
        let path = super::fold(workspace, Path::new(path));
        compiled.glob().compile_matcher().is_match(path)
    })
}

/// One simple command of literal words is its own pattern, but for the wildcard at the end of a pattern.
fn command_pattern(command: &str) -> Option<String> {
    let text = command.trim_matches(' ');
    let line = CommandLine::analyse(text);
    let alone = line.commands().is_some_and(|commands| commands.len() == 1);
    if !alone || line.wraps() || text.ends_with(":*") {
        return None;
    }
    let pattern = CommandPattern::parse(text).ok()?;
    let covers = !CommandIndex::new([&pattern]).allowing(&line).is_empty();
    covers.then(|| text.to_owned())
}

/// The canonical spelling of a URL with the glob characters of its path taken literally. A star in the host cannot be
/// taken so, and a percent sign may stand for any character.
fn url_pattern(url: &str) -> Option<String> {
    let subject = UrlSubject::parse(url).ok()?;
    let parsed = subject.url();
    let path = parsed.path();
    if parsed.query().is_some() || path.contains('%') || subject.host().contains('*') {
        return None;
    }
    let before = parsed.as_str().strip_suffix(path)?;
    let text = format!("{before}{}", literal_path(path));
    let pattern = UrlPattern::parse(&text).ok()?;
    let index = UrlIndex::new([&pattern], UrlReadings::Every).ok()?;
    (!index.matching(&subject).is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Decision, Rule};

    fn rule(kind: SubjectKind, value: &str) -> Option<String> {
        let tool = ToolName::try_from("Tool").unwrap();
        let value = value.to_owned();
        exact_rule(&tool, &Subject { kind, value })
    }

    /// The absolute paths, of these, that the rule for a path covers.
    fn covered<'a>(path: &str, others: &[&'a str]) -> Vec<&'a str> {
        let text = rule(SubjectKind::Path, path).unwrap();
        let rule = Rule::parse(Decision::Allow, &text, Path::new("test"), 1).unwrap();
        let pattern = rule.pattern.unwrap();
        let home = Some(Path::new("/home/u"));
        let pattern = PathPattern::compile(&pattern, Path::new("/ws"), home, false).unwrap();
        let matcher = pattern.glob().compile_matcher();
        let matched = others.iter().copied();
        matched.filter(|other| matcher.is_match(other)).collect()
    }

    #[test]
    fn a_path_rule_covers_that_file_alone() {
        for (path, own, other) in [
            ("/ws/a.rs", "/ws/a.rs", "/ws/a.rsx"),
            ("/ws/*.rs", "/ws/*.rs", "/ws/a.rs"),
            ("/ws/a?", "/ws/a?", "/ws/ab"),
            ("/ws/[ab].txt", "/ws/[ab].txt", "/ws/a.txt"),
            ("/ws/{a,b}", "/ws/{a,b}", "/ws/a"),
            ("/ws/**", "/ws/**", "/ws/x/y"),
            ("/ws/a\\b", "/ws/a\\b", "/ws/ab"),
            ("/ws/a\\*", "/ws/a\\*", "/ws/a\\b"),
            ("/ws/a]", "/ws/a]", "/ws/a"),
            ("/ws/}{", "/ws/}{", "/ws/"),
            ("/ws/report(1).csv", "/ws/report(1).csv", "/ws/report"),
            ("/ws/a)", "/ws/a)", "/ws/a"),
            ("src/a.rs", "/ws/src/a.rs", "/ws/a.rs"),
            ("~/notes", "/ws/~/notes", "/home/u/notes"),
            ("./a/../b/", "/ws/b", "/ws/a/b"),
            ("/ws/[!a]/b", "/ws/[!a]/b", "/ws/c/b"),
            ("/ws/ blank ", "/ws/ blank ", "/ws/blank"),
            ("/", "/", "/ws"),
        ] {
            assert_eq!(covered(path, &[own, other]), [own], "{path}");
        }
    }

    /// Of these command lines, those that the rule for one covers.
    fn allowed<'a>(command: &str, others: &[&'a str]) -> Vec<&'a str> {
        let text = rule(SubjectKind::Command, command).unwrap();
        let rule = Rule::parse(Decision::Allow, &text, Path::new("test"), 1).unwrap();
        let pattern = CommandPattern::parse(&rule.pattern.unwrap()).unwrap();
        let index = CommandIndex::new([&pattern]);
        let others = others.iter().copied();
        let covered = |other: &&str| !index.allowing(&CommandLine::analyse(other)).is_empty();
        others.filter(covered).collect()
    }

    #[test]
    fn a_command_rule_covers_those_words_alone() {
        for (command, other) in [
            ("git status", "git status -s"),
            ("git", "git push"),
            ("git commit -m 'a b'", "git commit -m a b"),
            ("git commit -m \"it's (x)\"", "git commit -m its"),
            ("echo 'git:*'", "echo git push"),
            ("echo 'a*'", "echo ab"),
            ("cat \"app/(private)/x\"", "cat app/private/x"),
            ("  ls -la ", "ls"),
            ("./run.sh a:b", "run.sh a:b"),
        ] {
            assert_eq!(allowed(command, &[command, other]), [command], "{command}");
        }
    }

    #[test]
    fn what_is_more_than_one_command_of_literal_words_has_no_rule() {
        for command in [
            "a && b",
            "a;b",
            "a|b",
            "a &",
            "echo $x",
            "echo `b`",
            "echo $(b)",
            "A=b make",
            "a\nb",
            "if a",
            "a > b",
            "eval a",
            ". a",
            "git:*",
            "echo git:*",
            "sudo ls",
            "env A=b c",
            "sh -c ls",
            "find . -exec rm x ;",
            "a 'b",
            "",
            " ",
        ] {
            assert_eq!(rule(SubjectKind::Command, command), None, "{command:?}");
        }
    }

    #[test]
    fn a_url_rule_covers_that_place_alone() {
        let url = |text| rule(SubjectKind::Url, text);
        let matching = |text: &str, other: &str| {
            let pattern = text
                .strip_prefix("Tool(")
                .unwrap()
                .strip_suffix(')')
                .unwrap();
            let pattern = UrlPattern::parse(pattern).unwrap();
            let index = UrlIndex::new([&pattern], UrlReadings::Every).unwrap();
            !index
                .matching(&UrlSubject::parse(other).unwrap())
                .is_empty()
        };
        for (subject, text, other) in [
            (
                "https://a.b/c/d",
                "Tool(https://a.b/c/d)",
                "https://a.b/c/d/e",
            ),
            ("https://a.b", "Tool(https://a.b/)", "https://a.b/x"),
            ("https://a.b/c#f", "Tool(https://a.b/c)", "https://a.b/f"),
            ("HTTP://A.b:81/", "Tool(http://a.b:81/)", "http://a.b/"),
            (
                "https://a.b/x/../*",
                "Tool(https://a.b/\\*)",
                "https://a.b/y",
            ),
            (
                "https://a.b/[c]",
                "Tool(https://a.b/\\[c\\])",
                "https://a.b/c",
            ),
        ] {
            assert_eq!(url(subject).unwrap(), text, "{subject}");
            assert!(matching(text, subject), "{subject}");
            assert!(!matching(text, other), "{subject} {other}");
        }
        for other in [
            "https://*.b/",
            "https://u@a.b/",
            "https://a.b/?q=1",
            "a.b/c",
            "",
            "https://a.b/%2A",
            "https://a.b/{c}",
            "https:///c d",
        ] {
            assert_eq!(url(other), None, "{other}");
        }
    }
}
