//! Attempts to get past a rule, and harmless lines that must not be taken for one.

use super::{CommandIndex, CommandLine, CommandPattern};

fn index(patterns: &[&str]) -> CommandIndex {
    let patterns: Vec<CommandPattern> = patterns
        .iter()
        .map(|text| CommandPattern::parse(text).unwrap())
        .collect();
    CommandIndex::new(&patterns)
}

/// Everything that a hostile line may be made of is allowed, but not what it runs.
const ALLOW: &[&str] = &[
    "echo:*",
    "ls:*",
    "cat:*",
    "true:*",
    "git:*",
    "printf:*",
    "'{':*",
    "if:*",
    "while:*",
    "for:*",
    "case:*",
    "time:*",
    "coproc:*",
    "function:*",
    "eval:*",
    "alias:*",
    "source:*",
    ".:*",
    "trap:*",
    "test:*",
    "'[':*",
    "'[[':*",
    "'!':*",
    "let:*",
    "set:*",
    "then:*",
    "do:*",
    "exec:*",
    "command:*",
    "builtin:*",
];

/// Lines that run `rm`, by a rule that denies it.
const FOUND: &[&str] = &[
    "rm -rf x",
    "'rm' x",
    "\"rm\" x",
    "\\rm x",
    "r\\m x",
    "r''m x",
    "r\"\"m x",
    "r\\\nm x",
    "\"r\\\nm\" x",
    "rm\\\n -rf x",
    "$'rm' x",
    "$'\\162\\155' x",
    "$'\\x72m' x",
    "$'\\u0072\\u006d' x",
    "$'r'm x",
    "/bin/rm x",
    "/bin/./rm x",
    "//bin//rm x",
    "./rm x",
    "../bin/rm x",
    "RM x",
    "/BIN/RM x",
    "\trm\tx",
    "\n\nrm x\n",
    "true;rm x",
    "true;;rm x",
    "true&&rm x",
    "false||rm x",
    "true|rm x",
    "true|&rm x",
    "true&rm x",
    "true & rm x",
    "true&>f;rm x",
    "true \\\n; rm x",
    "true # ;\nrm x",
    "true #\\\nrm x",
    "true \\# ; rm x",
    "true ;# x\nrm x #",
    "a=1 b=2 rm x",
    "a+=1 rm x",
    "a[1]=x rm x",
    ">f rm x",
    "2>f rm x",
    "2>&1 rm x",
    "<f rm x",
    "<<<x rm x",
    "rm x 2>&1",
    "rm x >f",
    "cat <<E\nx\nE\nrm x",
    "sh <<E\nrm x\nE",
    "echo $(rm x)",
    "echo \"$(rm x)\"",
    "echo \"a $(echo \"b $(rm x)\") c\"",
    "echo `rm x`",
    "echo \"`rm x`\"",
    "echo `echo \\`rm x\\``",
    "echo ${a:-$(rm x)}",
    "echo \"${a:-`rm x`}\"",
    "echo $(($(rm x)))",
    "echo $((a[$(rm x)]))",
    "(( $(rm x) ))",
    "[[ -n $(rm x) ]]",
    "cat <(rm x)",
    "echo x > >(rm x)",
    "(rm x)",
    "((true);rm x)",
    "{ rm x; }",
    "if true; then rm x; fi",
    "if rm x; then :; fi",
    "if false; then :; elif rm x; then :; else rm y; fi",
    "while rm x; do :; done",
    "until rm x; do :; done",
    "for i in 1; do rm x; done",
    "for ((i=0;i<1;i++)); do rm x; done",
    "case x in x) rm x;; esac",
    "case x in (x) rm x;; esac",
    "case x in y) true;& x) rm x;; esac",
    "select i in 1; do rm x; done",
    "! rm x",
    "time rm x",
    "time -p rm x",
    "coproc rm x",
    "coproc NAME { rm x; }",
    "ls() { rm x; }; ls",
    "function ls { rm x; }; ls",
    "function ls () ( rm x ); ls",
    "a=(1 2); rm x",
    "a=( $(rm x) )",
    "env rm x",
    "env -i rm x",
    "env -i A=b -- rm x",
    "env -u A -C / B=c rm x",
    "env -S 'rm -rf x'",
    "env -S'rm -rf x'",
    "env --split-string='rm x'",
    "env --weird rm x",
    "/usr/bin/env rm x",
    "env env env rm x",
    "xargs rm",
    "xargs -n1 -P 4 rm",
    "xargs -I{} sh -c 'rm {}'",
    "xargs -i rm {}",
    "xargs --weird rm",
    "find . -exec rm {} +",
    "find . -exec rm {} \\;",
    "find . -exec ls {} \\; -exec rm {} \\;",
    "find . -name x -execdir sudo rm {} ';'",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "fd -x rm",
    "nice -n 5 timeout -k 1 5 rm x",
    "nice -5 rm x",
    "nice -n5 rm x",
    "timeout --signal=KILL 5 rm x",
    "timeout -s KILL 5s rm x",
    "nohup setsid -f stdbuf -oL rm x",
    "ionice -c 3 rm x",
    "ionice -c3 -n 7 rm x",
    "chrt -i 0 rm x",
    "taskset -c 0-3 rm x",
    "sudo rm x",
    "sudo -u root -- rm x",
    "sudo -n -E A=b rm x",
    "sudo --user=root rm x",
    "sudo -Z q rm x",
    "doas -u root rm x",
    "busybox rm x",
    "toybox rm x",
    "busybox sh -c 'rm x'",
    "command rm x",
    "command -p rm x",
    "builtin command rm x",
    "exec rm x",
    "exec -a ls rm x",
    "exec -c -l rm x",
    "eval rm x",
    "eval 'rm x'",
    "eval \"rm x\"",
    "trap 'rm x' EXIT",
    "sh -c 'rm x'",
    "bash -lc 'rm x'",
    "bash --norc -ec 'true; rm x'",
    "bash -o pipefail -c 'rm x'",
    "sh -c \"sh -c 'rm x'\"",
    "sh -c 'sh -c \"sh -c \\\"rm x\\\"\"'",
    "/bin/sh -c 'rm x'",
    "sh -c 'true && $(rm x)'",
    "sh -c $'r\\x6d x'",
    "watch 'rm x'",
    "watch rm x",
    "ssh host 'rm x'",
    "ssh host rm x",
    "su -c 'rm x'",
    "flock f rm x",
    "flock f -c 'rm x'",
    "script -c 'rm x' f",
    "strace -f rm x",
    "docker exec c rm x",
    "docker exec c sh -c 'rm x'",
    "parallel rm ::: x",
    "parallel ::: 'rm x'",
    "\\time rm x",
    "/usr/bin/time -f %e rm x",
    "caffeinate -i rm x",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "linux32 rm x",
    "tmux new-session -d 'rm x'",
    "hyperfine 'rm x'",
    "fakeroot rm x",
    "echo \"unterminated $(rm x",
    "echo $(case x in x) rm x;; esac)",
    "rm{,} x; rm x",
];

