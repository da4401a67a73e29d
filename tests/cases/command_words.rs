//! Cases of the family `command` about single words: what a rule is compared with is what the shell would run. One of the
//! family `path` is about words too.

use serde_json::json;

use crate::command_host::Shell;
use crate::shell_host::with_any_command;

cases! {
    "C07" => c07_only_blanks_and_line_feeds_separate_words,
    "C14" => c14_a_deny_rule_looks_behind_assignments,
    "C15" => c15_no_allow_rule_covers_an_assignment,
    "C16" => c16_a_deny_rule_sees_the_command_behind_a_wrapper,
    "C18" => c18_a_deny_rule_sees_the_arguments_of_wrappers_as_commands,
    "C19" => c19_a_text_for_a_shell_is_read_like_the_outer_one,
    "C23" => c23_a_path_is_another_program_than_its_last_name,
    "C26" => c26_a_command_word_that_is_expanded_later_is_refused,
    "C28" => c28_ansi_c_quotes_are_decoded_in_every_word,
    "C29" => c29_quotes_inside_a_word_hide_nothing,
    "C37" => c37_quoted_metacharacters_are_data,
    "C38" => c38_a_builtin_needs_a_rule_of_its_own,
    "P26" => p26_an_argument_is_decoded_before_it_is_judged,
}

const RM: &str = "Bash(rm:*)";

async fn c07_only_blanks_and_line_feeds_separate_words() {
    let shell = Shell::new(&["Bash(git log:*)"], &[]).await;
    shell.runs("git log -1").await;
    shell.runs("git\t log -1").await;
    for space in [
        '\u{a0}', '\u{2003}', '\u{3000}', '\u{1680}', '\u{202f}', '\u{85}', '\u{b}', '\u{c}', '\r',
    ] {
        shell.asks(&format!("git{space}log -1")).await;
    }
}

async fn c14_a_deny_rule_looks_behind_assignments() {
    let shell = Shell::new(&["Bash"], &["Bash(aws:*)"]).await;
    shell.runs("ls").await;
    for assignments in ["AWS_PROFILE=prod", "A=1 B='2 3' C+=4", "A[0]=x"] {
        let command = format!("{assignments} aws ec2 terminate-instances --instance-ids i-1");
        shell.denies(&command, "Bash(aws:*)").await;
    }
}

async fn c15_no_allow_rule_covers_an_assignment() {
    let shell = Shell::new(&["Bash(git status:*)"], &[]).await;
    shell.runs("git status").await;
    for assignment in [
        "LD_PRELOAD=./x.so",
        "PATH=/ws/bin",
        "HARMLESS=1",
        "A+=b",
        "A=",
    ] {
        shell.asks(&format!("{assignment} git status")).await;
    }
    shell.asks("env LD_PRELOAD=./x.so git status").await;
}

async fn c16_a_deny_rule_sees_the_command_behind_a_wrapper() {
    let shell = Shell::new(&["Bash(rm:*)"], &["Bash(rm -rf:*)"]).await;
    shell.runs("rm /ws/build/a.o").await;
    shell.denies("rm -rf /ws/build", "Bash(rm -rf:*)").await;
    shell
        .denies("timeout 5 rm -rf /ws/build", "Bash(rm -rf:*)")
        .await;
    shell
        .denies(
            "nice -n 5 timeout -k 1 5 rm -rf /ws/build",
            "Bash(rm -rf:*)",
        )
        .await;
    // What is seen by a deny rule is not thereby allowed.
    shell.asks("timeout 5 rm /ws/build/a.o").await;
}

async fn c18_a_deny_rule_sees_the_arguments_of_wrappers_as_commands() {
    let rule = "Bash(gh api -X DELETE:*)";
    let shell = Shell::new(&["Bash"], &[rule]).await;
    shell.runs("gh api repos/o/r").await;
    shell
        .runs("printf 'a\\nb\\n' | xargs -I{} gh api repos/o/r/x/{}")
        .await;
    let deletes = "gh api -X DELETE repos/o/r";
    shell
        .denies(
            "printf 'a\\nb\\n' | xargs -I{} gh api -X DELETE repos/o/r/x/{}",
            rule,
        )
        .await;
    for command in [
        format!("find . -exec {deletes} ';'"),
        format!("env -i A=b {deletes}"),
        format!("nice -n 5 {deletes}"),
        format!("nohup {deletes}"),
        format!("timeout -s KILL 5 {deletes}"),
        format!("sh -c '{deletes}'"),
        format!("xargs {deletes}"),
        format!("find . -name '*.x' -exec env nohup {deletes} {{}} +"),
    ] {
        shell.denies(&command, rule).await;
    }
}

async fn c19_a_text_for_a_shell_is_read_like_the_outer_one() {
    let shell = Shell::new(&["Bash"], &[RM]).await;
    shell.runs("sh -c 'ls /ws; git status'").await;
    shell.denies("sh -c \"rm -rf /ws/build\"", RM).await;
    shell
        .denies("bash -ec 'ls && sh -c \"rm -rf /ws/build\"'", RM)
        .await;
    shell.denies("sh -c 'echo $(rm -rf /ws/build)'", RM).await;
    shell.cannot_decide("sh -c \"$X\"").await;
    shell.cannot_decide("sh -c \"ls $X\"").await;
    shell.cannot_decide("eval \"$X\"").await;
    // Without a deny rule it is a command like any other for a rule that allows every call.
    let shell = Shell::new(&["Bash"], &[]).await;
    shell.runs("sh -c \"$X\"").await;
}

