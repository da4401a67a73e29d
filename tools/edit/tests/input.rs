//! The input of Edit by its wire names.

use toolgate_edit::Input;
use toolgate_guest::bind;

#[test]
fn replace_all_may_be_left_out() {
    assert!(bind::<Input>(r#"{"file_path":"a","old_string":"x","new_string":"y"}"#).is_ok());
    assert!(
        bind::<Input>(r#"{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}"#)
            .is_ok()
    );
}

#[test]
fn all_faults_come_at_once() {
    let fault = bind::<Input>(r#"{"file_path":"a","old_str":"x"}"#)
        .map_or_else(|error| error.to_string(), |_| String::new());
    for name in ["old_string", "new_string", "old_str"] {
        assert!(fault.contains(&format!("'{name}'")), "{fault}");
    }
}
