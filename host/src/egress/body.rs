//! Bodies: what is sent and what comes back, counted, timed, and noted as evidence.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::dial::TaskGuard;
use super::error::{EgressError, short};
use super::limits::EgressLimits;
use super::uses::{Note, SentNote};

/// The body of a request or a response. Dropping a response's body ends its connection.
pub type Body = UnsyncBoxBody<Bytes, EgressError>;

/// No body.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body that is there already.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

type Polled = Poll<Option<Result<Frame<Bytes>, EgressError>>>;

/// A body on its way out: bounded and counted.
pub(super) struct Outgoing<B> {
    inner: Pin<Box<B>>,
    sent: u64,
    /// None: the tool is read-only and sends no body at all.
    limit: Option<u64>,
    note: SentNote,
}

impl<B: HttpBody<Data = Bytes>> Outgoing<B> {
    pub(super) fn new(body: B, limit: Option<u64>, note: SentNote) -> Self {
        Self {
            inner: Box::pin(body),
            sent: 0,
            limit,
            note,
        }
    }

    /// Whether its size, where it is known, is within the bound.
    pub(super) fn check(&self) -> Result<(), EgressError> {
        self.within(self.inner.size_hint().lower())
    }

    fn within(&self, bytes: u64) -> Result<(), EgressError> {
        match self.limit {
            None if bytes > 0 => Err(EgressError::BodyOfReader),
            Some(limit) if bytes > limit => Err(EgressError::Body {
                of: "request",
                limit,
            }),
            None | Some(_) => Ok(()),
        }
    }
}

impl<B> HttpBody for Outgoing<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        let polled = match ready!(self.inner.as_mut().poll_frame(cx)) {
            None => None,
            Some(Err(error)) => {
                let error: Box<dyn std::error::Error + Send + Sync> = error.into();
                Some(Err(EgressError::RequestBody(short(&error.to_string()))))
            }
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
                self.sent = self.sent.saturating_add(bytes);
                self.note.sent(bytes);
                Some(self.within(self.sent).map(|()| frame))
            }
        };
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// When a body must have ended, or gone on.
pub(super) struct Timers {
    idle_limit: Duration,
    idle: Pin<Box<Sleep>>,
    total_limit: Duration,
    total: Pin<Box<Sleep>>,
}

impl Timers {
    pub(super) fn new(limits: &EgressLimits, begun: Instant) -> Self {
        let total = match begun.checked_add(limits.total) {
            Some(end) => sleep_until(end),
            None => sleep(Duration::MAX),
        };
        Self {
            idle_limit: limits.idle,
            idle: Box::pin(sleep(limits.idle)),
            total_limit: limits.total,
            total: Box::pin(total),
        }
    }

    fn went_on(&mut self) {
        match Instant::now().checked_add(self.idle_limit) {
            Some(end) => self.idle.as_mut().reset(end),
            None => self.idle = Box::pin(sleep(Duration::MAX)),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<EgressError> {
        let (what, limit) = if self.total.as_mut().poll(cx).is_ready() {
            ("the request", self.total_limit)
        } else if self.idle.as_mut().poll(cx).is_ready() {
            ("a part of the body", self.idle_limit)
        } else {
            return Poll::Pending;
        };
        Poll::Ready(EgressError::Time { what, limit })
    }
}

/// A body as it travels: bounded in bytes and time. Holds the connection.
pub(super) struct Travelling {
    pub(super) inner: Incoming,
    pub(super) timers: Timers,
    pub(super) travelled: Arc<AtomicU64>,
    pub(super) limit: u64,
    pub(super) _connection: TaskGuard,
}

impl HttpBody for Travelling {
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        let polled = match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Pending => return self.timers.poll(cx).map(|error| Some(Err(error))),
            Poll::Ready(polled) => polled,
        };
        self.timers.went_on();
        let frame = match polled {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(EgressError::from_hyper(&error)))),
            Some(Ok(frame)) => frame,
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
        let before = self.travelled.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limit {
            let limit = self.limit;
            return Poll::Ready(Some(Err(EgressError::Body {
                of: "response",
                limit,
            })));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// How much larger than what travelled a body may be: what every decompression gets free.
const FREE: u64 = 1 << 20;

/// A body as it is read: bounded after decompression, and noted.
pub(super) struct Noted {
    inner: Body,
    note: Note,
    received: u64,
    travelled: Arc<AtomicU64>,
    limit: u64,
    ratio: u64,
    ended: bool,
}

impl Noted {
    pub(super) fn new(
        inner: Body,
        note: Note,
        travelled: Arc<AtomicU64>,
        limits: &EgressLimits,
    ) -> Self {
        if inner.is_end_stream() {
            note.complete();
        }
        Self {
            inner,
            note,
            received: 0,
            travelled,
            limit: limits.response_body,
            ratio: limits.ratio,
            ended: false,
        }
    }

    fn judge(&mut self, frame: &Frame<Bytes>) -> Result<(), EgressError> {
        let Some(data) = frame.data_ref() else {
            return Ok(());
        };
        self.received = self.received.saturating_add(data.len() as u64);
        if self.received > self.limit {
            return Err(EgressError::Body {
                of: "response",
                limit: self.limit,
            });
        }
        let travelled = self.travelled.load(Ordering::Relaxed);
        if self.received > FREE && self.received > travelled.saturating_mul(self.ratio) {
            return Err(EgressError::Bomb { ratio: self.ratio });
        }
        self.note.received(data);
        Ok(())
    }
}

impl HttpBody for Noted {
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        if self.ended {
            return Poll::Ready(None);
        }
        let polled = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
            None => None,
            Some(Ok(frame)) => Some(self.judge(&frame).map(|()| frame)),
            Some(Err(error)) => Some(Err(error)),
        };
        match &polled {
            None => self.note.complete(),
            Some(Ok(_)) if self.inner.is_end_stream() => self.note.complete(),
            Some(Ok(_)) => {}
            Some(Err(error)) => self.note.failed(error),
        }
        if !matches!(polled, Some(Ok(_))) {
            self.ended = true;
            // Nothing more is read, so the connection ends now.
            self.inner = empty();
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
