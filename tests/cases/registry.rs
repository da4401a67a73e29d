//! Which case is a test, and which has a reason not to be one yet.

use std::collections::BTreeSet;
use std::path::Path;

/// Every case of the families that have tests here.
const FAMILIES: &[(&str, &[&str])] = &[
    (
        "approval",
        &[
            "A01", "A03", "A04", "A06", "A07", "A09", "A10", "A12", "A14", "A15", "A17", "A18",
            "A20", "A21", "A23", "A24",
        ],
    ),
    (
        "command",
        &[
            "C01", "C03", "C04", "C06", "C07", "C09", "C10", "C12", "C14", "C15", "C16", "C18",
            "C19", "C21", "C22", "C23", "C25", "C26", "C28", "C29", "C31", "C32", "C34", "C35",
            "C37", "C38", "C40", "C42", "C43", "C45", "C46", "C48", "C49", "C50", "C52",
        ],
    ),
    (
        "file",
        &[
            "F01", "F03", "F04", "F06", "F07", "F09", "F10", "F12", "F13", "F15", "F16", "F18",
            "F20", "F21", "F23", "F24", "F26", "F28", "F29", "F31", "F32", "F34", "F35", "F36",
            "F37", "F39", "F41", "F42", "F43", "F44", "F46",
        ],
    ),
    (
        "network",
        &[
            "N01", "N03", "N04", "N06", "N07", "N09", "N10", "N12", "N13", "N14", "N16", "N17",
            "N19", "N20", "N22", "N23", "N25",
        ],
    ),
    (
        "path",
        &[
            "P01", "P03", "P04", "P06", "P08", "P09", "P11", "P12", "P14", "P15", "P17", "P18",
            "P20", "P22", "P23", "P25", "P26", "P28", "P29", "P31", "P33", "P34", "P36", "P37",
            "P38",
        ],
    ),
    (
        "mcp",
        &[
            "M01", "M03", "M05", "M06", "M08", "M09", "M11", "M13", "M14", "M16", "M17", "M18",
            "M19", "M20", "M22", "M24", "M25",
        ],
    ),
    (
        "shell",
        &[
            "H01", "H03", "H05", "H06", "H07", "H08", "H09", "H10", "H12", "H13", "H15", "H17",
            "H18", "H20", "H22",
        ],
    ),
    (
        "schema",
        &[
            "S01", "S03", "S05", "S06", "S07", "S09", "S10", "S11", "S12", "S13", "S15", "S17",
            "S18", "S19", "S21", "S22", "S24", "S26", "S28", "S30", "S31", "S33", "S35", "S37",
            "S38",
        ],
    ),
    (
        "wasm",
        &[
            "W01", "W02", "W03", "W04", "W06", "W08", "W09", "W11", "W12", "W13", "W14", "W15",
            "W17", "W19", "W20", "W21", "W23", "W25", "W27", "W29", "W31", "W33",
        ],
    ),
];

/// Cases that need the program itself, also those that are tested here as far as the library goes: the file below `tests`,
/// and the test in it.
const WITH_THE_PROGRAM: &[(&str, &str, &str)] = &[
    (
        "A15",
        "mcp/approval.rs",
        "a15_no_control_character_reaches_the_client",
    ),
    (
        "H01",
        "mcp/calls.rs",
        "h01_a_command_never_reads_the_protocol",
    ),
    ("H08", "mcp/http.rs", "h08_a_client_that_goes_ends_its_call"),
    ("M01", "mcp/ends.rs", "m01_stdout_holds_messages_only"),
    (
        "M13",
        "mcp/framing.rs",
        "m13_cancelling_an_unknown_request_loses_no_answer",
    ),
    ("M14", "mcp/http.rs", "m14_a_batch_is_an_error_at_once"),
    (
        "M16",
        "mcp/framing.rs",
        "m16_a_line_without_an_end_is_not_held",
    ),
    (
        "M18",
        "mcp/framing.rs",
        "m18_what_cannot_be_read_gets_one_error_and_an_error_none",
    ),
    ("M19", "mcp/http.rs", "m19_only_the_true_host_name_gets_in"),
    (
        "M20",
        "mcp/http.rs",
        "m20_a_page_gets_in_only_from_an_origin_that_is_named",
    ),
    (
        "M24",
        "mcp/framing.rs",
        "m24_unknown_notifications_and_methods_change_nothing",
    ),
    (
        "S31",
        "mcp/framing.rs",
        "s31_arguments_that_are_no_object_reach_no_tool",
    ),
];

/// Cases that cannot run yet, with what they need.
const NOT_APPLICABLE: &[(&str, &str)] = &[
    ("M03", "needs an MCP server behind the host: it dies"),
    (
        "M05",
        "needs an MCP server behind the host: its HTTP errors",
    ),
    ("M06", "needs MCP servers behind the host: one name twice"),
    ("M08", "needs an MCP server behind the host: our names"),
    ("M09", "needs an MCP server behind the host: it changes"),
    ("M11", "needs an MCP server behind the host: its hints"),
    ("M17", "needs an MCP server behind the host: it floods"),
    ("M22", "needs an MCP server behind the host: odd results"),
    ("M25", "needs an MCP server behind the host: descriptions"),
];

