//! What a call of Grep takes, and what it means for the search.

use toolgate_guest::ToolInput;
use toolgate_guest::files::Selection;

use crate::context::Shown;
use crate::pattern::{Flags, Pattern};
use crate::search::{Mode, Paging};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Regular expression to search for, such as `fn \w+\(`. A special character meant literally needs a backslash.
    pattern: String,
    /// File or directory to search: absolute, or relative to the workspace root.
    #[input(default = ".".to_owned())]
    pub(crate) path: String,
    /// Only search files whose path matches this glob, such as `*.js` or `src/**/*.{ts,tsx}`. With `!` before it:
    /// leave those out.
    glob: Option<String>,
    /// Only search files of this type, by ripgrep's names: `rust`, `js`, `py`.
    #[input(name = "type")]
    file_type: Option<String>,
    /// What to give: the matching lines, the paths of files with a match, or the number of matching lines of each file.
    #[input(default = OutputMode::FilesWithMatches)]
    output_mode: OutputMode,
    /// Ignore letter case.
    #[input(name = "-i", default = false)]
    ignore_case: bool,
    /// Show line numbers. Only with output_mode "content".
    #[input(name = "-n", default = true)]
    line_numbers: bool,
    /// Lines to show after each match. Only with output_mode "content".
    #[input(name = "-A")]
    after: Option<u32>,
    /// Lines to show before each match. Only with output_mode "content".
    #[input(name = "-B")]
    before: Option<u32>,
    /// Lines to show before and after each match, where -A or -B do not say otherwise. Only with output_mode "content".
    #[input(name = "-C")]
    context: Option<u32>,
    /// Let matches span lines: `.` matches a line feed too.
    #[input(default = false)]
    multiline: bool,
    /// Most lines (output_mode "content") or files to give. 0: as many as fit.
    head_limit: Option<u32>,
    /// Lines or files to pass over first, to go on behind an earlier reply.
    #[input(default = 0)]
    offset: u32,
}

/// What to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToolInput)]
pub enum OutputMode {
    /// The matching lines.
    Content,
    /// The paths of files with a match.
    FilesWithMatches,
    /// The number of matching lines of each file.
    Count,
}

impl Input {
    pub(crate) fn pattern(&self) -> Result<Pattern, String> {
        Pattern::new(
            &self.pattern,
            Flags {
                ignore_case: self.ignore_case,
                multiline: self.multiline,
            },
        )
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.output_mode {
            OutputMode::FilesWithMatches => Mode::Files,
            OutputMode::Count => Mode::Count,
            OutputMode::Content => Mode::Content(Shown {
                numbers: self.line_numbers,
                before: lines(self.before.or(self.context)),
                after: lines(self.after.or(self.context)),
            }),
        }
    }

    pub(crate) fn paging(&self) -> Paging {
        Paging {
            offset: self.offset,
            limit: self.head_limit,
        }
    }

    pub(crate) fn selection(&self) -> Selection {
        let mut selection = Selection {
            respect_ignore: true,
            ..Selection::default()
        };
        match self
            .glob
            .as_deref()
            .map(|glob| (glob, glob.strip_prefix('!')))
        {
            Some((_, Some(excluded))) => selection.exclude.push(excluded.to_owned()),
            Some((included, None)) if !included.is_empty() => {
                selection.include.push(included.to_owned())
            }
            _ => {}
        }
        selection
            .types
            .extend(self.file_type.clone().filter(|name| !name.is_empty()));
        selection
    }
}

fn lines(count: Option<u32>) -> usize {
    count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_guest::{Value, bind, json};

    fn input(value: Value) -> Input {
        bind(&value.to_string()).unwrap()
    }

    #[test]
    fn defaults() {
        let input = input(json!({ "pattern": "x" }));
        assert_eq!(input.path, ".");
        assert_eq!(input.mode(), Mode::Files);
        assert_eq!(
            input.paging(),
            Paging {
                offset: 0,
                limit: None
            }
        );
        assert_eq!(
            input.selection(),
            Selection {
                respect_ignore: true,
                ..Selection::default()
            }
        );
        assert!(!input.pattern().unwrap().is_multiline());
    }

    #[test]
    fn wire_names() {
        let input = input(json!({
            "pattern": "X", "path": "/ws", "glob": "*.{js,ts}", "type": "js", "output_mode": "content", "-i": true,
            "-n": false, "-A": 1, "-B": 2, "-C": 9, "multiline": true, "head_limit": 5, "offset": 6
        }));
        assert_eq!(
            input.mode(),
            Mode::Content(Shown {
                numbers: false,
                before: 2,
                after: 1
            })
        );
        assert_eq!(
            input.paging(),
            Paging {
                offset: 6,
                limit: Some(5)
            }
        );
        let selection = input.selection();
        assert_eq!(
            (selection.include, selection.types),
            (vec!["*.{js,ts}".to_owned()], vec!["js".to_owned()])
        );
        assert!(input.pattern().unwrap().is_multiline());
    }

    #[test]
    fn context_stands_for_both_sides() {
        let both = input(json!({ "pattern": "x", "output_mode": "content", "-C": 3, "-A": 0 }));
        assert_eq!(
            both.mode(),
            Mode::Content(Shown {
                numbers: true,
                before: 3,
                after: 0
            })
        );
    }

    #[test]
    fn a_negated_glob_leaves_out() {
        let selection = input(json!({ "pattern": "x", "glob": "!*.min.js" })).selection();
        assert_eq!(
            (selection.include, selection.exclude),
            (Vec::new(), vec!["*.min.js".to_owned()])
        );
    }

    #[test]
    fn wrong_fields_are_refused() {
        let faults = |value: Value| bind::<Input>(&value.to_string()).unwrap_err().to_string();
        let unknown = faults(json!({ "pattern": "x", "n": true }));
        assert!(
            unknown.contains("'n'") && unknown.contains("'-n'"),
            "{unknown}"
        );
        let wrong = faults(json!({ "pattern": "5", "-A": "1; touch /ws/m" }));
        assert!(wrong.contains("'-A' must be an integer"), "{wrong}");
    }
}
