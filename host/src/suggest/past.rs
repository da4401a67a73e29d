//! Past calls: the lines of a journal that say what rules were wanted.
//!
//! Reads only the fields that it needs, so that records of other versions are understood as long as those are the same.

use std::io::{self, BufRead, Read as _};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::model::{Subject, SubjectKind};

/// The longest line that is read, bytes: many times what a record has. A longer one is no record.
const MAX_LINE: u64 = 4 << 20;

/// How a call that counts ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastEnd {
    /// Somebody was asked and approved it.
    Approved,
    /// It was refused for want of a rule that allows it, or of somebody to ask.
    Wanting,
    /// A deny rule, the protected set or a person refused it.
    Refused,
}

/// One call that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCall {
    /// When it ended.
    pub time: Timestamp,
    /// The tool that was asked for.
    pub tool: String,
    /// What it was about: paths absolute.
    pub subjects: Vec<Subject>,
    /// How it ended.
    pub end: PastEnd,
}

/// The calls that count, of one journal or of several.
#[derive(Clone, Debug, Default)]
pub struct PastCalls {
    /// In the order of the lines.
    pub calls: Vec<PastCall>,
    /// Records that were read, those that do not count too.
    pub records: usize,
    /// Lines that are not JSON: cut by a crash, or longer than 4 MiB.
    pub torn: usize,
    /// Lines that are JSON and no record.
    pub foreign: usize,
}

/// What is needed of a record.
#[derive(Deserialize)]
struct Line {
    time: Timestamp,
    tool: String,
    ending: String,
    #[serde(default)]
    approved_by: Option<String>,
    #[serde(default)]
    detail: Option<Value>,
    #[serde(default)]
    subjects: Vec<LineSubject>,
}

#[derive(Deserialize)]
struct LineSubject {
    kind: String,
    value: String,
}

impl PastCalls {
    /// Adds a journal's records from `since` on. A line that is no record is counted and passed over.
    ///
    /// # Errors
    /// The journal cannot be read on.
    pub fn add(&mut self, journal: &mut impl BufRead, since: Option<Timestamp>) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = journal.take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            if u64::try_from(read).is_ok_and(|read| read >= MAX_LINE) && !line.ends_with(b"\n") {
                journal.skip_until(b'\n')?;
                self.torn += 1;
            } else if !line.trim_ascii().is_empty() {
                self.add_line(&line, since);
            }
        }
    }

    fn add_line(&mut self, line: &[u8], since: Option<Timestamp>) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            self.torn += 1;
            return;
        };
        let Ok(record) = serde_json::from_value::<Line>(value) else {
            self.foreign += 1;
            return;
        };
        let Some(subjects) = record.subjects.iter().map(subject).collect() else {
            self.foreign += 1;
            return;
        };
        self.records += 1;
        if since.is_some_and(|since| record.time < since) {
            return;
        }
        if let Some(end) = end(&record) {
            self.calls.push(PastCall {
                time: record.time,
                tool: record.tool,
                subjects,
                end,
            });
        }
    }
}

fn subject(line: &LineSubject) -> Option<Subject> {
    let kind = [SubjectKind::Command, SubjectKind::Path, SubjectKind::Url]
        .into_iter()
        .find(|kind| kind.as_str() == line.kind)?;
    Some(Subject {
        kind,
        value: line.value.clone(),
    })
}

/// None for the many calls that ran without a question, or were refused for another reason.
fn end(record: &Line) -> Option<PastEnd> {
    if record.ending != "denied" {
        return record.approved_by.as_ref().map(|_| PastEnd::Approved);
    }
    let reason = record.detail.as_ref()?.get("reason")?.as_str()?;
    match reason {
        "nothing-allows" | "no-approver" | "approval-pending" => Some(PastEnd::Wanting),
        "rule" | "protected" | "not-approved" => Some(PastEnd::Refused),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DenialReason, RuleSource};
    use serde_json::json;

    fn read(journal: &str, since: Option<&str>) -> PastCalls {
        let mut calls = PastCalls::default();
        let since = since.map(|since| since.parse().unwrap());
        calls.add(&mut journal.as_bytes(), since).unwrap();
        calls
    }

    fn record(ending: &str, detail: Value, approved_by: Option<&str>) -> String {
        let subjects = json!([{ "kind": "path", "value": "/ws/a" }]);
        let line = json!({
            "time": "2026-02-10T12:00:00Z", "tool": "Write", "ending": ending, "detail": detail,
            "approved_by": approved_by, "subjects": subjects, "more": [1],
        });
        format!("{line}\n")
    }

    /// The words of this module are those of the reasons themselves.
    #[test]
    fn reasons_are_known_by_their_own_words() {
        let rule = RuleSource {
            rule: "Write(a)".into(),
            effect: "deny",
            file: "f".into(),
            line: 1,
        };
        let by = "somebody".to_owned();
        for (reason, end) in [
            (
                DenialReason::NothingAllows { mode: "auto" },
                Some(PastEnd::Wanting),
            ),
            (DenialReason::NoApprover, Some(PastEnd::Wanting)),
            (
                DenialReason::ApprovalPending { id: "x".into() },
                Some(PastEnd::Wanting),
            ),
            (
                DenialReason::Rule { rules: vec![rule] },
                Some(PastEnd::Refused),
            ),
            (
                DenialReason::Protected {
                    pattern: "x".into(),
                },
                Some(PastEnd::Refused),
            ),
            (
                DenialReason::NotApproved { by, message: None },
                Some(PastEnd::Refused),
            ),
            (DenialReason::PolicyChanged, None),
            (DenialReason::Malformed { what: "x".into() }, None),
        ] {
            let detail = serde_json::to_value(&reason).unwrap();
            let calls = read(&record("denied", detail, None), None).calls;
            assert_eq!(calls.first().map(|call| call.end), end, "{reason:?}");
        }
    }

    #[test]
    fn what_was_approved_counts_however_it_ended_and_what_ran_unasked_does_not() {
        for (ending, by, counts) in [
            ("done", Some("a person"), true),
            ("failed", Some("a person"), true),
            ("done", None, false),
            ("host-error", None, false),
        ] {
            let calls = read(&record(ending, Value::Null, by), None);
            assert_eq!(calls.calls.len(), usize::from(counts), "{ending} {by:?}");
            assert_eq!(calls.records, 1);
        }
    }

    #[test]
    fn torn_and_foreign_lines_are_counted_and_passed_over() {
        let good = record("done", Value::Null, Some("a person"));
        let unknown_kind = good.replace("\"path\"", "\"planet\"");
        let half = good.get(..40).unwrap();
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 10);
        let journal =
            format!("{half}\n{good}\n{{\"a\":1}}\n[]\n{unknown_kind}{long}\n\u{0}\n{good}{half}");
        let calls = read(&journal, None);
        assert_eq!(calls.calls.len(), 2);
        assert_eq!((calls.records, calls.torn, calls.foreign), (2, 4, 3));
    }

    #[test]
    fn older_records_do_not_count() {
        let journal = record("done", Value::Null, Some("a person"));
        assert_eq!(read(&journal, Some("2026-02-10T12:00:00Z")).calls.len(), 1);
        assert_eq!(read(&journal, Some("2026-02-10T12:00:01Z")).calls.len(), 0);
    }
}
