//! The gates: hooks of every kind, the order of the chain, panics, the one record of every call, and
//! what no order of rules, layers or hooks may change.

mod approval_seen;
mod command_hooks;
mod component_hooks;
mod live_tools;
mod native;
mod order;
mod panics;
mod post_hooks;
mod properties;
mod reach;
mod records;
mod rewrites;
mod rust_hooks;
mod traits;

use component_hooks::*;

/// A hook among the test guests without a test of its name does not compile.
macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "checks that the test exists")]
        use self::$name as _;
    };
}
toolgate_artifacts::foreach_hook!(assert_test_exists);
