//! A call about which somebody is asked: by a result that wants input.

toolgate_conformance_guests::asked_about!(InputRequired, "test_input_required_result_elicitation");
