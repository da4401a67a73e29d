//! A body without the secrets that were put into requests.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};

use super::body::Body;
use super::error::EgressError;
use super::scrub::{Scrubber, Stream};

/// See the module. Trailers are left out.
pub(super) struct Scrubbed {
    inner: Body,
    stream: Stream,
    ended: bool,
}

impl Scrubbed {
    pub(super) fn new(inner: Body, scrubbers: Vec<Arc<Scrubber>>) -> Self {
        Self {
            inner,
            stream: Stream::new(scrubbers),
            ended: false,
        }
    }
}

impl HttpBody for Scrubbed {
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EgressError>>> {
        while !self.ended {
            let part = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.stream.next(&data),
                    Err(_) => continue,
                },
                Some(Err(error)) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.ended = true;
                    self.stream.end()
                }
            };
            if !part.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}
