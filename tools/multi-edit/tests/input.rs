//! The input of MultiEdit by its wire names.

use toolgate_guest::bind;
use toolgate_multi_edit::Input;

#[test]
fn a_list_of_edits() {
    let edits = r#"[{"old_string":"x","new_string":"y"},{"old_string":"a","new_string":"b","replace_all":true}]"#;
    assert!(bind::<Input>(&format!(r#"{{"file_path":"a","edits":{edits}}}"#)).is_ok());
}

#[test]
fn a_fault_names_its_edit() {
    let edits = r#"[{"old_string":"x","new_string":"y"},{"old_string":1,"new_string":"b"}]"#;
    let bound = bind::<Input>(&format!(r#"{{"file_path":"a","edits":{edits}}}"#));
    let fault = bound.map_or_else(|error| error.to_string(), |_| String::new());
    assert!(
        fault.contains("'edits[1].old_string' must be a string"),
        "{fault}"
    );
}
