use super::*;
use crate::pattern::Flags;

const ALL: Paging = Paging {
    offset: 0,
    limit: None,
};

fn numbered(before: usize, after: usize) -> Mode {
    Mode::Content(Shown {
        numbers: true,
        before,
        after,
    })
}

fn search_cut(
    pattern: &str,
    flags: Flags,
    mode: Mode,
    files: &[(&str, &[u8])],
    size: usize,
) -> String {
    let mut searcher = Searcher::new(Pattern::new(pattern, flags).unwrap(), mode, ALL);
    for (path, bytes) in files {
        let mut offset = 0;
        loop {
            let end = (offset + size).min(bytes.len());
            let want = searcher.feed(path, &bytes[offset..end], offset as u64, end == bytes.len());
            assert_ne!(want, Want::Nothing);
            offset = end;
            if want == Want::NextFile || offset == bytes.len() {
                break;
            }
        }
    }
    searcher.finish(LeftOut::default())
}

/// Searches whole files, and requires the same of files in small pieces.
fn search(pattern: &str, flags: Flags, mode: Mode, files: &[(&str, &[u8])]) -> String {
    let whole = search_cut(pattern, flags, mode, files, usize::MAX >> 1);
    for size in [1, 2, 5, 16, 4_096] {
        assert_eq!(
            search_cut(pattern, flags, mode, files, size),
            whole,
            "pieces of {size} bytes"
        );
    }
    whole
}

fn lines(pattern: &str, mode: Mode, text: &str) -> String {
    search(pattern, Flags::default(), mode, &[("/f", text.as_bytes())])
}

const SPANNING: Flags = Flags {
    ignore_case: false,
    multiline: true,
};

#[test]
fn files_with_matches() {
    let files: &[(&str, &[u8])] = &[
        ("/a", b"x\ny\n"),
        ("/b", b"z\n"),
        ("/c", b"ax"),
        ("/d", b""),
    ];
    assert_eq!(search("x", Flags::default(), Mode::Files, files), "/a\n/c");
    assert_eq!(search("x", SPANNING, Mode::Files, files), "/a\n/c");
}

#[test]
fn counts() {
    let files: &[(&str, &[u8])] = &[("/a", b"x x\ny\nx\n"), ("/b", b"z\n")];
    assert_eq!(search("x", Flags::default(), Mode::Count, files), "/a:2");
    assert_eq!(search("x", SPANNING, Mode::Count, files), "/a:3");
}

#[test]
fn nothing_found_is_said_with_what_was_searched() {
    let files: &[(&str, &[u8])] = &[("/a", b"x\n"), ("/b", b"a\0b q\n"), ("/c", b"y")];
    assert_eq!(
        search_cut("q", Flags::default(), Mode::Files, files, 1 << 16),
        "No matches found. [2 files searched]\n[1 binary file skipped]"
    );
    let pattern = Pattern::new("q", Flags::default()).unwrap();
    let left_out = LeftOut {
        ignored: 2,
        skipped: 1,
        truncated: true,
    };
    let text = Searcher::new(pattern, Mode::Files, ALL).finish(left_out);
    assert!(text.starts_with(
        "No matches found. [0 files searched]\n[2 ignored paths left out]\n[1 entry skipped"
    ));
    assert!(text.contains("ended early"));
}

#[test]
fn content_with_and_without_numbers() {
    let text = "one\ntwo x\nthree\r\nx four";
    assert_eq!(lines("x", numbered(0, 0), text), "/f:2:two x\n/f:4:x four");
    let plain = Mode::Content(Shown::default());
    assert_eq!(
        lines("x|three", plain, text),
        "/f:two x\n/f:three\n/f:x four"
    );
}