/// Lines of which a deny rule cannot say whether it is touched.
const UNDECIDABLE: &[&str] = &[
    "$X -rf x",
    "${X}rm x",
    "r${EMPTY}m x",
    "r$@m x",
    "rm${IFS}-rf${IFS}x",
    "r[m] x",
    "r? x",
    "/bin/r* x",
    "{rm,-rf,x}",
    "r{m,x} x",
    "~/rm x",
    "@(rm) x",
    "r@(m) x",
    "$'\\x72\\c@m' x",
    "$'r\\0m' x",
    "$\"rm\" x",
    "r\u{0}m x",
    "rm\r",
    "echo 'unterminated",
    "echo x \\",
    "! rm",
    "set -H; ls",
    "echo rm x | sh",
    "echo rm x | bash -s",
    "echo rm x | sudo -s",
    "bash /dev/stdin",
    "bash < f",
    "printf 'rm\\n' | xargs -I{} {} x",
    "printf 'rm\\n' | xargs -I{} sh -c {}",
    "printf 'rm\\n' | xargs -I{} sh -c 'x; {}'",
    "printf 'rm\\n' | xargs -J% % x",
    "printf 'rm x\\n' | xargs env",
    "printf 'rm x\\n' | xargs sudo -n",
    "printf 'rm x\\n' | xargs sh -c",
    "printf 'rm x\\n' | xargs ssh",
    "printf '. -exec rm {} +' | xargs find",
    "find . -exec {} \\;",
    "find . -exec env {} +",
    "find . -exec sh -c {} \\;",
    "find . -ex{ec,ec} rm {} +",
    "sh -c \"$X\"",
    "sh -c *",
    "sh -$x 'rm x'",
    "zsh -c '=rm x'",
    "env r[m] x",
    "timeout 5 r? x",
    "env -u * rm x",
    "python3 -c 'import os; os.system(\"r\" + \"m x\")'",
    "perl -e 'system \"r\".\"m x\"'",
    "node -e 'x'",
    "ruby -e 'x'",
    "echo 'import os' | python3",
    "awk 'BEGIN { system(\"r\" \"m x\") }'",
    "awk 'BEGIN { print | \"r\" \"m x\" }'",
    "parallel ::: x",
    "alias x=y",
    "source f",
    ". f",
    "hash -p /bin/rm ls; ls x",
    "enable -f x ls; ls",
    "builtin hash -p /bin/rm ls; ls x",
    "printf -v PATH /ws; ls",
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[`rm x`]' ]",
    "unset 'a[$(rm x)]'",
    "read 'a[$(rm x)]'",
    "let 'a[$(rm x)]'",
    "x[ ; rm ]=1",
    "x['\n']+=1; ls",
    "export x[ 1 ]=2",
    "set -k; ls PATH=x",
    "set -o posix",
    "mapfile -C 'rm x' a",
    "compgen -W '$(rm x)'",
    "jobs -x rm x",
    "bind -x '\"a\":rm x'",
];

