//! The server: what a client may ask for, and the way of a call through the host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ElicitRequest,
    ElicitResult, ErrorCode, ErrorData, Implementation, InputRequest, InputRequests,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::mpsc;

use super::beat::{Beat, MAX_STEPS};
use super::calls::Calls;
use super::clients::{Caller, Clients, Exchange, Way, lock};
use super::frame::RawArguments;
use super::news::{self, News};
use super::seal::{Bound, NoState, Opened, Seals};
use super::{elicit, publish, result};
use crate::Host;
use crate::gate::RegisteredTool;
use crate::model::{CallOrigin, RawCall};

/// The key of the one question in a result that asks for input.
const QUESTION: &str = "approval";
/// The longest state that is looked at, bytes: ours have a few hundred.
const MAX_STATE: usize = 4_096;
/// The member of a request's `_meta` by which a client of the era without a handshake names its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// How long commands may take to be gone when the server ends.
const LAST: Duration = Duration::from_millis(400);
/// What clients may show a model of this server.
const INSTRUCTIONS: &str = "Every call is judged by the operator's rules before it runs. A result that begins with \
    'Denied' or 'Not approved' says why; the same call again gives the same answer, unless it says otherwise.";

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// How long a client's person may take to answer. Default: 120 s. The client may give up sooner.
    pub approval_timeout: Duration,
    /// Calls that run at once; more wait. Default: 256, what a host has room for.
    pub max_calls: usize,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            approval_timeout: Duration::from_secs(120),
            max_calls: 256,
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There is nothing to seal questions with.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

/// A host behind the protocol. Cloning it gives the same server.
#[derive(Clone, Debug)]
pub struct McpServer {
    pub(super) shared: Arc<Shared>,
    door: CallOrigin,
    /// The session's client hears of changes already.
    told: Arc<AtomicBool>,
}

/// What all sessions of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    host: Host,
    clients: Clients,
    seals: Arc<Seals>,
    settings: McpSettings,
    pub(super) calls: Calls,
}

/// Who calls, where the transport knows it. Bound into what is sealed for them.
#[derive(Clone, Debug)]
pub(super) struct Principal(pub(super) Arc<str>);

impl Shared {
    /// The tools that a model may see, by name.
    fn tools(&self) -> Vec<Arc<RegisteredTool>> {
        self.host.tools().collect()
    }

    /// Changes of the list from now on.
    pub(super) fn news(&self) -> News {
        News::new(self.host.tools_changed())
    }

    /// Ends all calls after `grace`, and waits until they and their commands are gone.
    pub(super) async fn end(&self, grace: Duration) {
        self.calls.end(grace).await;
        let left = self.host.end_commands(LAST).await;
        if left > 0 {
            tracing::warn!("processes of {left} commands could not be ended and may still run");
        }
    }

    fn tool(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        let mut tools = self.tools().into_iter();
        tools.find(|tool| tool.name().as_str() == name)
    }
}

