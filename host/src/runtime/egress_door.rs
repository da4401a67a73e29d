//! The door of `wasi:http`, and the interface `toolgate:secrets`: requests, as far as the call's grant goes.
//!
//! Guarantees that no request of a guest leaves but through the one connector under the call's grant, and that every one,
//! also a refused one, stands in the call's record.

use std::time::Duration;

use http_body_util::BodyExt as _;
use wasmtime_wasi_http::{Error as WasiError, RequestOptions, WasiBody, WasiHttpHooks};

use super::bindings::secrets::toolgate::secrets::secrets;
use super::state::State;
use crate::egress::{Connector, EgressError, RequestUses};
use crate::model::RequestUse;
use crate::policy::{EgressGrant, EgressRefusal};

/// What a call has of the network.
#[derive(Debug, Default)]
pub(super) struct EgressDoor {
    granted: Option<(EgressGrant, Connector)>,
    uses: RequestUses,
}

type Driver = Box<dyn Future<Output = Result<(), WasiError>> + Send>;
type Answer = Result<(http::Response<WasiBody>, Driver), WasiError>;

impl EgressDoor {
    pub(super) fn new(granted: Option<(EgressGrant, Connector)>) -> Self {
        let uses = RequestUses::new();
        let noting =
            |(grant, connector): (EgressGrant, Connector)| (grant, connector.noting(&uses));
        Self {
            granted: granted.map(noting),
            uses,
        }
    }

    /// The requests so far. What is asked for afterwards finds another list.
    pub(super) fn take_uses(&mut self) -> Vec<RequestUse> {
        std::mem::take(&mut self.uses).taken()
    }

    /// A line without the secrets that were put into requests.
    pub(super) fn scrubbed(&self, line: String) -> String {
        match &self.granted {
            Some((_, connector)) => connector.secrets().scrubbed(&line),
            None => line,
        }
    }

    fn has_secret(&self, name: &str) -> bool {
        let granted = self.granted.as_ref();
        granted.is_some_and(|(grant, connector)| {
            grant.secrets().iter().any(|known| known == name) && connector.secrets().exists(name)
        })
    }
}

impl WasiHttpHooks for EgressDoor {
    /// Bodies wait here until they are sent: no more than behind any other handle.
    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        64 << 10
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _driver: Driver,
    ) -> Box<dyn Future<Output = Answer> + Send> {
        let Some((grant, connector)) = &self.granted else {
            let refused = EgressError::Refused(EgressRefusal::NoNetwork);
            self.uses.refused(
                request.method().as_str(),
                &request.uri().to_string(),
                &refused,
            );
            return Box::new(async move { Err(code(&refused)) });
        };
        let grant = grant.clone();
        let connector = shortened(connector, options);
        Box::new(async move {
            let sent = connector.send(&grant, request).await;
            let response = sent.map_err(|error| code(&error))?;
            let body = response.map(|body| body.map_err(|error| code(&error)).boxed_unsync());
            // The connector's own tasks drive the connection; they end with the body.
            let driver: Driver = Box::new(async { Ok(()) });
            Ok((body, driver))
        })
    }
}

/// A guest may have less time than the operator gives, never more.
fn shortened(connector: &Connector, options: Option<RequestOptions>) -> Connector {
    let mut limits = *connector.limits();
    let Some(options) = options else {
        return connector.clone();
    };
    let least = |bound: &mut Duration, asked: Option<Duration>| {
        *bound = asked.map_or(*bound, |asked| asked.min(*bound));
    };
    least(&mut limits.connect, options.connect_timeout);
    least(&mut limits.first_byte, options.first_byte_timeout);
    least(&mut limits.idle, options.between_bytes_timeout);
    connector.clone().with_limits(limits)
}

/// The code of the interface, where it has one that says it; else its open one, with a sentence for the model.
fn code(error: &EgressError) -> WasiError {
    match error {
        EgressError::Time { what, .. } => match *what {
            "the connection" => WasiError::ConnectionTimeout,
            "a part of the body" => WasiError::ConnectionReadTimeout,
            _ => WasiError::HttpResponseTimeout,
        },
        EgressError::Refused(EgressRefusal::NoNetwork) => WasiError::HttpRequestDenied,
        EgressError::Body {
            of: "response",
            limit,
        } => WasiError::HttpResponseBodySize(Some(*limit)),
        EgressError::Body { limit, .. } => WasiError::HttpRequestBodySize(Some(*limit)),
        other => WasiError::InternalError(Some(other.for_model())),
    }
}

impl secrets::Host for State {
    fn exists(&mut self, name: String) -> wasmtime::Result<bool> {
        Ok(self.egress.has_secret(&name))
    }
}
