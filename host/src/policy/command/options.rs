//! How the programs that run another program are called: where among their arguments the other one begins.

use super::word::Word;

/// The calling convention of a program that runs its last arguments.
#[derive(Debug)]
pub(super) struct Convention {
    pub(super) names: &'static [&'static str],
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value, attached or as the next word.
    pub(super) valued: &'static str,
    /// Letters of options with a value that is only ever attached.
    pub(super) attached: &'static str,
    pub(super) long_flags: &'static [&'static str],
    pub(super) long_valued: &'static [&'static str],
    /// Arguments before the command.
    pub(super) operands: usize,
    /// `A=b` before the command.
    pub(super) assignments: bool,
}

/// No options and no operands.
pub(super) const PLAIN: Convention = Convention {
    names: &[],
    flags: "",
    valued: "",
    attached: "",
    long_flags: &[],
    long_valued: &[],
    operands: 0,
    assignments: false,
};

const CONVENTIONS: &[Convention] = &[
    Convention {
        names: &["env", "genv"],
        flags: "i0v",
        valued: "uCSP",
        long_flags: &["ignore-environment", "null", "debug"],
        long_valued: &["unset", "chdir", "split-string"],
        assignments: true,
        ..PLAIN
    },
    Convention {
        names: &["time", "gtime"],
        flags: "apqvlh",
        valued: "fo",
        long_flags: &["append", "portability", "quiet", "verbose"],
        long_valued: &["format", "output"],
        ..PLAIN
    },
    Convention {
        names: &["timeout", "gtimeout"],
        flags: "fpv",
        valued: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Convention {
        names: &["nice", "gnice"],
        valued: "n",
        attached: "0123456789",
        long_valued: &["adjustment"],
        ..PLAIN
    },
    Convention {
        names: &["nohup", "gnohup", "builtin", "busybox", "toybox"],
        ..PLAIN
    },
    Convention {
        names: &["stdbuf", "gstdbuf"],
        valued: "ioe",
        long_valued: &["input", "output", "error"],
        ..PLAIN
    },
    Convention {
        names: &["setsid", "gsetsid"],
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait"],
        ..PLAIN
    },
    Convention {
        names: &["ionice"],
        flags: "t",
        valued: "cnpPu",
        long_flags: &["ignore"],
        long_valued: &["class", "classdata"],
        ..PLAIN
    },
    Convention {
        names: &["taskset"],
        flags: "acp",
        operands: 1,
        ..PLAIN
    },
    Convention {
        names: &["command"],
        flags: "pvV",
        ..PLAIN
    },
    Convention {
        names: &["exec"],
        flags: "cl",
        valued: "a",
        ..PLAIN
    },
    Convention {
        names: &["sudo", "doas"],
        flags: "AbBEeHiKklnNPSsvVL",
        valued: "aCDghpRrTtUu",
        long_flags: &[
            "askpass",
            "background",
            "bell",
            "preserve-env",
            "set-home",
            "login",
            "remove-timestamp",
            "reset-timestamp",
            "list",
            "non-interactive",
            "no-update",
            "preserve-groups",
            "stdin",
            "shell",
            "validate",
        ],
        long_valued: &[
            "close-from",
            "chdir",
            "group",
            "host",
            "prompt",
            "chroot",
            "role",
            "command-timeout",
            "type",
            "other-user",
            "user",
        ],
        assignments: true,
        ..PLAIN
    },
    Convention {
        names: &["xargs", "gxargs"],
        flags: "0oprtx",
        valued: "adEIJLnPRSs",
        attached: "eil",
        long_flags: &[
            "null",
            "open-tty",
            "interactive",
            "no-run-if-empty",
            "verbose",
            "exit",
            "show-limits",
            "replace",
            "eof",
            "max-lines",
        ],
        long_valued: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
            "process-slot-var",
        ],
        ..PLAIN
    },
];

/// A call that follows its program's convention.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    /// The position behind the options and operands: where the other command begins, if there is one.
    pub(super) command: usize,
    /// The options that were given, by letter or long name, with their values.
    pub(super) options: Vec<(&'a str, Option<&'a str>)>,
    /// The words `A=b` before the command.
    pub(super) assigned: Vec<&'a Word>,
}

impl Call<'_> {
    /// Whether one of these options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }
}

impl Convention {
    /// The convention of a program, by its base name.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        CONVENTIONS
            .iter()
            .find(|convention| convention.names.contains(&name))
    }

    /// Whether the program sets variables for what it runs.
    pub(super) fn assigns(&self) -> bool {
        self.assignments
    }

    /// Reads the words of a call, of which the first is the program. `None`: not sure.
    pub(super) fn read<'a>(&self, words: &'a [Word]) -> Option<Call<'a>> {
        let mut call = Call {
            command: 1,
            ..Call::default()
        };
        while let Some(word) = words.get(call.command) {
            let text = word.known()?;
            if text == "--" {
                call.command += 1;
                break;
            } else if let Some(long) = text.strip_prefix("--") {
                self.long(long, words, &mut call)?;
            } else if text.len() > 1 && text.starts_with('-') {
                self.letters(text, words, &mut call)?;
            } else if self.assignments && text.contains('=') {
                call.assigned.push(word);
            } else if text != "-" {
                break;
            }
            call.command += 1;
        }
        let assigns = |word: &Word| self.assignments && word.text().contains('=');
        while let Some(word) = words.get(call.command).filter(|word| assigns(word)) {
            call.assigned.push(word);
            call.command += 1;
        }
        for _ in 0..self.operands {
            match words.get(call.command) {
                Some(word) => word.known()?,
                None => break,
            };
            call.command += 1;
        }
        Some(call)
    }

    fn long<'a>(&self, long: &'a str, words: &'a [Word], call: &mut Call<'a>) -> Option<()> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        if self.long_flags.contains(&name) {
            call.options.push((name, value));
            return Some(());
        }
        if !self.long_valued.contains(&name) {
            return None;
        }
        let value = match value {
            Some(value) => value,
            None => next_word(words, call)?,
        };
        call.options.push((name, Some(value)));
        Some(())
    }

    fn letters<'a>(&self, text: &'a str, words: &'a [Word], call: &mut Call<'a>) -> Option<()> {
        let mut rest = text.get(1..)?;
        while let Some(letter) = rest.chars().next() {
            let (name, behind) = rest.split_at_checked(letter.len_utf8())?;
            rest = behind;
            if self.flags.contains(letter) {
                call.options.push((name, None));
            } else if self.attached.contains(letter) {
                call.options
                    .push((name, Some(rest).filter(|rest| !rest.is_empty())));
                break;
            } else if self.valued.contains(letter) {
                let value = if rest.is_empty() {
                    next_word(words, call)?
                } else {
                    rest
                };
                call.options.push((name, Some(value)));
                break;
            } else {
                return None;
            }
        }
        Some(())
    }
}

fn next_word<'a>(words: &'a [Word], call: &mut Call<'a>) -> Option<&'a str> {
    call.command += 1;
    words.get(call.command)?.known()
}
