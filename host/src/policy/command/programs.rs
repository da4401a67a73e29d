//! What is known of programs by their names: which run others from arguments that follow no convention that is read here,
//! and which run nothing that an argument names. Of a program that is not known, anything is possible.

use super::word::Word;

/// Programs that run a command somewhere among their arguments, or a text that is one of them.
const LOOSE: &[&str] = &[
    "arch",
    "asdf",
    "aws-vault",
    "bunx",
    "bwrap",
    "caffeinate",
    "capsh",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "chronic",
    "chrt",
    "concurrently",
    "coreutils",
    "cpulimit",
    "cross-env",
    "dbus-launch",
    "dbus-run-session",
    "direnv",
    "distrobox",
    "dotenv",
    "eatmydata",
    "entr",
    "eval",
    "expect",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "flatpak-spawn",
    "flock",
    "gdb",
    "gosu",
    "hatch",
    "hyperfine",
    "i386",
    "i486",
    "i586",
    "i686",
    "jexec",
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
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rr",
    "run0",
    "runcon",
    "screen",
    "sem",
    "setarch",
    "setpriv",
    "socat",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "strace",
    "su-exec",
    "systemd-cat",
    "systemd-inhibit",
    "timelimit",
    "tmux",
    "toolbox",
    "torsocks",
    "trap",
    "ts",
    "tsocks",
    "tsp",
    "uclampset",
    "uname26",
    "unbuffer",
    "uv",
    "uvx",
    "valgrind",
    "watch",
    "watchexec",
    "wine",
    "with-contenv",
    "x86_64",
    "xterm",
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

/// A program whose first operands name subcommands: they and what they work on are no commands.
#[derive(Debug)]
struct Subcommands {
    name: &'static str,
    /// The subcommands that run a command from their arguments.
    running: &'static [&'static str],
    /// The options whose value is a text for people.
    prose: &'static [&'static str],
}

/// The options of programs that are given messages.
const MESSAGE: &[&str] = &["-m", "--message"];

const SUBCOMMANDS: &[Subcommands] = &[
    tool("adb", &["shell"]),
    tool("apt", &[]),
    tool("apt-get", &[]),
    tool("aws", &[]),
    tool("az", &[]),
    tool("brew", &[]),
    tool("bundle", &["exec"]),
    tool("cargo", &[]),
    tool("conda", &["run"]),
    tool("dnf", &[]),
    Subcommands {
        prose: MESSAGE,
        ..tool("docker", &["exec", "run"])
    },
    tool("docker-compose", &["exec", "run"]),
    tool("gcloud", &["ssh"]),
    Subcommands {
        prose: &[
            "-b",
            "--body",
            "-d",
            "--description",
            "-n",
            "--notes",
            "-S",
            "--search",
            "-t",
            "--title",
            "-q",
            "--jq",
            "-f",
            "-F",
            "--field",
            "--raw-field",
            "-c",
            "--comment",
        ],
        ..tool("gh", &["alias", "extension", "ext", "codespace", "cs"])
    },
    Subcommands {
        prose: &["-d", "--description", "-m", "--message", "-t", "--title"],
        ..tool("glab", &["alias"])
    },
    tool("go", &[]),
    tool("gsutil", &[]),
    tool("helm", &["plugin", "--post-renderer"]),
    Subcommands {
        prose: MESSAGE,
        ..tool("hg", &["bisect"])
    },
    tool("ip", &["exec"]),
    Subcommands {
        prose: MESSAGE,
        ..tool("jj", &["util", "fix"])
    },
    tool("kubectl", &["exec", "run", "debug"]),
    tool("lxc", &["exec"]),
    tool("mamba", &["run"]),
    tool("nerdctl", &["exec", "run"]),
    Subcommands {
        prose: MESSAGE,
        ..tool("npm", &["exec", "x"])
    },
    tool("op", &["run"]),
    tool("opam", &["exec"]),
    tool("pip", &[]),
    tool("pip3", &[]),
    tool("pixi", &["run"]),
    tool("pnpm", &["exec", "dlx"]),
    Subcommands {
        prose: MESSAGE,
        ..tool("podman", &["exec", "run"])
    },
    tool("pyenv", &["exec"]),
    tool("rbenv", &["exec"]),
    tool("rustup", &["run"]),
    Subcommands {
        prose: MESSAGE,
        ..tool("svn", &[])
    },
    tool("systemctl", &[]),
    tool("terraform", &[]),
    tool("vagrant", &["ssh"]),
    tool("yarn", &["exec", "dlx"]),
];