async fn c23_a_path_is_another_program_than_its_last_name() {
    let shell = Shell::new(&["Bash(cat:*)"], &[]).await;
    for scratch in shell.scratches() {
        let program = scratch.file("cat", "#!/bin/sh\n");
        crate::support::set_mode(program, 0o755);
    }
    shell.runs("cat a.txt").await;
    for program in ["./cat", "/ws/cat", "/bin/cat", "../ws/cat", "sub/../cat"] {
        shell.asks(&format!("{program} a.txt")).await;
    }
    let shell = Shell::new(&["Bash(./cat:*)"], &[]).await;
    shell.runs("./cat a.txt").await;
    shell.asks("cat a.txt").await;
    shell.asks("/ws/cat a.txt").await;
}

async fn c26_a_command_word_that_is_expanded_later_is_refused() {
    let shell = Shell::new(&["Bash"], &[RM]).await;
    shell.runs("ls *.txt").await;
    shell.runs("ls ~/x {a,b}").await;
    for command in [
        "/bin/r[m] -rf /ws/d",
        "/bin/r? -rf /ws/d",
        "/bin/*m -rf /ws/d",
        "{rm,-rf,/ws/d}",
        "~/bin/rm -rf /ws/d",
    ] {
        let reason = shell.refuses(command).await;
        assert_ne!(
            reason,
            toolgate::model::DenialReason::NoApprover,
            "{command} was only a question"
        );
    }
    // Where no deny rule exists, no allow rule covers it.
    let shell = Shell::new(&["Bash(ls:*)"], &[]).await;
    shell.runs("ls *.txt").await;
    shell.asks("l[s] *.txt").await;
}

async fn c28_ansi_c_quotes_are_decoded_in_every_word() {
    let shell = Shell::new(&["Bash"], &[RM, "Bash(cp /etc/secret:*)"]).await;
    shell.runs("$'l\\x73' -l $'\\x2fws\\x2fd'").await;
    shell.denies("$'\\x72\\x6d' -rf $'\\x2fws\\x2fd'", RM).await;
    shell.denies("$'\\162\\u006d' -rf x", RM).await;
    // Also in a word that is not the first.
    shell
        .denies("cp $'\\x2fetc\\x2fsecret' x", "Bash(cp /etc/secret:*)")
        .await;
}

async fn c29_quotes_inside_a_word_hide_nothing() {
    let shell = Shell::new(&["Bash"], &[RM]).await;
    shell.runs("l\\s 'r'mx \"rm\"").await;
    for command in [
        "r\\m -rf /ws/d",
        "r''m -rf /ws/d",
        "\"rm\" -rf /ws/d",
        "'r'\"m\" -rf /ws/d",
        "r\\\nm -rf /ws/d",
    ] {
        shell.denies(command, RM).await;
    }
}

async fn c37_quoted_metacharacters_are_data() {
    let shell = Shell::new(&["Bash(cat:*)"], &[]).await;
    shell.runs("cat \"app/(private)/layout.tsx\"").await;
    shell.runs("cat 'a;b' \"c&d\" e\\|f '$(g)' 'h>i'").await;
    shell.asks("cat app/(private)/layout.tsx").await;
    let shell = Shell::new(&["Bash(cat:*)"], &[RM]).await;
    shell.runs("cat \"app/(private)/layout.tsx\"").await;
}

async fn c38_a_builtin_needs_a_rule_of_its_own() {
    let shell = Shell::new(&["Bash(git branch)"], &[]).await;
    shell.asks("export PAGER='sh -c \"touch /ws/m\"'").await;
    shell.runs("git branch").await;
    for builtin in ["export", "typeset", "declare", "readonly", "local"] {
        shell.asks(&format!("{builtin} PAGER=x; git branch")).await;
    }
    shell.asks("cd /ws; git branch").await;
    shell.asks("unset PAGER; git branch").await;
    // Where the export is allowed, it ends with its call.
    let host = with_any_command().await;
    let export = "export PAGER='sh -c \"touch /ws/m\"' TG_MINE=1; echo $TG_MINE";
    assert_eq!(host.done("Bash", json!({"command": export})).await, "1\n");
    let seen = json!({"command": "git init -q . && git branch; echo \"$PAGER[$TG_MINE]\""});
    let said = host.done("Bash", seen).await;
    assert!(said.starts_with("cat[]\n"), "{said}");
    assert!(!host.scratch.ws.join("m").exists());
}

async fn p26_an_argument_is_decoded_before_it_is_judged() {
    let shell = Shell::new(&["Bash(tee:*)"], &["Write(/ws/other/**)"]).await;
    shell.runs("tee src/x.txt").await;
    shell
        .asks("tee $'src/\\x2e\\x2e/other/x.txt' < /dev/null")
        .await;
    // Without the redirection it is what it says, for a deny rule as for an allow rule.
    let plain = "tee src/../other/x.txt";
    let spelled = "tee $'src/\\x2e\\x2e/other/x.txt'";
    let rule = "Bash(tee src/../other/x.txt)";
    let shell = Shell::new(&["Bash(tee:*)"], &[rule]).await;
    shell.runs("tee src/x.txt").await;
    shell.denies(plain, rule).await;
    shell.denies(spelled, rule).await;
    let shell = Shell::new(&[rule], &[]).await;
    shell.runs(plain).await;
    shell.runs(spelled).await;
    shell.asks("tee 'src/\\x2e\\x2e/other/x.txt'").await;
}
