//! The file of cases: TOML, one `[[case]]` for each call.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::model::{Gate, suggestion};
use crate::policy::{Decision, Rule};

/// The keys of a case.
const KEYS: [&str; 6] = ["name", "call", "input", "expect", "rule", "gate"];

/// Why a file of cases cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {what}", .file.display(), position(*line))]
pub struct TestFileError {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1; 0 where the file itself is the problem.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// `:7`, or nothing.
fn position(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(":{line}")
    }
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name; without one, the tool and the position.
    pub name: String,
    /// Where it begins in the file, from 1.
    pub line: usize,
    /// The tool that is called.
    pub call: String,
    /// The input.
    pub input: Map<String, Value>,
    /// What must become of it.
    pub expected: Expected,
}

/// What must become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The decision.
    pub decision: Decision,
    /// The text of a rule that must have decided.
    pub rule: Option<String>,
    /// For a denial: the gate.
    pub gate: Option<Gate>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    case: Vec<Spanned<RawCase>>,
}

#[derive(Deserialize)]
struct RawCase {
    name: Option<String>,
    call: String,
    input: Option<Spanned<toml::Table>>,
    expect: Spanned<String>,
    rule: Option<Spanned<String>>,
    gate: Option<Spanned<String>>,
}

/// Reads a file of cases.
///
/// # Errors
/// The first thing that is wrong, with its line; a file without a case too, because it would test nothing and pass.
pub fn read(file: &Path) -> Result<Vec<Case>, TestFileError> {
    let text = std::fs::read_to_string(file).map_err(|error| TestFileError {
        file: file.to_owned(),
        line: 0,
        what: format!("cannot be read: {error}"),
    })?;
    parse(file, &text)
}

/// Parses the text of a file of cases. The file is only named.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &Path, text: &str) -> Result<Vec<Case>, TestFileError> {
    Source { file, text }.cases()
}

/// A file's text, and what is wrong in it.
#[derive(Clone, Copy)]
struct Source<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn wrong(self, at: Option<usize>, what: String) -> TestFileError {
        TestFileError {
            file: self.file.to_owned(),
            line: at.map_or(0, |at| self.line(at)),
            what,
        }
    }

    fn line(self, at: usize) -> usize {
        let before = self.text.bytes().take(at);
        1 + before.filter(|byte| *byte == b'\n').count()
    }

    fn toml(self, error: &toml::de::Error) -> TestFileError {
        let at = error.span().map(|span| span.start);
        self.wrong(at, error.message().to_owned())
    }

    fn cases(self) -> Result<Vec<Case>, TestFileError> {
        let table = DeTable::parse(self.text).map_err(|error| self.toml(&error))?;
        self.check_keys(table.get_ref())?;
        let file: File = toml::from_str(self.text).map_err(|error| self.toml(&error))?;
        if file.case.is_empty() {
            return Err(self.wrong(
                None,
                "there is no [[case]] in it, so it would test nothing".to_owned(),
            ));
        }
        let cases = file.case.into_iter();
        cases.map(|case| self.case(case)).collect()
    }

    /// Every key is known.
    fn check_keys(self, table: &DeTable<'_>) -> Result<(), TestFileError> {
        for (key, value) in table.iter() {
            if key.get_ref() != "case" {
                return Err(self.unknown(key, "", ["case"].iter()));
            }
            let DeValue::Array(cases) = value.get_ref() else {
                continue;
            };
            for case in cases.iter() {
                let DeValue::Table(case) = case.get_ref() else {
                    continue;
                };
                if let Some((key, _)) = case
                    .iter()
                    .find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref()))
                {
                    return Err(self.unknown(key, "case.", KEYS.iter()));
                }
            }
        }
        Ok(())
    }

    fn unknown<'k>(
        self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        above: &str,
        known: impl Iterator<Item = &'k &'k str>,
    ) -> TestFileError {
        let name = key.get_ref();
        let known: Vec<&str> = known.copied().collect();
        let near = suggestion(name, known.iter().copied());
        let known = match above {
            "" => "The file holds [[case]] tables and nothing else".to_owned(),
            _ => format!("A case has the keys {}", known.join(", ")),
        };
        let what = format!("unknown key '{above}{name}'.{near} {known}");
        self.wrong(Some(key.span().start), what)
    }

    fn case(self, case: Spanned<RawCase>) -> Result<Case, TestFileError> {
        let line = self.line(case.span().start);
        let case = case.into_inner();
        let decision = self.word(
            "expect",
            &case.expect,
            &[Decision::Allow, Decision::Ask, Decision::Deny],
            Decision::as_str,
        )?;
        let gate = match &case.gate {
            Some(gate) if decision != Decision::Deny => {
                let what = format!(
                    "'gate' is for calls that are denied, and this one expects '{decision}'"
                );
                return Err(self.wrong(Some(gate.span().start), what));
            }
            Some(gate) => Some(self.word("gate", gate, &Gate::ALL, Gate::as_str)?),
            None => None,
        };
        let rule = match case.rule {
            Some(rule) => Some(self.rule(decision, rule)?),
            None => None,
        };
        let input = match case.input {
            Some(input) => self.input(input)?,
            None => Map::new(),
        };
        Ok(Case {
            name: case
                .name
                .unwrap_or_else(|| format!("{} in line {line}", case.call)),
            line,
            call: case.call,
            input,
            expected: Expected {
                decision,
                rule,
                gate,
            },
        })
    }

    /// One of a few words.
    fn word<T: Copy>(
        self,
        key: &str,
        found: &Spanned<String>,
        all: &[T],
        as_str: fn(T) -> &'static str,
    ) -> Result<T, TestFileError> {
        let text = found.get_ref();
        let words = || all.iter().map(|one| as_str(*one));
        let one = all.iter().find(|one| as_str(**one) == text);
        one.copied().ok_or_else(|| {
            let near = suggestion(text, words());
            let words = words().collect::<Vec<_>>().join(", ");
            let what = format!("'{key}' is one of {words}, and not '{text}'.{near}");
            self.wrong(Some(found.span().start), what)
        })
    }

    fn rule(self, effect: Decision, rule: Spanned<String>) -> Result<String, TestFileError> {
        let at = rule.span().start;
        let text = rule.into_inner();
        match Rule::parse(effect, &text, self.file, self.line(at)) {
            Ok(_) => Ok(text),
            Err(error) => Err(self.wrong(Some(at), error.to_string())),
        }
    }

    fn input(self, input: Spanned<toml::Table>) -> Result<Map<String, Value>, TestFileError> {
        let at = input.span().start;
        let fields = input.into_inner().into_iter();
        fields
            .map(|(key, value)| Ok((key, json(value)?)))
            .collect::<Result<_, String>>()
            .map_err(|what| self.wrong(Some(at), what))
    }
}

