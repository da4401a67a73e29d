//! Decompression, within the bounds that the body around it keeps.

use std::io;
use std::pin::Pin;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder};
use bytes::Bytes;
use futures::TryStreamExt as _;
use http::{HeaderMap, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

use super::body::Body;
use super::error::{EgressError, short};

/// How much is decompressed at once.
const PART: usize = 16 << 10;

/// What a body is compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Nothing.
    Plain,
    Gzip,
    Deflate,
    Brotli,
    /// Something else, or several at once: it stays as it is.
    Other,
}

impl Encoding {
    /// What the head says.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(first) = values.next() else {
            return Self::Plain;
        };
        if values.next().is_some() {
            return Self::Other;
        }
        let text = first.to_str().unwrap_or_default().trim();
        match text.to_ascii_lowercase().as_str() {
            "" | "identity" => Self::Plain,
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "br" => Self::Brotli,
            _ => Self::Other,
        }
    }

    /// Whether it is undone here.
    pub(super) fn is_undone(self) -> bool {
        matches!(self, Self::Gzip | Self::Deflate | Self::Brotli)
    }
}

/// The body without its compression.
pub(super) fn decoded(body: Body, encoding: Encoding) -> Body {
    let bytes = body.into_data_stream().map_err(io::Error::other);
    let bytes = StreamReader::new(bytes);
    let reader: Pin<Box<dyn AsyncRead + Send>> = match encoding {
        Encoding::Gzip => {
            let mut decoder = GzipDecoder::new(bytes);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        Encoding::Deflate => Box::pin(ZlibDecoder::new(bytes)),
        Encoding::Brotli => Box::pin(BrotliDecoder::new(bytes)),
        Encoding::Plain | Encoding::Other => Box::pin(bytes),
    };
    let parts = ReaderStream::with_capacity(reader, PART);
    let frames = parts.map_ok(Frame::<Bytes>::data).map_err(cause);
    StreamBody::new(frames).boxed_unsync()
}

/// One of our own errors that came through the decoder, or the decoder's.
fn cause(error: io::Error) -> EgressError {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<EgressError>());
    match inner {
        Some(ours) => ours.clone(),
        None => EgressError::Encoding(short(&error.to_string())),
    }
}
