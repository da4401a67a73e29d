//! Programs that take a script which may run commands: awk, sed, editors; and where a script comes from.

use super::index::fold;
use super::word::Word;

/// Whether this path, as a script file, is no file: the input under one of its names, however the path is spelled.
pub(super) fn is_input(path: &str) -> bool {
    let folded = fold(path);
    let mut below = folded.as_str();
    let mut from_root = false;
    while let Some(rest) = below.strip_prefix("../") {
        below = rest;
        from_root = true;
    }
    if let Some(rest) = below.strip_prefix('/') {
        below = rest;
        from_root = true;
    }
    path == "-" || (from_root && (below.starts_with("dev/") || below.starts_with("proc/")))
}

/// Whether a script's name is one that somebody gave to a file. In the folders where the input has names, none has an
/// extension: after `cd /dev`, `stdin` is the input.
pub(super) fn is_made_file(word: &Word) -> bool {
    let base = word.text().rsplit('/').next().unwrap_or_default();
    word.is_literal()
        && base
            .trim_start_matches('.')
            .rsplit_once('.')
            .is_some_and(|(stem, extension)| !stem.is_empty() && !extension.is_empty())
}

/// Why an awk program may run commands: by `system`, by pipes, by calls whose function it puts together, or because it
/// does not stand in the command.
pub(super) fn awk(arguments: &[Word], piped: bool) -> Option<&'static str> {
    let runs_commands = |word: &Word| {
        let text = word.text();
        text.contains("system") || text.contains(['|', '@'])
    };
    if arguments.iter().any(runs_commands) {
        return Some("an awk program that may run commands");
    }
    if values(
        arguments,
        "fEilW",
        false,
        &["file", "exec", "include", "load"],
    )
    .iter()
    .any(|file| comes_from_input(file, piped))
        || arguments.iter().all(|word| word.text().starts_with('-'))
    {
        return Some("an awk program that is not in the command");
    }
    None
}

/// Why a sed script may run commands: by the command `e` or the flag `e`, or because it does not stand in the command.
pub(super) fn sed(arguments: &[Word], piped: bool) -> Option<&'static str> {
    let files = values(arguments, "f", true, &["file"]);
    if files.iter().any(|file| comes_from_input(file, piped)) {
        return Some("a sed script that is not in the command");
    }
    let mut scripts = values(arguments, "e", true, &["expression"]);
    // Without `-e` the script is the first operand, or the second behind `-l 5`.
    let operands = arguments
        .iter()
        .map(Word::text)
        .filter(|text| !text.starts_with('-'));
    let behind_length = arguments
        .iter()
        .any(|word| word.text().starts_with("-l") || word.text().starts_with("--l"));
    scripts.extend(
        operands
            .take(1 + usize::from(behind_length))
            .map(str::to_owned),
    );
    scripts
        .iter()
        .any(|script| sed_runs(script))
        .then_some("a sed script that may run commands")
}

/// Whether an `e` in the script stands where a command or a flag may.
fn sed_runs(script: &str) -> bool {
    let chars: Vec<char> = script.chars().collect();
    let at = |position: usize| chars.get(position).copied();
    let is_flag = |c: char| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M');
    // `s` whose delimiter is a letter, as first command.
    let command = script.trim_start_matches(|c: char| !c.is_alphabetic());
    let mut letters = command.chars();
    if letters.next() == Some('s') && letters.next().is_some_and(|c| c.is_alphanumeric()) {
        return true;
    }
    chars.iter().enumerate().any(|(position, c)| {
        if *c != 'e' {
            return false;
        }
        let mut after = position + 1;
        while at(after).is_some_and(|c| is_flag(c) || c.is_ascii_digit()) {
            after += 1;
        }
        let ends = at(after).is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '}' | '#'));
        let mut before = position;
        let mut flags = false;
        while let Some(c) = before
            .checked_sub(1)
            .and_then(at)
            .filter(|c| is_flag(*c) || c.is_ascii_digit())
        {
            flags |= is_flag(c);
            before -= 1;
        }
        if !flags {
            while before
                .checked_sub(1)
                .and_then(at)
                .is_some_and(char::is_whitespace)
            {
                before -= 1;
            }
        }
        let stands = match before.checked_sub(1).and_then(at) {
            Some(c) => !c.is_alphabetic() && (!flags || !c.is_whitespace()),
            None => true,
        };
        ends && stands
    })
}

