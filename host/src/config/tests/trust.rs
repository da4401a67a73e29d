//! Trust: a workspace's file sets nothing until the person trusts exactly what it is.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::Desk;
use crate::config::{Config, TrustStore, WhyNot};

const GRANTS: &str = "[permissions]\nallow = [\"Write\"]\nmode = \"accept-edits\"\n[[hooks.pre_tool_use]]\n\
                      command = [\"./check.sh\"]\n";

/// Why the one file of the workspace is not in force; none: it is.
fn why(desk: &Desk) -> Option<WhyNot> {
    let loaded = desk.load();
    assert!(loaded.not_in_force.len() <= 1);
    if !loaded.not_in_force.is_empty() {
        assert_sets_nothing(&loaded.config);
    }
    loaded.not_in_force.into_iter().next().map(|file| file.why)
}

#[track_caller]
fn assert_sets_nothing(config: &Config) {
    assert!(config.rules.is_empty() && config.hooks.is_empty() && config.mode.is_none());
    assert!(config.components.is_empty() && config.write.is_empty());
}

#[track_caller]
fn assert_unusable(desk: &Desk, message: &str) {
    let loaded = desk.load();
    let said: Vec<String> = loaded
        .not_in_force
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(said.len() == 1 && said[0].contains(message), "{said:?}");
    assert!(!loaded.not_in_force[0].why.can_be_trusted());
    assert_sets_nothing(&loaded.config);
}

#[test]
fn an_untrusted_file_grants_nothing_and_says_so() {
    let desk = Desk::new();
    desk.file("ws/.toolgate/config.toml", GRANTS);
    assert_eq!(why(&desk), Some(WhyNot::NeverTrusted));
    let said = desk.load().not_in_force[0].to_string();
    let place = desk.base.join("ws/.toolgate/config.toml");
    assert_eq!(
        said,
        format!(
            "{} (project) is not in force: nobody has trusted it",
            place.display()
        )
    );
    // What nobody trusts is not even read: its mistakes are not ours.
    desk.file("ws/.toolgate/config.toml", "[[[");
    assert_eq!(why(&desk), Some(WhyNot::NeverTrusted));
}

#[test]
fn trust_is_bound_to_the_bytes() {
    let desk = Desk::new();
    desk.file("ws/toolgate.toml", GRANTS);
    desk.file("ws/check.sh", "exit 0\n");
    desk.trust_all();
    assert_eq!(why(&desk), None);
    assert_eq!(desk.load().config.rules.len(), 1);
    desk.file("ws/toolgate.toml", &format!("{GRANTS} "));
    assert!(matches!(why(&desk), Some(WhyNot::Changed { .. })));
    let said = desk.load().not_in_force[0].to_string();
    assert!(
        said.contains("it changed since you trusted it on 20"),
        "{said}"
    );
    desk.file("ws/toolgate.toml", GRANTS);
    assert_eq!(why(&desk), None);
}

#[test]
fn trust_is_bound_to_what_the_file_names() {
    let desk = Desk::new();
    desk.file("ws/check.sh", "exit 0\n");
    desk.file("ws/script.py", "pass\n");
    desk.file("ws/mine.wasm", "a");
    desk.file("ws/approve.sh", "exit 0\n");
    std::fs::create_dir(desk.base.join("ws/build")).unwrap();
    let text = "[files]\nwrite = [\"build\"]\n[approval]\napprovers = [\"program\"]\nprogram = [\"./approve.sh\"]\n\
                [[hooks.pre_tool_use]]\ncommand = [\"./check.sh\"]\n[[hooks.stop]]\ncommand = [\"python3\", \"script.py\"]\n\
                [[hooks.stop]]\ncomponent = \"hook.wasm\"\n[components]\nfiles = [\"mine.wasm\"]\n";
    desk.file("ws/toolgate.toml", text);
    desk.trust_all();
    assert_eq!(why(&desk), None);
    for (name, before) in [
        ("check.sh", Some("exit 0\n")),
        ("script.py", Some("pass\n")),
        ("mine.wasm", Some("a")),
        ("approve.sh", Some("exit 0\n")),
        ("hook.wasm", None),
    ] {
        let path = desk.file(&format!("ws/{name}"), "other");
        match why(&desk) {
            Some(WhyNot::NamedChanged { path: said, .. }) => assert_eq!(said, path),
            other => panic!("{name}: {other:?}"),
        }
        match before {
            Some(before) => drop(desk.file(&format!("ws/{name}"), before)),
            None => std::fs::remove_file(path).unwrap(),
        }
        assert_eq!(why(&desk), None, "{name}");
    }
    // A link in the place of a granted directory would grant another one.
    let build = desk.base.join("ws/build");
    std::fs::remove_dir(&build).unwrap();
    symlink("/", &build).unwrap();
    assert!(matches!(why(&desk), Some(WhyNot::NamedChanged { path, .. }) if path == build));
}

