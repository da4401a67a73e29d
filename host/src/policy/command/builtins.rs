//! The commands of bash itself after which later words do not mean what they say.
//!
//! A line with one of them is never a plain list: definitions of aliases, code from text, traps, arithmetic. Other
//! builtins that have an effect on later commands (`cd`, `export`, `read`, `unset`, `exec`) are commands like any other,
//! and need a rule of their own.

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

/// Those that evaluate the index of an array element, and the substitutions in it.
const INDEXING: &[&str] = &[
    "[", "declare", "export", "getopts", "local", "read", "readonly", "test", "typeset", "unset",
    "wait",
];

/// Those behind which bash looks for assignments.
const ASSIGNING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// The options of `set` that only make a script stricter or more talkative.
const SET_LETTERS: &str = "eEuvxTo";

/// Why this command, which begins with its command word, changes the meaning of what follows.
pub(super) fn changes_meaning(words: &[Word]) -> Option<&'static str> {
    let (first, arguments) = words.split_first()?;
    let name = first.known()?;
    let any = |wanted: fn(&str) -> bool| arguments.iter().any(|word| wanted(word.text()));
    if ALWAYS.contains(&name) {
        return Some("a command that changes what later words mean");
    }
    if INDEXING.contains(&name) && any(is_evaluated_index) {
        return Some("an array index that is evaluated");
    }
    if ASSIGNING.contains(&name) && arguments.iter().any(Word::indexes) {
        return Some("an array element");
    }
    match name {
        "printf" if any(|text| text.starts_with("-v")) => Some("an assignment by printf"),
        "jobs" if any(|text| text.starts_with("-x")) => Some("a command behind 'jobs -x'"),
        "set" if !arguments.iter().all(is_plain_set_option) => {
            Some("an option of 'set' that changes the shell")
        }
        _ => None,
    }
}

fn is_evaluated_index(text: &str) -> bool {
    text.split_once('[')
        .is_some_and(|(_, index)| index.contains(['$', '`']))
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
