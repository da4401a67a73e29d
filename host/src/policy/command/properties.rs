//! What holds for every text.

use proptest::prelude::*;

use super::{CommandIndex, CommandLine, CommandPattern};

/// Pieces of which hostile texts are made.
const PIECES: &[&str] = &[
    "rm", " ", "\n", "\t", "\r", "'", "\"", "\\", "$", "$(", "${", "$((", "$'", "`", "(", ")", "{",
    "}", "[", "]", "[[", "<<", "<<<", "<(", ">&", "&>", "|", "|&", "||", "&", "&&", ";", ";;", "#",
    "!", "=", "A=", "~", "*", "?", "{a,b}", "if", "then", "fi", "case", "esac", "in", "for", "do",
    "done", "time", "coproc", "function", "xargs", "-I", "{}", "find", "-exec", "+", "sh", "-c",
    "env", "-S", "sudo", "eval", "\u{a0}", "é", "\u{0}", "1", "2>", "EOF", "--", "-", ".", "/",
];

/// Another way to write the same literal word.
fn quoted(word: &str, style: usize) -> String {
    match style % 5 {
        0 => format!("'{}'", word.replace('\'', "'\\''")),
        1 => {
            let escaped: String = word
                .chars()
                .flat_map(|c| {
                    let escape = matches!(c, '$' | '`' | '"' | '\\').then_some('\\');
                    escape.into_iter().chain([c])
                })
                .collect();
            format!("\"{escaped}\"")
        }
        2 => format!(
            "$'{}'",
            word.replace('\\', "\\\\")
                .replace('\'', "\\'")
                .replace('\n', "\\n")
        ),
        3 => {
            let bytes: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
            format!("$'{bytes}'")
        }
        _ => {
            let escaped: String = word
                .chars()
                .flat_map(|c| {
                    if c == '\n' {
                        "'\n'".chars().collect()
                    } else {
                        vec!['\\', c]
                    }
                })
                .collect();
            if escaped.is_empty() {
                "''".to_owned()
            } else {
                escaped
            }
        }
    }
}

fn judge(text: &str) {
    let line = CommandLine::analyse(text);
    let patterns = ["rm:*", "git push", "'*':*"].map(|text| CommandPattern::parse(text).unwrap());
    let index = CommandIndex::new(&patterns);
    assert!(index.touching(&line, true).len() <= patterns.len());
    assert_eq!(line.commands().is_some(), line.opaque().is_none());
    assert!(line.opaque().is_none() || line.undecidable().is_some());
    if let Some(commands) = line.commands() {
        assert!(!commands.is_empty());
        assert!(
            commands
                .iter()
                .all(|command| command.words().next().is_some())
        );
    } else {
        assert!(index.allowing(&line).is_empty());
    }
    if CommandPattern::parse(text).is_ok() {
        assert!(!text.trim_matches([' ', '\t', '\n']).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_much(text in "\\PC*") {
        judge(&text);
    }

    #[test]
    fn no_syntax_is_too_much(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        judge(&pieces.concat());
        judge(&pieces.join(" "));
    }

    #[test]
    fn every_quoting_is_the_same_word(
        words in prop::collection::vec(("[ -~é\n]{0,8}", 0..5_usize), 1..6),
        separators in prop::collection::vec(prop::sample::select(&[" ", "\t", " \\\n ", "  "][..]), 6),
    ) {
        let mut text = "run".to_owned();
        for ((word, style), separator) in words.iter().zip(&separators) {
            text.push_str(separator);
            text.push_str(&quoted(word, *style));
        }
        let line = CommandLine::analyse(&text);
        let commands = line.commands();
        prop_assert!(commands.is_some(), "{text:?}: {:?}", line.opaque());
        let found: Vec<Vec<&str>> = commands.unwrap().iter().map(|command| command.words().collect()).collect();
        let mut wanted = vec!["run"];
        wanted.extend(words.iter().map(|(word, _)| word.as_str()));
        prop_assert_eq!(found, [wanted]);
    }
}

#[test]
fn length_and_nesting_are_bounded() {
    for piece in [
        "(", "$(", "`", "{ ", "((", "\"$(", "${x:-", "<(", "if ", "[[ ", "'", "\\", "$((", "a;",
        "a|", "! ",
    ] {
        for count in [40, 60, 10_000] {
            let text = piece.repeat(count);
            judge(&text);
            judge(&format!("{text}rm"));
        }
    }
    let rm = CommandIndex::new(&[CommandPattern::parse("rm:*").unwrap()]);
    let wrapped = |wrapper: &str| format!("{}rm x", wrapper.repeat(60_000 / wrapper.len()));
    for wrapper in [
        "env ",
        "sudo -Z ",
        "ssh ",
        "xargs ",
        "xargs -I a ",
        "find -exec ",
        "sh -c ",
        "eval ",
        "timeout 1 ",
        "env -S ",
    ] {
        let started = std::time::Instant::now();
        let line = CommandLine::analyse(&wrapped(wrapper));
        let found = !rm.touching(&line, true).is_empty();
        assert!(line.undecidable().is_some() || found, "{wrapper}");
        assert!(
            started.elapsed().as_secs() < 5,
            "{wrapper}: {:?}",
            started.elapsed()
        );
    }
}
