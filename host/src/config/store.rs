//! The table `[store]`: what installed components must prove, and how registries are reached.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep_in;
use super::reading::Reading;
use super::settings::Config;
use super::source::Sourced;
use crate::model::is_loopback_host;

/// Installed components.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Store {
    /// Only components that a key of the store signed are installed and run, those of `[components]` included. Set
    /// anywhere, it holds.
    #[schemars(with = "Option<bool>")]
    require_signatures: Option<Spanned<bool>>,
    /// Registries, by host (`ghcr.io`, `127.0.0.1:5000`).
    #[schemars(with = "BTreeMap<String, Registry>")]
    registries: BTreeMap<String, Spanned<Registry>>,
}

/// How a registry is reached.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Registry {
    /// Speak plain HTTP. Only for a loopback address.
    plain_http: bool,
    /// Who logs in. Default: as `docker login` keeps it, in `auths`; credential helpers are not run.
    #[schemars(with = "Option<String>")]
    username: Option<String>,
    /// The file with the password or token.
    #[schemars(with = "Option<PathBuf>")]
    password_file: Option<Spanned<PathBuf>>,
}

/// What installed components must prove, and how registries are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreSetting {
    /// Only signed components, where it is set.
    pub require_signatures: Option<Sourced<()>>,
    /// Registries, by host.
    pub registries: BTreeMap<String, Sourced<RegistrySetting>>,
}

/// How a registry is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegistrySetting {
    /// Plain HTTP; only for a loopback address.
    pub plain_http: bool,
    /// Who logs in.
    pub username: Option<String>,
    /// The file with the password; set if and only if the name is.
    pub password_file: Option<PathBuf>,
}

/// Adds what a file says.
///
/// # Errors
/// Plain HTTP to another machine, or half of a login.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    store: Store,
) -> Result<(), ConfigError> {
    if let Some(required) = store
        .require_signatures
        .filter(|required| *required.get_ref())
    {
        let source = reading.source(required.span().start);
        let into = &mut config.store.require_signatures;
        into.get_or_insert(Sourced { value: (), source });
    }
    for (host, registry) in store.registries {
        let source = reading.source(registry.span().start);
        let registry = registry.into_inner();
        if registry.plain_http && !is_loopback_host(&host) {
            return Err(source.wrong(format!(
                "'plain_http' is only for a loopback address, and '{}' is none",
                host.escape_debug()
            )));
        }
        if registry.username.is_some() != registry.password_file.is_some() {
            let what = "'username' and 'password_file' only work together: set both, or neither";
            return Err(source.wrong(what));
        }
        let password_file = registry.password_file.map(|file| reading.placed(file));
        let value = RegistrySetting {
            plain_http: registry.plain_http,
            username: registry.username,
            password_file: password_file.transpose()?.map(|file| file.value),
        };
        keep_in(
            &mut config.store.registries,
            host,
            Sourced { value, source },
        );
    }
    Ok(())
}