/// Cases of which a part cannot run yet, with what is left out. They count as tested for the rest.
const IN_PART: &[(&str, &str)] = &[
    (
        "A17",
        "names and descriptions at loading, hook reasons, commands and paths; a host needs a tool with a network",
    ),
    (
        "A21",
        "a rule, a hook and a component in the workspace's file; an external server needs the MCP client, and the case's \
         `serve` is the library's start here",
    ),
    (
        "A23",
        "a trusted hook and a trusted component that change; an external server needs the MCP client",
    ),
    (
        "C40",
        "flags and files as the command line hands them to the library; the printed message needs the program itself",
    ),
    (
        "F13",
        "content over 1 MiB is refused at the parse gate; the deadline inside of a write is a test of the sandbox",
    ),
    (
        "H15",
        "the next command runs in the root; no call leaves a session anywhere, so there is nothing to note",
    ),
    (
        "H18",
        "a command stands for the external server, which needs the MCP client",
    ),
    (
        "H22",
        "with the default of 1,024 processes: the number is no setting",
    ),
    (
        "N16",
        "commands without a network; a list of what they may dial needs a proxy in the shell's sandbox",
    ),
    (
        "N17",
        "commands without a network; a list of what they may dial needs a proxy in the shell's sandbox",
    ),
    (
        "N20",
        "commands without a network; a list of what they may dial needs a proxy in the shell's sandbox",
    ),
    (
        "P36",
        "three of four calls; a command may make a repository, and hooks in one that it made itself are not kept from it",
    ),
    (
        "S19",
        "registration is refused; a list of quarantined tools needs an MCP server behind the host",
    ),
    ("S22", "native tools stand for the MCP server's"),
    (
        "S24",
        "native tools stand for the MCP server's; a list of quarantined tools needs an MCP server behind the host",
    ),
    (
        "W03",
        "what the library lists and what it names as broken; the exit code is a test of the program",
    ),
    (
        "W08",
        "refused where a configuration names it; a test of the program names it to `check`",
    ),
    (
        "W09",
        "the three waits that need no network; a server that never answers is a test of egress",
    ),
];

/// What the modules declare.
const MODULES: &[&[(&str, &str)]] = &[
    crate::approval_answers::TESTED,
    crate::approval_hooks::TESTED,
    crate::approval_prompt::TESTED,
    crate::approval_trust::TESTED,
    crate::command_lists::TESTED,
    crate::command_patterns::TESTED,
    crate::command_words::TESTED,
    crate::file_edit::TESTED,
    crate::file_guards::TESTED,
    crate::file_read::TESTED,
    crate::file_search::TESTED,
    crate::file_write::TESTED,
    crate::network_bounds::TESTED,
    crate::network_places::TESTED,
    crate::path_links::TESTED,
    crate::path_rules::TESTED,
    crate::path_special::TESTED,
    crate::schema_errors::TESTED,
    crate::schema_foreign::TESTED,
    crate::schema_values::TESTED,
    crate::shell_ends::TESTED,
    crate::shell_places::TESTED,
    crate::shell_words::TESTED,
    crate::wasm_bounds::TESTED,
    crate::wasm_reach::TESTED,
];

#[test]
fn every_case_is_a_test_or_has_a_reason() {
    let mut tested = BTreeSet::new();
    for (id, name) in MODULES.iter().copied().flatten() {
        assert!(tested.insert(*id), "{id} is tested twice");
        let prefix = format!("{}_", id.to_lowercase());
        assert!(
            name.starts_with(&prefix),
            "the test of {id} is called {name}"
        );
    }
    for (id, file, name) in WITH_THE_PROGRAM {
        assert!(
            name.starts_with(&format!("{}_", id.to_lowercase())),
            "{name}"
        );
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(&path).expect("the tests of the program");
        assert!(
            text.contains(&format!("#[test]\nfn {name}()")),
            "{id}: no {name} in {file}"
        );
        tested.insert(*id);
    }
    let mut not_applicable = BTreeSet::new();
    for (id, reason) in NOT_APPLICABLE {
        assert!(not_applicable.insert(*id), "{id} has two reasons");
        assert!(!reason.is_empty(), "{id} has no reason");
    }
    let all: BTreeSet<&str> = FAMILIES
        .iter()
        .flat_map(|(_, ids)| ids.iter().copied())
        .collect();
    let listed_ids: usize = FAMILIES.iter().map(|(_, ids)| ids.len()).sum();
    assert_eq!(all.len(), listed_ids, "an id stands twice in the families");
    let both: Vec<_> = tested.intersection(&not_applicable).collect();
    assert!(
        both.is_empty(),
        "tested, and with a reason not to be: {both:?}"
    );
    let listed: BTreeSet<&str> = tested.union(&not_applicable).copied().collect();
    let neither: Vec<_> = all.symmetric_difference(&listed).collect();
    assert!(neither.is_empty(), "in one of the lists only: {neither:?}");
    for (id, _) in IN_PART {
        assert!(tested.contains(id), "{id} is not tested, not even in part");
    }
    print_counts(&tested, &not_applicable);
}

fn print_counts(tested: &BTreeSet<&str>, not_applicable: &BTreeSet<&str>) {
    let counts: Vec<String> = FAMILIES
        .iter()
        .map(|(family, ids)| {
            let of = |list: &BTreeSet<&str>| ids.iter().filter(|id| list.contains(*id)).count();
            format!(
                "{family} {} tested / {} not applicable",
                of(tested),
                of(not_applicable)
            )
        })
        .collect();
    println!("cases: {}", counts.join("; "));
    for (id, reason) in NOT_APPLICABLE {
        println!("  {id} is not applicable: {reason}");
    }
    for (id, what) in IN_PART {
        println!("  {id} in part: {what}");
    }
}