#[test]
fn a_program_beside_the_workspace_is_the_persons_own() {
    let desk = Desk::new();
    let program = desk.file("outside.sh", "exit 0\n");
    let text = format!("[[hooks.stop]]\ncommand = [\"{}\"]\n", program.display());
    desk.file("ws/toolgate.toml", &text);
    desk.trust_all();
    desk.file("outside.sh", "exit 1\n");
    assert_eq!(why(&desk), None);
    // A link in the workspace that leads to it is the workspace's.
    symlink(&program, desk.base.join("ws/link.sh")).unwrap();
    desk.file(
        "ws/toolgate.toml",
        "[[hooks.stop]]\ncommand = [\"./link.sh\"]\n",
    );
    desk.trust_all();
    assert_eq!(why(&desk), None);
    desk.file("outside.sh", "exit 2\n");
    assert!(matches!(why(&desk), Some(WhyNot::NamedChanged { .. })));
}

#[test]
fn no_link_of_a_workspace_is_followed() {
    let desk = Desk::new();
    let kept = desk.file("kept.toml", GRANTS);
    symlink(&kept, desk.base.join("ws/toolgate.toml")).unwrap();
    assert_unusable(&desk, "it is a link, which is not followed");
    std::fs::remove_file(desk.base.join("ws/toolgate.toml")).unwrap();
    std::fs::remove_dir(desk.base.join("ws/.toolgate")).unwrap();
    assert_eq!(why(&desk), None);
    std::fs::create_dir(desk.base.join("elsewhere")).unwrap();
    symlink(desk.base.join("elsewhere"), desk.base.join("ws/.toolgate")).unwrap();
    assert_eq!(why(&desk), None);
    desk.file("elsewhere/config.toml", GRANTS);
    assert_unusable(
        &desk,
        "it stands behind the link '.toolgate', which is not followed",
    );
}

#[test]
fn what_is_no_ordinary_file_is_not_in_force() {
    let desk = Desk::new();
    let place = desk.base.join("ws/toolgate.toml");
    std::fs::create_dir(&place).unwrap();
    assert_unusable(&desk, "it is a directory, not a file");
    std::fs::remove_dir(&place).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &place,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert_unusable(&desk, "it is no regular file");
    std::fs::remove_file(&place).unwrap();
    desk.file("ws/toolgate.toml", &"#".repeat((1 << 20) + 1));
    assert_unusable(&desk, "it is larger than 1 MiB");
}

#[test]
fn of_two_project_files_neither_is_in_force_and_the_start_goes_on() {
    let desk = Desk::new();
    desk.file("ws/toolgate.toml", GRANTS);
    desk.trust_all();
    desk.file("ws/.toolgate/config.toml", "[[[");
    let loaded = desk.load();
    assert_sets_nothing(&loaded.config);
    let said: Vec<String> = loaded
        .not_in_force
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(said.len(), 2);
    for said in said {
        assert!(
            said.contains("it is one of two project files, and '"),
            "{said}"
        );
    }
}

