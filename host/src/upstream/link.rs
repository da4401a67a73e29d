//! A connection to a server, from the handshake to the end of its process.
//!
//! Guarantees that nothing of ours is offered that a server could ask a person or a model through; that a call which is
//! given up is cancelled at the server; and that the whole process tree is gone when the link has ended.
#![expect(
    deprecated,
    reason = "roots are on their way out of the protocol; a server that still asks for them is refused"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams, ElicitResult,
    ElicitationCreateRequestMethod, ErrorData, Implementation, ListRootsResult, ListToolsRequest,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, Peer,
    PeerRequestOptions, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::IntoTransport;
use rmcp::{RoleClient, model::ListRootsRequestMethod};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::decode::INVALID_REPLY;
use crate::config::McpEra;
use crate::gate::CallProgress;
use crate::model::CallId;

/// The most pages of one list.
const MAX_PAGES: usize = 100;
/// The most tools of one server.
pub(super) const MAX_TOOLS: usize = 2_000;
/// The most bytes of all definitions of a server.
const MAX_LIST_BYTES: usize = 16 << 20;
/// The most characters of an error of a server's.
const MAX_ERROR: usize = 2_000;

/// The calls that wait for an answer, by what a server names their progress by.
type Waiting = Arc<Mutex<HashMap<ProgressToken, CallId>>>;

/// What hears a server.
#[derive(Clone)]
pub(super) struct Ears {
    pub(super) list_changed: Arc<Notify>,
    progress: Option<CallProgress>,
    waiting: Waiting,
}

impl Ears {
    pub(super) fn new(list_changed: Arc<Notify>, progress: Option<CallProgress>) -> Self {
        Self {
            list_changed,
            progress,
            waiting: Waiting::default(),
        }
    }
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, HashMap<ProgressToken, CallId>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("toolgate", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }

    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let call = lock(&self.waiting).get(&said.progress_token).copied();
        if let (Some(sink), Some(call)) = (&self.progress, call) {
            let message: String = said.message.unwrap_or_default().chars().take(120).collect();
            sink(
                call,
                whole(said.progress),
                said.total.map(whole),
                &crate::model::strip(&message),
            );
        }
    }
}

/// A number of a server's as one of ours.
fn whole(number: f64) -> u32 {
    // Saturates, and is 0 for what is no number.
    number as u32
}

/// Why a call has no answer of the server's.
#[derive(Clone, Debug)]
pub(super) enum NoAnswer {
    /// The connection ended.
    Gone,
    /// It took too long; the server was told.
    Late { limit: Duration, total: bool },
    /// The server answered with an error.
    Refused(String),
    /// What it answered is no answer.
    Invalid(String),
}

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    peer: Peer<RoleClient>,
    waiting: Waiting,
    over: CancellationToken,
    closing: CancellationToken,
    gone: Arc<AtomicBool>,
}

/// The conversation of a link, to be waited for by whoever keeps it.
pub(super) type Conversation = RunningService<RoleClient, Ears>;

/// Shakes hands.
///
/// # Errors
/// For people.
pub(super) async fn shake<T, E, A>(
    ears: Ears,
    transport: T,
    era: McpEra,
) -> Result<Conversation, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let mode = match era {
        McpEra::Auto => ClientLifecycleMode::Auto {
            preferred_versions: modern,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        McpEra::Legacy => ClientLifecycleMode::Initialize,
        McpEra::Modern => ClientLifecycleMode::Discover {
            preferred_versions: modern,
        },
    };
    let shaken = ears.serve_with_lifecycle(transport, mode).await;
    shaken.map_err(|error| handshake_error(&error))
}

fn handshake_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "it ended, or closed its output, before it answered".to_owned()
        }
        ClientInitializeError::JsonRpcError(said) => match said.code == INVALID_REPLY {
            true => format!(
                "its answer to the handshake is invalid: {}",
                short(&said.message)
            ),
            false => format!("it refused the handshake: {}", short(&said.message)),
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake_error(fallback),
        ClientInitializeError::TransportError { error, .. } => {
            format!(
                "the handshake did not come through: {}",
                short(&chain(error.error.as_ref()))
            )
        }
        other => format!("the handshake failed: {}", short(&other.to_string())),
    }
}

/// An error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// A text of a server's in one line of ours.
pub(super) fn short(text: &str) -> String {
    let beginning: String = text.chars().take(MAX_ERROR).collect();
    crate::model::visible(&beginning.replace('\n', " ")).into_owned()
}

impl Link {
    /// A link over a conversation.
    pub(super) fn new(conversation: &Conversation, gone: Arc<AtomicBool>) -> Self {
        Self {
            peer: conversation.peer().clone(),
            waiting: Arc::clone(&conversation.service().waiting),
            over: CancellationToken::new(),
            closing: CancellationToken::new(),
            gone,
        }
    }

