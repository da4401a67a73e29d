use super::*;

fn one<'a>(old: &'a str, new: &'a str) -> Edit<'a> {
    Edit {
        old,
        new,
        all: false,
    }
}

fn all<'a>(old: &'a str, new: &'a str) -> Edit<'a> {
    Edit {
        old,
        new,
        all: true,
    }
}

fn edited(text: &[u8], edit: Edit<'_>) -> Vec<u8> {
    splice(text, edit).unwrap().text
}

#[test]
fn foreign_bytes_stay() {
    assert_eq!(
        edited(b"# Caf\xE9 menu\nprice: 5\n", one("price: 5", "price: 7")),
        b"# Caf\xE9 menu\nprice: 7\n"
    );
    assert_eq!(
        edited(b"\xEF\xBB\xBFx=1\n", one("x=1", "x=2")),
        b"\xEF\xBB\xBFx=2\n"
    );
    assert_eq!(edited(b"a\r\nb\nc\r\n", one("b", "B")), b"a\r\nB\nc\r\n");
    assert_eq!(edited(b"a\nb", one("b", "c")), b"a\nc");
}

#[test]
fn the_match_tolerates_line_endings() {
    assert_eq!(
        edited(b"a\r\nb\r\nc\r\n", one("a\nb", "a\nB\nx")),
        b"a\r\nB\r\nx\r\nc\r\n"
    );
    assert_eq!(edited(b"a\nb\nc\n", one("a\r\nb", "A\r\nb")), b"A\nb\nc\n");
    assert_eq!(
        edited(b"a\r\nb\nc\r\nd\r\n", one("a\nb\nc\n", "1\n2\n3\n4\n")),
        b"1\r\n2\n3\r\n4\r\nd\r\n"
    );
    assert_eq!(edited(b"x\r\ny\r\n", one("\ny", "\nz")), b"x\r\nz\r\n");
    assert_eq!(edited(b"x\r\ny\r\n", one("x\n", "")), b"y\r\n");
    assert_eq!(
        edited(b"a\r\nb\r\na\r\nb\r\n", all("a\nb\n", "c\n")),
        b"c\r\nc\r\n"
    );
}

#[test]
fn new_lines_take_the_ending_of_the_line_they_split() {
    assert_eq!(edited(b"a\r\nb\r\n", one("b", "b\nc")), b"a\r\nb\r\nc\r\n");
    assert_eq!(edited(b"a\r\nb", one("b", "b\nc")), b"a\r\nb\r\nc");
    assert_eq!(edited(b"a\nb\r\n", one("a", "x\ny")), b"x\ny\nb\r\n");
    assert_eq!(
        edited(b"ab\r\nab\nab", all("a", "1\n")),
        b"1\r\nb\r\n1\nb\n1\nb"
    );
}

#[test]
fn an_exact_match_of_endings_is_replaced_literally() {
    assert_eq!(
        edited(b"a\r\nb\r\n", one("a\r\nb\r\n", "a\nb\n")),
        b"a\nb\n"
    );
    assert_eq!(edited(b"a\nb\n", one("a\n", "a\r\n")), b"a\r\nb\n");
}

#[test]
fn the_new_text_is_literal() {
    let new = r#"log("$& $$ $1 $` $' \\1");"#;
    let text = edited(b"log(\"done\"); \n", one("log(\"done\");", new));
    assert_eq!(text, format!("{new} \n").into_bytes());
}

#[test]
fn matches_are_counted_with_overlap() {
    let refusal = splice(b"x = 1\nx = 1\nx = 1\n", one("x = 1\nx = 1", "y")).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Ambiguous {
            count: 2,
            lines: vec![1, 2]
        }
    );
    assert!(
        refusal
            .to_string()
            .starts_with("old_string matches 2 places, at lines 1 and 2.")
    );
    assert_eq!(edited(b"aaaaa", all("aa", "b")), b"bba");
    let refusal = splice(&[b'a'; 5_000], one("aa", "b")).unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("at least 1,000 places, at lines 1, 1, 1, 1, 1 and 995 more")
    );
}

#[test]
fn overlap_is_counted_across_tolerated_endings() {
    let refusal = splice(b"z\r\nx\r\nx\r\nx\r\n", one("x\nx", "y")).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Ambiguous {
            count: 2,
            lines: vec![2, 3]
        }
    );
}

#[test]
fn what_cannot_be_meant_is_refused() {
    assert_eq!(splice(b"abc", one("", "X")).unwrap_err(), Refusal::EmptyOld);
    assert_eq!(splice(b"abc", all("", "X")).unwrap_err(), Refusal::EmptyOld);
    assert!(Refusal::EmptyOld.to_string().contains("Write"));
    assert_eq!(
        splice(b"abc", one("b", "b")).unwrap_err(),
        Refusal::NoChange
    );
    assert_eq!(
        splice(b"\xFF\xFEa\0", one("a", "b")).unwrap_err(),
        Refusal::Utf16
    );
    assert_eq!(
        splice(&[b'a'; 2_000], all("a", &"b".repeat(40_000))).unwrap_err(),
        Refusal::TooLarge
    );
}

