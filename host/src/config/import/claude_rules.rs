//! Permission rules of Claude Code, as rules of ours.

use std::path::Path;

use super::claude_paths::Places;
use crate::policy::{Decision, Rule, UrlPattern};

/// What one rule becomes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) rules: Vec<String>,
    /// How they differ from the rule: allow less, or refuse or ask more.
    pub(super) note: Option<String>,
    /// What of the rule they do not cover.
    pub(super) missing: Option<String>,
}

/// Why a rule is not carried over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) why: String,
    /// Something that exists here goes without the rule.
    pub(super) weaker: bool,
}

/// What rules are read for.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub(super) places: &'a Places,
    /// The names of the tools of this host.
    pub(super) tools: &'a [&'a str],
}

/// The tools that a `Read` rule and an `Edit` rule cover.
const READING: &[&str] = &["Read", "Grep", "Glob", "LS"];
const EDITING: &[&str] = &["Edit", "Write", "MultiEdit"];
/// How many labels before a domain a rule for all names below it can name.
const LABELS: usize = 4;

impl Rules<'_> {
    /// Carries a rule over. Every line that it gives is a rule here.
    pub(super) fn translate(&self, effect: Decision, text: &str) -> Result<Lines, Left> {
        let translated = self.dispatch(effect, text);
        let lines = translated.map_err(|left| Left {
            weaker: left.weaker && effect != Decision::Allow,
            ..left
        })?;
        for rule in &lines.rules {
            if let Err(error) = Rule::parse(effect, rule, Path::new("import"), 0) {
                return Err(Left {
                    why: format!("would be no rule here: {error}"),
                    weaker: effect != Decision::Allow,
                });
            }
        }
        Ok(lines)
    }

    fn dispatch(&self, effect: Decision, text: &str) -> Result<Lines, Left> {
        let (name, argument) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some("") => return Err(left("has nothing between its parentheses")),
                Some(argument) => (name, Some(argument)),
                None => {
                    return Err(left(
                        "has an opening parenthesis and does not end in a closing one",
                    ));
                }
            },
        };
        if name.starts_with("mcp__") {
            return self.foreign(effect, name, argument);
        }
        if name.contains('*') {
            return Err(left(
                "names tools by a '*', and here that only stands for tools of an MCP server",
            ));
        }
        let covered = match name {
            "Read" => self.known(READING),
            "Edit" => self.known(EDITING),
            _ => self.known(&[name]),
        };
        if covered.is_empty() {
            return Err(Left {
                why: format!("this host has no tool '{}'", name.escape_debug()),
                weaker: false,
            });
        }
        match (name, argument) {
            (_, None) => Ok(exactly(covered)),
            ("Read" | "Edit" | "Write" | "MultiEdit", Some(pattern)) => {
                self.paths(effect, &covered, pattern)
            }
            ("Bash", Some(pattern)) => command(effect, pattern),
            ("WebFetch", Some(pattern)) => url(effect, pattern),
            ("LS" | "Glob" | "Grep", Some(_)) => Err(left(
                "has a pattern, and rules for files are written for 'Read' there: write a 'Read' rule",
            )),
            (_, Some(_)) => Err(left(
                "has a pattern, and what it means for this tool is not known",
            )),
        }
    }

    /// Those of the tools that this host has.
    fn known(&self, names: &[&str]) -> Vec<String> {
        names
            .iter()
            .filter(|name| self.tools.contains(name))
            .map(|name| (*name).to_owned())
            .collect()
    }

    fn paths(&self, effect: Decision, tools: &[String], pattern: &str) -> Result<Lines, Left> {
        if pattern == "*" && effect != Decision::Allow {
            return Ok(Lines {
                note: Some(
                    "refuses or asks for more: every call, also outside of the workspace"
                        .to_owned(),
                ),
                ..exactly(tools.to_vec())
            });
        }
        let globs = self
            .places
            .globs(effect, pattern)
            .map_err(|why| left(&why))?;
        let rules = tools.iter().flat_map(|tool| {
            let globs = globs.globs.iter();
            globs.map(move |glob| format!("{tool}({glob})"))
        });
        Ok(Lines {
            rules: rules.collect(),
            note: globs.note.map(str::to_owned),
            missing: None,
        })
    }

    /// Tools of MCP servers. A name that no tool has would stop the start, the beginning of one does not.
    fn foreign(&self, effect: Decision, name: &str, argument: Option<&str>) -> Result<Lines, Left> {
        if argument.is_some() {
            return Err(left(
                "has a pattern, and tools of MCP servers have none there",
            ));
        }
        let server = name.strip_prefix("mcp__").unwrap_or_default();
        let allow = effect == Decision::Allow;
        match (server.strip_suffix('*'), server.contains("__")) {
            (Some(begin), _) if begin.contains('*') => {
                Err(left("has a '*' before its end, and here it only stands at the end of a name"))
            }
            (Some(begin), _) if allow && !begin.contains("__") => Err(left(
                "allows servers by the beginning of their names: allow each server by its name",
            )),
            (Some(_), _) => Ok(exactly(vec![name.to_owned()])),
            (None, _) if server.contains('*') => {
                Err(left("has a '*' before its end, and here it only stands at the end of a name"))
            }
            (None, false) => Ok(exactly(vec![format!("{name}__*")])),
            (None, true) if self.tools.contains(&name) => Ok(exactly(vec![name.to_owned()])),
            (None, true) if allow => Err(left(
                "this host has no tool of that name, and a rule for it would stop the start: add the rule with the server",
            )),
            (None, true) => Ok(Lines {
                note: Some(
                    "refuses or asks for more: this host has no tool of that name now, so the rule is for all whose \
                     names begin so"
                        .to_owned(),
                ),
                ..exactly(vec![format!("{name}*")])
            }),
        }
    }
}

