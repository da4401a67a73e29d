//! The commands that only read, with the flags that keep it so.
//!
//! Left out on purpose: what runs other programs (`env`, `xargs`, `git`, whose configuration names programs), what has a language
//! of its own (`sed`, `awk`), what follows links below what it is given (`grep -R`, `diff` of folders), what writes by an
//! option (`sort -o`) or an argument (`uniq IN OUT`), and what does not end (`tail -f`).

/// What the words that are no flags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Paths.
    Paths,
    /// At most one path: a second one would be written.
    OnePath,
    /// A pattern, unless `-e` gave it, then paths.
    PatternAndPaths,
    /// Texts, none of which is a path.
    Texts,
    /// Texts that begin with `+`.
    Format,
    /// There are none.
    Nothing,
    /// Paths, then tests as `find` has them: those without a value are `long`, the others `long_with_value`.
    Expression,
}

/// A command.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) name: &'static str,
    /// Letters of flags without a value, which may stand together.
    pub(super) flags: &'static str,
    /// Letters of flags with a value, in the same word or the next.
    pub(super) with_value: &'static str,
    /// Whole words.
    pub(super) long: &'static [&'static str],
    /// Before a `=`.
    pub(super) long_with_value: &'static [&'static str],
    pub(super) words: Words,
}

const fn plain(
    name: &'static str,
    flags: &'static str,
    with_value: &'static str,
    words: Words,
) -> Command {
    Command {
        name,
        flags,
        with_value,
        long: &[],
        long_with_value: &[],
        words,
    }
}

const fn long(
    command: Command,
    long: &'static [&'static str],
    long_with_value: &'static [&'static str],
) -> Command {
    Command {
        long,
        long_with_value,
        ..command
    }
}

/// All of them, by name.
static KNOWN: [Command; 42] = [
    plain("arch", "", "", Words::Nothing),
    plain("b2sum", "btz", "", Words::Paths),
    plain("base64", "d", "w", Words::OnePath),
    plain("basename", "az", "s", Words::Texts),
    plain("cat", "AbeEnstTuv", "", Words::Paths),
    plain("cksum", "", "", Words::Paths),
    plain("cmp", "bls", "in", Words::Paths),
    plain("comm", "123", "", Words::Paths),
    long(
        plain("cut", "nsz", "bcdf", Words::Paths),
        &["--complement"],
        &["--output-delimiter", "--delimiter", "--fields"],
    ),
    plain("date", "uIR", "d", Words::Format),
    plain("df", "ahHikT", "", Words::Paths),
    plain("dirname", "z", "", Words::Texts),
    long(
        plain("du", "abchkmsx", "d", Words::Paths),
        &["--apparent-size"],
        &["--max-depth", "--exclude"],
    ),
    plain("echo", "neE", "", Words::Texts),
    plain("egrep", GREP, "eABCm", Words::PatternAndPaths),
    plain("false", "", "", Words::Texts),
    plain("fgrep", GREP, "eABCm", Words::PatternAndPaths),
    plain("file", "bik", "", Words::Paths),
    long(
        plain("find", "", "", Words::Expression),
        &[
            "-a",
            "-and",
            "-o",
            "-or",
            "-not",
            "!",
            "(",
            ")",
            ",",
            "-empty",
            "-false",
            "-ls",
            "-mount",
            "-print",
            "-print0",
            "-prune",
            "-readable",
            "-true",
            "-writable",
            "-executable",
            "-xdev",
            "-depth",
        ],
        &[
            "-name",
            "-iname",
            "-path",
            "-ipath",
            "-regex",
            "-iregex",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-size",
            "-mtime",
            "-mmin",
            "-ctime",
            "-cmin",
            "-perm",
            "-user",
            "-group",
            "-links",
        ],
    ),
    long(
        plain("grep", GREP, "eABCm", Words::PatternAndPaths),
        &[
            "--count",
            "--ignore-case",
            "--line-number",
            "--word-regexp",
            "--recursive",
            "--files-with-matches",
        ],
        &[
            "--include",
            "--exclude",
            "--exclude-dir",
            "--color",
            "--max-count",
            "--context",
        ],
    ),
    plain("head", "qvz", "nc", Words::Paths),
    plain("hexdump", "Cvx", "ns", Words::Paths),
    plain("id", "ugnGr", "", Words::Texts),
    long(
        plain("ls", "1aAcCdFghiklLmnNopQrRsStuUvxXZ", "I", Words::Paths),
        &[
            "--all",
            "--almost-all",
            "--directory",
            "--human-readable",
            "--recursive",
            "--reverse",
            "--size",
        ],
        &["--color", "--sort", "--time", "--time-style"],
    ),
    plain("md5sum", "btz", "", Words::Paths),
    plain("nl", "p", "bnsw", Words::Paths),
    plain("nproc", "", "", Words::Nothing),
    plain("od", "bcdoxv", "AtNj", Words::Paths),
    plain("paste", "sz", "d", Words::Paths),
    plain("printf", "", "", Words::Texts),
    plain("pwd", "LP", "", Words::Nothing),
    plain("readlink", "efmnqsz", "", Words::Paths),
    plain("realpath", "emqsz", "", Words::Paths),
    plain("sha1sum", "btz", "", Words::Paths),
    plain("sha256sum", "btz", "", Words::Paths),
    plain("sort", "bdfghiMnRrVuczs", "kt", Words::Paths),
    plain("stat", "ft", "c", Words::Paths),
    plain("tail", "qvz", "nc", Words::Paths),
    plain("tr", "cCdst", "", Words::Texts),
    plain("true", "", "", Words::Texts),
    plain("uniq", "cdiuDz", "fsw", Words::OnePath),
    long(
        plain("wc", "clLmw", "", Words::Paths),
        &["--lines", "--words", "--bytes"],
        &[],
    ),
];

/// Flags of the family of `grep`.
const GREP: &str = "EFGPiIvwxcLlnHhoqsrabz";

/// The command of a name.
pub(super) fn command(name: &str) -> Option<&'static Command> {
    KNOWN.iter().find(|command| command.name == name)
}

/// All names, for people.
pub(super) fn names() -> String {
    let names: Vec<&str> = KNOWN.iter().map(|command| command.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_by_name_and_no_flag_is_there_twice() {
        for pair in KNOWN.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for command in &KNOWN {
            let both = command
                .flags
                .chars()
                .find(|flag| command.with_value.contains(*flag));
            assert_eq!(both, None, "{}", command.name);
        }
    }
}
