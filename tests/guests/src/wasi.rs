//! More of WASI as it is: random bytes, clocks, pollables and HTTP, without a library between.

wit_bindgen::generate!({
    inline: r#"
        package test:wasi;

        world raw {
            import wasi:random/random@0.2.1;
            import wasi:random/insecure@0.2.1;
            import wasi:clocks/monotonic-clock@0.2.1;
            import wasi:io/poll@0.2.1;
            import wasi:http/outgoing-handler@0.2.1;
        }

        package wasi:io@0.2.1 {
            interface poll {
                resource pollable {
                    block: func();
                }
                poll: func(in: list<borrow<pollable>>) -> list<u32>;
            }
        }

        package wasi:clocks@0.2.1 {
            interface monotonic-clock {
                use wasi:io/poll@0.2.1.{pollable};
                type duration = u64;
                subscribe-duration: func(when: duration) -> pollable;
            }
        }

        package wasi:random@0.2.1 {
            interface random {
                get-random-bytes: func(len: u64) -> list<u8>;
                get-random-u64: func() -> u64;
            }
            interface insecure {
                get-insecure-random-bytes: func(len: u64) -> list<u8>;
            }
        }

        package wasi:http@0.2.1 {
            interface types {
                use wasi:io/poll@0.2.1.{pollable};
                variant scheme { HTTP, HTTPS, other(string) }
                record DNS-error-payload { rcode: option<string>, info-code: option<u16> }
                record TLS-alert-received-payload { alert-id: option<u8>, alert-message: option<string> }
                record field-size-payload { field-name: option<string>, field-size: option<u32> }
                variant error-code {
                    DNS-timeout, DNS-error(DNS-error-payload), destination-not-found, destination-unavailable,
                    destination-IP-prohibited, destination-IP-unroutable, connection-refused, connection-terminated,
                    connection-timeout, connection-read-timeout, connection-write-timeout, connection-limit-reached,
                    TLS-protocol-error, TLS-certificate-error, TLS-alert-received(TLS-alert-received-payload),
                    HTTP-request-denied, HTTP-request-length-required, HTTP-request-body-size(option<u64>),
                    HTTP-request-method-invalid, HTTP-request-URI-invalid, HTTP-request-URI-too-long,
                    HTTP-request-header-section-size(option<u32>), HTTP-request-header-size(option<field-size-payload>),
                    HTTP-request-trailer-section-size(option<u32>), HTTP-request-trailer-size(field-size-payload),
                    HTTP-response-incomplete, HTTP-response-header-section-size(option<u32>),
                    HTTP-response-header-size(field-size-payload), HTTP-response-body-size(option<u64>),
                    HTTP-response-trailer-section-size(option<u32>), HTTP-response-trailer-size(field-size-payload),
                    HTTP-response-transfer-coding(option<string>), HTTP-response-content-coding(option<string>),
                    HTTP-response-timeout, HTTP-upgrade-failed, HTTP-protocol-error, loop-detected,
                    configuration-error, internal-error(option<string>),
                }
                variant header-error { invalid-syntax, forbidden, immutable }
                type field-key = string;
                type field-name = field-key;
                type field-value = list<u8>;
                resource fields {
                    constructor();
                    append: func(name: field-name, value: field-value) -> result<_, header-error>;
                }
                type headers = fields;
                type status-code = u16;
                resource outgoing-request {
                    constructor(headers: headers);
                    set-path-with-query: func(path-with-query: option<string>) -> result;
                    set-scheme: func(scheme: option<scheme>) -> result;
                    set-authority: func(authority: option<string>) -> result;
                }
                resource request-options {
                    constructor();
                }
                resource incoming-response {
                    status: func() -> status-code;
                }
                resource future-incoming-response {
                    subscribe: func() -> pollable;
                    get: func() -> option<result<result<incoming-response, error-code>>>;
                }
            }

            interface outgoing-handler {
                use types.{outgoing-request, request-options, future-incoming-response, error-code};
                handle: func(
                    request: outgoing-request, options: option<request-options>,
                ) -> result<future-incoming-response, error-code>;
            }
        }
    "#,
    generate_all,
});

pub use wasi::clocks::monotonic_clock::subscribe_duration;
pub use wasi::http::types::{ErrorCode, Fields};
pub use wasi::io::poll::{Pollable, poll};
pub use wasi::random::insecure::get_insecure_random_bytes;
pub use wasi::random::random::get_random_bytes;

use wasi::http::outgoing_handler::handle;
use wasi::http::types::{OutgoingRequest, Scheme};

/// Sends a request without a body, and gives the status of its response.
///
/// # Errors
/// The host's refusal, or what came of it.
pub fn fetch(authority: &str, path: &str) -> Result<u16, ErrorCode> {
    let request = OutgoingRequest::new(Fields::new());
    let set = request
        .set_scheme(Some(&Scheme::Http))
        .and_then(|()| request.set_authority(Some(authority)))
        .and_then(|()| request.set_path_with_query(Some(path)));
    if set.is_err() {
        return Err(ErrorCode::HttpRequestUriInvalid);
    }
    let response = handle(request, None)?;
    response.subscribe().block();
    match response.get() {
        Some(Ok(Ok(response))) => Ok(response.status()),
        Some(Ok(Err(error))) => Err(error),
        Some(Err(())) | None => Err(ErrorCode::HttpResponseIncomplete),
    }
}
