//! What a component can import. Everything is always linked; what a call reaches through it is its grant.

use wasmtime::Engine;
use wasmtime::component::{HasData, Linker};
use wasmtime_wasi::p2::bindings::{filesystem, random};

use super::bindings::{secrets, settings, shell, toolgate};
use super::guarded_view::GuardedFilesystem;
use super::random_door::CountedRandom;
use super::state::State;

/// The state itself, as the data of our own interfaces.
pub(super) struct Own;

impl HasData for Own {
    type Data<'a> = &'a mut State;
}

pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    linker.allow_shadowing(true);
    filesystem::preopens::add_to_linker::<State, GuardedFilesystem>(
        &mut linker,
        GuardedFilesystem::view,
    )?;
    filesystem::types::add_to_linker::<State, GuardedFilesystem>(
        &mut linker,
        GuardedFilesystem::view,
    )?;
    random::random::add_to_linker::<State, CountedRandom>(&mut linker, CountedRandom::view)?;
    random::insecure::add_to_linker::<State, CountedRandom>(&mut linker, CountedRandom::view)?;
    linker.allow_shadowing(false);
    toolgate::tool::host::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    settings::toolgate::tool::settings::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    toolgate::files::files::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    shell::toolgate::shell::shell::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    shell::toolgate::shell::sessions::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    secrets::toolgate::secrets::secrets::add_to_linker::<State, Own>(&mut linker, |state| state)?;
    Ok(linker)
}