/// Rules for commands: a `*` at the end, behind `:` or a blank, is a `:*` here; there is no other.
fn command(effect: Decision, pattern: &str) -> Result<Lines, Left> {
    if pattern.trim() != pattern || pattern.chars().any(char::is_control) {
        return Err(left("has blanks around it or a control character in it"));
    }
    let Some(begin) = pattern.strip_suffix('*') else {
        return if pattern.contains('*') {
            Err(left(
                "has a '*' before its end, and rules for commands here only have one at the end",
            ))
        } else {
            Ok(exactly(vec![format!("Bash({pattern})")]))
        };
    };
    if begin.is_empty() || begin == ":" {
        return Ok(exactly(vec!["Bash".to_owned()]));
    }
    if begin.contains('*') {
        return Err(left(
            "has more than one '*', and rules for commands here only have one at the end",
        ));
    }
    let words = begin.strip_suffix(':').or(begin.strip_suffix(' '));
    match words {
        Some(words) if words.trim_end() == words => Ok(exactly(vec![format!("Bash({words}:*)")])),
        Some(_) => Err(left(
            "has blanks before its '*' that no command begins with",
        )),
        None if effect == Decision::Allow && begin.ends_with(char::is_alphanumeric) => Ok(Lines {
            note: Some("allows less: the '*' begins at the end of a word".to_owned()),
            ..exactly(vec![format!("Bash({begin}:*)")])
        }),
        None => Err(left(
            "has a '*' within a word, and here it begins at the end of a word",
        )),
    }
}

/// Rules for addresses: what is allowed is https on its usual port, what is refused is every port of http and https.
fn url(effect: Decision, pattern: &str) -> Result<Lines, Left> {
    let Some(host) = pattern.strip_prefix("domain:") else {
        return match pattern {
            "*" => Ok(exactly(vec!["WebFetch".to_owned()])),
            _ => Err(left(
                "is no 'domain:…' rule, and what else it may mean is not known",
            )),
        };
    };
    if host == "*" {
        return Ok(exactly(vec!["WebFetch".to_owned()]));
    }
    // Whatever else a URL pattern may have would only stand in the way of the ports and the path that are added.
    if host.contains(|c: char| !c.is_alphanumeric() && !"-_.*".contains(c)) {
        return Err(left("has something other than a domain behind 'domain:'"));
    }
    let below = host.strip_prefix("*.");
    let rules: Vec<String> = match (effect, below) {
        (Decision::Allow, _) => vec![format!("https://{host}/**")],
        (Decision::Ask | Decision::Deny, None) => everywhere(host),
        (Decision::Ask | Decision::Deny, Some(domain)) => (1..=LABELS)
            .flat_map(|labels| everywhere(&format!("{}{domain}", "*.".repeat(labels))))
            .collect(),
    };
    for rule in &rules {
        UrlPattern::parse(rule).map_err(|error| left(&error.to_string()))?;
    }
    let below = below.is_some();
    Ok(Lines {
        rules: rules
            .iter()
            .map(|rule| format!("WebFetch({rule})"))
            .collect(),
        note: match (effect, below) {
            (Decision::Allow, false) => {
                Some("allows less: only https, and its usual port".to_owned())
            }
            (Decision::Allow, true) => Some(
                "allows less: only https on its usual port, and only one label for the '*'"
                    .to_owned(),
            ),
            (Decision::Ask | Decision::Deny, _) => None,
        },
        missing: (below && effect != Decision::Allow).then(|| {
            format!("names with more than {LABELS} labels before the domain are not covered")
        }),
    })
}

