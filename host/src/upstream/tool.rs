//! A call of a foreign tool: cleared by every gate, sent once.
//!
//! What the server does with it is not known where the connection ends during the call. Only a call of a tool that is
//! believed to be idempotent is then sent again, and only once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::link::NoAnswer;
use super::reply;
use super::server::Server;
use crate::gate::{Cleared, Provider, ProviderEnd, ProviderReport};
use crate::model::{CallId, Stop, Usage, visible};

/// The most characters of a server's stderr that a model is told.
const MAX_TAIL: usize = 2_000;

/// How long the end of a server that left a call is waited for.
const LONGEST_END: Duration = Duration::from_secs(1);

/// One tool of a server.
#[derive(Debug)]
pub(super) struct UpstreamTool {
    pub(super) server: Arc<Server>,
    /// The server's own name for it.
    pub(super) raw: String,
    /// What it was when it was registered.
    pub(super) digest: String,
}

#[async_trait]
impl Provider for UpstreamTool {
    async fn execute(&self, call: Cleared) -> ProviderReport {
        let total = call.tool().limits().timeout.duration();
        let may_repeat = call.tool().facts().traits.idempotent;
        let (id, input) = (call.id(), call.input().as_ref());
        let called = self.called(id, input, total, may_repeat);
        let called = tokio::time::timeout(total, called).await;
        ProviderReport {
            end: called.unwrap_or(ProviderEnd::Stopped(Stop::WallClock { limit: total })),
            usage: Usage::default(),
            files: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            log: Vec::new(),
        }
    }
}

impl UpstreamTool {
    async fn called(
        &self,
        id: CallId,
        input: &Map<String, Value>,
        total: Duration,
        may_repeat: bool,
    ) -> ProviderEnd {
        let first = self.once(id, input, total).await;
        match first {
            Err(NoAnswer::Gone) if may_repeat => match self.once(id, input, total).await {
                Ok(end) => end,
                Err(why) => self.unanswered(&why),
            },
            Ok(end) => end,
            Err(why) => self.unanswered(&why),
        }
    }

    async fn once(
        &self,
        id: CallId,
        input: &Map<String, Value>,
        total: Duration,
    ) -> Result<ProviderEnd, NoAnswer> {
        let alias = &self.server.setting.alias;
        let link = match self.server.link().await {
            Ok(link) => link,
            Err(why) => {
                let message = format!("The server '{alias}' is not running: {why}.{}", self.tail());
                return Ok(reply::failure("not-running", message));
            }
        };
        // Its list may be another one since the call was resolved: it was looked at when the server began.
        if !self.server.offer.still_offers(&self.raw, &self.digest) {
            let message = format!(
                "The server '{alias}' does not offer this tool any more as it was when the call was decided. It was not called."
            );
            return Ok(reply::failure("changed", message));
        }
        let idle = Duration::from_millis(self.server.setting.idle_timeout_ms);
        match link.call(id, &self.raw, input.clone(), idle, total).await {
            Ok(answer) => Ok(reply::ended(alias, &answer)),
            Err(why) => {
                if matches!(why, NoAnswer::Gone) {
                    // What it said last is known once its process is gone.
                    let gone = tokio::time::timeout(LONGEST_END, link.over().cancelled_owned());
                    let in_time = gone.await.is_ok();
                    tracing::debug!(in_time, "the server '{alias}' ended");
                }
                Err(why)
            }
        }
    }

    fn unanswered(&self, why: &NoAnswer) -> ProviderEnd {
        let alias = &self.server.setting.alias;
        match why {
            NoAnswer::Gone => reply::failure(
                "server-ended",
                format!(
                    "The server '{alias}' ended during the call. Whether the call took effect is not known, and it was not \
                     sent again.{}",
                    self.tail()
                ),
            ),
            NoAnswer::Late { limit, total: true } => {
                ProviderEnd::Stopped(Stop::WallClock { limit: *limit })
            }
            NoAnswer::Late {
                limit,
                total: false,
            } => reply::failure(
                "no-answer",
                format!(
                    "The server '{alias}' gave no sign for {} ms, and the call was cancelled. Whether it took effect is not \
                     known.",
                    limit.as_millis()
                ),
            ),
            NoAnswer::Refused(said) => reply::failure(
                "refused",
                format!("The server '{alias}' answered with an error: {said}."),
            ),
            NoAnswer::Invalid(what) => reply::invalid(alias, what),
        }
    }

    /// What the server said last on stderr, for whoever has to find out why.
    fn tail(&self) -> String {
        let stderr = self.server.sight().stderr;
        let last = stderr.trim_end();
        if last.is_empty() {
            return String::new();
        }
        let skipped = last.chars().count().saturating_sub(MAX_TAIL);
        let last: String = last.chars().skip(skipped).collect();
        format!(" It said last:\n{}", visible(&last))
    }
}
