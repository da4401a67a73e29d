//! What else a simple command may be: the command inside a wrapper, the text that a shell is given, the command behind
//! `find -exec`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::builtins::{assigns_variables, changes_meaning};
use super::code::{Code, code};
use super::git;
use super::options::{Call, Convention};
use super::pieces::{self, TEXT};
use super::programs::{Kind, kind};
use super::variables::assignment;
use super::view::View;
use super::word::Word;

/// Wrappers inside each other.
const MAX_LEVELS: usize = 24;

/// Wrappers that one command is looked into for, side by side or inside each other.
const MAX_WRAPPERS: usize = 256;

/// Parts of arguments that one command is looked into for.
const MAX_PIECES: usize = 4096;

/// The options of find behind which a command stands.
const EXEC: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Those of fd.
const FD_EXEC: &[&str] = &["-x", "-X", "--exec", "--exec-batch"];

/// What was found in one command.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Every reading.
    pub(super) views: Vec<View>,
    /// Texts of commands, constant, that it runs.
    pub(super) texts: Vec<String>,
    /// Texts that it might run, if it is a program that runs commands at all.
    pub(super) possible: Vec<String>,
    /// Why it is not sure what it runs.
    pub(super) undecidable: Option<&'static str>,
    /// Why later words may not mean what they say.
    pub(super) changes_meaning: Option<&'static str>,
    /// Whether it runs another command or code from its arguments.
    pub(super) wraps: bool,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Situation {
    /// Its input is the output of another command.
    pub(super) piped: bool,
    /// It is a command only if some program takes a text for one.
    pub(super) guess: bool,
}

/// Finds every reading of the command that begins at one of these positions.
pub(super) fn unwrap(words: &Arc<[Word]>, starts: &[usize], situation: Situation) -> Found {
    let mut unwrapping = Unwrapping {
        piped: situation.piped,
        ..Unwrapping::default()
    };
    for start in starts {
        unwrapping.steps.push(Step {
            view: View {
                words: Arc::clone(words),
                start: *start,
                end: words.len(),
            },
            level: 0,
            appended: false,
            sure: !situation.guess,
            guess: situation.guess,
        });
    }
    while let Some(step) = unwrapping.steps.pop() {
        unwrapping.take(&step);
    }
    unwrapping.found
}

#[derive(Clone, Debug)]
struct Step {
    view: View,
    level: usize,
    /// Whether more arguments come from the input, as xargs gives them.
    appended: bool,
    /// Whether it is sure that the command word stands here.
    sure: bool,
    /// Whether it is a command only if a program that is not known runs it. It is compared with rules, and nothing in it
    /// is a reason to doubt.
    guess: bool,
}

/// The identity of a list of words, which lives as long as a view of it, and a position in it.
type Place = (*const Word, usize);

#[derive(Debug, Default)]
struct Unwrapping {
    steps: Vec<Step>,
    seen: HashSet<(Place, usize, bool, bool)>,
    /// By where a view ends, and whether that is a guess: from where on every word may be a command word.
    spread: HashMap<(Place, bool), usize>,
    /// The same for guesses; and whether whole words were among them, or only their parts.
    guessed: HashMap<(*const Word, usize, bool), usize>,
    wrappers: usize,
    pieces: usize,
    piped: bool,
    /// Whether the step that is taken is a guess.
    guessing: bool,
    found: Found,
}

impl Unwrapping {
    fn doubt(&mut self, reason: &'static str) {
        if !self.guessing {
            self.found.undecidable.get_or_insert(reason);
        }
    }

    fn limit(&mut self, reason: &'static str) {
        self.found.undecidable.get_or_insert(reason);
    }

    fn wraps(&mut self) {
        self.found.wraps |= !self.guessing;
        self.wrappers += 1;
    }

    fn text(&mut self, text: &str) {
        let texts = match self.guessing {
            true => &mut self.found.possible,
            false => &mut self.found.texts,
        };
        texts.push(text.to_owned());
    }

    fn take(&mut self, step: &Step) {
        let view = &step.view;
        let place = (view.words.as_ptr(), view.start);
        self.guessing = step.guess;
        if !self
            .seen
            .insert((place, view.end, step.appended, step.guess))
        {
            return;
        }
        let words = view.words();
        let Some(first) = words.first() else {
            if step.appended {
                self.doubt("a command that comes from the input of xargs");
            }
            return;
        };
        self.found.views.push(view.clone());
        if step.level > MAX_LEVELS || self.wrappers > MAX_WRAPPERS {
            self.limit("more wrappers than are looked into");
            return;
        }
        let Some(text) = first.known() else {
            self.doubt("a command word that is not constant");
            return;
        };
        if step.sure
            && let Some(reason) = changes_meaning(words)
        {
            self.found.changes_meaning.get_or_insert(reason);
        }
        let name = base_name(text).to_lowercase();
        if assigns_variables(&name) {
            self.assigned(words.iter().skip(1), step);
        }
        if self.code(&name, words) {
            return;
        }
        if let Some(convention) = Convention::of(&name) {
            self.wrapper(convention, &name, step);
        } else if matches!(name.as_str(), "find" | "gfind" | "bfs" | "fd" | "fdfind") {
            self.exec(&name, step);
        } else {
            self.loose(&name, step);
        }
    }