/// Why an editor may run commands: from its input, or from a command in its arguments.
pub(super) fn editor(name: &str, arguments: &[Word]) -> Option<&'static str> {
    if matches!(name, "ed" | "red" | "ex") {
        return Some("an editor that takes commands from its input");
    }
    let commands = arguments.iter().any(|word| {
        let text = word.text();
        let plus = text
            .strip_prefix('+')
            .is_some_and(|line| line.contains(|c: char| !c.is_ascii_digit()));
        let letters = !text.starts_with("--")
            && text.starts_with('-')
            && text.contains(['c', 'S', 's', 'e', 'u', 'l']);
        plus || letters || text.starts_with("--cmd") || text.starts_with("--remote")
    });
    commands.then_some("commands for an editor")
}

/// Why a call of crontab may take commands from its input.
pub(super) fn table(arguments: &[Word]) -> Option<&'static str> {
    (arguments.is_empty() || arguments.iter().any(|word| is_input(word.text())))
        .then_some("a table of commands that comes from the input")
}

fn comes_from_input(file: &str, piped: bool) -> bool {
    is_input(file) || (piped && !is_made_file(&Word::literal(file)))
}

/// The values of these options, attached or as the next word; with `clusters` also behind other
/// letters.
fn values(arguments: &[Word], letters: &str, clusters: bool, long: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = arguments.iter().map(Word::text).peekable();
    while let Some(text) = rest.next() {
        let value = if let Some(option) = text.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            if name.is_empty() || !long.iter().any(|known| known.starts_with(name)) {
                continue;
            }
            value
        } else {
            let cluster = text.strip_prefix('-').unwrap_or_default();
            match cluster.split_once(|c| letters.contains(c)) {
                Some((before, value)) if clusters || before.is_empty() => {
                    Some(value).filter(|value| !value.is_empty())
                }
                Some(_) | None => continue,
            }
        };
        found.extend(value.or_else(|| rest.peek().copied()).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_has_many_names() {
        for path in [
            "-",
            "/dev/stdin",
            "//dev/stdin",
            "/./dev/stdin",
            "/x/../dev/fd/0",
            "../../../dev/stdin",
            "/proc/self/fd/0",
        ] {
            assert!(is_input(path), "{path}");
        }
        for path in ["x.sh", "dev/run", "/develop/x", "./-", "../dev-tools/x"] {
            assert!(!is_input(path), "{path}");
        }
        for (path, expected) in [
            ("x.sh", true),
            ("stdin", false),
            ("a.d/0", false),
            (".x", false),
        ] {
            assert_eq!(is_made_file(&Word::literal(path)), expected, "{path}");
        }
    }

    #[test]
    fn sed_runs_commands_by_one_letter() {
        for script in [
            "1e rm x",
            "e",
            "e rm x",
            "s/a/rm x/e",
            "s/a/b/ge",
            "s/a/b/e;p",
            "/x/ e rm",
            "$!e rm",
            "1{e rm\n}",
            "sxaxbxe",
            "s,a,b,e2",
            "p;e rm x",
        ] {
            assert!(sed_runs(script), "{script}");
        }
        for script in [
            "1,20p",
            "s/a/e/",
            "s/the/one/g",
            "s/a/the cat/",
            "s/a/tell me now/",
            "/re/d",
            "s/^.*$/name: x/",
            "y/abc/def/",
            "s#/home#/usr#",
            "/^use /d",
        ] {
            assert!(!sed_runs(script), "{script}");
        }
    }
}
