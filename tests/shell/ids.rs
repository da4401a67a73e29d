//! The table of behaviours by id: which of them are run here, and why one is not.
//!
//! A test carries its id at the beginning of its name. What is listed is what this program holds, so that an id cannot be
//! claimed without a test.

use std::collections::BTreeSet;
use std::io::Write as _;

use crate::helper;
use crate::place::is_root;

/// Letters of the table with the number of their ids, which count from 01.
const FAMILIES: [(char, usize); 13] = [
    ('A', 15),
    ('B', 6),
    ('C', 5),
    ('D', 10),
    ('E', 11),
    ('F', 17),
    ('G', 11),
    ('H', 7),
    ('I', 5),
    ('J', 15),
    ('K', 5),
    ('L', 5),
    ('M', 3),
];

/// Ids without a test, with the reason.
const NOT_RUN: [(&str, &str); 0] = [];

/// Begins what a test prints that cannot run where it is.
const NOT_HERE: &str = "not run here: ";

/// Says that a test cannot run for this user or on this machine. It then counts as not run.
pub fn not_here(id: &str, why: &str) {
    println!("{NOT_HERE}{id}: {why}");
}

/// All ids of the table.
fn table() -> BTreeSet<String> {
    let ids = |(letter, count)| (1..=count).map(move |number| format!("{letter}{number:02}"));
    FAMILIES.into_iter().flat_map(ids).collect()
}

/// The id that a test's name begins with.
fn id(test: &str) -> Option<String> {
    let name = test.rsplit("::").next()?;
    let (id, rest) = name.split_at_checked(3)?;
    let (letter, number) = id.split_at_checked(1)?;
    let is_id = letter.bytes().all(|byte| byte.is_ascii_lowercase())
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && rest.starts_with('_');
    is_id.then(|| id.to_uppercase())
}

/// The names of this program's tests.
fn tests(arguments: &[&str]) -> BTreeSet<String> {
    let own = std::env::current_exe().expect("this program");
    let listed = helper::program(own)
        .arg("--list")
        .args(arguments)
        .output()
        .expect("a list");
    let listed = String::from_utf8(listed.stdout).expect("names");
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    names.map(str::to_owned).collect()
}

/// Says, also where output of tests is not shown, how many ids of the table have run.
fn say(who: &str, run: &BTreeSet<String>, not_here: &[&str]) {
    let table = table();
    let families = FAMILIES.map(|(letter, count)| {
        let of = run.intersection(&table).filter(|id| id.starts_with(letter));
        format!("{letter} {}/{count}", of.count())
    });
    let beyond: Vec<_> = run.difference(&table).map(String::as_str).collect();
    let reasons = NOT_RUN.map(|(id, why)| format!("{id}: {why}"));
    let lines = format!(
        "shell table as {who}: {} of {} ids run ({}); beside the table: {}\n  not run: {}\n{}",
        run.intersection(&table).count(),
        table.len(),
        families.join(", "),
        beyond.join(" "),
        reasons.join("; "),
        not_here
            .iter()
            .map(|line| format!("  {line}\n"))
            .collect::<String>(),
    );
    // Not by the macro, whose output is not shown for tests that pass.
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(lines.as_bytes()).expect("stderr");
}

#[test]
fn every_id_of_the_table_is_a_test_or_has_a_reason() {
    let ignored = tests(&["--ignored"]);
    let run: BTreeSet<_> = tests(&[])
        .difference(&ignored)
        .filter_map(|test| id(test))
        .collect();
    let not_run: BTreeSet<_> = NOT_RUN.iter().map(|(id, _)| (*id).to_owned()).collect();
    let table = table();
    let both: Vec<_> = run.intersection(&not_run).collect();
    assert!(both.is_empty(), "a test, and a reason not to be: {both:?}");
    let known: BTreeSet<_> = run.union(&not_run).cloned().collect();
    let missing: Vec<_> = table.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "neither a test nor a reason: {missing:?}"
    );
    say(
        if is_root() {
            "root"
        } else {
            "an ordinary user"
        },
        &run,
        &[],
    );
}

/// Counts what another run of this program, with its output shown, says that it has run.
pub fn say_for(who: &str, output: &str) {
    let passed = output
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
    let mut run: BTreeSet<_> = passed.filter_map(id).collect();
    let lines = output.lines().filter(|line| line.starts_with(NOT_HERE));
    let lines: Vec<_> = lines.collect();
    for line in &lines {
        let id = line
            .strip_prefix(NOT_HERE)
            .and_then(|rest| rest.split(':').next());
        run.remove(id.unwrap_or_default());
    }
    let unexplained: Vec<_> = table()
        .into_iter()
        .filter(|id| !run.contains(id) && !NOT_RUN.iter().any(|(known, _)| known == id))
        .filter(|id| !lines.iter().any(|line| line.contains(id.as_str())))
        .collect();
    assert!(unexplained.is_empty(), "not run as {who}: {unexplained:?}");
    say(who, &run, &lines);
}
