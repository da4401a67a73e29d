//! The sandbox: for every promise a guest that tries to break it, beside an innocent neighbour.

mod bounds;
mod changing;
mod commands;
mod components;
mod create_only;
mod ending;
mod instances;
mod letting_go;
mod output;
mod plain;
mod raw;
mod reading;
mod replacing;
mod sessions;
mod stand_ins;
mod surroundings;
mod wasi_bounds;

use toolgate_tests::{beside, fixture};

use bounds::*;
use changing::*;
use commands::*;
use create_only::*;
use output::*;
use plain::*;
use raw::*;
use reading::*;
use replacing::*;
use sessions::*;
use stand_ins::*;
use surroundings::*;
use wasi_bounds::*;

/// A guest without a test of its name does not compile.
macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "checks that the test exists")]
        use self::$name as _;
    };
}
toolgate_artifacts::foreach_guest!(assert_test_exists);
