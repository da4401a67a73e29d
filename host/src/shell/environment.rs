//! What a command sees of the environment: an allow list, so that no secret needs to be known by name.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::service::Program;
use super::settings::Settings;
use super::wire::Layers;

/// Variables of the host that are passed on.
const PASSED: [&str; 6] = ["HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"];
/// Variables of the host that every service sees.
const OF_SERVICES: [&str; 8] = [
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER",
];
/// No prompt, no pager, no editor: nobody is there to answer.
const FIXED: [(&str, &str); 6] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];
/// Where programs are looked for when the host's PATH says nothing that can be used.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether a variable of this name may not be passed at all.
pub(super) fn is_refused(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    name.is_empty()
        || name.contains(['=', '\0'])
        || ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "SSH_AUTH_SOCK"].contains(&upper.as_str())
        || ["LD_", "GIT_SSH", "BASH_FUNC_"]
            .iter()
            .any(|prefix| upper.starts_with(prefix))
        || ["_TOKEN", "_KEY", "_PASSWORD"]
            .iter()
            .any(|suffix| upper.ends_with(suffix))
        || upper.contains("SECRET")
}

/// The environment of a command, `NAME=value`.
pub(super) fn of_command(settings: &Settings, writable: &[PathBuf]) -> Vec<Vec<u8>> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| passes(name, settings))
        .collect();
    let mut set = |name: &str, value: OsString| {
        variables.retain(|(known, _)| known != name);
        variables.push((name.into(), value));
    };
    set("PATH", path(std::env::var_os("PATH"), writable));
    set("SHELL", settings.shell.clone().into_os_string());
    for (name, value) in FIXED {
        set(name, value.into());
    }
    if settings.layers == Layers::All {
        set("TMPDIR", "/tmp".into());
    }
    if settings.run_as.is_some() {
        // The host's own home is somebody else's.
        set("HOME", "/tmp".into());
    }
    for (name, value) in &settings.set {
        set(name, value.into());
    }
    joined(variables)
}

/// What a command in a container sees beside what its image sets.
pub(super) fn of_container(settings: &Settings) -> impl Iterator<Item = (&str, &str)> {
    let fixed = FIXED
        .into_iter()
        .chain([("HOME", "/tmp"), ("TMPDIR", "/tmp")]);
    let set = settings.set.iter();
    // Of two values of one name, engines take the last.
    fixed.chain(set.map(|(name, value)| (name.as_str(), value.as_str())))
}

/// The environment of a service, `NAME=value`: what every program finds, and what the operator named for this one, secrets
/// included.
pub(super) fn of_service(
    program: &Program,
    settings: &Settings,
    writable: &[PathBuf],
) -> Vec<Vec<u8>> {
    let named = |name: &str| program.pass.iter().any(|known| known == name);
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_str();
            name.is_some_and(|name| {
                OF_SERVICES.contains(&name) || name.starts_with("LC_") || named(name)
            })
        })
        .collect();
    let mut set = |name: &str, value: OsString| {
        variables.retain(|(known, _)| known != name);
        variables.push((name.into(), value));
    };
    set("PATH", path(std::env::var_os("PATH"), writable));
    if settings.layers == Layers::All {
        set("TMPDIR", "/tmp".into());
    }
    if settings.run_as.is_some() {
        set("HOME", "/tmp".into());
    }
    for (name, value) in &program.set {
        set(name, value.into());
    }
    joined(variables)
}

fn joined(variables: Vec<(OsString, OsString)>) -> Vec<Vec<u8>> {
    let joined = variables.into_iter().map(|(name, value)| {
        let mut variable = name.into_vec();
        variable.push(b'=');
        variable.extend_from_slice(value.as_bytes());
        variable
    });
    joined.collect()
}

fn passes(name: &OsStr, settings: &Settings) -> bool {
    let shared_tmp = settings.layers != Layers::All && name == "TMPDIR";
    let Some(name) = name.to_str() else {
        return false;
    };
    (PASSED.contains(&name)
        || shared_tmp
        || name.starts_with("LC_")
        || settings.pass.iter().any(|known| known == name))
        && !is_refused(name)
}

/// PATH without folders that a command could have written to: a program put there by one command would run in the next.
fn path(given: Option<OsString>, writable: &[PathBuf]) -> OsString {
    let private = [PathBuf::from("/tmp"), PathBuf::from("/run")];
    let kept: Vec<PathBuf> = std::env::split_paths(&given.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .filter(|folder| {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let within = |root: &PathBuf| folder.starts_with(root) || is_within(&real, root);
            !writable.iter().chain(&private).any(within)
        })
        .collect();
    if kept.is_empty() {
        return PATH.into();
    }
    std::env::join_paths(kept).unwrap_or_else(|_| PATH.into())
}

fn is_within(real: &Path, root: &Path) -> bool {
    real.starts_with(root) || root.canonicalize().is_ok_and(|root| real.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_refused_by_name() {
        for name in [
            "FOO_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GH_TOKEN",
            "LD_PRELOAD",
            "BASH_ENV",
            "ENV",
            "GIT_SSH_COMMAND",
            "SSH_AUTH_SOCK",
            "",
            "A=B",
        ] {
            assert!(is_refused(name), "{name}");
        }
        for name in ["HOME", "JAVA_HOME", "KEYBOARD", "MY_PLAIN"] {
            assert!(!is_refused(name), "{name}");
        }
    }

    #[test]
    fn only_listed_variables_pass() {
        let mut settings = Settings::default();
        assert!(!passes(OsStr::new("MY_PLAIN"), &settings));
        settings.pass.push("MY_PLAIN".into());
        assert!(passes(OsStr::new("MY_PLAIN"), &settings));
        assert!(passes(OsStr::new("LC_ALL"), &settings));
    }

    #[test]
    fn path_has_no_folder_that_a_command_writes() {
        let given = Some("/ws/bin:/usr/bin:bin::/tmp/x:/bin".into());
        assert_eq!(
            path(given, &["/ws".into()]),
            OsString::from("/usr/bin:/bin")
        );
        assert_eq!(path(Some("bin".into()), &[]), OsString::from(PATH));
        assert_eq!(path(None, &[]), OsString::from(PATH));
    }
}
