//! git: which of its subcommands run nothing but git.

use super::options::{Convention, PLAIN};
use super::word::Word;

/// The options of git itself, before the subcommand.
const GLOBAL: Convention = Convention {
    flags: "pPhv",
    valued: "Cc",
    long_flags: &[
        "bare",
        "exec-path",
        "glob-pathspecs",
        "help",
        "icase-pathspecs",
        "literal-pathspecs",
        "no-advice",
        "no-lazy-fetch",
        "no-optional-locks",
        "no-pager",
        "no-replace-objects",
        "noglob-pathspecs",
        "paginate",
        "version",
    ],
    long_valued: &[
        "config-env",
        "git-dir",
        "namespace",
        "super-prefix",
        "work-tree",
    ],
    ..PLAIN
};

/// Subcommands that run no program that an argument names.
const INERT: &[&str] = &[
    "add",
    "apply",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "format-patch",
    "fsck",
    "gc",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "reflog",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// The arguments among which git may be told to run a command, as ranges of positions in the call.
pub(super) fn running_arguments(words: &[Word]) -> Vec<std::ops::Range<usize>> {
    let all = 1..words.len();
    let mut ranges = Vec::new();
    let Some(call) = GLOBAL.read(words) else {
        ranges.push(all);
        return ranges;
    };
    if call.has(&["c", "config-env"])
        || call
            .options
            .iter()
            .any(|(name, value)| *name == "exec-path" && value.is_some())
    {
        ranges.push(1..call.command);
    }
    let subcommand = words.get(call.command).map(|word| word.known());
    let behind = call.command + 1..words.len();
    match subcommand {
        None => {}
        Some(None) => ranges.push(all),
        Some(Some("grep")) => {
            // Only the pager is a program.
            let pager = words.iter().any(|word| {
                let text = word.text();
                text.starts_with("--op") || (text.starts_with('-') && text.contains('O'))
            });
            if pager {
                ranges.push(behind);
            }
        }
        Some(Some(name)) if INERT.contains(&name) => {}
        Some(Some(_)) => ranges.push(behind),
    }
    ranges
}
