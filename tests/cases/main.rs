//! The field cases of the families `approval`, `command`, `file`, `path`, `schema`, `shell` and `wasm`, each a test that
//! carries its id.
//!
//! A case is a plain asynchronous function; `cases!` makes it a test and puts its id into the family's `TESTED`, so a
//! listed id without a case does not compile, and a case that is not listed is dead code. `registry` counts them all.

/// Declares the cases of a module: a test and an id each.
macro_rules! cases {
    ($($id:literal => $case:ident,)+) => {
        /// Every case of this module: its id, and its name.
        pub(crate) const TESTED: &[(&str, &str)] = &[$(($id, stringify!($case)),)+];

        mod case {
            $(
                #[test]
                fn $case() {
                    crate::run::to_the_end(super::$case);
                }
            )+
        }
    };
}

mod approval_answers;
mod approval_hooks;
mod approval_prompt;
mod approval_trust;
mod command_host;
mod command_lists;
mod command_patterns;
mod command_words;
mod file_edit;
mod file_guards;
mod file_read;
mod file_search;
mod file_write;
mod grown;
mod network_bounds;
mod network_host;
mod network_places;
mod path_links;
mod path_rules;
mod path_special;
mod registry;
mod run;
mod schema_errors;
mod schema_foreign;
mod schema_host;
mod schema_values;
mod shell_ends;
mod shell_host;
mod shell_places;
mod shell_words;
mod support;
mod wasm_bounds;
mod wasm_reach;
