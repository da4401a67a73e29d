//! The state that a client carries between a question and its answer: sealed, bound to one call of one client, and good
//! once.
//!
//! The key is made at the start and never leaves the process, so that a restart voids every open question.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::gate::canonical_json;
use crate::model::hex;

/// How long a question may be answered.
pub(super) const QUESTION_LIFE: Duration = Duration::from_secs(300);
/// The most used states that are remembered. Each stands for an answer that a person gave within the last five minutes;
/// beyond it no answer counts.
const MAX_USED: usize = 10_000;
/// Bytes of the number that is used once.
const NONCE: usize = 16;

/// Seals and opens states.
#[derive(Debug)]
pub(super) struct Seals {
    codec: RequestStateCodec,
    used: Mutex<HashMap<[u8; NONCE], Instant>>,
}

/// What an opened state says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    nonce: [u8; NONCE],
    /// The ticket of what was shown.
    pub(super) ticket: String,
}

/// Why a state is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoState {
    /// It was good once, and is too old.
    Expired,
    /// It was sealed for another call, another client or by another process, or was changed.
    Forged,
}

/// To which call a state belongs.
pub(super) struct Bound<'a> {
    /// Who calls.
    pub(super) principal: &'a str,
    /// The tool that is called.
    pub(super) tool: &'a str,
    /// Its input, as it was sent.
    pub(super) input: Option<&'a Map<String, Value>>,
}

impl Bound<'_> {
    /// Each part in a form that cannot run into the next.
    fn associated(&self) -> Vec<u8> {
        let input = canonical_json(&Value::Object(self.input.cloned().unwrap_or_default()));
        let input = hex(&Sha256::digest(input.to_string().as_bytes()));
        serde_json::json!(["toolgate-approval/1", self.principal, self.tool, input])
            .to_string()
            .into_bytes()
    }
}

impl Seals {
    /// With a key of its own.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self {
            codec: RequestStateCodec::new_unchecked(key),
            used: Mutex::default(),
        })
    }

    /// A state for a question. `None`: the system gives no random bytes, so that nothing can be asked.
    pub(super) fn seal(&self, bound: &Bound<'_>, ticket: &str) -> Option<String> {
        self.seal_for(bound, ticket, QUESTION_LIFE)
    }

    fn seal_for(&self, bound: &Bound<'_>, ticket: &str, life: Duration) -> Option<String> {
        let mut payload = vec![0; NONCE];
        getrandom::fill(&mut payload).ok()?;
        payload.extend_from_slice(ticket.as_bytes());
        let associated = bound.associated();
        let options = SealOptions::new().associated_data(&associated).ttl(life);
        Some(self.codec.seal_with(&payload, &options))
    }

    /// Opens what a client sent back.
    ///
    /// # Errors
    /// [`NoState`].
    pub(super) fn open(&self, bound: &Bound<'_>, state: &str) -> Result<Opened, NoState> {
        let opened = self.codec.open_with(state, &bound.associated());
        let payload = opened.map_err(|error| match error {
            RequestStateError::Expired => NoState::Expired,
            _ => NoState::Forged,
        })?;
        let (nonce, ticket) = payload
            .split_first_chunk::<NONCE>()
            .ok_or(NoState::Forged)?;
        Ok(Opened {
            nonce: *nonce,
            ticket: String::from_utf8_lossy(ticket).into_owned(),
        })
    }

    /// Uses a state up. False: it was used before, or too many were.
    pub(super) fn spend(&self, state: &Opened) -> bool {
        let now = Instant::now();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MAX_USED {
            // A state that is too old to be opened need not be remembered.
            used.retain(|_, at| now.duration_since(*at) <= QUESTION_LIFE);
        }
        if used.len() >= MAX_USED || used.contains_key(&state.nonce) {
            return false;
        }
        used.insert(state.nonce, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bound<'a>(principal: &'a str, tool: &'a str, input: &'a Value) -> Bound<'a> {
        Bound {
            principal,
            tool,
            input: input.as_object(),
        }
    }

    #[test]
    fn a_state_is_for_one_call_of_one_client_and_good_once() {
        let seals = Seals::new().unwrap();
        let input = json!({"a": 1, "b": [2, {"c": 3, "d": 4}]});
        let state = seals.seal(&bound("p", "Write", &input), "t1").unwrap();
        let same = json!({"b": [2, {"d": 4, "c": 3}], "a": 1});
        let opened = seals.open(&bound("p", "Write", &same), &state).unwrap();
        assert_eq!(opened.ticket, "t1");
        assert!(seals.spend(&opened));
        assert!(!seals.spend(&opened));
        let other = json!({"a": 2});
        for wrong in [
            bound("q", "Write", &input),
            bound("p", "Edit", &input),
            bound("p", "Write", &other),
        ] {
            assert_eq!(seals.open(&wrong, &state), Err(NoState::Forged));
        }
        let mut changed = state.clone();
        changed.replace_range(changed.len() - 3.., "abc");
        for forged in [changed.as_str(), "", "rs1.x.y", "\u{202e}"] {
            let opened = seals.open(&bound("p", "Write", &input), forged);
            assert_eq!(opened, Err(NoState::Forged), "{forged}");
        }
        let another = Seals::new().unwrap();
        let opened = another.open(&bound("p", "Write", &input), &state);
        assert_eq!(opened, Err(NoState::Forged));
    }

    #[test]
    fn a_state_that_is_too_old_is_not_opened() {
        let seals = Seals::new().unwrap();
        let input = json!({});
        let bound = bound("p", "Write", &input);
        let state = seals.seal_for(&bound, "t", Duration::ZERO).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(seals.open(&bound, &state), Err(NoState::Expired));
    }

    #[test]
    fn what_is_remembered_of_used_states_is_bounded() {
        let seals = Seals::new().unwrap();
        let state = |number: usize| {
            let mut nonce = [0; NONCE];
            nonce[..8].copy_from_slice(&number.to_le_bytes());
            Opened {
                nonce,
                ticket: String::new(),
            }
        };
        assert!((0..MAX_USED).all(|number| seals.spend(&state(number))));
        assert!(!seals.spend(&state(MAX_USED)));
    }
}
