//! Who logs in to a registry: as the settings say, else as `docker login` keeps it.
//!
//! Credential helpers, which are programs, are not run. A password is never shown, and stands in no error.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::oci::{Registries, RegistryAccess};
use crate::state;

/// The most bytes of a file with credentials.
const MAX_FILE: u64 = 1 << 20;

/// A name and a password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) username: String,
    pub(super) password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Who logs in to this host; nobody where nothing is known.
pub(super) fn of(
    host: &str,
    access: &RegistryAccess,
    registries: &Registries,
) -> Result<Option<Credentials>, String> {
    match (&access.username, &access.password_file) {
        (Some(username), Some(file)) => {
            let password = read(file)?
                .ok_or_else(|| format!("the password file '{}' is not there", file.display()))?;
            Ok(Some(Credentials {
                username: username.clone(),
                password: password.trim_end_matches(['\r', '\n']).to_owned(),
            }))
        }
        _ => match &registries.docker_config {
            Some(file) => docker(host, file),
            None => Ok(None),
        },
    }
}

fn docker(host: &str, file: &Path) -> Result<Option<Credentials>, String> {
    let Some(text) = read(file)? else {
        return Ok(None);
    };
    let config: Value = serde_json::from_str(&text)
        .map_err(|error| format!("'{}' is not JSON: {error}", file.display()))?;
    let entry = config.get("auths").and_then(|auths| auths.get(host));
    let basic = entry.and_then(|entry| entry.get("auth")?.as_str());
    let Some(basic) = basic.filter(|basic| !basic.is_empty()) else {
        return Ok(None);
    };
    let decoded = BASE64.decode(basic).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = decoded
        .as_deref()
        .and_then(|text| text.split_once(':'))
        .ok_or_else(|| {
            format!(
                "'{}': the login for '{host}' cannot be read",
                file.display()
            )
        })?;
    Ok(Some(Credentials {
        username: pair.0.to_owned(),
        password: pair.1.to_owned(),
    }))
}

fn read(file: &Path) -> Result<Option<String>, String> {
    let wrong = |what: String| format!("'{}' cannot be read: {what}", file.display());
    let bytes = state::read_any(file, MAX_FILE).map_err(|error| wrong(error.to_string()))?;
    bytes
        .map(String::from_utf8)
        .transpose()
        .map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_before_what_docker_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let docker = folder.path().join("config.json");
        let auth = BASE64.encode("someone:secret:with:colons");
        std::fs::write(
            &docker,
            format!(r#"{{"auths":{{"a.io":{{"auth":"{auth}"}},"b.io":{{}}}}}}"#),
        )
        .unwrap();
        let registries = Registries {
            docker_config: Some(docker.clone()),
            ..Registries::default()
        };
        let none = RegistryAccess::default();
        let found = of("a.io", &none, &registries).unwrap().unwrap();
        assert_eq!(
            (found.username.as_str(), found.password.as_str()),
            ("someone", "secret:with:colons")
        );
        assert_eq!(format!("{found:?}"), "Credentials { .. }");
        assert_eq!(of("b.io", &none, &registries).unwrap(), None);
        assert_eq!(of("c.io", &none, &registries).unwrap(), None);
        let password = folder.path().join("password");
        std::fs::write(&password, "token\n").unwrap();
        let own = RegistryAccess {
            username: Some("me".to_owned()),
            password_file: Some(password.clone()),
            ..RegistryAccess::default()
        };
        let found = of("a.io", &own, &registries).unwrap().unwrap();
        assert_eq!(
            (found.username.as_str(), found.password.as_str()),
            ("me", "token")
        );
        std::fs::remove_file(password).unwrap();
        assert!(
            of("a.io", &own, &registries)
                .unwrap_err()
                .contains("is not there")
        );
        std::fs::write(&docker, "{").unwrap();
        assert!(
            of("a.io", &none, &registries)
                .unwrap_err()
                .contains("not JSON")
        );
    }
}