#[test]
fn context_lines() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    assert_eq!(lines("5", numbered(1, 1), text), "/f-4-4\n/f:5:5\n/f-6-6");
    assert_eq!(lines("1", numbered(3, 1), text), "/f:1:1\n/f-2-2");
    assert_eq!(lines("9", numbered(1, 3), text), "/f-8-8\n/f:9:9");
    assert_eq!(
        lines("[25]", numbered(1, 1), text),
        "/f-1-1\n/f:2:2\n/f-3-3\n/f-4-4\n/f:5:5\n/f-6-6"
    );
    assert_eq!(
        lines("[26]", numbered(1, 1), text),
        "/f-1-1\n/f:2:2\n/f-3-3\n--\n/f-5-5\n/f:6:6\n/f-7-7"
    );
    assert_eq!(
        lines("[34]", numbered(2, 2), text),
        "/f-1-1\n/f-2-2\n/f:3:3\n/f:4:4\n/f-5-5\n/f-6-6"
    );
    assert_eq!(
        lines("[37]", numbered(0, 1), text),
        "/f:3:3\n/f-4-4\n--\n/f:7:7\n/f-8-8"
    );
    assert_eq!(
        lines("[37]", numbered(2, 0), text),
        "/f-1-1\n/f-2-2\n/f:3:3\n--\n/f-5-5\n/f-6-6\n/f:7:7"
    );
    assert_eq!(
        lines("[25]", numbered(2, 0), text),
        "/f-1-1\n/f:2:2\n/f-3-3\n/f-4-4\n/f:5:5"
    );
    assert_eq!(
        lines(
            "5",
            Mode::Content(Shown {
                numbers: false,
                before: 1,
                after: 0
            }),
            text
        ),
        "/f-4\n/f:5"
    );
}

#[test]
fn context_of_empty_lines() {
    let text = "\n\nx\n\n\ny\n";
    assert_eq!(
        lines("x", numbered(2, 1), text),
        "/f-1-\n/f-2-\n/f:3:x\n/f-4-"
    );
    assert_eq!(
        lines("^$", numbered(0, 0), text),
        "/f:1:\n/f:2:\n/f:4:\n/f:5:"
    );
}

#[test]
fn groups_of_different_files_are_separated() {
    let files: &[(&str, &[u8])] = &[("/a", b"x\ny\n"), ("/b", b"y\nx\n")];
    assert_eq!(
        search("x", Flags::default(), numbered(1, 1), files),
        "/a:1:x\n/a-2-y\n--\n/b-1-y\n/b:2:x"
    );
    assert_eq!(
        search("x", Flags::default(), numbered(0, 0), files),
        "/a:1:x\n/b:2:x"
    );
}

/// The plainest possible search, to compare with.
fn plain(pattern: &str, text: &str, before: usize, after: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let matches: Vec<usize> = (0..all.len())
        .filter(|&n| all[n].contains(pattern))
        .collect();
    let mut shown = String::new();
    let mut last = None;
    for (n, line) in all.iter().enumerate() {
        if !matches.iter().any(|&m| n + before >= m && n <= m + after) {
            continue;
        }
        if last.is_some_and(|last| last + 1 < n) && before + after > 0 {
            shown.push_str("--\n");
        }
        let mark = if matches.contains(&n) { ':' } else { '-' };
        shown.push_str(&format!("/f{mark}{}{mark}{}\n", n + 1, line));
        last = Some(n);
    }
    shown.trim_end_matches('\n').to_owned()
}

#[test]
fn context_agrees_with_the_plainest_search() {
    let mut state = 7_u32;
    for _ in 0..60 {
        let text: String = (0..40)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if (state >> 24).is_multiple_of(7) {
                    "a x b\n"
                } else {
                    "abc\n"
                }
            })
            .collect();
        for (before, after) in [(0, 0), (1, 0), (0, 1), (2, 3), (5, 5)] {
            let expected = plain("x", &text, before, after);
            if !expected.is_empty() {
                assert_eq!(lines("x", numbered(before, after), &text), expected);
            }
        }
    }
}

#[test]
fn matches_that_span_lines() {
    let text = "1\nfn a(\n  x\n)\n5\n6\nfn b()\n8\n";
    let file: &[(&str, &[u8])] = &[("/f", text.as_bytes())];
    assert_eq!(
        search(r"fn \w+\(.*?\)", SPANNING, numbered(0, 0), file),
        "/f:2:fn a(\n/f:3:  x\n/f:4:)\n/f:7:fn b()"
    );
    assert_eq!(
        search(r"x\n\)", SPANNING, numbered(1, 1), file),
        "/f-2-fn a(\n/f:3:  x\n/f:4:)\n/f-5-5"
    );
}