/// A TOML value as the JSON of an input.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| format!("an input holds no {number}: JSON has no such number"))?,
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => {
            return Err(format!(
                "an input holds no date: JSON has none. Put {time} in quotes to mean the text"
            ));
        }
        toml::Value::Array(items) => items.into_iter().map(json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let fields = table.into_iter();
            let fields = fields.map(|(key, value)| Ok((key, json(value)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cases(text: &str) -> Result<Vec<Case>, String> {
        parse(Path::new("cases.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn cases_are_read_with_their_lines() {
        let cases = cases(
            r#"
# Two cases.
[[case]]
name = "sources are writable"
call = "Write"
input = { file_path = "src/a.rs", content = "", deep = [1, 2.5, true, { x = "y" }] }
expect = "allow"
rule = "Write(src/**)"

[[case]]
call = "Read"
expect = "deny"
gate = "schema"
"#,
        )
        .unwrap();
        let first = cases.first().unwrap();
        assert_eq!(
            (first.name.as_str(), first.line),
            ("sources are writable", 3)
        );
        let input =
            json!({"content": "", "deep": [1, 2.5, true, {"x": "y"}], "file_path": "src/a.rs"});
        assert_eq!(Value::Object(first.input.clone()), input);
        assert_eq!(first.expected.rule.as_deref(), Some("Write(src/**)"));
        let second = cases.get(1).unwrap();
        assert_eq!((second.name.as_str(), second.line), ("Read in line 10", 10));
        assert_eq!(second.expected.decision, Decision::Deny);
        assert_eq!(second.expected.gate, Some(Gate::Schema));
        assert!(second.input.is_empty());
    }

    #[test]
    fn what_is_not_understood_stops_with_line_and_nearest_word() {
        let case = "[[case]]\ncall = \"Read\"\n";
        for (text, message) in [
            (
                "",
                "cases.toml: there is no [[case]] in it, so it would test nothing",
            ),
            (
                "case = []",
                "cases.toml: there is no [[case]] in it, so it would test nothing",
            ),
            (
                "\n[[cases]]\n",
                "cases.toml:2: unknown key 'cases'. Did you mean 'case'? The file holds [[case]] tables and nothing else",
            ),
            (
                &format!("{case}expects = \"allow\""),
                "cases.toml:3: unknown key 'case.expects'. Did you mean 'expect'? A case has the keys name, call, input, \
                 expect, rule, gate",
            ),
            (
                &format!("{case}qqq = 1"),
                "cases.toml:3: unknown key 'case.qqq'. A case has the keys name, call, input, expect, rule, gate",
            ),
            (
                &format!("{case}expect = \"alow\""),
                "cases.toml:3: 'expect' is one of allow, ask, deny, and not 'alow'. Did you mean 'allow'?",
            ),
            (
                &format!("{case}expect = \"allow\"\ngate = \"schema\""),
                "cases.toml:4: 'gate' is for calls that are denied, and this one expects 'allow'",
            ),
            (
                &format!("{case}expect = \"deny\"\nrule = \"Read(\""),
                "cases.toml:4: the rule 'Read(' has an opening parenthesis and does not end in a closing one",
            ),
            (
                &format!("{case}expect = \"deny\"\ninput = {{ a = 2026-01-01 }}"),
                "cases.toml:4: an input holds no date: JSON has none. Put 2026-01-01 in quotes to mean the text",
            ),
            (
                &format!("{case}expect = \"deny\"\ninput = {{ a = [nan] }}"),
                "cases.toml:4: an input holds no NaN: JSON has no such number",
            ),
            (case, "cases.toml:1: missing field `expect`"),
        ] {
            assert_eq!(cases(text).unwrap_err(), message, "{text}");
        }
    }

    #[test]
    fn words_and_types_are_named_with_their_line() {
        let case = "[[case]]\ncall = \"Read\"\n";
        let gate = cases(&format!("{case}expect = \"deny\"\ngate = \"permisson\"")).unwrap_err();
        assert!(
            gate.starts_with("cases.toml:4: 'gate' is one of parse, resolve"),
            "{gate}"
        );
        assert!(gate.ends_with("Did you mean 'permission'?"), "{gate}");
        for (text, start) in [
            ("[[case]\n", "cases.toml:1: "),
            ("[case]\ncall = \"Read\"", "cases.toml:1: "),
            ("[[case]]\ncall = 1\nexpect = \"deny\"", "cases.toml:2: "),
            (
                "[[case]]\ncall = \"a\"\nexpect = \"deny\"\ninput = \"x\"",
                "cases.toml:4: ",
            ),
        ] {
            let error = cases(text).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }
}
