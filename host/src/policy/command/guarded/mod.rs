//! The guarded shell: which lines only read, and which paths they read.
//!
//! Guarantees that a line of which anything is not known does not pass: every command of it is one of a list that changes
//! nothing and runs nothing, every flag is one of that command's, and every path is a word as the program is given it. Where the
//! paths lead is for whoever can look: this is text. A guard says which commands make sense for a reader; what a command may do
//! is still the sandbox's, in which a guarded command writes nowhere.

mod known;

use std::fmt;

use self::known::{Command, Words};
use super::line::{CommandLine, SimpleCommand};
use super::word::Word;
use crate::model::visible;

/// The paths that the arguments of a guarded line name, as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardedPaths(pub Vec<String>);

/// What of a line is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKnown {
    /// The line is no list of commands with literal words.
    Line(String),
    /// The command.
    Command(String),
    /// A flag of a command.
    Flag {
        /// The command.
        command: String,
        /// The flag.
        flag: String,
    },
    /// An argument that the shell turns into something else.
    Wildcard(String),
    /// An argument that the command is not given here.
    Argument {
        /// The command.
        command: String,
        /// The argument.
        argument: String,
    },
}

impl fmt::Display for NotKnown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(why) => write!(f, "{why} is not known to only read"),
            Self::Command(name) => write!(
                f,
                "the command '{}' is not known to only read; known are {}",
                visible(name),
                known::names()
            ),
            Self::Flag { command, flag } => write!(
                f,
                "the flag '{}' of '{command}' is not known",
                visible(flag)
            ),
            Self::Wildcard(word) => write!(
                f,
                "'{}' stands for names that are not known before it runs: write them out, or quote it",
                visible(word)
            ),
            Self::Argument { command, argument } => write!(
                f,
                "the argument '{}' of '{command}' is not known",
                visible(argument)
            ),
        }
    }
}

/// The paths of a line that only reads.
///
/// # Errors
/// The first part that is not known.
pub fn guarded(line: &CommandLine) -> Result<GuardedPaths, NotKnown> {
    let commands = line
        .commands()
        .ok_or_else(|| NotKnown::Line(line.opaque().unwrap_or("this line").to_owned()))?;
    let mut paths = Vec::new();
    for command in commands {
        one(command, &mut paths)?;
    }
    Ok(GuardedPaths(paths))
}

fn one(command: &SimpleCommand, paths: &mut Vec<String>) -> Result<(), NotKnown> {
    let Some((first, rest)) = command.parts().split_first() else {
        return Ok(());
    };
    let name = first.text();
    let known = first.known().and_then(known::command);
    let known = known.ok_or_else(|| NotKnown::Command(name.to_owned()))?;
    let mut words = Vec::new();
    for word in rest {
        words.push(literal(word)?);
    }
    match known.words {
        Words::Expression => expression(known, &words, paths),
        Words::Paths
        | Words::OnePath
        | Words::PatternAndPaths
        | Words::Texts
        | Words::Format
        | Words::Nothing => arguments(known, &words, paths),
    }
}

fn literal(word: &Word) -> Result<&str, NotKnown> {
    word.known()
        .ok_or_else(|| NotKnown::Wildcard(word.text().to_owned()))
}

/// The arguments of a command as most read them: flags anywhere before `--`, the rest as the command takes it.
fn arguments(
    command: &'static Command,
    words: &[&str],
    paths: &mut Vec<String>,
) -> Result<(), NotKnown> {
    let mut plain = Vec::new();
    let mut pattern_given = false;
    let mut words = words.iter();
    let mut flags = true;
    while let Some(word) = words.next() {
        if flags && *word == "--" {
            flags = false;
        } else if flags && word.len() > 1 && word.starts_with('-') {
            let taken = flag(command, word)?;
            pattern_given |= taken.is_pattern;
            if taken.takes_next {
                words.next();
            }
        } else {
            plain.push(*word);
        }
    }
    let unknown = |argument: &str| NotKnown::Argument {
        command: command.name.to_owned(),
        argument: argument.to_owned(),
    };
    let read: &[&str] = match command.words {
        Words::Texts | Words::Expression => &[],
        Words::Nothing => match plain.first() {
            Some(argument) => return Err(unknown(argument)),
            None => &[],
        },
        Words::Format => match plain.iter().find(|word| !word.starts_with('+')) {
            Some(argument) => return Err(unknown(argument)),
            None => &[],
        },
        Words::OnePath => match plain.get(1) {
            Some(argument) => return Err(unknown(argument)),
            None => &plain,
        },
        Words::Paths => &plain,
        Words::PatternAndPaths if pattern_given => &plain,
        Words::PatternAndPaths => plain.get(1..).unwrap_or_default(),
    };
    let named = read.iter().filter(|word| **word != "-");
    paths.extend(named.map(|word| (*word).to_owned()));
    Ok(())
}

/// What a known flag means for the words behind it.
struct Taken {
    takes_next: bool,
    is_pattern: bool,
}