#[test]
fn trust_is_bound_to_what_is_run() {
    let desk = Desk::new();
    std::fs::create_dir(desk.base.join("ws/scripts")).unwrap();
    std::fs::create_dir(desk.base.join("ws/pkg")).unwrap();
    for (command, file) in [
        (
            r#"["/bin/sh", "-c", "scripts/hook.sh pre"]"#,
            "scripts/hook.sh",
        ),
        (
            r#"["/usr/bin/env", "A=b", "scripts/hook.sh"]"#,
            "scripts/hook.sh",
        ),
        (r#"["python3", "pkg"]"#, "pkg/__main__.py"),
        (r#"["python3", "-m", "pkg.check"]"#, "pkg/check.py"),
        (
            r#"["node", "--require=scripts/pre.js", "x"]"#,
            "scripts/pre.js",
        ),
    ] {
        let path = desk.file(&format!("ws/{file}"), "one\n");
        let text = format!("[[hooks.pre_tool_use]]\ncommand = {command}\n");
        desk.file("ws/toolgate.toml", &text);
        desk.trust_all();
        assert_eq!(why(&desk), None, "{command}");
        let hook = desk.load().config.hooks.remove(0);
        assert!(
            hook.bound.contains_key(&path),
            "{command}: {:?}",
            hook.bound
        );
        crate::config::unchanged(&hook.bound).unwrap();
        desk.file(&format!("ws/{file}"), "two\n");
        assert!(crate::config::unchanged(&hook.bound).is_err(), "{command}");
        match why(&desk) {
            Some(WhyNot::NamedChanged { path: said, .. }) => assert_eq!(said, path),
            other => panic!("{command}: {other:?}"),
        }
    }
}

#[test]
fn a_workspace_may_not_run_what_cannot_be_looked_through() {
    let desk = Desk::new();
    for command in [
        r#"["/bin/sh", "-c", "cd scripts && ./hook.sh"]"#,
        r#"["bash", "-ec", "$HOOK"]"#,
        r#"["python3", "-c", "import hook"]"#,
    ] {
        let text = format!("[[hooks.stop]]\ncommand = {command}\n");
        desk.file("ws/toolgate.toml", &text);
        let files = desk.layers.workspace_files();
        let said = files[0].preview().unwrap_err().to_string();
        assert!(said.contains("toolgate.toml:1: what the command"), "{said}");
        // In the person's own file it is theirs to say.
        desk.file("user.toml", &text);
        std::fs::remove_file(desk.base.join("ws/toolgate.toml")).unwrap();
        assert_eq!(desk.load().config.hooks.len(), 1);
        std::fs::remove_file(desk.base.join("user.toml")).unwrap();
    }
}

#[test]
fn a_grant_of_a_workspace_cannot_be_moved() {
    let desk = Desk::new();
    desk.file(
        "ws/toolgate.toml",
        "[files]\n\nread = [\"d/../../outer\"]\n",
    );
    let said = desk.layers.workspace_files()[0].preview().unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("toolgate.toml:3: 'd/../../outer' has '..' behind a name"),
        "{said}"
    );
    let outer = desk.base.join("outer");
    std::fs::create_dir(&outer).unwrap();
    desk.file("ws/toolgate.toml", "[files]\nread = [\"../outer\"]\n");
    desk.trust_all();
    assert_eq!(why(&desk), None);
    assert_eq!(desk.load().config.read[0].value, outer);
    std::fs::remove_dir(&outer).unwrap();
    symlink("/", &outer).unwrap();
    assert!(matches!(why(&desk), Some(WhyNot::NamedChanged { path, .. }) if path == outer));
}

#[test]
fn a_store_that_others_may_write_is_not_believed() {
    let desk = Desk::new();
    desk.file("ws/toolgate.toml", GRANTS);
    desk.trust_all();
    let writable = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    writable(desk.state(), 0o777);
    let said = desk.error();
    assert!(
        said.contains("/state: cannot be used: it can be written by others"),
        "{said}"
    );
    writable(desk.state(), 0o700);
    let store = desk.state().join("trusted.json");
    writable(&store, 0o666);
    assert!(desk.error().contains("chmod 600"), "{}", desk.error());
    let kept = desk.base.join("kept.json");
    std::fs::rename(&store, &kept).unwrap();
    writable(&kept, 0o600);
    symlink(&kept, &store).unwrap();
    assert!(
        desk.error().contains("is no regular file"),
        "{}",
        desk.error()
    );
}

#[test]
fn a_file_that_a_person_names_counts_once_and_needs_no_trust() {
    let mut desk = Desk::new();
    let file = desk.file("ws/toolgate.toml", "[permissions]\nallow = [\"Write\"]\n");
    desk.layers.named = vec![file];
    let loaded = desk.load();
    assert!(loaded.not_in_force.is_empty());
    assert_eq!(loaded.config.rules.len(), 1);
    desk.trust_all();
    assert_eq!(desk.load().config.rules.len(), 1);
}

#[test]
fn trust_is_kept_for_one_path_and_can_be_taken_back() {
    let desk = Desk::new();
    let file = desk.file("ws/.toolgate/local.toml", GRANTS);
    desk.trust_all();
    let store = desk.state().join("trusted.json");
    let mode = std::fs::metadata(&store).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The same bytes at another place are another file.
    desk.file("ws/toolgate.toml", GRANTS);
    let loaded = desk.load();
    assert_eq!(loaded.in_force.len(), 1);
    assert_eq!(loaded.not_in_force[0].why, WhyNot::NeverTrusted);
    std::fs::remove_file(desk.base.join("ws/toolgate.toml")).unwrap();
    let mut opened = TrustStore::open(desk.state()).unwrap();
    assert_eq!(opened.files().count(), 1);
    assert!(opened.forget(&file).unwrap());
    assert!(!opened.forget(&file).unwrap());
    assert_eq!(why(&desk), Some(WhyNot::NeverTrusted));
}

#[test]
fn without_a_store_nothing_is_trusted_and_a_torn_one_stops() {
    let mut desk = Desk::new();
    desk.file("ws/toolgate.toml", GRANTS);
    desk.trust_all();
    let state = desk.layers.state.take();
    assert_eq!(why(&desk), Some(WhyNot::NeverTrusted));
    desk.layers.state = state;
    let store = desk.state().join("trusted.json");
    let text = std::fs::read_to_string(&store).unwrap();
    let half = &text[..text.len() / 2];
    for broken in [half, "", "{\"version\":2,\"files\":{}}"] {
        std::fs::write(&store, broken).unwrap();
        let error = desk.error();
        assert!(
            error.starts_with(
                "/state/trusted.json: is not a list of trusted files that this version knows: "
            ),
            "{error}"
        );
    }
}

#[test]
fn two_people_at_once_lose_nothing() {
    let desk = Desk::new();
    desk.file("ws/toolgate.toml", "");
    desk.file("ws/.toolgate/local.toml", "");
    let files = desk.layers.workspace_files();
    std::thread::scope(|scope| {
        for file in &files {
            let mut store = TrustStore::open(desk.state()).unwrap();
            scope.spawn(move || store.trust(file, &file.preview().unwrap()).unwrap());
        }
    });
    assert_eq!(TrustStore::open(desk.state()).unwrap().files().count(), 2);
}