/// Lines that run nothing but what they say, with what allows them.
const HARMLESS: &[(&str, &[&str])] = &[
    ("ls", &["ls"]),
    ("ls -la *.txt", &["ls:*"]),
    ("git commit -m 'rm -rf /'", &["git commit:*"]),
    ("git commit -m \"remove; rm && (rm)\"", &["git commit:*"]),
    ("echo rm", &["echo:*"]),
    ("echo 'rm x' \"$\" '$(rm x)' '`rm x`'", &["echo:*"]),
    ("echo \\$HOME \\`rm\\` a#rm", &["echo:*"]),
    ("grep -rn 'foo$' src | head -20", &["grep:*", "head:*"]),
    ("grep -E \"a|b$|c\" f", &["grep:*"]),
    ("cat \"app/(private)/[slug]/layout.tsx\"", &["cat:*"]),
    ("# rm x\nls", &["ls:*"]),
    ("ls # rm x", &["ls"]),
    ("ls;", &["ls"]),
    (
        "ls &&\n\n  git status ||\n true | cat",
        &["ls", "git status", "true", "cat"],
    ),
    ("cargo test --workspace -- --nocapture", &["cargo test:*"]),
    ("dd if=/dev/zero of=x", &["dd:*"]),
    ("git stash show stash@{0}", &["git:*"]),
    ("find . -name '*.rs' -not -path './target/*'", &["find:*"]),
    ("find . -name x -exec grep -l y {} +", &["find:*"]),
    ("find . ! -name x", &["find:*"]),
    ("[ a != b ]", &["'[':*"]),
    ("printf '%s\\n' 'it'\\''s'", &["printf:*"]),
    ("xargs -0 grep -l x", &["xargs:*"]),
    ("timeout 60 cargo test", &["timeout 60 cargo test"]),
    ("env RUST_LOG=debug cargo run", &["env:*"]),
    ("sudo -n true", &["sudo -n true"]),
    ("sh -c 'ls -l | head'", &["sh:*"]),
    ("bash run.sh rm", &["bash run.sh rm"]),
    ("bash --version", &["bash --version"]),
    ("python3 script.py --rm", &["python3:*"]),
    ("python3 -m pytest -q", &["python3 -m pytest:*"]),
    ("node server.js -p 3000", &["node:*"]),
    ("awk '{print $1}' f", &["awk:*"]),
    ("sed -n '1,20p' f", &["sed:*"]),
    ("command -v rm", &["command -v rm"]),
    ("docker run --rm image ls", &["docker:*"]),
    ("docker rm x", &["docker:*"]),
    ("git rm x", &["git:*"]),
    ("npm run rm", &["npm:*"]),
    (
        "cd /ws && export A=b && unset A",
        &["cd:*", "export:*", "unset:*"],
    ),
    ("set -euo pipefail; ls", &["set:*", "ls"]),
    ("ls ~/x {a,b}", &["ls:*"]),
    ("echo café 日本語", &["echo:*"]),
    ("git log --format=%h", &["git:*"]),
    ("echo \"Hello, world!\"", &["echo:*"]),
    ("git commit -m \"feat!: no !x\"", &["git commit:*"]),
    ("^a^b !x", &["^a^b:*"]),
];