const fn tool(name: &'static str, running: &'static [&'static str]) -> Subcommands {
    Subcommands {
        name,
        running,
        prose: &[],
    }
}

/// Programs, and builtins of bash, that run nothing that an argument names.
const INERT: &[&str] = &[
    ":",
    "[",
    "alias",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bg",
    "bind",
    "bunzip2",
    "bzcat",
    "bzip2",
    "cal",
    "cat",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "cksum",
    "clear",
    "cmp",
    "column",
    "comm",
    "cp",
    "curl",
    "cut",
    "date",
    "dd",
    "declare",
    "df",
    "diff",
    "diff3",
    "dig",
    "dirname",
    "dirs",
    "disown",
    "du",
    "echo",
    "egrep",
    "enable",
    "exit",
    "export",
    "expr",
    "factor",
    "false",
    "fg",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "free",
    "getconf",
    "getent",
    "getopts",
    "grep",
    "groups",
    "gunzip",
    "gzip",
    "hash",
    "head",
    "help",
    "hexdump",
    "history",
    "host",
    "hostname",
    "iconv",
    "id",
    "jobs",
    "join",
    "jq",
    "kill",
    "killall",
    "let",
    "ln",
    "local",
    "locale",
    "logname",
    "ls",
    "lsblk",
    "lscpu",
    "lsof",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mktemp",
    "mv",
    "nl",
    "nproc",
    "nslookup",
    "numfmt",
    "od",
    "paste",
    "pgrep",
    "pidof",
    "ping",
    "pkill",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "readonly",
    "realpath",
    "return",
    "rev",
    "rm",
    "rmdir",
    "seq",
    "set",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shift",
    "shopt",
    "shred",
    "shuf",
    "sleep",
    "stat",
    "strings",
    "stty",
    "sum",
    "tac",
    "tail",
    "tee",
    "test",
    "touch",
    "tput",
    "tr",
    "tree",
    "true",
    "truncate",
    "tsort",
    "tty",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "uname",
    "unexpand",
    "uniq",
    "unlink",
    "unset",
    "unxz",
    "unzip",
    "uptime",
    "users",
    "wait",
    "wc",
    "whatis",
    "whereis",
    "which",
    "who",
    "whoami",
    "xxd",
    "xz",
    "xzcat",
    "yes",
    "zcat",
];

/// Programs that run nothing but what one of these options names, by how it begins.
const INERT_BUT: &[(&str, &[&str])] = &[
    ("ack", &["--pager"]),
    ("ag", &["--pager"]),
    ("fd", &[]),
    ("fdfind", &[]),
    ("less", &["+", "-k", "--lesskey"]),
    ("more", &["+"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--c"]),
];

/// What is known of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It runs a command that stands somewhere among its arguments, or inside one of them; and whether it may also begin
    /// a shell that takes commands from its input.
    Runs {
        /// See above.
        starts_shell: bool,
    },
    /// It runs nothing that an argument names.
    Inert,
    /// What it runs can only stand in the value of an option, and not in one of these, which are texts for people.
    Options(&'static [&'static str]),
    /// git, whose subcommands are known each.
    Git,
    /// Nothing.
    Unknown,
}

/// What is known of the program with this base name, called with these words.
pub(super) fn kind(name: &str, words: &[Word]) -> Kind {
    let starts_shell = STARTS_SHELL.contains(&name);
    // The dynamic loader, and an emulator of another processor, run the program that they are given.
    let loader = name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("qemu-");
    if starts_shell || loader || LOOSE.contains(&name) {
        return Kind::Runs { starts_shell };
    }
    if name == "git" {
        return Kind::Git;
    }
    if let Some(known) = SUBCOMMANDS.iter().find(|known| known.name == name) {
        let runs = words
            .iter()
            .any(|word| known.running.iter().any(|name| word.could_become(name)));
        return if runs {
            Kind::Runs {
                starts_shell: false,
            }
        } else {
            Kind::Options(known.prose)
        };
    }
    if let Some((_, running)) = INERT_BUT.iter().find(|(known, _)| *known == name) {
        let runs = words
            .iter()
            .any(|word| running.iter().any(|option| word.text().starts_with(option)));
        return if runs { Kind::Unknown } else { Kind::Inert };
    }
    if INERT.contains(&name) {
        return Kind::Inert;
    }
    Kind::Unknown
}
