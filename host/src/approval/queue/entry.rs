//! One question of the queue: what is kept of it, and how long it holds.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::approval::remembered::About;
use crate::approval::render::Question;
use crate::gate::ApprovalRequest;

/// How long a question waits. Longer than somebody is away for, shorter than it takes to forget what the work was about.
pub(super) const WAITS: Duration = Duration::from_secs(60 * 60);
/// How long a yes waits to be taken. The agent repeats the call within minutes, or it has gone on to something else; a
/// yes that lies around would be taken by whoever happens to make the same call.
pub(super) const YES_HOLDS: Duration = Duration::from_secs(10 * 60);
/// How long a no waits to be told. A no is not dangerous.
pub(super) const NO_HOLDS: Duration = WAITS;
/// How long a question that is over is kept, so that the next one about the same call can say what became of it.
pub(super) const REMEMBERED: Duration = WAITS;
/// How far into the future a time may lie: clocks of one machine are set, and a yes must not live longer for it.
const CLOCK_ERROR: Duration = Duration::from_secs(60);

/// A question in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name: eight letters and digits.
    pub id: String,
    /// What was asked for: a new question about it takes this one's place.
    pub about: String,
    /// The request's ticket: what an answer is for.
    pub ticket: String,
    /// When it was asked.
    pub created: Timestamp,
    /// When it ends in its present state.
    pub expires: Timestamp,
    /// How far it is.
    pub state: State,
    /// What is asked.
    pub question: Question,
    /// What "always" would stand for.
    pub(in crate::approval) standing: Option<About>,
}

/// How far a question is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum State {
    /// Nobody answered yet. For an hour.
    Waiting,
    /// Yes, not taken yet. For ten minutes.
    Approved {
        /// Who.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// No, not told yet. For an hour.
    Refused {
        /// Who.
        by: String,
        /// When.
        at: Timestamp,
        /// Their words.
        message: Option<String>,
    },
}

impl State {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved { .. } => "approved",
            Self::Refused { .. } => "refused",
        }
    }
}

impl Entry {
    /// A question that nobody has answered.
    pub(super) fn new(request: &ApprovalRequest, question: Question, now: Timestamp) -> Self {
        Self {
            id: new_id(),
            about: request.about.clone(),
            ticket: request.ticket.clone(),
            // Not where the rule is too long to be read.
            standing: question
                .always
                .as_ref()
                .and(request.standing.as_ref().map(About::from)),
            created: now,
            expires: later(now, WAITS),
            state: State::Waiting,
            question,
        }
    }

    /// The same, answered.
    pub(super) fn answered(mut self, state: State, now: Timestamp) -> Self {
        let holds = match state {
            State::Waiting => WAITS,
            State::Approved { .. } => YES_HOLDS,
            State::Refused { .. } => NO_HOLDS,
        };
        self.expires = later(now, holds);
        self.state = state;
        self
    }

    /// What somebody who asks the same again should know of this question, which is no answer to it.
    pub(super) fn void_because(&self, now: Timestamp) -> String {
        let id = &self.id;
        let changed = "what the call would do changed since";
        let over = self.is_over(now);
        match &self.state {
            State::Waiting if over => {
                format!("the question '{id}' about the same call was not answered in time")
            }
            State::Waiting => format!("it takes the place of the question '{id}': {changed}"),
            State::Approved { by, .. } if over => format!(
                "the yes of {by} to the question '{id}' is over: the call came later than 10 minutes after it"
            ),
            State::Approved { by, .. } => {
                format!("the yes of {by} to the question '{id}' does not hold: {changed}")
            }
            State::Refused { by, .. } => {
                format!("{by} said no to the question '{id}' about the same call")
            }
        }
    }

    /// Whether nobody needs to know of it any more.
    pub(super) fn is_forgotten(&self, now: Timestamp) -> bool {
        let (since, holds) = self.holds();
        let ends = self.expires.min(later(since, holds));
        now >= later(ends, REMEMBERED) || since > later(now, CLOCK_ERROR)
    }

    /// Since when it is in its state, and for how long at most.
    fn holds(&self) -> (Timestamp, Duration) {
        match &self.state {
            State::Waiting => (self.created, WAITS),
            State::Approved { at, .. } => (*at, YES_HOLDS),
            State::Refused { at, .. } => (*at, NO_HOLDS),
        }
    }

    /// Whether its time is over, or lies so far ahead that the clock was set back.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        let (since, holds) = self.holds();
        now >= self.expires || now >= later(since, holds) || since > later(now, CLOCK_ERROR)
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// Letters and digits that are not taken for one another, in a form that is typed without shift.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A name: 40 random bits, so that it follows from nothing that a model can choose.
fn new_id() -> String {
    let random = uuid::Uuid::new_v4().as_u128();
    // The low 48 bits of a version 4 UUID are all random.
    (0..8)
        .map(|digit| {
            let index = (random >> (5 * digit)) & 31;
            let letter = usize::try_from(index)
                .ok()
                .and_then(|index| LETTERS.get(index));
            char::from(letter.copied().unwrap_or(b'0'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        let ids: std::collections::HashSet<String> = (0..1_000).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 8));
        let used: std::collections::HashSet<char> = ids.iter().flat_map(|id| id.chars()).collect();
        assert_eq!(used.len(), 32);
    }
}