#[test]
fn attempts_meet_the_deny_rule() {
    let deny = index(&["rm:*"]);
    for line in FOUND {
        let found = deny.touching(&CommandLine::analyse(line), true);
        assert_eq!(found, [0], "{line}");
    }
    assert!(FOUND.len() >= 60);
}

#[test]
fn attempts_are_not_allowed() {
    let allow = index(ALLOW);
    for line in FOUND {
        // These are allowed as what they are: the user has a rule for the wrapper.
        let wrapper = ["exec ", "command ", "builtin ", "\\time "]
            .iter()
            .any(|name| line.starts_with(name));
        let found = allow.allowing(&CommandLine::analyse(line));
        assert!(found.is_empty() || wrapper, "{line}");
    }
    for line in UNDECIDABLE {
        let found = allow.allowing(&CommandLine::analyse(line));
        assert!(found.is_empty(), "{line}");
    }
}

#[test]
fn doubt_is_said() {
    for line in UNDECIDABLE {
        assert!(CommandLine::analyse(line).undecidable().is_some(), "{line}");
    }
}

#[test]
fn harmless_lines_run() {
    let deny = index(&["rm:*", "curl", "git push:*", "ls -R:*", "chmod 777:*"]);
    for (text, patterns) in HARMLESS {
        let line = CommandLine::analyse(text);
        assert_eq!(line.undecidable(), None, "{text}");
        assert_eq!(deny.touching(&line, true), [0_usize; 0], "{text}");
        let allowed = index(patterns).allowing(&line);
        assert_eq!(allowed.len(), patterns.len(), "{text}");
    }
    assert!(HARMLESS.len() >= 20);
}

#[test]
fn an_argument_that_the_shell_still_changes_touches_what_it_could_become() {
    let deny = index(&["git push:*", "rm -rf:*", "git commit"]);
    for (line, expected) in [
        ("git {push,origin}", &[0, 2][..]),
        ("git p?sh", &[0]),
        ("git $X", &[0, 2]),
        ("git pu$X", &[0]),
        ("rm *", &[1]),
        ("rm *.o", &[]),
        ("rm ~", &[]),
        ("git add *", &[]),
    ] {
        assert_eq!(
            deny.touching(&CommandLine::analyse(line), false),
            expected,
            "{line}"
        );
    }
    let allow = index(&["cat '*.txt'"]);
    assert!(
        allow
            .allowing(&CommandLine::analyse("cat *.txt"))
            .is_empty()
    );
    assert_eq!(allow.allowing(&CommandLine::analyse("cat '*.txt'")), [0]);
}

#[test]
fn what_runs_others_is_known() {
    for line in [
        "env ls",
        "sudo ls",
        "time -p ls",
        "\\time ls",
        "timeout 5 ls",
        "xargs ls",
        "find . -exec ls {} +",
        "sh -c ls",
        "bash -c 'ls'",
        "ssh h ls",
        "docker exec c ls",
        "python3 -c x",
        "eval ls",
        "nohup ls",
        "ls | xargs cat",
    ] {
        assert!(
            CommandLine::analyse(line).wraps() || line.starts_with("time "),
            "{line}"
        );
    }
    for line in ["ls", "git status", "find . -name x", "docker ps", "cat sh"] {
        assert!(!CommandLine::analyse(line).wraps(), "{line}");
    }
}

#[test]
fn reasons_are_said_in_words() {
    for (line, reason) in [
        ("ls > f", "a redirection"),
        ("ls $X", "a parameter expansion"),
        ("ls `x`", "a command substitution"),
        ("ls &", "a command in the background"),
        ("A=b ls", "a variable assignment"),
        ("if ls; then ls; fi", "a compound command"),
        (
            "r* x",
            "an unquoted wildcard, brace or tilde in the command word",
        ),
        ("", "a text without a command"),
        ("ls &&", "a list that does not end"),
        ("; ls", "a separator without a command"),
        ("ls \u{1b}[2K", "a control character"),
        ("ls 'x", "a quotation that does not end"),
    ] {
        assert_eq!(CommandLine::analyse(line).opaque(), Some(reason), "{line}");
    }
}
