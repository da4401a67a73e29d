//! What a command runs: its program as it is found here and now, and the scripts among its words.
//!
//! Guarantees that no file is left out that a known interpreter would take for its script, that the shell text of `sh -c`
//! is looked through word by word, and that a text which cannot be looked through is said to be one. What a script
//! loads on its own is not seen. Never runs anything.

use std::path::{Path, PathBuf};

use crate::policy::{CommandLine, fold};
use crate::program;

/// Programs that take a text of commands behind `-c`.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash",
];
/// Programs that take code behind one of these options.
const CODE: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];
/// What interpreters add to a script's name.
const ADDED: &[&str] = &["py", "js", "cjs", "mjs", "ts"];
/// What interpreters run of a folder that is named as a script.
const IN_FOLDER: &[&str] = &["__main__.py", "__init__.py", "index.js", "package.json"];
/// Kinds of files that nothing runs: only the file itself matters, not its folder.
const DATA: &[&str] = &[
    "json", "toml", "yaml", "yml", "txt", "md", "ini", "cfg", "xml", "csv", "lock",
];
/// Commands that a shell has in itself and that run nothing.
const HARMLESS: &[&str] = &["exit", "true", "false", "echo", "printf", "test", ":"];
/// What a shell may still change in a word that stands without quotes.
const CHANGED_BY_SHELL: &[char] = &['*', '?', '[', ']', '{', '}', '~'];

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Files that are there: the program and the scripts, absolute, each under the name by which it was found.
    pub files: Vec<PathBuf>,
    /// Paths that the words name and that are not there: a script that is put there later would run.
    pub absent: Vec<PathBuf>,
    /// Why it is not sure that these are all, for people.
    pub doubt: Option<String>,
}

impl Runs {
    /// What a command runs. Relative words are looked for below each of the folders.
    pub fn of(command: &[String], folders: &[PathBuf]) -> Self {
        let mut runs = Self::default();
        runs.take(command, &mut folders.to_vec(), 0);
        runs.files.sort();
        runs.files.dedup();
        runs.absent.sort();
        runs.absent.dedup();
        runs
    }

    /// The files, and the folder of each that may load others from beside it; not a folder that is or holds one of `roots`.
    pub fn guarded<'a>(&self, roots: impl Iterator<Item = &'a Path> + Clone) -> Vec<PathBuf> {
        let holds = |path: &Path| roots.clone().any(|root| root.starts_with(path));
        let absent = self.absent.iter().filter(|path| !holds(path));
        let mut guarded: Vec<PathBuf> = absent.cloned().collect();
        for file in &self.files {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            for name in [file, &real] {
                guarded.push(name.clone());
                let folder = name.parent().filter(|_| !is_data(name));
                let inside = |folder: &&Path| {
                    roots.clone().any(|root| folder.starts_with(root)) && !holds(folder)
                };
                guarded.extend(folder.filter(inside).map(Path::to_owned));
            }
        }
        guarded
    }

    fn take(&mut self, command: &[String], folders: &mut Vec<PathBuf>, depth: usize) {
        let Some((program, words)) = command.split_first() else {
            return;
        };
        if let Some(found) = program::find(program) {
            self.files.push(absolute(&found));
        } else if program.contains('/') && depth == 0 {
            self.absent.push(absolute(Path::new(program)));
        }
        if depth > 0 && !program.starts_with('/') && program.contains('/') {
            self.word(program, folders);
        }
        let mut by: Vec<&str> = vec![name(program)];
        let mut before = program.as_str();
        for word in words {
            if is_text(&by, before) {
                self.text(word, folders, depth);
            } else if is_code(&by, before) {
                self.doubt(format!("it runs the code '{word}', which may load others"));
            } else {
                self.word(word, folders);
                if before == "-m" {
                    self.word(&word.replace('.', "/"), folders);
                }
            }
            by.push(name(word));
            before = word;
        }
    }

    /// A text for a shell. One simple command is a command; of anything else, every word is looked at.
    fn text(&mut self, text: &str, folders: &mut Vec<PathBuf>, depth: usize) {
        if let Some(words) = simple_command(text)
            && depth < 4
        {
            let first = words.first().map(String::as_str).unwrap_or_default();
            let known = first.contains('/') || HARMLESS.contains(&first);
            if !known && program::find(first).is_none() {
                self.doubt(format!("'{first}' is no program that is there"));
            }
            self.take(&words, folders, depth + 1);
            return;
        }
        self.doubt(format!(
            "the shell text '{text}' is more than one command of plain words"
        ));
        let mut changes_folder = false;
        let breaks = |c: char| c.is_whitespace() || "'\"`;&|<>()$\\=".contains(c);
        for word in text.split(breaks).filter(|word| !word.is_empty()) {
            if changes_folder {
                let further: Vec<PathBuf> = folders
                    .iter()
                    .map(|folder| fold(folder, Path::new(word)))
                    .filter(|folder| folder.is_dir())
                    .collect();
                folders.extend(further.into_iter().take(8));
            }
            changes_folder = word == "cd";
            self.word(word, folders);
            // Behind a variable stands what is below the folder that it holds.
            if let Some((_, below)) = word.split_once('/') {
                self.word(below, folders);
            }
            if let Some(found) = program::find(word) {
                self.files.push(absolute(&found));
            }
        }
    }

    /// The files that a word names, also behind `--option=`.
    fn word(&mut self, word: &str, folders: &[PathBuf]) {
        let value = word.split_once('=').map(|(_, value)| value);
        for path in [Some(word), value].into_iter().flatten() {
            if path.is_empty() {
                continue;
            }
            let mut found = false;
            for folder in folders {
                found |= self.path(&folder.join(path), &fold(folder, Path::new(path)));
            }
            let is_path = path.contains('/') && !path.starts_with('-') && !path.contains(':');
            if !found && is_path {
                let places = folders.iter().map(|folder| fold(folder, Path::new(path)));
                self.absent.extend(places);
            }
        }
    }

    /// A path as the kernel reads it and as it is written; they differ where `..` stands behind a link.
    fn path(&mut self, as_given: &Path, folded: &Path) -> bool {
        let given_leads = as_given.canonicalize().ok();
        if given_leads.is_some() && given_leads != folded.canonicalize().ok() {
            self.doubt(format!("'{}' has '..' behind a link", as_given.display()));
        }
        if folded.is_dir() {
            let inside = IN_FOLDER.iter().map(|name| folded.join(name));
            let known = self.files.len();
            self.files.extend(inside.filter(|file| file.is_file()));
            return self.files.len() > known;
        }
        if folded.exists() {
            self.files.push(folded.to_owned());
            return true;
        }
        let Some(stem) = folded.file_name().and_then(|name| name.to_str()) else {
            return false;
        };
        let with = ADDED
            .iter()
            .map(|ending| folded.with_file_name(format!("{stem}.{ending}")));
        let known = self.files.len();
        self.files.extend(with.filter(|file| file.is_file()));
        self.files.len() > known
    }

    fn doubt(&mut self, doubt: String) {
        self.doubt.get_or_insert(doubt);
    }
}

