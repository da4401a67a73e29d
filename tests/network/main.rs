//! The network: the connector, the guests that dial through it, and the tries to get around it. Servers are real ones on
//! the loopback interface; names are looked up by a resolver that the tests hold.

mod bounds;
mod connector;
mod guests;
mod hosts;
mod names;
mod secrets;
mod secure;
mod server;
mod web_fetch;
mod web_search;

use guests::*;

/// A guest without a test of its name does not compile.
macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "checks that the test exists")]
        use self::$name as _;
    };
}
toolgate_artifacts::foreach_http_guest!(assert_test_exists);
