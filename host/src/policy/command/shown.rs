//! Lines that were shown to get past a rule, and harmless ones beside them.

use super::{CommandIndex, CommandLine, CommandPattern};

fn index(patterns: &[&str]) -> CommandIndex {
    let patterns: Vec<CommandPattern> = patterns
        .iter()
        .map(|text| CommandPattern::parse(text).unwrap())
        .collect();
    CommandIndex::new(&patterns)
}

fn touched(patterns: &[&str], line: &str) -> bool {
    !index(patterns)
        .touching(&CommandLine::analyse(line), true)
        .is_empty()
}

const EVALUATING: &[&str] = &[
    "echo 'a[$(rm x)]'; test -v 'PIPESTATUS[_]'",
    "echo 'a[$(rm x)]'; [ -v 'PIPESTATUS[_]' ]",
    "echo 'a[$(rm x)]'; read 'PIPESTATUS[_]'",
    "echo 'a[$(rm x)]'; unset 'PIPESTATUS[_]'",
    "echo 'a[$(rm x)]'; declare 'x[_]=1'",
    "echo 'a[$(rm x)]'; declare -i z=_",
    "echo 'a[$(rm x)]'; declare -i OPTIND=_",
    "echo 'a[$(rm x)]'; export OPTIND=_",
    "echo 'a[$(rm x)]'; export SECONDS=_",
    "read SECONDS",
    "getopts a SECONDS",
    "declare -a x='($(rm x))'",
    "declare x='($(rm x))'",
    "readonly -a x='($(rm x))'",
    "export -a 'x=($(rm x))'",
    "test -v *",
    "unset *",
    "printf * x",
    "jobs -rx rm x",
    "-c ls",
    "+x41",
];

#[test]
fn evaluated_words_are_never_plain() {
    let allow = index(&[
        "echo:*",
        "test:*",
        "'[':*",
        "read:*",
        "unset:*",
        "declare:*",
        "export:*",
        "readonly:*",
        "getopts:*",
        "printf:*",
        "jobs:*",
        "-c:*",
        "+x41:*",
    ]);
    for text in EVALUATING {
        let line = CommandLine::analyse(text);
        assert!(allow.allowing(&line).is_empty(), "{text}");
        assert!(line.undecidable().is_some(), "{text}");
    }
    for text in [
        "test -n x",
        "[ -f x ]",
        "[ a = '[' ]",
        "read -r a b",
        "unset a",
        "export A=b",
        "declare x=y",
        "getopts ab: x",
        "printf '%s[%d]\\n' '$(x)' 'a[b]'",
        "jobs -l",
        "export A",
    ] {
        let line = CommandLine::analyse(text);
        assert!(!allow.allowing(&line).is_empty(), "{text}");
        assert_eq!(line.undecidable(), None, "{text}");
    }
}

#[test]
fn code_from_the_input_and_in_variables_is_doubted() {
    for line in [
        "echo 'rm x' | bash //dev/stdin",
        "echo 'rm x' | bash /./dev/stdin",
        "echo 'rm x' | sh ../../../../dev/stdin",
        "echo 'import os' | python3 //dev/stdin",
        "cd /dev; echo 'rm x' | bash stdin",
        "echo 'rm x' |\n bash stdin",
        "cd /dev/fd; echo x | python3 0",
        "echo 'BEGIN{system(\"rm x\")}' | awk -f /dev/stdin x",
        "echo 'BEGIN{system(\"rm x\")}' | awk -f/dev/stdin x",
        "cd /dev; echo x | gawk -E stdin",
        "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls",
        "env PAGER='rm x' git log",
        "env GIT_SSH_COMMAND='rm x' git fetch",
        "export PAGER='rm x' && git log",
        "sudo PAGER='rm x' git log",
        "sed 's/a/rm x/e' f",
        "sed -n '1e rm x' f",
        "vim -c '!rm x'",
        "expect -c 'spawn rm x'",
        "gawk -e 'BEGIN{system(\"rm\")}'",
        "crontab -",
        "php --run 'system(\"rm x\");'",
        "deno run data:text/javascript,x",
        "node --import data:text/javascript,x a.js",
        "python3 -m timeit x",
        "python3 -mpdb -c x y",
        "ipython -c x",
        "R -e x",
        "emacs --batch --eval '(x)'",
    ] {
        assert!(CommandLine::analyse(line).undecidable().is_some(), "{line}");
    }
}