/// The words of a text, if a shell would run exactly them: one simple command of literal words, in which nothing is left
/// for the shell to change.
pub(super) fn simple_command(text: &str) -> Option<Vec<String>> {
    let line = CommandLine::analyse(text);
    let [command] = line.commands()? else {
        return None;
    };
    let words: Vec<String> = command.words().map(str::to_owned).collect();
    let plain = |word: &String| !word.contains(CHANGED_BY_SHELL);
    words.iter().all(plain).then_some(words)
}

/// Whether the word behind `before` is a text for a shell among the words so far.
fn is_text(by: &[&str], before: &str) -> bool {
    let cluster = before
        .strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'));
    cluster && by.iter().any(|name| SHELLS.contains(name))
}

fn is_code(by: &[&str], before: &str) -> bool {
    CODE.iter().any(|(program, options)| {
        options.contains(&before) && by.iter().any(|name| name.starts_with(program))
    })
}

fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_data(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| DATA.contains(&ending))
}

/// A path from the root. Links stay, and so does `..`, which the kernel reads in its own way.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(folder: &Path, command: &[&str]) -> Runs {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        Runs::of(&command, &[folder.to_owned()])
    }

    #[test]
    fn scripts_are_found_however_they_are_named() {
        let scratch = tempfile::tempdir().unwrap();
        let ws = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(ws.join("hooks")).unwrap();
        for file in ["hooks/check.py", "hooks/__main__.py", "hooks/h.sh"] {
            std::fs::write(ws.join(file), "").unwrap();
        }
        for (command, file) in [
            (&["python3", "hooks/check.py"][..], "hooks/check.py"),
            (&["python3", "hooks"], "hooks/__main__.py"),
            (&["python3", "-m", "hooks.check"], "hooks/check.py"),
            (&["node", "--require=hooks/h.sh"], "hooks/h.sh"),
            (&["/bin/sh", "-c", "hooks/h.sh pre"], "hooks/h.sh"),
            (&["/bin/sh", "-ec", "exec hooks/h.sh; echo"], "hooks/h.sh"),
            (&["sh", "-c", "cd hooks && ./h.sh"], "hooks/h.sh"),
            (&["sh", "-c", "\"$ROOT\"/hooks/h.sh"], "hooks/h.sh"),
            (
                &["/usr/bin/env", "A=b", "sh", "-c", "sh hooks/h.sh"],
                "hooks/h.sh",
            ),
        ] {
            let runs = runs(&ws, command);
            assert!(runs.files.contains(&ws.join(file)), "{command:?}: {runs:?}");
            let roots = [ws.clone()];
            let guarded = runs.guarded(roots.iter().map(PathBuf::as_path));
            assert!(guarded.contains(&ws.join("hooks")), "{guarded:?}");
            assert!(!guarded.contains(&ws), "{guarded:?}");
        }
        let gone = runs(&ws, &["python3", "hooks/gone.py"]);
        assert_eq!(gone.absent, [ws.join("hooks/gone.py")]);
    }

    #[test]
    fn a_text_that_cannot_be_looked_through_is_said_to_be_one() {
        let scratch = tempfile::tempdir().unwrap();
        for (text, plain) in [
            ("exit 0", true),
            ("sh x.sh", true),
            ("exit 0; sh x.sh", false),
            ("sh $X", false),
            ("sh *.sh", false),
            ("no-such-program-anywhere", false),
            ("no/such/program", true),
            ("eval x", false),
        ] {
            let doubt = runs(scratch.path(), &["sh", "-c", text]).doubt;
            assert_eq!(doubt.is_none(), plain, "{text}: {doubt:?}");
        }
        let code = runs(scratch.path(), &["python3", "-c", "import x"]);
        assert!(code.doubt.is_some());
    }
}