#[test]
fn a_file_too_large_for_spanning_matches_is_counted() {
    let large = vec![b'a'; MAX_SPANNING + 1];
    let text = search_cut(
        "a",
        SPANNING,
        Mode::Files,
        &[("/l", &large), ("/s", b"a")],
        1 << 18,
    );
    assert_eq!(
        text,
        "/s\n[1 file over 8 MiB skipped, which multiline does not search]"
    );
}

#[test]
fn one_match_in_a_minified_file() {
    let line = format!("{}stats{}", "a;".repeat(150_000), "b;".repeat(175_000));
    for size in [1 << 16, 1 << 18, 1 << 20] {
        let text = search_cut(
            "stats",
            Flags::default(),
            numbered(0, 0),
            &[("/t.min.js", line.as_bytes())],
            size,
        );
        assert!(text.starts_with("/t.min.js:1:…") && text.contains("stats") && text.ends_with('…'));
        assert!(text.chars().count() < 500);
    }
}

#[test]
fn a_line_beyond_the_held_size_is_searched_in_pieces() {
    let mut text = "first\n".to_owned();
    text.push_str(&"ab".repeat(3 << 20));
    let middle = text.len();
    text.push_str("needle");
    text.push_str(&"ab".repeat(1 << 20));
    text.push_str("\nlast needle\n");
    for size in [1 << 16, (1 << 18) - 3, 1 << 20, middle + 3] {
        let found = search_cut(
            "needle",
            Flags::default(),
            numbered(0, 0),
            &[("/f", text.as_bytes())],
            size,
        );
        let entries: Vec<&str> = found.lines().collect();
        assert_eq!(entries.len(), 2, "pieces of {size} bytes: {entries:?}");
        assert!(
            entries[0].starts_with("/f:2:") && entries[0].contains("needle"),
            "{}",
            entries[0]
        );
        assert_eq!(entries[1], "/f:3:last needle");
        for absent in ["^needle", "needle$x", "^b", "first$x"] {
            let found = search_cut(
                absent,
                Flags::default(),
                Mode::Files,
                &[("/f", text.as_bytes())],
                size,
            );
            assert!(found.starts_with("No matches"), "{absent}: {found}");
        }
        let counted = search_cut(
            "ab",
            Flags::default(),
            Mode::Count,
            &[("/f", text.as_bytes())],
            size,
        );
        assert_eq!(counted, "/f:1");
    }
}

#[test]
fn invalid_utf8_is_searched_and_shown_lossily() {
    let files: &[(&str, &[u8])] = &[("/f", b"caf\xE9 menu\n")];
    assert_eq!(
        search("menu", Flags::default(), numbered(0, 0), files),
        "/f:1:caf\u{FFFD} menu"
    );
}

#[test]
fn pages() {
    let text = "x\n".repeat(10);
    let paged = |offset, limit| {
        let pattern = Pattern::new("x", Flags::default()).unwrap();
        let mut searcher = Searcher::new(pattern, numbered(0, 0), Paging { offset, limit });
        searcher.feed("/f", text.as_bytes(), 0, true);
        searcher.finish(LeftOut::default())
    };
    assert_eq!(
        paged(0, Some(2)),
        "/f:1:x\n/f:2:x\n[Showing 1 to 2 of 10 lines. Go on with offset 2.]"
    );
    assert_eq!(
        paged(8, Some(9)),
        "/f:9:x\n/f:10:x\n[Showing 9 to 10 of 10 lines.]"
    );
    assert_eq!(paged(0, Some(0)).lines().count(), 10);
    assert_eq!(
        paged(10, None),
        "[Nothing at offset 10: there are 10 lines.]"
    );
}

#[test]
fn a_search_behind_a_full_page_ends() {
    let pattern = Pattern::new("x", Flags::default()).unwrap();
    let mut searcher = Searcher::new(
        pattern,
        Mode::Files,
        Paging {
            offset: 0,
            limit: Some(1),
        },
    );
    let fed = (0..100_000)
        .take_while(|n| searcher.feed(&format!("/{n}"), b"x", 0, true) != Want::Nothing)
        .count();
    assert!(fed < 10_100, "{fed}");
    assert!(
        searcher
            .finish(LeftOut::default())
            .contains("[Showing 1 to 1 of at least 10,00")
    );
}