fn everywhere(host: &str) -> Vec<String> {
    vec![
        format!("https://{host}:*/**"),
        format!("http://{host}:*/**"),
    ]
}

fn exactly(rules: Vec<String>) -> Lines {
    Lines {
        rules,
        ..Lines::default()
    }
}

fn left(why: &str) -> Left {
    Left {
        why: why.to_owned(),
        weaker: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[&str] = &[
        "Read",
        "Write",
        "Edit",
        "MultiEdit",
        "LS",
        "Glob",
        "Grep",
        "Bash",
        "WebFetch",
        "WebSearch",
        "mcp__git__log",
    ];

    fn translate(effect: Decision, text: &str, tools: &[&str]) -> Result<Lines, Left> {
        let places = Places::new(
            Path::new("/p/.claude/settings.json"),
            Some(Path::new("/home/u")),
        );
        let rules = Rules {
            places: &places,
            tools,
        };
        rules.translate(effect, text)
    }

    fn rules(effect: Decision, text: &str) -> Vec<String> {
        translate(effect, text, TOOLS)
            .unwrap_or_else(|left| panic!("{text}: {left:?}"))
            .rules
    }

    #[test]
    fn rules_for_files_are_for_all_tools_that_they_cover() {
        for (rule, lines) in [
            ("Read", &["Read", "Grep", "Glob", "LS"][..]),
            ("Edit", &["Edit", "Write", "MultiEdit"]),
            ("Write", &["Write"]),
            (
                "Edit(src/**)",
                &["Edit(src/**)", "Write(src/**)", "MultiEdit(src/**)"],
            ),
            (
                "Read(//etc/**)",
                &[
                    "Read(/etc/**)",
                    "Grep(/etc/**)",
                    "Glob(/etc/**)",
                    "LS(/etc/**)",
                ],
            ),
            ("Write(a/report(1).csv/**)", &["Write(a/report(1).csv/**)"]),
        ] {
            for effect in [Decision::Allow, Decision::Ask, Decision::Deny] {
                assert_eq!(rules(effect, rule), lines, "{rule}");
            }
        }
        assert_eq!(rules(Decision::Allow, "Write(*)"), ["Write(**/*)"]);
        assert_eq!(rules(Decision::Deny, "Write(*)"), ["Write"]);
        let few = translate(Decision::Deny, "Read(//etc/**)", &["Grep"]).unwrap();
        assert_eq!(few.rules, ["Grep(/etc/**)"]);
    }

    #[test]
    fn rules_for_commands_begin_at_words() {
        for (rule, line) in [
            ("Bash", "Bash"),
            ("Bash(*)", "Bash"),
            ("Bash(:*)", "Bash"),
            ("Bash(git push:*)", "Bash(git push:*)"),
            ("Bash(npm run test *)", "Bash(npm run test:*)"),
            ("Bash(npm run build)", "Bash(npm run build)"),
            ("Bash(echo (a))", "Bash(echo (a))"),
        ] {
            for effect in [Decision::Allow, Decision::Ask, Decision::Deny] {
                assert_eq!(rules(effect, rule), [line], "{rule}");
            }
        }
        for rule in [
            "Bash(git * main)",
            "Bash(* --version)",
            "Bash(a * b *)",
            "Bash( x)",
            "Bash(x  *)",
        ] {
            for effect in [Decision::Allow, Decision::Ask, Decision::Deny] {
                let left = translate(effect, rule, TOOLS).unwrap_err();
                assert_eq!(left.weaker, effect != Decision::Allow, "{rule}");
            }
        }
        let narrower = translate(Decision::Allow, "Bash(npm run test*)", TOOLS).unwrap();
        assert_eq!(narrower.rules, ["Bash(npm run test:*)"]);
        assert!(narrower.note.is_some());
        assert!(
            translate(Decision::Deny, "Bash(npm run test*)", TOOLS)
                .unwrap_err()
                .weaker
        );
        assert!(translate(Decision::Allow, "Bash(./scripts/*)", TOOLS).is_err());
    }

    #[test]
    fn rules_for_addresses_allow_https_and_deny_both() {
        assert_eq!(
            rules(Decision::Allow, "WebFetch(domain:example.com)"),
            ["WebFetch(https://example.com/**)"]
        );
        let both = [
            "WebFetch(https://example.com:*/**)",
            "WebFetch(http://example.com:*/**)",
        ];
        assert_eq!(rules(Decision::Deny, "WebFetch(domain:example.com)"), both);
        assert_eq!(rules(Decision::Ask, "WebFetch(domain:example.com)"), both);
        assert_eq!(rules(Decision::Deny, "WebFetch(domain:*)"), ["WebFetch"]);
        assert_eq!(
            rules(Decision::Allow, "WebFetch(domain:*.example.com)"),
            ["WebFetch(https://*.example.com/**)"]
        );
        let below = translate(Decision::Deny, "WebFetch(domain:*.example.com)", TOOLS).unwrap();
        assert_eq!(below.rules.len(), 2 * LABELS);
        assert!(below.missing.is_some());
        for rule in [
            "WebFetch(https://example.com)",
            "WebFetch(domain:)",
            "WebFetch(domain:a b)",
            "WebFetch(domain:a*.example.com)",
            "WebFetch(domain:u@example.com)",
            "WebFetch(domain:example.com/x)",
            "WebSearch(x)",
        ] {
            let translated = translate(Decision::Deny, rule, TOOLS);
            assert!(translated.is_err(), "{rule}: {translated:?}");
        }
    }

    #[test]
    fn rules_for_foreign_tools_never_stop_the_start() {
        let both = |rule: &str| (rules(Decision::Allow, rule), rules(Decision::Deny, rule));
        let same = |line: &str| (vec![line.to_owned()], vec![line.to_owned()]);
        assert_eq!(both("mcp__git"), same("mcp__git__*"));
        assert_eq!(both("mcp__git__*"), same("mcp__git__*"));
        assert_eq!(both("mcp__git__log"), same("mcp__git__log"));
        assert_eq!(both("mcp__git__get_*"), same("mcp__git__get_*"));
        assert_eq!(rules(Decision::Deny, "mcp__*"), ["mcp__*"]);
        assert_eq!(rules(Decision::Deny, "mcp__git__push"), ["mcp__git__push*"]);
        for (effect, rule) in [
            (Decision::Allow, "mcp__git__push"),
            (Decision::Allow, "mcp__*"),
            (Decision::Allow, "mcp__gi*"),
            (Decision::Deny, "mcp__*__push"),
            (Decision::Deny, "mcp__a*b*"),
            (Decision::Deny, "mcp__git(x)"),
            (Decision::Deny, "mcp__my server"),
        ] {
            let left = translate(effect, rule, TOOLS).unwrap_err();
            assert_eq!(left.weaker, effect == Decision::Deny, "{rule}");
        }
    }

    #[test]
    fn tools_that_are_not_here_are_named() {
        for rule in ["Task", "NotebookEdit(x)", "Agent(Explore)", "", "Bash(x:*)"] {
            let left = translate(Decision::Deny, rule, &["Read"]).unwrap_err();
            assert!(left.why.contains("no tool"), "{rule}: {left:?}");
            assert!(!left.weaker);
        }
        for rule in ["Read(x", "Read()", "Grep(x)", "*", "Re*"] {
            assert!(
                translate(Decision::Deny, rule, TOOLS).unwrap_err().weaker,
                "{rule}"
            );
        }
    }
}
