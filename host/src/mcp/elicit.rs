//! The question as a client shows it, and what its answer means.
//!
//! Guarantees that only an accepted form with the decision "allow once" is a yes: clients fill in defaults and accept on
//! their own, so there is no default, and "deny" stands first. "Always" is not offered: a client is no administrator.

use rmcp::model::{
    ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema,
};
use serde_json::Value;

use crate::approval::Question;
use crate::gate::{Answer, ApprovalRequest};

/// The field of the form.
const DECISION: &str = "decision";
/// The answer that is a yes.
const ALLOW: &str = "allow_once";

/// Whether a client can show a form: what it declared is the form mode, or no mode at all.
pub(super) fn can_ask(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// The form for a request, with the text that every approver shows. Reads the file that an edit would change.
pub(super) async fn form(request: &ApprovalRequest) -> Option<ElicitRequestParams> {
    let request = request.clone();
    let text = tokio::task::spawn_blocking(move || Question::of(&request).text());
    let message = text.await.ok()?;
    let decision = EnumSchema::builder(vec!["deny".to_owned(), ALLOW.to_owned()])
        .title("Decision")
        .build();
    let schema = ElicitationSchema::builder()
        .required_enum_schema(DECISION, decision)
        .build()
        .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    })
}

/// What a client's answer means. `by`: who it is, for the record.
pub(super) fn meaning(result: &ElicitResult, by: &str) -> Answer {
    let refused = |message: Option<&str>| Answer::Refused {
        by: by.to_owned(),
        message: message.map(str::to_owned),
    };
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.as_ref();
            match content.and_then(|content| content.get(DECISION)) {
                Some(Value::String(word)) if word == ALLOW => Answer::Approved {
                    by: by.to_owned(),
                    always: false,
                },
                Some(Value::String(word)) if word == "deny" => refused(None),
                Some(_) | None => refused(Some(
                    "the client accepted the question without a decision, which is no yes",
                )),
            }
        }
        _ => refused(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(result: Value) -> Answer {
        meaning(&serde_json::from_value(result).unwrap(), "it")
    }

    #[test]
    fn only_the_decision_is_a_yes() {
        let yes = json!({"action": "accept", "content": {"decision": "allow_once"}});
        assert!(matches!(
            answer(yes),
            Answer::Approved { always: false, .. }
        ));
        for no in [
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {}}),
            json!({"action": "accept", "content": null}),
            json!({"action": "accept", "content": {"decision": "deny"}}),
            json!({"action": "accept", "content": {"decision": "allow_always"}}),
            json!({"action": "accept", "content": {"decision": ["allow_once"]}}),
            json!({"action": "accept", "content": ["allow_once"]}),
            json!({"action": "decline", "content": {"decision": "allow_once"}}),
            json!({"action": "cancel"}),
        ] {
            assert!(matches!(answer(no.clone()), Answer::Refused { .. }), "{no}");
        }
    }

    #[test]
    fn a_form_is_shown_by_who_declares_forms_or_no_mode() {
        let can = |capabilities: Value| {
            can_ask(&serde_json::from_value::<ClientCapabilities>(capabilities).unwrap())
        };
        assert!(can(json!({"elicitation": {}})));
        assert!(can(json!({"elicitation": {"form": {}}})));
        assert!(can(json!({"elicitation": {"form": {}, "url": {}}})));
        assert!(!can(json!({"elicitation": {"url": {}}})));
        assert!(!can(json!({})));
    }
}
