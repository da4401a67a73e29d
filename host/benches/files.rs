//! File tools against native code and ripgrep doing the same work.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "a bench prints figures, starts its references, and stops at the first surprise"
)]

mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, sinks};
use tokio::runtime::Runtime;
use toolgate::Host;
use toolgate::model::{Ending, RawCall};

const PATTERN: &str = "needle_[0-9]{4}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let tree = root.join("tree");
    make_tree(&tree)?;
    let lines = root.join("lines.txt");
    fs::write(&lines, two_thousand_lines())?;
    let big = root.join("big");
    fs::create_dir(&big)?;
    fs::write(big.join("big.txt"), big_file())?;
    let state = tempfile::tempdir()?;
    let host = runtime.block_on(Host::builder(&root).state_dir(state.path()).build())?;

    read(&runtime, &host, &lines);
    grep(&runtime, &host, &tree);
    glob(&runtime, &host, &tree);
    grep_big(&runtime, &host, &big);
    Ok(())
}

fn call(runtime: &Runtime, host: &Host, tool: &str, input: &serde_json::Value) -> String {
    let outcome = runtime.block_on(host.call(RawCall::new(tool, input.to_string())));
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    outcome.ending.text()
}

fn read(runtime: &Runtime, host: &Host, path: &Path) {
    measure::head("Read of 2,000 lines (140 KB; the reply shows what fits into 28,000 characters)");
    let input = serde_json::json!({ "file_path": path });
    let subject = || drop(call(runtime, host, "Read", &input));
    let careful = || {
        let text = fs::read_to_string(path).expect("a file");
        let mut out = String::with_capacity(text.len() + 16_000);
        for (index, line) in text.lines().enumerate() {
            let number = (index + 1).to_string();
            out.extend(std::iter::repeat_n(
                ' ',
                6_usize.saturating_sub(number.len()),
            ));
            out.push_str(&number);
            out.push('\t');
            out.push_str(line);
            out.push('\n');
        }
        std::hint::black_box(out);
    };
    measure::report(
        "Read",
        "native, careful loop, all lines",
        measure::pair(200, subject, careful),
        "3.0",
    );
    let subject = || drop(call(runtime, host, "Read", &input));
    let plain = || {
        let text = fs::read_to_string(path).expect("a file");
        let numbered: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(index, line)| format!("{:>6}\t{line}\n", index + 1))
            .collect();
        std::hint::black_box(numbered.concat());
    };
    measure::report(
        "Read",
        "native, format! for each line",
        measure::pair(200, subject, plain),
        "1.2",
    );
}

fn grep(runtime: &Runtime, host: &Host, tree: &Path) {
    measure::head("Grep over 20,000 files / 200 MB, files with matches");
    let input = serde_json::json!({ "pattern": PATTERN, "path": tree });
    let subject = || drop(call(runtime, host, "Grep", &input));
    measure::report(
        "Grep",
        "ripgrep's libraries, 1 thread",
        measure::pair(5, subject, || search_with_libraries(tree)),
        "1.0",
    );
    for (name, threads, goal) in [("rg -j1", "1", "1.0"), ("rg, all threads", "0", "1.2")] {
        if !rg(tree, threads) {
            println!("rg is not installed: no comparison with '{name}'");
            continue;
        }
        let subject = || drop(call(runtime, host, "Grep", &input));
        let reference = || assert!(rg(tree, threads));
        measure::report("Grep", name, measure::pair(5, subject, reference), goal);
    }
}

fn grep_big(runtime: &Runtime, host: &Host, folder: &Path) {
    measure::head("Grep in one file of 50 MB");
    let input = serde_json::json!({ "pattern": PATTERN, "path": folder, "output_mode": "count" });
    let subject = || drop(call(runtime, host, "Grep", &input));
    if rg(folder, "1") {
        measure::report(
            "Grep",
            "rg -j1",
            measure::pair(10, subject, || assert!(rg(folder, "1"))),
            "1.5",
        );
    } else {
        measure::report(
            "Grep",
            "ripgrep's libraries",
            measure::pair(10, subject, || search_with_libraries(folder)),
            "1.5",
        );
    }
}

fn glob(runtime: &Runtime, host: &Host, tree: &Path) {
    measure::head("Glob over 20,000 files, one in twenty matches");
    let input = serde_json::json!({ "pattern": "**/*7.md", "path": tree });
    let subject = || drop(call(runtime, host, "Glob", &input));
    let native = || {
        let glob = globset::Glob::new("**/*7.md")
            .expect("a glob")
            .compile_matcher();
        let mut found: Vec<PathBuf> = ignore::Walk::new(tree)
            .flatten()
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .map(ignore::DirEntry::into_path)
            .filter(|path| glob.is_match(path.strip_prefix(tree).expect("below")))
            .collect();
        found.sort();
        std::hint::black_box(found);
    };
    measure::report(
        "Glob",
        "ignore::Walk and globset, sorted",
        measure::pair(20, subject, native),
        "1.1",
    );
}

fn search_with_libraries(tree: &Path) {
    let matcher = RegexMatcher::new_line_matcher(PATTERN).expect("a pattern");
    let mut searcher = Searcher::new();
    let mut found = Vec::new();
    for entry in ignore::Walk::new(tree).flatten() {
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let mut matched = false;
            let sink = sinks::Bytes(|_, _| {
                matched = true;
                Ok(false)
            });
            searcher
                .search_path(&matcher, entry.path(), sink)
                .expect("a search");
            if matched {
                found.push(entry.into_path());
            }
        }
    }
    std::hint::black_box(found);
}

fn rg(tree: &Path, threads: &str) -> bool {
    let status = Command::new("rg")
        .args(["--no-config", "-l", "-j", threads, PATTERN])
        .arg(tree)
        .stdout(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// 200 folders of 100 files of 10 KB.
fn make_tree(root: &Path) -> std::io::Result<()> {
    let mut seed = 1_u32;
    for folder in 0..200 {
        let path = root
            .join(format!("dir{}", folder / 20))
            .join(format!("sub{folder}"));
        fs::create_dir_all(&path)?;
        for file in 0..100 {
            let extension = if file % 2 == 0 { "rs" } else { "md" };
            fs::write(
                path.join(format!("file{file}.{extension}")),
                filler(&mut seed, 10_000),
            )?;
        }
    }
    Ok(())
}

/// Lines of words; about one file in a hundred holds the needle.
fn filler(seed: &mut u32, size: usize) -> String {
    const WORDS: [&str; 8] = [
        "let", "value", "return", "the", "tool", "gate", "needle", "result",
    ];
    let mut text = String::with_capacity(size + 80);
    while text.len() < size {
        for _ in 0..8 {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(WORDS[(*seed >> 16) as usize % WORDS.len()]);
            text.push(' ');
        }
        text.push('\n');
    }
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    if *seed >> 16 < 655 {
        text.push_str("needle_1234\n");
    }
    text
}

fn big_file() -> String {
    let mut seed = 7;
    let mut text = filler(&mut seed, 50_000_000);
    text.push_str("needle_0001\n");
    text
}

fn two_thousand_lines() -> String {
    let mut text = String::new();
    for line in 0..2_000 {
        text.push_str(&format!(
            "line {line}: the quick brown fox jumps over the lazy dog, again and again
"
        ));
    }
    text
}
