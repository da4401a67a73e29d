//! The commands of bash itself after which later words do not mean what they say.
//!
//! A line with one of them is never a plain list: definitions of aliases, code from text, traps, arithmetic. Builtins that
//! evaluate some of their words (the index of an array element, the value of an integer or of an array) are plain only in
//! the few forms that evaluate nothing. Which text would be dangerous is never asked: `$_` and arithmetic on names make it
//! any. Other builtins that have an effect on later commands (`cd`, `export`, `read`, `unset`, `exec`) are commands like
//! any other, and need a rule of their own.

use super::word::Word;

/// Those that do so whatever their arguments are.
const ALWAYS: &[&str] = &[
    ".",
    "alias",
    "bind",
    "compgen",
    "complete",
    "compopt",
    "enable",
    "eval",
    "fc",
    "hash",
    "let",
    "mapfile",
    "readarray",
    "shopt",
    "source",
    "trap",
    "unalias",
];

/// Those that evaluate what stands in some of their words.
const EVALUATING: &[&str] = &[
    "[", "declare", "export", "getopts", "local", "printf", "read", "readonly", "test", "typeset",
    "unset", "wait",
];

/// Those behind which bash looks for assignments.
const ASSIGNING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Letters of options that make a variable an integer, an array or another name for one, or that name a variable.
const EVALUATING_LETTERS: &[char] = &['A', 'a', 'i', 'n', 'v'];

/// Variables of bash whose value is arithmetic, or that hold what an evaluation reads.
const INTEGERS: &[&str] = &[
    "BASHPID",
    "BASH_ARGV0",
    "BASH_SUBSHELL",
    "COMP_CWORD",
    "COMP_KEY",
    "COMP_POINT",
    "COMP_TYPE",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "FUNCNEST",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "PIPESTATUS",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "TMOUT",
    "UID",
];

/// The options of `set` that only make a script stricter or more talkative.
const SET_LETTERS: &str = "eEuvxTo";

/// Whether this builtin sets variables from words `NAME=value`.
pub(super) fn assigns_variables(name: &str) -> bool {
    ASSIGNING.contains(&name)
}

/// Why this command, which begins with its command word, changes the meaning of what follows.
pub(super) fn changes_meaning(words: &[Word]) -> Option<&'static str> {
    let (first, arguments) = words.split_first()?;
    let name = first.known()?;
    if ALWAYS.contains(&name) {
        return Some("a command that changes what later words mean");
    }
    if EVALUATING.contains(&name)
        && let Some(reason) = evaluates(name, arguments)
    {
        return Some(reason);
    }
    match name {
        "jobs" if !arguments.iter().all(is_plain_jobs_option) => Some("a command behind 'jobs -x'"),
        "set" if !arguments.iter().all(is_plain_set_option) => {
            Some("an option of 'set' that changes the shell")
        }
        _ => None,
    }
}

/// Why this builtin may evaluate one of its arguments.
fn evaluates(name: &str, arguments: &[Word]) -> Option<&'static str> {
    if name == "printf" {
        // Behind the format every word is data; before it, a wildcard may find a file that is named like an option.
        let format = arguments.first()?;
        let plain = format.known().is_some_and(|text| !text.starts_with("-v"));
        return (!plain).then_some("an assignment by printf");
    }
    // A wildcard finds files, and a file may be named as no word should be.
    if !arguments.iter().all(Word::is_literal) {
        return Some("a wildcard, brace or tilde behind a command that evaluates its words");
    }
    if ASSIGNING.contains(&name) && arguments.iter().any(Word::indexes) {
        return Some("an array element");
    }
    let any = |wanted: &dyn Fn(&str) -> bool| arguments.iter().any(|word| wanted(word.text()));
    if any(&|text| text.contains('[') && text != "[") {
        return Some("an array index that is evaluated");
    }
    if matches!(name, "test" | "[") {
        // Without an index, what `-v` is given is a name.
        return None;
    }
    if any(&|text| {
        text.strip_prefix(['-', '+'])
            .is_some_and(|letters| letters.contains(EVALUATING_LETTERS))
    }) {
        return Some("an option by which a value is evaluated");
    }
    if any(&|text| {
        text.split_once('=')
            .is_some_and(|(_, value)| value.contains('('))
    }) {
        return Some("a value that may be a list");
    }
    any(&|text| {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        INTEGERS.contains(&name.strip_suffix('+').unwrap_or(name))
    })
    .then_some("a variable whose value is arithmetic")
}

fn is_plain_jobs_option(word: &Word) -> bool {
    word.known()
        .is_some_and(|text| !(text.starts_with('-') && text.contains('x')))
}

fn is_plain_set_option(word: &Word) -> bool {
    match word.known() {
        Some(
            "pipefail" | "errexit" | "nounset" | "errtrace" | "functrace" | "xtrace" | "verbose",
        ) => true,
        Some(text) => text
            .strip_prefix(['-', '+'])
            .is_some_and(|letters| letters.chars().all(|letter| SET_LETTERS.contains(letter))),
        None => false,
    }
}
