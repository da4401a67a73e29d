//! Following redirects, for the host's own requests. A guest follows its own, through the same door.

use http::{HeaderMap, Method, Request, Response, header};

use super::body::{Body, empty};
use super::connector::Connector;
use super::error::EgressError;
use super::head;
use crate::policy::{EgressGrant, EgressRefusal, UrlSubject};

/// The most redirects that are followed.
pub const MAX_REDIRECTS: usize = 10;

/// What is never carried to another URL.
const CREDENTIALS: [header::HeaderName; 3] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
];

impl Connector {
    /// Sends a GET, and follows at most [`MAX_REDIRECTS`] redirects. Each hop is a new request that the grant judges, without
    /// credentials, and never from `https` to `http`. Gives the URL that answered, too.
    ///
    /// # Errors
    /// [`EgressError`], of whichever hop.
    pub async fn follow(
        &self,
        grant: &EgressGrant,
        url: &str,
        mut headers: HeaderMap,
    ) -> Result<(UrlSubject, Response<Body>), EgressError> {
        let mut at = UrlSubject::parse(url).map_err(EgressRefusal::Url)?;
        for hop in 0..=MAX_REDIRECTS {
            let request = request(&at, headers.clone())?;
            let response = self.send_one(grant, request, hop > 0).await?;
            let Some(location) = head::location(response.status(), response.headers()) else {
                return Ok((at, response));
            };
            let next = at.url().join(location).map_err(|error| {
                EgressError::Protocol(format!("the redirect leads to no URL: {error}"))
            })?;
            let next = UrlSubject::parse(next.as_str()).map_err(EgressRefusal::Url)?;
            if at.scheme() == "https" && next.scheme() == "http" {
                return Err(EgressRefusal::Downgrade.into());
            }
            for name in &CREDENTIALS {
                headers.remove(name);
            }
            at = next;
        }
        Err(EgressError::TooManyRedirects(MAX_REDIRECTS))
    }
}

fn request(url: &UrlSubject, headers: HeaderMap) -> Result<Request<Body>, EgressError> {
    let request = Request::builder()
        .method(Method::GET)
        .uri(url.url().as_str());
    let mut request = request
        .body(empty())
        .map_err(|error| EgressError::Protocol(error.to_string()))?;
    *request.headers_mut() = headers;
    Ok(request)
}
