//! The clients whose calls are under way: how each can be asked, and where its progress goes.
//!
//! Guarantees that a question reaches the client that made the call and no other, and that its answer counts once, for
//! what was shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitResult};
use rmcp::service::{Peer, ServiceError};
use tokio::sync::mpsc;

use super::elicit;
use super::seal::{Opened, Seals};
use crate::gate::{Answer, ApprovalRequest, Approver, CallProgress};
use crate::model::CallId;

/// How a client's person is asked.
#[derive(Debug)]
pub(super) enum Way {
    /// Not at all.
    Nobody,
    /// By a request to the client, in a session that began with `initialize`.
    Request {
        /// The client.
        peer: Peer<RoleServer>,
        /// How long it may take.
        timeout: Duration,
    },
    /// By a result that names the question; the client calls again with the answer.
    Result(Box<Exchange>),
}

/// A question that goes out in a result, and an answer that came with the call.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Keeps an answer from counting twice.
    pub(super) seals: Arc<Seals>,
    /// The answer that came with this call.
    pub(super) answered: Mutex<Option<(Opened, ElicitResult)>>,
    /// The question that goes back.
    pub(super) question: Mutex<Option<PutQuestion>>,
}

/// A question that waits to be sent.
#[derive(Debug)]
pub(super) struct PutQuestion {
    /// The form.
    pub(super) form: ElicitRequestParams,
    /// What it asks about.
    pub(super) ticket: String,
}

impl Exchange {
    async fn ask(&self, request: &ApprovalRequest, by: &str) -> Answer {
        let answered = lock(&self.answered).take();
        if let Some((state, result)) = answered {
            if !self.seals.spend(&state) {
                return Answer::Refused {
                    by: by.to_owned(),
                    message: Some("this approval was used already".to_owned()),
                };
            }
            // A yes is for what was shown; anything else is asked for anew.
            if state.ticket == request.ticket {
                return elicit::meaning(&result, by);
            }
        }
        let Some(form) = elicit::form(request).await else {
            return Answer::Nobody;
        };
        let ticket = request.ticket.clone();
        *lock(&self.question) = Some(PutQuestion { form, ticket });
        Answer::Pending {
            id: request.call.to_string(),
        }
    }
}

/// What a tool says of how far it is.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) done: u32,
    pub(super) total: Option<u32>,
    pub(super) message: String,
}

/// The client of one call.
#[derive(Debug)]
pub(super) struct Caller {
    /// What it is called in records.
    pub(super) by: String,
    /// How its person is asked.
    pub(super) way: Way,
    /// Somebody is being asked now.
    pub(super) waits: AtomicBool,
    /// Where the tool's progress goes. What is too fast is dropped.
    pub(super) steps: mpsc::Sender<Step>,
}

impl Caller {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        match &self.way {
            Way::Nobody => Answer::Nobody,
            Way::Request { peer, timeout } => self.request(request, peer, *timeout).await,
            Way::Result(exchange) => exchange.ask(request, &self.by).await,
        }
    }

    async fn request(
        &self,
        request: &ApprovalRequest,
        peer: &Peer<RoleServer>,
        timeout: Duration,
    ) -> Answer {
        let Some(form) = elicit::form(request).await else {
            return Answer::Nobody;
        };
        self.waits.store(true, Ordering::Relaxed);
        let answered = peer
            .create_elicitation_with_timeout(form, Some(timeout))
            .await;
        self.waits.store(false, Ordering::Relaxed);
        match answered {
            Ok(result) => elicit::meaning(&result, &self.by),
            Err(ServiceError::Timeout { .. }) => Answer::TimedOut { after: timeout },
            Err(error) => {
                tracing::warn!("{} said that it can ask, and could not: {error}", self.by);
                Answer::Nobody
            }
        }
    }
}

/// The clients of all calls that are under way. As an approver it asks the person at the client of the call.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    calls: Arc<Mutex<HashMap<CallId, Arc<Caller>>>>,
}

impl Clients {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where a host's progress goes, so that it reaches the client of the call.
    pub fn progress(&self) -> CallProgress {
        let clients = self.clone();
        Arc::new(move |call, done, total, message| {
            let Some(caller) = clients.caller(call) else {
                return;
            };
            let step = Step {
                done,
                total,
                message: message.to_owned(),
            };
            if caller.steps.try_send(step).is_err() {
                tracing::trace!("a step of {call} is not shown: there are too many");
            }
        })
    }

    /// A call is under way until what this gives is dropped.
    pub(super) fn enter(&self, call: CallId, caller: Arc<Caller>) -> Entered {
        lock(&self.calls).insert(call, caller);
        Entered {
            clients: self.clone(),
            call,
        }
    }

    fn caller(&self, call: CallId) -> Option<Arc<Caller>> {
        lock(&self.calls).get(&call).cloned()
    }
}

/// A call that is under way.
#[derive(Debug)]
pub(super) struct Entered {
    clients: Clients,
    call: CallId,
}

impl Drop for Entered {
    fn drop(&mut self) {
        lock(&self.clients.calls).remove(&self.call);
    }
}

#[async_trait]
impl Approver for Clients {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        match self.caller(request.call) {
            Some(caller) => caller.ask(request).await,
            None => Answer::Nobody,
        }
    }
}

/// Nothing that holds these locks can panic in the middle of a change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
