//! Which cases of the field and which checks are tests here, each by its number in the name of a test.

/// Cases of servers that the host is a client of.
const CASES: [&str; 9] = [
    "m03", "m05", "m06", "m08", "m09", "m11", "m17", "m22", "m25",
];
/// Cases of schemas that need a foreign server.
const SCHEMAS: [&str; 3] = ["s19", "s22", "s24"];
/// Checks of the wrapper that need no foreign program.
const CHECKS: [&str; 8] = [
    "check_20", "check_26", "check_27", "check_28", "check_29", "check_30", "check_33", "check_35",
];

const SOURCES: [&str; 7] = [
    include_str!("binary.rs"),
    include_str!("http.rs"),
    include_str!("life.rs"),
    include_str!("lists.rs"),
    include_str!("replies.rs"),
    include_str!("surroundings.rs"),
    include_str!("trust.rs"),
];

#[test]
fn every_case_and_check_is_a_test() {
    for id in CASES.iter().chain(&SCHEMAS).chain(&CHECKS) {
        let name = format!("fn {id}_");
        let tests: usize = SOURCES
            .iter()
            .map(|source| source.matches(name.as_str()).count())
            .sum();
        assert!(tests > 0, "{id} is no test");
    }
}