impl McpServer {
    /// A server for a host. `clients` are those that the host was built with: as its approver, and for its progress.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn new(host: Host, clients: Clients, settings: McpSettings) -> Result<Self, SettingsError> {
        let seals = Seals::new().map_err(|error| SettingsError::Random(error.to_string()))?;
        Ok(Self {
            shared: Arc::new(Shared {
                host,
                clients,
                seals: Arc::new(seals),
                calls: Calls::new(settings.max_calls),
                settings,
            }),
            door: CallOrigin::McpStdio,
            told: Arc::default(),
        })
    }

    /// The same server for a new session, behind this door.
    pub(super) fn session(&self, door: CallOrigin) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            door,
            told: Arc::default(),
        }
    }

    /// One call, from its request to its answer.
    async fn call(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let shared = &self.shared;
        let raw = self.raw(&params, &cx);
        let promised = self.promises(&raw.name);
        let principal = principal(&cx);
        let bound = Bound {
            principal: &principal,
            tool: &params.name,
            input: params.arguments.as_ref(),
        };
        let (steps, receiver) = mpsc::channel(MAX_STEPS);
        let caller = Arc::new(Caller {
            by: client_words(raw.client.as_deref()),
            way: self.way(&params, &bound, &cx)?,
            waits: false.into(),
            steps,
        });
        let entered = shared.clients.enter(raw.id, Arc::clone(&caller));
        let token = cx.meta.get_progress_token();
        let to = token.map(|token| (cx.peer.clone(), token));
        let mut beat = Beat::new(to, Arc::clone(&caller), receiver);
        // Boxed: the walk through the gates is a large future.
        let call = Box::pin(async {
            let _turn = shared.calls.turn().await?;
            Some(shared.host.call(raw).await)
        });
        let outcome = tokio::select! {
            biased;
            // Dropping the call ends it, with its processes, and writes its record.
            () = cx.ct.cancelled() => return Err(ended("the client cancelled the call")),
            () = shared.calls.over() => return Err(ended("the server ends")),
            outcome = call => outcome.ok_or_else(|| ended("the server ends"))?,
            never = beat.run() => match never {},
        };
        drop(entered);
        beat.finish().await;
        if let Way::Result(exchange) = &caller.way
            && let Some(question) = lock(&exchange.question).take()
        {
            let state = shared.seals.seal(&bound, &question.ticket);
            let request = InputRequest::Elicitation(ElicitRequest::new(question.form));
            let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
            return Ok(InputRequiredResult::new(Some(requests), state).into());
        }
        result::answer(outcome, promised).map(Into::into)
    }

    /// The call as the first gate gets it: the arguments are the bytes that came.
    fn raw(&self, params: &CallToolRequestParams, cx: &RequestContext<RoleServer>) -> RawCall {
        let kept = cx.extensions.get::<RawArguments>().or_else(|| {
            let parts = cx.extensions.get::<http::request::Parts>()?;
            parts.extensions.get::<RawArguments>()
        });
        let input = match (kept, &params.arguments) {
            (Some(RawArguments(raw)), _) => raw.to_vec(),
            (None, Some(object)) => serde_json::to_vec(object).unwrap_or_default(),
            (None, None) => b"{}".to_vec(),
        };
        let raw = RawCall::new(params.name.as_ref(), input).from_origin(self.door);
        match cx.client_info() {
            Some(client) => raw.from_client(&format!("{} {}", client.name, client.version)),
            None => raw,
        }
    }

    /// Whether a client was promised a value in every success of the tool.
    fn promises(&self, name: &str) -> bool {
        let tool = self.shared.tool(name);
        tool.is_some_and(|tool| publish::output_schema(&tool).is_some())
    }

    /// How the person at the client can be asked.
    ///
    /// # Errors
    /// The call carries a state that is none of ours.
    fn way(
        &self,
        params: &CallToolRequestParams,
        bound: &Bound<'_>,
        cx: &RequestContext<RoleServer>,
    ) -> Result<Way, ErrorData> {
        let answered = self.answered(params, bound)?;
        let capabilities = cx.client_capabilities();
        if !capabilities.is_some_and(|capabilities| elicit::can_ask(&capabilities)) {
            return Ok(Way::Nobody);
        }
        let modern = |version: ProtocolVersion| version >= ProtocolVersion::V_2026_07_28;
        Ok(match cx.protocol_version().is_some_and(modern) {
            true => Way::Result(Box::new(Exchange {
                seals: Arc::clone(&self.shared.seals),
                answered: Mutex::new(answered),
                question: Mutex::default(),
            })),
            false => Way::Request {
                peer: cx.peer.clone(),
                timeout: self.shared.settings.approval_timeout,
            },
        })
    }

    /// The answer that came with a call. None: there is none, or it came too late.
    ///
    /// # Errors
    /// Its state was not sealed here for this call, or the answer is none.
    fn answered(
        &self,
        params: &CallToolRequestParams,
        bound: &Bound<'_>,
    ) -> Result<Option<(Opened, ElicitResult)>, ErrorData> {
        let Some(state) = &params.request_state else {
            return Ok(None);
        };
        let opened = match state.len() <= MAX_STATE {
            true => self.shared.seals.open(bound, state),
            false => Err(NoState::Forged),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(NoState::Expired) => return Ok(None),
            Err(NoState::Forged) => {
                let what = "'requestState' does not belong to this call";
                return Err(ErrorData::invalid_params(what, None));
            }
        };
        let responses = params.input_responses.as_ref();
        let Some(response) = responses.and_then(|responses| responses.get(QUESTION)) else {
            return Ok(None);
        };
        let response = serde_json::from_value(response.clone()).map_err(|error| {
            let what = format!("the answer to '{QUESTION}' is none: {error}");
            ErrorData::invalid_params(what, None)
        })?;
        Ok(Some((opened, response)))
    }
}

/// Who calls, as far as the transport knows: over stdin and stdout there is only one.
fn principal(cx: &RequestContext<RoleServer>) -> Arc<str> {
    let parts = cx.extensions.get::<http::request::Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Principal>()) {
        Some(Principal(name)) => Arc::clone(name),
        None => "stdio".into(),
    }
}

/// Who answered, for records.
fn client_words(client: Option<&str>) -> String {
    match client {
        Some(name) => format!("the MCP client '{name}'"),
        None => "the MCP client".to_owned(),
    }
}

fn ended(why: &'static str) -> ErrorData {
    ErrorData::internal_error(why, None)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let this =
            Implementation::new("toolgate", env!("CARGO_PKG_VERSION")).with_title("Toolgate");
        ServerConfig::new(capabilities)
            .with_server_info(this)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        publish::page(&self.shared.tools(), cursor.as_deref())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tool(name).map(|tool| publish::tool(&tool))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.shared.calls.track(self.call(params, cx)).await
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut news = self.shared.news();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.shared.calls.over() => return Ok(()),
                () = news.next() => {
                    if subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// A client of the handshake's era hears of changes without asking, once a session.
    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tokio::spawn(news::tell(Arc::clone(&self.shared), cx.peer));
        }
    }

    /// What is here is either unknown, or known and with parameters that are none. A request that names its revision
    /// belongs to the era without a handshake.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let handshake = ["initialize", "ping"];
        let served = [
            "server/discover",
            "subscriptions/listen",
            "tools/call",
            "tools/list",
        ];
        let method = request.method;
        let known = served.contains(&method.as_str())
            || handshake.contains(&method.as_str()) && !cx.meta.0.contains_key(REVISION);
        Err(match known {
            true => ErrorData::invalid_params(format!("the 'params' of {method} do not fit"), None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }
}
