//! The input of Read by its wire names.

use toolgate_guest::bind;
use toolgate_read::Input;

fn fault(input: &str) -> String {
    bind::<Input>(input).map_or_else(
        |error| error.to_string(),
        |input| format!("bound: {input:?}"),
    )
}

#[test]
fn a_path_is_enough() {
    assert!(bind::<Input>(r#"{"file_path":"a.txt"}"#).is_ok());
    assert!(bind::<Input>(r#"{"file_path":"a.txt","offset":0,"limit":10}"#).is_ok());
}

#[test]
fn a_wrong_name_is_answered_with_the_right_one() {
    for name in ["path", "filePath", "FILE_PATH"] {
        let fault = fault(&format!(r#"{{"{name}":"/ws/a.txt"}}"#));
        assert!(
            fault.contains(&format!("'{name}'")) && fault.contains("'file_path'"),
            "{fault}"
        );
    }
}
