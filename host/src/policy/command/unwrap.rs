//! What else a simple command may be: the command inside a wrapper, the text that a shell is given, the command behind
//! `find -exec`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::builtins::changes_meaning;
use super::code::{Code, code};
use super::options::{Call, Convention};
use super::programs;
use super::word::Word;

/// Wrappers inside each other.
const MAX_LEVELS: usize = 24;

/// Wrappers that one command is looked into for, side by side or inside each other.
const MAX_WRAPPERS: usize = 256;

/// The options of find and fd behind which a command stands.
const EXEC: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-x",
    "-X",
    "--exec",
    "--exec-batch",
];

/// One reading of a command: some of its words.
#[derive(Clone, Debug)]
pub(super) struct View {
    words: Arc<[Word]>,
    start: usize,
    end: usize,
}

impl View {
    /// All of the words.
    pub(super) fn whole(words: Arc<[Word]>) -> Self {
        Self {
            start: 0,
            end: words.len(),
            words,
        }
    }

    /// The words, the command word first.
    pub(super) fn words(&self) -> &[Word] {
        self.words.get(self.start..self.end).unwrap_or_default()
    }
}

/// What was found in one command.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Every reading.
    pub(super) views: Vec<View>,
    /// Texts of commands, constant, that it runs.
    pub(super) texts: Vec<String>,
    /// Why it is not sure what it runs.
    pub(super) undecidable: Option<&'static str>,
    /// Why later words may not mean what they say.
    pub(super) changes_meaning: Option<&'static str>,
    /// Whether it runs another command or code from its arguments.
    pub(super) wraps: bool,
}

/// Finds every reading of the command that begins at one of these positions.
pub(super) fn unwrap(words: &Arc<[Word]>, starts: &[usize]) -> Found {
    let mut unwrapping = Unwrapping::default();
    for start in starts {
        unwrapping.steps.push(Step {
            view: View {
                words: Arc::clone(words),
                start: *start,
                end: words.len(),
            },
            level: 0,
            appended: false,
            sure: true,
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
}

/// The identity of a list of words, which lives as long as a view of it, and a position in it.
type Place = (*const Word, usize);

#[derive(Debug, Default)]
struct Unwrapping {
    steps: Vec<Step>,
    seen: HashSet<(Place, usize, bool)>,
    /// By where a view ends, from where on every word may be a command word.
    spread: HashMap<Place, usize>,
    wrappers: usize,
    found: Found,
}

impl Unwrapping {
    fn doubt(&mut self, reason: &'static str) {
        self.found.undecidable.get_or_insert(reason);
    }

    fn wraps(&mut self) {
        self.found.wraps = true;
        self.wrappers += 1;
    }

    fn take(&mut self, step: &Step) {
        let view = &step.view;
        let place = (view.words.as_ptr(), view.start);
        if !self.seen.insert((place, view.end, step.appended)) {
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
            self.doubt("more wrappers than are looked into");
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
        let (code, runs_text) = code(&name, words);
        if runs_text {
            self.wraps();
        }
        match code {
            Code::None => {}
            Code::Text(text) => self.found.texts.push(text.to_owned()),
            Code::Partly(text, reason) => {
                self.doubt(reason);
                self.found.texts.push(text.to_owned());
            }
            Code::Unread(reason) => self.doubt(reason),
        }
        if let Some(convention) = Convention::of(&name) {
            self.wrapper(convention, &name, step);
        } else if matches!(name.as_str(), "find" | "gfind" | "fd" | "fdfind") {
            self.exec(step);
        } else {
            self.loose(&name, step);
        }
    }

    fn wrapper(&mut self, convention: &Convention, name: &str, step: &Step) {
        self.wraps();
        let words = step.view.words();
        let Some(call) = convention.read(words) else {
            if words.iter().any(|word| !word.is_literal()) {
                self.doubt("a wrapper whose options are not constant");
            }
            self.spread(step);
            return;
        };
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
                self.found
                    .texts
                    .extend(text.and_then(|(_, value)| value.map(str::to_owned)));
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
        };
        if matches!(name, "xargs" | "gxargs") {
            // Without a command, xargs runs echo.
            if call.command >= words.len() && !step.appended {
                return;
            }
            match replaced(&call) {
                Some(token) => next.view = with_unknown(&next.view, token),
                None => next.appended = true,
            }
        }
        self.steps.push(next);
    }

    /// The commands of find: each up to `;`, or to a `+` behind `{}`.
    fn exec(&mut self, step: &Step) {
        let words = step.view.words();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if !EXEC.iter().any(|option| word.could_become(option)) {
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
            let command = View {
                start,
                end: start + length,
                words: Arc::clone(&step.view.words),
            };
            at += length;
            self.steps.push(Step {
                view: with_unknown(&command, "{}"),
                level: step.level + 1,
                appended: false,
                sure: step.sure,
            });
        }
        if step.appended {
            self.doubt("a command that may come from the input of xargs");
        }
    }

    fn loose(&mut self, name: &str, step: &Step) {
        let Some(starts_shell) = programs::runs_others(name, step.view.words()) else {
            return;
        };
        self.wraps();
        if starts_shell {
            self.doubt("a program that may take commands from its input");
        }
        if step.appended {
            self.doubt("a command that may come from the input of xargs");
        }
        self.spread(step);
    }

    /// Every later word may be the command word, or a text of commands.
    fn spread(&mut self, step: &Step) {
        let view = &step.view;
        let place = (view.words.as_ptr(), view.end);
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
            if word
                .text()
                .contains([' ', '\t', '\n', ';', '|', '&', '`', '$'])
            {
                if !word.is_literal() {
                    self.doubt("a command text that is not constant");
                }
                self.found.texts.push(word.text().to_owned());
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
                });
            }
        }
    }
}

/// The text that xargs replaces by a line of its input.
fn replaced<'a>(call: &Call<'a>) -> Option<&'a str> {
    let (_, value) = call
        .options
        .iter()
        .rfind(|(name, _)| matches!(*name, "I" | "J" | "i" | "replace"))?;
    Some(value.unwrap_or("{}"))
}

/// A copy of the view in which only another program knows what stands at `token`.
fn with_unknown(view: &View, token: &str) -> View {
    View::whole(
        view.words()
            .iter()
            .map(|word| match word.text().contains(token) {
                true => word.with_unknown(token),
                false => word.clone(),
            })
            .collect(),
    )
}

/// What follows the last slash.
pub(super) fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}
