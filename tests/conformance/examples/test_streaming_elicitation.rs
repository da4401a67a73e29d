//! A call about which somebody is asked.

toolgate_conformance_guests::asked_about!(StreamingElicitation, "test_streaming_elicitation");