    /// Whether nothing more can be asked.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) || self.peer.is_transport_closed()
    }

    /// Asks for its end.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Whether its end was asked for.
    pub(super) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Done when it has ended, and its process with it.
    pub(super) fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    /// Whether the server speaks the protocol without a handshake.
    pub(super) fn is_modern(&self) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|info| !info.protocol_version.has_initialize())
    }

    /// The revision of the protocol, and what the server calls itself.
    pub(super) fn speaks(&self) -> (String, Option<String>) {
        let Some(info) = self.peer.peer_info() else {
            return (String::new(), None);
        };
        let named = info.server_info.as_ref();
        let named = named.map(|own| short(&format!("{} {}", own.name, own.version)));
        (info.protocol_version.to_string(), named)
    }

    /// Hears of changes of a modern server's list until the link ends.
    pub(super) async fn listen(&self, list_changed: &Notify) {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut subscription) = self.peer.listen(filter).await else {
            return;
        };
        while let Ok(Some(_changed)) = subscription.next().await {
            list_changed.notify_one();
        }
    }

    /// All tools, as the server describes them.
    pub(super) async fn tools(&self, within: Duration) -> Result<Vec<Value>, String> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let next = cursor.take();
            let request = ListToolsRequest {
                params: next
                    .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor))),
                ..ListToolsRequest::default()
            };
            let request = ClientRequest::ListToolsRequest(request);
            let asked = self.ask(request, within, None).await;
            let mut page = asked.map_err(|why| list_error(&why))?;
            let Some(Value::Array(found)) = page.get_mut("tools").map(Value::take) else {
                return Err("its list of tools is none".to_owned());
            };
            bytes += found
                .iter()
                .map(|tool| tool.to_string().len())
                .sum::<usize>();
            tools.extend(found);
            if tools.len() > MAX_TOOLS || bytes > MAX_LIST_BYTES {
                return Err(format!(
                    "its list has more than {MAX_TOOLS} tools or {} MiB",
                    MAX_LIST_BYTES >> 20
                ));
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                Some(next) if !next.is_empty() => cursor = Some(next.to_owned()),
                _ => return Ok(tools),
            }
        }
        Err(format!("its list has more than {MAX_PAGES} pages"))
    }

    /// Calls a tool. Giving up tells the server.
    pub(super) async fn call(
        &self,
        call: CallId,
        tool: &str,
        arguments: Map<String, Value>,
        idle: Duration,
        total: Duration,
    ) -> Result<Value, NoAnswer> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.ask(request, idle, Some((total, call))).await
    }

    async fn ask(
        &self,
        request: ClientRequest,
        idle: Duration,
        call: Option<(Duration, CallId)>,
    ) -> Result<Value, NoAnswer> {
        let total = call.map(|(total, _)| total);
        let mut options = PeerRequestOptions::with_timeout(idle.min(total.unwrap_or(idle)));
        if let Some(total) = total {
            options = options
                .reset_timeout_on_progress()
                .with_max_total_timeout(total);
        }
        let sent = self.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| no_answer(&error, total))?;
        if let Some((_, call)) = call {
            lock(&self.waiting).insert(handle.progress_token.clone(), call);
        }
        let mut pending = Pending {
            peer: self.peer.clone(),
            id: Some(handle.id.clone()),
            progress: handle.progress_token.clone(),
            waiting: Arc::clone(&self.waiting),
        };
        let answer = handle.await_response().await;
        pending.id = None;
        match answer {
            Ok(ServerResult::CustomResult(raw)) => Ok(raw.0),
            Ok(typed) => {
                serde_json::to_value(typed).map_err(|error| NoAnswer::Invalid(error.to_string()))
            }
            Err(error) => Err(no_answer(&error, total)),
        }
    }
}

fn list_error(why: &NoAnswer) -> String {
    match why {
        NoAnswer::Gone => "it ended before it listed its tools".to_owned(),
        NoAnswer::Late { limit, .. } => {
            format!("it did not list its tools within {} ms", limit.as_millis())
        }
        NoAnswer::Refused(said) => format!("it refused to list its tools: {said}"),
        NoAnswer::Invalid(what) => format!("its list of tools is invalid: {what}"),
    }
}

fn no_answer(error: &ServiceError, total: Option<Duration>) -> NoAnswer {
    match error {
        ServiceError::Timeout { timeout } => NoAnswer::Late {
            limit: *timeout,
            total: Some(*timeout) == total,
        },
        ServiceError::McpError(said) if said.code == INVALID_REPLY => {
            NoAnswer::Invalid(short(&said.message))
        }
        ServiceError::McpError(said) => {
            NoAnswer::Refused(format!("{} (error {})", short(&said.message), said.code.0))
        }
        ServiceError::UnexpectedResponse => {
            NoAnswer::Invalid("it answers something else".to_owned())
        }
        ServiceError::TransportSend(error) => {
            NoAnswer::Invalid(short(&chain(error.error.as_ref())))
        }
        _ => NoAnswer::Gone,
    }
}

/// A request that nobody has an answer to yet.
struct Pending {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
    progress: ProgressToken,
    waiting: Waiting,
}

impl Drop for Pending {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.progress);
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        let reason = "the caller gave up".to_owned();
        let params = CancelledNotificationParam::new(Some(id), Some(reason));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let told = peer
                .send_notification(CancelledNotification::new(params).into())
                .await;
            tracing::trace!(ok = told.is_ok(), "a call was given up");
        });
    }
}
