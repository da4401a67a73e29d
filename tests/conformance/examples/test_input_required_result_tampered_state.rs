//! The same, for a client that changes the state which it was given.

toolgate_conformance_guests::asked_about!(
    TamperedState,
    "test_input_required_result_tampered_state"
);