#[test]
fn programs_that_are_not_known_hide_no_name() {
    for line in [
        "fd . -xrm",
        "fd --exec=rm",
        "fd -Hx rm",
        "bfs . -exec rm {} +",
        "bash-static -c 'rm x'",
        "bash5 -c 'rm x'",
        "ksh93 -c 'rm x'",
        "lksh -c 'rm x'",
        "rksh -c 'rm x'",
        "hush -c 'rm x'",
        "osh -c 'rm x'",
        "zsh-5.9 -c 'rm x'",
        "genv rm x",
        "gnice rm x",
        "gnohup rm x",
        "gstdbuf -oL rm x",
        "gsetsid rm x",
        "gtime rm x",
        "run0 rm x",
        "gosu root rm x",
        "su-exec root rm x",
        "runcon c rm x",
        "choom -n 1 rm x",
        "uclampset -m 1 rm x",
        "systemd-cat rm x",
        "i386 rm x",
        "x86_64 rm x",
        "uname26 rm x",
        "ip netns exec n rm x",
        "cgexec -g a rm x",
        "proot rm x",
        "qemu-x86_64 /bin/rm x",
        "wine rm x",
        "xterm -e rm x",
        "sem rm x",
        "tsp rm x",
        "watchexec rm x",
        "rustup run stable rm x",
    ] {
        assert!(touched(&["rm:*"], line), "{line}");
    }
}

#[test]
fn options_and_subcommands_that_run_programs_hide_no_name() {
    for line in [
        "opam exec -- rm x",
        "rbenv exec rm x",
        "pyenv exec rm x",
        "nerdctl exec c rm x",
        "adb shell rm x",
        "ansible all -m shell -a 'rm x'",
        "tar cf a . --checkpoint=1 --checkpoint-action=exec='rm x'",
        "tar --to-command=rm -xf a",
        "tar -I rm -xf a",
        "tar -Irm -xf a",
        "split --filter='rm x' f",
        "git -c alias.x='!rm x' x",
        "git -c core.pager='rm x' -p log",
        "git bisect run rm x",
        "git rebase --exec 'rm x' HEAD~1",
        "git submodule foreach 'rm x'",
        "git grep -O'rm x' a",
        "git difftool -x 'rm x'",
        "git clone --upload-pack='rm x' a b",
        "rsync -e 'rm x' a b",
        "scp -S rm a b",
        "man -P rm x",
        "ssh -o ProxyCommand='rm x' h",
        "chrt -i rm x",
        "timelimit rm x",
        "tsocks rm x",
        "catchsegv rm x",
        "sort --compress-program=rm f",
        "gcc -wrapper rm,x a.c",
        "sqlite3 :memory: '.shell rm x'",
        "psql -c '\\! rm x'",
        "go test -exec rm ./...",
        "rg --pre rm x",
        "nobody-knows-it --hook 'rm x'",
        "make --eval='x:;rm x' x",
    ] {
        assert!(touched(&["rm:*"], line), "{line}");
    }
}

#[test]
fn prose_and_names_of_other_things_are_no_commands() {
    for line in [
        "git commit -m 'rm old files'",
        "git -C sub commit -am 'rm x; rm y'",
        "git -C . rm x",
        "git log --grep='rm x'",
        "git grep 'rm x'",
        "echo rm x 'rm y'",
        "printf '%s' 'rm x'",
        "grep -rn 'rm x' src",
        "rg 'rm x'",
        "fd rm",
        "jq '.a | rm'",
        "gh pr create --title 'rm x' --body 'rm y'",
        "hg commit -m 'rm x'",
        "aws s3 rm s3://b/x",
        "docker image rm x",
        "cargo rm serde",
        "nobody-knows-it 'please rm it' (",
        "cat data.json | python3 run.py",
        "cat x | bash run.sh",
        "which rm",
        "sed 's/rm/ls/' f",
        "mytool --text 'an (odd text' ok",
        "kubectl get pods -n x",
        "env RUST_LOG=debug cargo test",
        "curl https://h/rm",
        "sed -i 's/the/one cat/' f",
        "vim +10 f",
    ] {
        assert!(!touched(&["rm:*"], line), "{line}");
        if !line.ends_with(" (") {
            assert_eq!(CommandLine::analyse(line).undecidable(), None, "{line}");
        }
    }
}

#[test]
fn options_do_not_step_over_a_pattern() {
    for (pattern, line, expected) in [
        ("git push:*", "git -C . push", true),
        ("git push:*", "git --no-pager push", true),
        ("git push:*", "git -c a=b push origin", true),
        ("git push", "git --no-pager push", true),
        ("git push", "git push origin", true),
        ("rm -rf:*", "rm -fr x", true),
        ("rm -rf:*", "rm -r -f x", true),
        ("rm -rf:*", "rm x -rvf", true),
        ("rm -rf:*", "rm -r x", false),
        ("git push:*", "git commit -m push", false),
        ("git push:*", "git log push", false),
        ("find -delete:*", "find . -maxdepth 2 -type l", false),
        ("find -delete:*", "find . -delete", true),
        ("chmod 777:*", "chmod -R 777 x", true),
        ("gh api -X DELETE:*", "gh api repos/o -X DELETE", true),
        ("gh api -X DELETE:*", "gh api repos/o -X GET", false),
    ] {
        let exact_with_more = pattern == "git push" && line == "git push origin";
        assert_eq!(
            touched(&[pattern], line),
            expected && !exact_with_more,
            "{pattern} {line}"
        );
    }
}
