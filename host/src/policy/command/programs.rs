//! Programs that run others, and whose arguments follow no convention that is read here.

use super::word::Word;

/// Programs that run a command somewhere among their arguments, or a text that is one of them.
const LOOSE: &[&str] = &[
    "arch",
    "asdf",
    "bunx",
    "bwrap",
    "caffeinate",
    "capsh",
    "chpst",
    "chronic",
    "concurrently",
    "coreutils",
    "cpulimit",
    "cross-env",
    "dbus-run-session",
    "direnv",
    "distrobox",
    "dotenv",
    "eatmydata",
    "entr",
    "eval",
    "expect",
    "fakeroot",
    "faketime",
    "firejail",
    "flock",
    "gdb",
    "hatch",
    "hyperfine",
    "linux32",
    "linux64",
    "logsave",
    "ltrace",
    "mise",
    "nix",
    "nix-shell",
    "nodemon",
    "npx",
    "numactl",
    "parallel",
    "perf",
    "pipenv",
    "pipx",
    "pkexec",
    "pnpx",
    "poetry",
    "prlimit",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rr",
    "screen",
    "setarch",
    "setpriv",
    "socat",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "strace",
    "systemd-inhibit",
    "tmux",
    "toolbox",
    "torsocks",
    "trap",
    "unbuffer",
    "uv",
    "uvx",
    "valgrind",
    "watch",
    "xvfb-run",
];

/// Those that begin a shell if they are not told otherwise.
const STARTS_SHELL: &[&str] = &[
    "at",
    "batch",
    "chroot",
    "newgrp",
    "nix-shell",
    "nsenter",
    "parallel",
    "runuser",
    "script",
    "sg",
    "ssh",
    "su",
    "systemd-run",
    "unshare",
];

/// Programs of which some subcommands run a command.
const LOOSE_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("bundle", &["exec"]),
    ("conda", &["run"]),
    ("docker", &["exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("kubectl", &["exec", "run", "debug"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("podman", &["exec", "run"]),
    ("yarn", &["exec", "dlx"]),
];

/// Whether this program, by its base name, runs a command that stands somewhere among these words, or inside one of them.
/// If it does: whether it may also begin a shell that takes commands from its input.
pub(super) fn runs_others(name: &str, words: &[Word]) -> Option<bool> {
    let starts_shell = STARTS_SHELL.contains(&name);
    // The dynamic loader runs the program that it is given.
    let loader = name.starts_with("ld-") || name.starts_with("ld.so");
    let by_subcommand = || {
        let known = LOOSE_SUBCOMMANDS
            .iter()
            .find(|(program, _)| *program == name);
        known.is_some_and(|(_, subcommands)| {
            words.iter().any(|word| {
                subcommands
                    .iter()
                    .any(|subcommand| word.could_become(subcommand))
            })
        })
    };
    (starts_shell || loader || LOOSE.contains(&name) || by_subcommand()).then_some(starts_shell)
}