fn flag(command: &'static Command, word: &str) -> Result<Taken, NotKnown> {
    let unknown = || NotKnown::Flag {
        command: command.name.to_owned(),
        flag: word.to_owned(),
    };
    let nothing = Taken {
        takes_next: false,
        is_pattern: false,
    };
    if word.starts_with("--") {
        let known = match word.split_once('=') {
            Some((name, _)) => command.long_with_value.contains(&name),
            None => command.long.contains(&word),
        };
        return known.then_some(nothing).ok_or_else(unknown);
    }
    let mut letters = word.chars().skip(1);
    while let Some(letter) = letters.next() {
        if command.with_value.contains(letter) {
            return Ok(Taken {
                takes_next: letters.next().is_none(),
                is_pattern: letter == 'e' && matches!(command.words, Words::PatternAndPaths),
            });
        }
        if !command.flags.contains(letter) {
            return Err(unknown());
        }
    }
    Ok(nothing)
}

/// The arguments of `find`: where it looks, then an expression of known tests.
fn expression(
    command: &'static Command,
    words: &[&str],
    paths: &mut Vec<String>,
) -> Result<(), NotKnown> {
    let begins = |word: &&&str| word.starts_with('-') || matches!(**word, "(" | ")" | "!" | ",");
    let starts = words.iter().take_while(|word| !begins(word)).count();
    let (places, tests) = words.split_at(starts);
    paths.extend(places.iter().map(|word| (*word).to_owned()));
    let mut tests = tests.iter();
    while let Some(word) = tests.next() {
        if command.long_with_value.contains(word) {
            tests.next();
        } else if !command.long.contains(word) {
            return Err(NotKnown::Flag {
                command: command.name.to_owned(),
                flag: (*word).to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<String>, String> {
        guarded(&CommandLine::analyse(line))
            .map(|paths| paths.0)
            .map_err(|unknown| unknown.to_string())
    }

    #[test]
    fn lines_that_read_give_their_paths() {
        for (line, paths) in [
            ("ls", vec![]),
            ("ls -la src 'a b'", vec!["src", "a b"]),
            ("cat a -n b -- -c", vec!["a", "b", "-c"]),
            ("head -n 5 a; tail -n5 b", vec!["a", "b"]),
            ("grep -rn needle src && wc -l src/x", vec!["src", "src/x"]),
            ("grep -e needle src", vec!["src"]),
            ("grep needle", vec![]),
            ("echo /etc/passwd | tr a b", vec![]),
            ("find src -name '*.rs' -type f | sort -u", vec!["src"]),
            ("find . \\( -name a -o -name b \\) -print", vec!["."]),
            ("find -maxdepth 2", vec![]),
            ("sort -k 2 - a", vec!["a"]),
            ("date '+%F' -u", vec![]),
            ("/etc/../bin/ls", vec!["never"]),
        ] {
            match read(line) {
                Ok(found) => assert_eq!(found, paths, "{line}"),
                Err(said) => assert!(paths == ["never"], "{line}: {said}"),
            }
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (line, says) in [
            ("rm a", "the command 'rm'"),
            ("/bin/cat a", "the command '/bin/cat'"),
            ("env cat a", "the command 'env'"),
            ("cd .. && ls", "the command 'cd'"),
            ("git status", "the command 'git'"),
            ("sed -n 1p a", "the command 'sed'"),
            ("xargs cat", "the command 'xargs'"),
            ("cat a > b", "redirection"),
            ("cat $(ls)", "is not known to only read"),
            ("cat $HOME/x", "is not known to only read"),
            ("x=1 cat a", "is not known to only read"),
            ("cat *.rs", "'*.rs' stands for names"),
            ("cat ~/x", "stands for names"),
            ("sort -o out a", "the flag '-o' of 'sort'"),
            ("sort -uoout a", "the flag '-uoout' of 'sort'"),
            ("sort --output=out a", "the flag '--output=out' of 'sort'"),
            ("sort --compress-program=sh a", "of 'sort' is not known"),
            ("sort a -o b", "the flag '-o' of 'sort'"),
            ("uniq a b", "the argument 'b' of 'uniq'"),
            ("grep -R x .", "the flag '-R' of 'grep'"),
            ("grep -f pats x", "the flag '-f' of 'grep'"),
            ("tail -f log", "the flag '-f' of 'tail'"),
            ("find . -delete", "the flag '-delete' of 'find'"),
            ("find . -exec rm {} +", "the flag '-exec' of 'find'"),
            ("find . -fprint out", "the flag '-fprint' of 'find'"),
            ("find -L .", "the flag '-L' of 'find'"),
            ("find -files0-from x", "the flag '-files0-from' of 'find'"),
            ("date 12312359", "the argument '12312359' of 'date'"),
            ("date -s now", "the flag '-s' of 'date'"),
            ("wc --files0-from=x", "of 'wc' is not known"),
            ("printf -v x y", "is not known to only read"),
            ("ls a; rm b", "the command 'rm'"),
            ("cat a &", "is not known to only read"),
            ("", "is not known to only read"),
        ] {
            let said = read(line).expect_err(line);
            assert!(said.contains(says), "{line}: {said}");
        }
    }

    #[test]
    fn a_wildcard_in_a_flags_value_is_one_too() {
        assert!(read("head -n * a").is_err());
        assert!(read("find . -name *.rs").is_err());
    }
}
