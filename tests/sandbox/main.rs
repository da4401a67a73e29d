//! The sandbox: for every promise a guest that tries to break it, beside an innocent neighbour.

mod beside;
mod bounds;
mod changing;
mod commands;
mod components;
mod create_only;
mod fixture;
mod output;
mod raw;
mod reading;
mod replacing;
mod sessions;
mod stand_ins;
mod surroundings;

use bounds::*;
use changing::*;
use commands::*;
use create_only::*;
use output::*;
use raw::*;
use reading::*;
use replacing::*;
use sessions::*;
use stand_ins::*;
use surroundings::*;

/// A guest without a test of its name does not compile.
macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "checks that the test exists")]
        use self::$name as _;
    };
}
toolgate_artifacts::foreach_guest!(assert_test_exists);
