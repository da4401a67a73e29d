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

/// Cases that need the program itself or a server behind the host, also those that are tested here as far as the library goes:
/// the file beside this folder, and the test in it.
const ELSEWHERE: &[(&str, &str, &str)] = &[
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
    (
        "C40",
        "../host/tests/layers.rs",
        "c40_a_mistake_on_the_command_line_stops_the_start",
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
    (
        "H18",
        "upstream/surroundings.rs",
        "h18_what_the_host_knows_is_not_in_a_servers_environment",
    ),
    (
        "M03",
        "upstream/life.rs",
        "m03_a_server_that_ends_during_a_call_is_a_failure_and_no_retry",
    ),
    (
        "M05",
        "upstream/http.rs",
        "m05_what_a_server_answers_instead_of_an_answer_is_an_error_with_its_status",
    ),
    (
        "M06",
        "upstream/lists.rs",
        "m06_servers_with_tools_of_one_name_are_told_apart",
    ),
    (
        "M08",
        "upstream/lists.rs",
        "m08_a_server_cannot_take_a_name_of_the_hosts",
    ),
    (
        "M09",
        "upstream/trust.rs",
        "m09_a_definition_that_changed_is_refused_until_it_is_accepted",
    ),
    (
        "M11",
        "upstream/trust.rs",
        "m11_a_claim_to_read_only_counts_as_nothing",
    ),
    (
        "M17",
        "upstream/binary.rs",
        "m17_a_flood_without_an_end_of_line_ends_that_server_and_fills_no_memory",
    ),
    (
        "M22",
        "upstream/replies.rs",
        "m22_an_answer_that_is_none_is_an_error_and_the_session_lives",
    ),
    (
        "M25",
        "upstream/lists.rs",
        "m25_a_long_description_full_of_tricks_is_cut_and_cleaned",
    ),
    (
        "S19",
        "upstream/lists.rs",
        "s19_a_schema_elsewhere_is_not_fetched_and_said_with_its_place",
    ),
    (
        "S22",
        "upstream/lists.rs",
        "s22_a_choice_at_the_root_is_kept_for_validation",
    ),
    (
        "S24",
        "upstream/lists.rs",
        "s24_one_invalid_schema_among_forty_is_named",
    ),
    (
        "W03",
        "../host/tests/store/broken.rs",
        "w03_a_component_that_never_describes_itself_is_named_and_the_exit_says_so",
    ),
    (
        "W08",
        "../host/tests/store/broken.rs",
        "w08_what_is_no_component_file_is_refused_before_it_is_read",
    ),
];

/// Cases that cannot run, with what they need.
const NOT_APPLICABLE: &[(&str, &str)] = &[];

/// Cases of which a part cannot run yet, with what is left out. They count as tested for the rest.
const IN_PART: &[(&str, &str)] = &[
    (
        "A17",
        "names and descriptions at loading, hook reasons, commands and paths; a host needs a tool with a network",
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
        "H22",
        "with 512 processes: the kernel keeps 300 numbers of a namespace for itself",
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
    for (id, file, name) in ELSEWHERE {
        assert!(
            name.starts_with(&format!("{}_", id.to_lowercase())),
            "{name}"
        );
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(&path).expect("the tests of the program");
        let forms = [
            format!("#[test]\nfn {name}()"),
            format!("#[tokio::test]\nasync fn {name}()"),
        ];
        assert!(
            forms.iter().any(|form| text.contains(form)),
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