#[test]
fn not_found_shows_the_closest_lines() {
    let text = b"def run():\n  alpha(1)\n  beta(2)\n  delta(3)\n";
    let refusal = splice(text, one("  beta(9)\n", "  gamma(9)\n"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        refusal,
        "old_string was not found in the file. The closest lines:\n     3\t  beta(2)"
    );
}

#[test]
fn not_found_aligns_several_lines() {
    let text = b"one\nfn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n}\ntwo\n";
    let old = "fn total(items: &[u64]) -> u64 {\n    items.iter().sum()\n}\n";
    let refusal = splice(text, one(old, "x")).unwrap_err().to_string();
    assert!(refusal.ends_with(
        "     2\tfn total(items: &[u32]) -> u32 {\n     3\t    items.iter().sum()\n     4\t}"
    ));
}

#[test]
fn not_found_names_what_may_be_wrong() {
    let refusal = splice(b"\tlet a = 1;\n", one("    let a = 1;", "x"))
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("White space differs. The closest lines:\n     1\t\tlet a = 1;"),
        "{refusal}"
    );
    let refusal = splice(b"let a = 1;\n", one("     1\tlet a = 1;", "x"))
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("line numbers that Read shows"),
        "{refusal}"
    );
    let refusal = splice(b"abc\n", one("nothing like it", "x"))
        .unwrap_err()
        .to_string();
    assert_eq!(refusal, "old_string was not found in the file.");
}

#[test]
fn not_found_is_bounded_in_time_and_text() {
    let text = format!("{}\n", "abcdefghij".repeat(30)).repeat(100_000);
    let old = "abcdefghiX".repeat(400);
    let begin = std::time::Instant::now();
    let refusal = splice(text.as_bytes(), one(&old, "x"))
        .unwrap_err()
        .to_string();
    assert!(begin.elapsed().as_secs() < 10);
    assert!(refusal.chars().count() < 500);
}

#[test]
fn the_summary_shows_where() {
    let text = b"1\n2\n3\n4\n5\n6\n7\n";
    let spliced = splice(text, one("4\n", "four\nfour and a half\n")).unwrap();
    assert_eq!(
        spliced.summary(),
        "Replaced 1 place, at line 4.\n     2\t2\n     3\t3\n     4\tfour\n     5\tfour and a half\n     6\t5\n     7\t6\n     8\t7"
    );
    let spliced = splice(b"a b\na\nc a\n", all("a", "A")).unwrap();
    assert!(
        spliced
            .summary()
            .starts_with("Replaced 3 places, at lines 1, 2 and 3.\n     1\tA b\n"),
        "{}",
        spliced.summary()
    );
    assert_eq!(spliced.count, 3);
    let spliced = splice(b"a\n", one("a\n", "")).unwrap();
    assert_eq!(spliced.summary(), "Replaced 1 place, at line 1.\n");
}

#[test]
fn the_summary_is_bounded() {
    let spliced = splice(
        b"a",
        one("a", &format!("{}\n", "w".repeat(5_000)).repeat(500)),
    )
    .unwrap();
    let summary = spliced.summary();
    assert!(summary.chars().count() < 2_500);
    assert_eq!(summary.lines().count(), 12);
}

#[test]
fn several_edits_apply_in_order_or_not_at_all() {
    let (text, summary) = splice_all(
        b"a b c\n",
        &[one("a", "b"), all("b", "x"), one("x x c", "done")],
    )
    .unwrap();
    assert_eq!(text, b"done\n");
    assert!(summary.starts_with(
        "Edit 1: Replaced 1 place, at line 1.\n     1\tb b c\nEdit 2: Replaced 2 places"
    ));
    let failed =
        splice_all(b"a b c\n", &[one("a", "1"), one("zzz", "2"), one("c", "3")]).unwrap_err();
    assert_eq!((failed.number, failed.of), (2, 3));
    assert!(
        failed.to_string().starts_with(
            "Edit 2 of 3 failed, so none of the edits was applied. old_string was not"
        )
    );
}

#[test]
fn many_edits_have_a_bounded_summary() {
    let text = (0..300)
        .map(|n| format!("<{n}> {}\n", "w".repeat(400)))
        .collect::<String>();
    let olds: Vec<String> = (0..300).map(|n| format!("<{n}>")).collect();
    let edits: Vec<Edit<'_>> = olds.iter().map(|old| one(old, "-")).collect();
    let (_, summary) = splice_all(text.as_bytes(), &edits).unwrap();
    assert!(summary.ends_with("[290 more edits applied.]"));
    assert!(summary.chars().count() < toolgate_reply::MAX_CHARS);
}
