//! Programs that take commands or code as text: shells, interpreters of other languages, awk.

use super::word::Word;

/// Shells whose grammar is the one that is read here, or a part of it.
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh"];

/// Shells with a grammar of their own.
const OTHER_SHELLS: &[&str] = &[
    "csh",
    "elvish",
    "fish",
    "nu",
    "oksh",
    "powershell",
    "pwsh",
    "rc",
    "tcsh",
    "xonsh",
    "yash",
    "zsh",
];

/// Interpreters, the letters behind which they take code, and the letters behind which no option of theirs follows.
const INTERPRETERS: &[(&str, &str, &str)] = &[
    ("bun", "ep", ""),
    ("deno", "", ""),
    ("elixir", "e", ""),
    ("guile", "c", ""),
    ("julia", "eE", ""),
    ("lua", "e", ""),
    ("luajit", "e", ""),
    ("node", "ep", ""),
    ("nodejs", "ep", ""),
    ("osascript", "e", ""),
    ("perl", "eE", ""),
    ("php", "rBRE", ""),
    ("pypy", "c", "m"),
    ("python", "c", "m"),
    ("rscript", "e", ""),
    ("ruby", "e", ""),
    ("tclsh", "", ""),
];

/// The long options of shells, which bash also takes with one dash.
const LONG_OPTIONS: &[&str] = &[
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "protected",
    "rcfile",
    "restricted",
    "verbose",
    "version",
    "wordexp",
];

const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk", "original-awk"];

/// What a call of such a program runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Code<'a> {
    /// It is no such program, or runs no text: a script file, `--version`.
    None,
    /// A constant text of bash's grammar.
    Text(&'a str),
    /// A text of commands that may not be all, or not mean the same, with the reason.
    Partly(&'a str, &'static str),
    /// Something that cannot be read from the call.
    Unread(&'static str),
}

/// What the program with this base name runs; and whether it is such a program.
pub(super) fn code<'a>(name: &str, words: &'a [Word]) -> (Code<'a>, bool) {
    let arguments = words.get(1..).unwrap_or_default();
    if SHELLS.contains(&name) {
        return (shell(name, arguments), true);
    }
    if OTHER_SHELLS.contains(&name) {
        let code = match shell(name, arguments) {
            Code::Text(text) | Code::Partly(text, _) => {
                Code::Partly(text, "commands for another shell")
            }
            code @ (Code::None | Code::Unread(_)) => code,
        };
        return (code, true);
    }
    if AWKS.contains(&name) {
        return (awk(arguments), true);
    }
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match INTERPRETERS.iter().find(|(known, ..)| *known == family) {
        Some((_, letters, last)) => (interpreter(letters, last, arguments), true),
        None => (Code::None, false),
    }
}

fn shell<'a>(name: &str, arguments: &'a [Word]) -> Code<'a> {
    let mut takes_text = false;
    let mut reads_input = false;
    let mut rest = arguments.iter();
    let operand = loop {
        let Some(word) = rest.next() else {
            break None;
        };
        let Some(text) = word.known() else {
            if takes_text {
                break Some(word);
            }
            return Code::Unread("a shell whose options are not constant");
        };
        if matches!(text, "-" | "--") {
            break rest.next();
        }
        let long = text.strip_prefix("--").or_else(|| {
            text.strip_prefix('-')
                .filter(|name| LONG_OPTIONS.contains(name))
        });
        if let Some(long) = long {
            match long {
                "version" | "help" => return Code::None,
                "rcfile" | "init-file" => rest.next(),
                _ => None,
            };
        } else if let Some(letters) = text.strip_prefix(['-', '+']) {
            takes_text |= text.starts_with('-') && letters.contains('c');
            reads_input |= letters.contains('s');
            for _ in letters.matches(['o', 'O']) {
                rest.next();
            }
        } else {
            break Some(word);
        }
    };
    match operand {
        Some(word) if takes_text => match word.known() {
            // Only bash decodes it.
            Some(text) if !name.ends_with("bash") && text.contains("$'") => {
                Code::Partly(text, "a quotation that the other shell does not know")
            }
            Some(text) => Code::Text(text),
            None => Code::Partly(word.text(), "a command text that is not constant"),
        },
        Some(word) if !reads_input && !is_input(word) => Code::None,
        Some(_) | None => Code::Unread("a shell that takes commands from its input"),
    }
}

/// Whether a script file is no file.
fn is_input(word: &Word) -> bool {
    let text = word.text();
    text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/")
}

