//! Programs that take commands or code as text: shells, interpreters of other languages, awk.

use super::scripts::{awk, editor, is_input, is_made_file, sed, table};
use super::word::Word;

/// Shells whose grammar is the one that is read here, or a part of it.
const SHELLS: &[&str] = &[
    "ash", "bash", "bosh", "dash", "hush", "ksh", "lksh", "mksh", "osh", "pdksh", "posh", "rbash",
    "rksh", "sh", "ysh",
];

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
    ("emacs", "", ""),
    ("expect", "c", ""),
    ("guile", "c", ""),
    ("ipython", "c", "m"),
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
    ("r", "e", ""),
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

/// The long options behind which interpreters take code, by how they begin.
const INLINE: &[&str] = &["command", "eval", "exec", "print", "process-"];

/// Modules of Python that run code from their arguments.
const RUNNING_MODULES: &[&str] = &[
    "IPython", "asyncio", "bdb", "cProfile", "code", "pdb", "profile", "ptpython", "timeit",
    "trace",
];

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

/// What the program with this base name runs, and whether it is such a program. `piped`: its input is the output of
/// another command.
pub(super) fn code<'a>(name: &str, words: &'a [Word], piped: bool) -> (Code<'a>, bool) {
    let arguments = words.get(1..).unwrap_or_default();
    // Of `bash5`, `zsh-5.9`, `python3.12`, `bash-static`.
    let family = name.strip_suffix("-static").unwrap_or(name);
    let family = family.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let family = family.trim_end_matches('-');
    if SHELLS.contains(&family) {
        return (shell(family, arguments, piped), true);
    }
    if OTHER_SHELLS.contains(&family) {
        let code = match shell(family, arguments, piped) {
            Code::Text(text) | Code::Partly(text, _) => {
                Code::Partly(text, "commands for another shell")
            }
            code @ (Code::None | Code::Unread(_)) => code,
        };
        return (code, true);
    }
    let script = match family {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(arguments, piped),
        "sed" | "gsed" => sed(arguments, piped),
        "crontab" => table(arguments),
        "ed" | "red" | "ex" | "gvim" | "nvi" | "nvim" | "vi" | "view" | "vim" | "vimdiff" => {
            editor(family, arguments)
        }
        _ => {
            let known = INTERPRETERS.iter().find(|(known, ..)| *known == family);
            return match known {
                Some((_, letters, last)) => {
                    (interpreter(family, (letters, last), arguments, piped), true)
                }
                None => (Code::None, false),
            };
        }
    };
    // What they run is seen in the script alone, so a call that runs nothing is a command like any other.
    let runs = script.is_some() || family.ends_with("awk");
    (script.map_or(Code::None, Code::Unread), runs)
}

fn shell<'a>(name: &str, arguments: &'a [Word], piped: bool) -> Code<'a> {
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
        Some(word) if !(reads_input || is_input(word.text()) || piped && !is_made_file(word)) => {
            Code::None
        }
        Some(_) | None => Code::Unread("a shell that takes commands from its input"),
    }
}

fn interpreter(
    family: &str,
    (letters, last): (&str, &str),
    arguments: &[Word],
    piped: bool,
) -> Code<'static> {
    if arguments.iter().any(|word| is_inline_url(word.text())) {
        return Code::Unread("code in another language");
    }
    let mut operand = None;
    let mut maybe_value = false;
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text();
        if arguments.len() == 1 && matches!(text, "--version" | "--help" | "-V" | "-v" | "-h") {
            return Code::None;
        }
        if is_input(text) {
            return Code::Unread("an interpreter that takes code from its input");
        }
        let long = text.strip_prefix("--");
        let inline = match (long, text.strip_prefix('-')) {
            (Some(long), _) => {
                INLINE.iter().any(|option| long.starts_with(option))
                    || (family == "php" && long == "run")
            }
            (None, Some(cluster)) => {
                if let Some(rest_of_it) = cluster.strip_prefix(|c| last.contains(c)) {
                    return module(rest_of_it, rest.next());
                }
                cluster.contains(|c| letters.contains(c))
                    || (family == "emacs" && cluster.starts_with("eval"))
            }
            (None, None) if text == "eval" => true,
            (None, None) => {
                operand = Some(word);
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
    match operand {
        Some(file) if !piped || is_made_file(file) || family == "emacs" => Code::None,
        Some(_) | None => Code::Unread("an interpreter that takes code from its input"),
    }
}

/// Whether a script or a module stands in its own address.
fn is_inline_url(text: &str) -> bool {
    text.starts_with("data:") || text.contains("=data:")
}

/// What `-m NAME` or `-mNAME` of Python runs.
fn module(attached: &str, next: Option<&Word>) -> Code<'static> {
    let name = match attached {
        "" => next.and_then(Word::known).unwrap_or_default(),
        attached => attached,
    };
    let first = name.split('.').next().unwrap_or_default();
    if first.is_empty() || RUNNING_MODULES.contains(&first) {
        Code::Unread("code in another language")
    } else {
        Code::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> String {
        let words: Vec<Word> = line.split('^').map(Word::literal).collect();
        match code(line.split('^').next().unwrap(), &words, false) {
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
            ("zsh-5.9^-c^rm x", "partly rm x"),
            ("bash5^-c^rm x", "rm x"),
            ("bash-static^-c^rm x", "rm x"),
            ("ksh93^-c^rm x", "rm x"),
            ("bash^//dev/stdin", "unread"),
            ("bash^/./dev/stdin", "unread"),
            ("bash^../../../../dev/stdin", "unread"),
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