    /// The text that a shell or an interpreter is given; whether it is one, and runs nothing else.
    fn code(&mut self, name: &str, words: &[Word]) -> bool {
        let (code, runs_text) = code(name, words, self.piped);
        if runs_text {
            self.wraps();
        }
        match code {
            Code::None => {}
            Code::Text(text) => self.text(text),
            Code::Partly(text, reason) => {
                self.doubt(reason);
                self.text(text);
            }
            Code::Unread(reason) => self.doubt(reason),
        }
        runs_text
    }

    /// Variables that are set for other commands: their values may be code.
    fn assigned<'a>(&mut self, words: impl Iterator<Item = &'a Word>, step: &Step) {
        for assignment in words.filter_map(assignment) {
            if assignment.carries_code {
                self.doubt("a variable that may carry code to a command");
            }
            self.piece(assignment.value, &[], step);
        }
    }

    fn wrapper(&mut self, convention: &Convention, name: &str, step: &Step) {
        self.wraps();
        let words = step.view.words();
        let Some(call) = convention.read(words) else {
            if words.iter().any(|word| !word.is_literal()) {
                self.doubt("a wrapper whose options are not constant");
            }
            if convention.assigns() {
                self.assigned(words.iter().skip(1), step);
            }
            self.spread(step);
            return;
        };
        self.assigned(call.assigned.iter().copied(), step);
        match name {
            "command" if call.has(&["v", "V"]) => return,
            "sudo" | "doas"
                if call.has(&["s", "i", "shell", "login"]) && call.command >= words.len() =>
            {
                self.doubt("a shell that takes commands from its input");
            }
            "env" if call.has(&["S", "split-string"]) => {
                self.doubt("a text that env splits in its own way");
                let text = call
                    .options
                    .iter()
                    .find(|(name, _)| matches!(*name, "S" | "split-string"));
                if let Some((_, Some(text))) = text {
                    self.text(text);
                }
                self.spread(step);
            }
            _ => {}
        }
        let mut next = Step {
            view: View {
                start: step.view.start + call.command,
                ..step.view.clone()
            },
            level: step.level + 1,
            appended: step.appended,
            sure: step.sure,
            guess: step.guess,
        };
        if matches!(name, "xargs" | "gxargs") {
            // Without a command, xargs runs echo.
            if call.command >= words.len() && !step.appended {
                return;
            }
            match replaced(&call) {
                Some(token) => next.view = next.view.with_unknown(token),
                None => next.appended = true,
            }
        }
        self.steps.push(next);
    }

    /// The commands of find and fd: each up to `;`, or to a `+` behind `{}`.
    fn exec(&mut self, name: &str, step: &Step) {
        let words = step.view.words();
        let options = match name {
            "fd" | "fdfind" => FD_EXEC,
            _ => EXEC,
        };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let attached = match options == FD_EXEC {
                true => fd_command(word.text()),
                false => None,
            };
            if attached.is_none() && !options.iter().any(|option| word.could_become(option)) {
                continue;
            }
            if !word.is_literal() && word.text().contains('-') {
                self.doubt("an option of find that is not constant");
            }
            self.wraps();
            let behind = words.get(at..).unwrap_or_default();
            let length = behind
                .iter()
                .position(|word| matches!(word.text(), ";" | "+"))
                .unwrap_or(behind.len());
            let start = step.view.start + at;
            let mut command = View {
                start,
                end: start + length,
                words: Arc::clone(&step.view.words),
            };
            if let Some(attached) = attached.filter(|attached| !attached.is_empty()) {
                command = View::whole(pieces::command(attached, command.words()).into());
            }
            at += length;
            self.steps.push(Step {
                view: command.with_unknown("{}"),
                level: step.level + 1,
                appended: false,
                sure: step.sure,
                guess: step.guess,
            });
        }
        if step.appended {
            self.doubt("a command that may come from the input of xargs");
        }
    }

    fn loose(&mut self, name: &str, step: &Step) {
        let words = step.view.words();
        match kind(name, words) {
            Kind::Inert => {}
            Kind::Runs { starts_shell } => {
                self.wraps();
                if starts_shell {
                    self.doubt("a program that may take commands from its input");
                }
                if step.appended {
                    self.doubt("a command that may come from the input of xargs");
                }
                self.spread(step);
                self.guess(step, 1..words.len(), false);
            }
            // Of what is a guess itself, every later word is one already.
            Kind::Options(_) | Kind::Git | Kind::Unknown if step.guess => {}
            Kind::Options(prose) => self.options(step, prose),
            Kind::Git => {
                for range in git::running_arguments(words) {
                    self.guess(step, range, true);
                }
            }
            Kind::Unknown => self.guess(step, 1..words.len(), true),
        }
    }

    /// Only values of options may be commands, but not those of these options.
    fn options(&mut self, step: &Step, prose: &[&str]) {
        let words = step.view.words();
        let mut behind_option = false;
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            let is_option = text.len() > 1 && text.starts_with('-');
            let is_prose = is_option && prose.contains(&name);
            if behind_option || (is_option && value.is_some() && !is_prose) {
                self.guess(step, at..at + 1, true);
            }
            behind_option = is_option && value.is_none() && !is_prose;
        }
    }

    /// Each of these words may be a command's name or a text of commands, if the program runs any; so may parts of them.
    fn guess(&mut self, step: &Step, range: std::ops::Range<usize>, whole: bool) {
        let view = &step.view;
        let words = view.words();
        let mut range = range;
        if range.end == words.len() {
            // What an earlier step looked into, up to the same end, is not looked into again.
            let place = (view.words.as_ptr(), view.end, whole);
            let from = view.start + range.start;
            let until = self.guessed.get(&place).copied().unwrap_or(view.end);
            if from >= until {
                return;
            }
            self.guessed.insert(place, from);
            range.end = until - view.start;
        }
        let guessing = std::mem::replace(&mut self.guessing, true);
        for at in range {
            let Some(word) = words.get(at) else {
                break;
            };
            if whole && word.is_literal() {
                self.steps.push(Step {
                    view: View {
                        start: view.start + at,
                        ..view.clone()
                    },
                    level: step.level + 1,
                    appended: false,
                    sure: false,
                    guess: true,
                });
            }
            self.piece(word.text(), words.get(at + 1..).unwrap_or_default(), step);
        }
        self.guessing = guessing;
    }

    /// The parts of one text, each perhaps a command that goes on with these words.
    fn piece(&mut self, text: &str, following: &[Word], step: &Step) {
        let pieces = pieces::pieces(text);
        self.pieces += pieces.names.len() + pieces.texts.len();
        if self.pieces > MAX_PIECES {
            self.limit("more arguments than are looked into");
            return;
        }
        self.found.possible.extend(pieces.texts);
        for name in pieces.names {
            self.steps.push(Step {
                view: View::whole(pieces::command(&name, following).into()),
                level: step.level + 1,
                appended: false,
                sure: false,
                guess: true,
            });
        }
    }

    /// Every later word may be the command word, or a text of commands.
    fn spread(&mut self, step: &Step) {
        let view = &step.view;
        let place = ((view.words.as_ptr(), view.end), step.guess);
        let from = view.start + 1;
        let until = self.spread.get(&place).copied().unwrap_or(view.end);
        if from >= until {
            return;
        }
        self.spread.insert(place, from);
        for start in from..until {
            let Some(word) = view.words.get(start) else {
                break;
            };
            if word.text().contains(TEXT) {
                if !word.is_literal() {
                    self.doubt("a command text that is not constant");
                }
                self.text(word.text());
            }
            // A word with wildcards may be any argument, and is no reason to doubt the rest.
            if word.is_literal() {
                self.steps.push(Step {
                    view: View {
                        start,
                        ..view.clone()
                    },
                    level: step.level + 1,
                    appended: step.appended,
                    sure: false,
                    guess: step.guess,
                });
            }
        }
    }
}

/// What is attached to an option of fd behind which a command stands: `-xrm`, `-Hx`, `--exec=rm`.
fn fd_command(text: &str) -> Option<&str> {
    if let Some(long) = text.strip_prefix("--exec") {
        let long = long.strip_prefix("-batch").unwrap_or(long);
        return match long {
            "" => Some(""),
            value => value.strip_prefix('='),
        };
    }
    let cluster = text.strip_prefix('-')?;
    let (before, command) = cluster.split_once(['x', 'X'])?;
    let flags = before.chars().all(|c| c.is_ascii_alphanumeric());
    flags.then_some(command.strip_prefix('=').unwrap_or(command))
}

/// The text that xargs replaces by a line of its input.
fn replaced<'a>(call: &Call<'a>) -> Option<&'a str> {
    let (_, value) = call
        .options
        .iter()
        .rfind(|(name, _)| matches!(*name, "I" | "J" | "i" | "replace"))?;
    Some(value.unwrap_or("{}"))
}

/// What follows the last slash.
pub(super) fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}