fn interpreter(letters: &str, last: &str, arguments: &[Word]) -> Code<'static> {
    let mut operand = false;
    let mut maybe_value = false;
    for word in arguments {
        let text = word.text();
        if arguments.len() == 1 && matches!(text, "--version" | "--help" | "-V" | "-v" | "-h") {
            return Code::None;
        }
        if is_input(word) {
            return Code::Unread("an interpreter that takes code from its input");
        }
        let long = text.strip_prefix("--");
        let inline = match (long, text.strip_prefix('-')) {
            (Some(long), _) => ["eval", "print", "exec", "command"]
                .iter()
                .any(|option| long.starts_with(option)),
            (None, Some(cluster)) => {
                if cluster.starts_with(|c| last.contains(c)) {
                    return Code::None;
                }
                cluster.contains(|c| letters.contains(c))
            }
            (None, None) if word.text() == "eval" => true,
            (None, None) => {
                operand = true;
                if !maybe_value {
                    break;
                }
                false
            }
        };
        if inline {
            return Code::Unread("code in another language");
        }
        // `-W ignore`: what follows a bare option may be its value.
        maybe_value = text.starts_with('-') && !text.contains('=');
    }
    if operand {
        Code::None
    } else {
        Code::Unread("an interpreter that takes code from its input")
    }
}

/// An awk program runs commands by `system`, by pipes, or by calls whose function it puts together.
fn awk(arguments: &[Word]) -> Code<'static> {
    let runs_commands = |word: &Word| {
        let text = word.text();
        text.contains("system") || text.contains(['|', '@'])
    };
    if arguments.iter().any(runs_commands) {
        Code::Unread("an awk program that may run commands")
    } else if arguments.iter().all(|word| word.text().starts_with('-')) {
        Code::Unread("an awk program that is not in the command")
    } else {
        Code::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> String {
        let words: Vec<Word> = line.split('^').map(Word::literal).collect();
        match code(line.split('^').next().unwrap(), &words) {
            (Code::Text(text), true) => text.to_owned(),
            (Code::Partly(text, _), true) => format!("partly {text}"),
            (Code::Unread(_), true) => "unread".to_owned(),
            (Code::None, true) => "nothing".to_owned(),
            (_, false) => "no".to_owned(),
        }
    }

    #[test]
    fn shells_are_called_in_many_ways() {
        for (line, expected) in [
            ("sh^-c^rm x", "rm x"),
            ("bash^-lc^rm x^a", "rm x"),
            ("bash^-c^-e^rm x", "rm x"),
            ("bash^-o^pipefail^-ec^rm x", "rm x"),
            ("bash^-eo^pipefail^-c^rm x", "rm x"),
            ("bash^--norc^-c^--^rm x", "rm x"),
            ("bash^--rcfile^f^-c^rm x", "rm x"),
            ("bash^run.sh^-c^rm", "nothing"),
            ("bash^-x^run.sh", "nothing"),
            ("bash^--version", "nothing"),
            ("bash", "unread"),
            ("bash^-rcfile^f^-c^rm x", "rm x"),
            ("bash^-norc^-c^rm x", "rm x"),
            ("bash^-", "unread"),
            ("bash^-s^a", "unread"),
            ("bash^/dev/stdin", "unread"),
            ("sh^-c", "unread"),
            ("sh^-c^$'rm' x", "partly $'rm' x"),
            ("zsh^-c^rm x", "partly rm x"),
            ("zsh^run.zsh", "nothing"),
            ("git^-c^x", "no"),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn code_of_other_languages_is_not_read() {
        for (line, expected) in [
            ("python3.12^-c^print(1)", "unread"),
            ("python3^-W^ignore^-c^x", "unread"),
            ("python3^-Bc^x", "unread"),
            ("python3", "unread"),
            ("python3^-", "unread"),
            ("python3^x.py^-c^conf", "nothing"),
            ("python3^-m^pytest^-c^conf", "nothing"),
            ("python^--version", "nothing"),
            ("perl^-i^-pe^s/a/b/", "unread"),
            ("node^--eval=1", "unread"),
            ("node^server.js^-p^3000", "nothing"),
            ("ruby^-v^-e^x", "unread"),
            ("deno^eval^x", "unread"),
            ("awk^{print $1}", "nothing"),
            ("awk^-F:", "unread"),
            ("awk^BEGIN{system(\"rm\")}", "unread"),
            ("gawk^{print | \"rm\"}", "unread"),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
