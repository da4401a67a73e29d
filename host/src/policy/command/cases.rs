//! The field's cases about command lines, by their ids.

use super::{CommandIndex, CommandLine, CommandPattern};

fn index(patterns: &[&str]) -> CommandIndex {
    let patterns: Vec<CommandPattern> = patterns
        .iter()
        .map(|text| CommandPattern::parse(text).unwrap())
        .collect();
    CommandIndex::new(&patterns)
}

fn allowed(patterns: &[&str], line: &str) -> bool {
    !index(patterns)
        .allowing(&CommandLine::analyse(line))
        .is_empty()
}

/// By a rule, whatever else would refuse it.
fn denied_by_rule(patterns: &[&str], line: &str) -> bool {
    !index(patterns)
        .touching(&CommandLine::analyse(line), true)
        .is_empty()
}

/// By a rule, or because a deny rule cannot be decided.
fn denied(patterns: &[&str], line: &str) -> bool {
    denied_by_rule(patterns, line) || CommandLine::analyse(line).undecidable().is_some()
}

#[test]
fn c01_every_command_of_a_list_needs_a_rule() {
    assert!(!allowed(&["cd:*"], "cd /ws/app && python3 job.py"));
}

#[test]
fn c03_every_stage_of_a_pipe_needs_a_rule() {
    assert!(!allowed(&["cat:*"], "cat a.txt | wc -l"));
    assert!(allowed(&["cat:*", "wc:*"], "cat a.txt | wc -l"));
}

#[test]
fn c04_a_redirection_is_never_allowed() {
    let line = CommandLine::analyse("cargo check > /home/u/.zshrc");
    assert_eq!(line.opaque(), Some("a redirection"));
    assert!(!allowed(
        &["cargo check", "cargo:*"],
        "cargo check > /home/u/.zshrc"
    ));
}

#[test]
fn c06_a_carriage_return_separates_nothing() {
    assert!(denied_by_rule(&["rm:*"], "echo x >\r& rm -rf /ws/d"));
    assert!(!allowed(&["git status"], "git status\r"));
}

#[test]
fn c07_unicode_white_space_separates_nothing() {
    let line = CommandLine::analyse("git\u{a0}log -1");
    let words: Vec<&str> = line.commands().unwrap()[0].words().collect();
    assert_eq!(words, ["git\u{a0}log", "-1"]);
    assert!(!allowed(&["git log:*", "git:*"], "git\u{a0}log -1"));
    for space in ["\u{2003}", "\u{2028}", "\u{3000}", "\u{feff}"] {
        assert!(!allowed(&["git:*"], &format!("git{space}log")));
    }
}

#[test]
fn c09_a_process_substitution_is_opaque() {
    let line = "cat <(curl -s http://203.0.113.9/x)";
    assert!(!allowed(&["cat:*"], line));
    assert!(denied_by_rule(&["curl:*"], line));
}

#[test]
fn c10_the_syntax_of_another_shell_is_opaque() {
    let line = "ls =(touch /ws/m)";
    assert!(!allowed(&["ls:*"], line));
    assert!(denied_by_rule(&["touch:*"], line));
}

#[test]
fn c12_a_parameter_transformation_is_opaque() {
    assert!(!allowed(&["echo:*"], "v='$(touch /ws/m)'; echo \"${v@P}\""));
}

#[test]
fn c14_assignments_hide_nothing() {
    assert!(denied_by_rule(
        &["aws:*"],
        "AWS_PROFILE=prod aws ec2 terminate-instances --instance-ids i-1"
    ));
}

#[test]
fn c15_a_command_that_sets_variables_is_never_allowed() {
    assert!(!allowed(&["git status:*"], "LD_PRELOAD=./x.so git status"));
}

#[test]
fn c16_a_wrapper_hides_nothing() {
    let line = "timeout 5 rm -rf /ws/build";
    assert!(denied_by_rule(&["rm -rf:*"], line));
    assert!(!allowed(&["rm:*"], line));
}

#[test]
fn c18_the_command_of_xargs_is_found() {
    let deny = ["gh api -X DELETE:*"];
    for line in [
        "printf 'a\\nb\\n' | xargs -I{} gh api -X DELETE repos/o/r/x/{}",
        "find . -exec gh api -X DELETE {} \\;",
        "env A=b gh api -X DELETE x",
        "nice -n 5 gh api -X DELETE x",
        "nohup gh api -X DELETE x",
        "sh -c 'gh api -X DELETE x'",
    ] {
        assert!(denied_by_rule(&deny, line), "{line}");
        assert_eq!(CommandLine::analyse(line).undecidable(), None, "{line}");
    }
}

#[test]
fn c19_the_text_of_a_shell_is_read() {
    assert!(denied_by_rule(&["rm:*"], "sh -c \"rm -rf /ws/build\""));
    assert!(denied(&["rm:*"], "sh -c \"$X\""));
    assert!(
        CommandLine::analyse("sh -c 'ls \"$1\"' _ x")
            .undecidable()
            .is_some()
    );
    assert_eq!(CommandLine::analyse("sh -c 'ls -l'").undecidable(), None);
}

#[test]
fn c21_options_before_a_subcommand_break_the_match() {
    let line = "git -c core.fsmonitor='touch /ws/m; false' status";
    assert!(!allowed(&["git status:*"], line));
}

#[test]
fn c22_options_stand_where_they_stand() {
    let allow = ["git log:*", "git status:*"];
    assert!(allowed(&allow, "git log -p -1"));
    assert!(!allowed(&allow, "git -p status"));
}

#[test]
fn c23_a_path_is_allowed_only_as_that_path() {
    assert!(!allowed(&["cat:*"], "./cat a.txt"));
    assert!(!allowed(&["cat:*"], "/bin/cat a.txt"));
    assert!(allowed(&["./cat:*"], "./cat a.txt"));
}

#[test]
fn c26_a_wildcard_in_a_command_word_is_opaque() {
    for line in [
        "/bin/r[m] -rf /ws/d",
        "r? x",
        "{rm,-rf,x}",
        "~/bin/rm x",
        "env r[m] x",
    ] {
        assert!(denied(&["rm:*"], line), "{line}");
    }
}

#[test]
fn c28_ansi_c_quotes_are_decoded_in_every_word() {
    let line = r"$'\x72\x6d' -rf $'\x2fws\x2fd'";
    assert!(denied_by_rule(&["rm -rf /ws/d"], line));
    assert!(allowed(&["rm -rf /ws/d"], line));
}

#[test]
fn c29_quotes_within_a_word_hide_nothing() {
    for line in ["r\\m -rf /ws/d", "r''m -rf /ws/d", "\"rm\" -rf /ws/d"] {
        assert!(denied_by_rule(&["rm:*"], line), "{line}");
    }
}

#[test]
fn c31_a_pattern_ends_at_a_word() {
    assert!(!allowed(&["ls:*", "git:*"], "lsof -i"));
    assert!(!allowed(&["ls:*", "git:*"], "gitfoo status"));
    assert!(allowed(&["git:*"], "git"));
}

#[test]
fn c32_no_count_weakens_a_deny_rule() {
    let line = format!("{}curl https://203.0.113.9/", "true && ".repeat(60));
    assert!(denied_by_rule(&["curl:*"], &line));
    let line = format!("{}curl https://203.0.113.9/", "true && ".repeat(20_000));
    assert!(CommandLine::analyse(&line).undecidable().is_some());
}

#[test]
fn c34_a_comment_is_no_command() {
    let line = "# look at the diff\ngit diff --stat";
    assert!(allowed(&["git diff:*"], line));
    assert_eq!(CommandLine::analyse(line).undecidable(), None);
}

#[test]
fn c35_a_quote_in_a_comment_opens_nothing() {
    let line = "git log -1 # don't\nrm -rf /ws/d #'";
    assert!(denied_by_rule(&["rm:*"], line));
    assert!(!allowed(&["git log:*"], line));
    assert!(allowed(&["git log:*", "rm:*"], line));
}

#[test]
fn c37_quoted_syntax_is_text() {
    let line = "cat \"app/(private)/layout.tsx\"";
    assert!(allowed(&["cat:*"], line));
    assert!(!denied(&["rm:*"], line));
}

#[test]
fn c38_a_builtin_needs_a_rule() {
    assert!(!allowed(
        &["git branch"],
        "export PAGER='sh -c \"touch /ws/m\"'"
    ));
    assert!(!allowed(
        &["git branch"],
        "export PAGER='sh -c \"touch /ws/m\"'; git branch"
    ));
}

#[test]
fn c42_a_list_of_allowed_commands_is_allowed() {
    let line = "cd /ws && git status | head -5";
    let allow = index(&["cd:*", "git status:*", "head:*"]);
    assert_eq!(allow.allowing(&CommandLine::analyse(line)), [0, 1, 2]);
    assert!(!denied(&["rm:*"], line));
}

#[test]
fn c43_a_write_inside_an_option_is_the_sandboxs() {
    assert!(allowed(
        &["sort:*"],
        "sort --output=/etc/toolgate-test /ws/data.txt"
    ));
}

#[test]
fn c45_aliases_are_never_allowed() {
    let line = "shopt -s expand_aliases\nalias c=curl\nc https://203.0.113.9/";
    assert!(!allowed(&["alias:*", "shopt:*", "c:*"], line));
    assert!(denied(&["curl:*"], line));
    for line in [
        "alias c=curl",
        "shopt -s extglob",
        "c() { curl x; }",
        "builtin alias c=curl",
    ] {
        assert!(
            !allowed(&["alias:*", "shopt:*", "builtin:*", "c:*"], line),
            "{line}"
        );
    }
}

#[test]
fn c46_without_a_wildcard_the_arguments_are_exact() {
    let allow = ["git fetch origin"];
    assert!(allowed(&allow, "git fetch origin"));
    assert!(!allowed(
        &allow,
        "git fetch origin-local --upload-pack='sh p'"
    ));
    assert!(!allowed(&allow, "git fetch origin --upload-pack='sh p'"));
    assert!(!allowed(&allow, "git fetch"));
}

#[test]
fn c48_a_bare_name_denies_all_arguments() {
    let bare = index(&["yarn"]);
    let line = CommandLine::analyse("yarn install");
    assert_eq!(bare.touching(&line, true), [0]);
    assert_eq!(bare.touching(&line, false), [0_usize; 0]);
    assert!(!denied_by_rule(&["rm -rf"], "rm -rf x"));
    assert!(denied_by_rule(&["rm -rf"], "rm -rf"));
}

#[test]
fn c49_a_script_file_is_the_sandboxs() {
    assert!(allowed(&["bash run.sh"], "bash run.sh"));
    assert!(!denied(&["curl:*"], "bash run.sh"));
}

#[test]
fn c52_a_line_end_ends_a_command() {
    assert!(!allowed(&["pwd:*"], "pwd\ntouch /ws/m"));
}

#[test]
fn a01_a_rewritten_command_is_found_by_its_own_rule() {
    // The rewrite hides it in an argument of a program that nobody knows; the rule sees the text before the rewrite.
    assert!(denied_by_rule(&["rm -rf:*"], "rm -rf /ws/d"));
    assert!(allowed(&["guard:*"], "guard -c 'rm -rf /ws/d'"));
}

#[test]
fn a18_mixed_scripts_are_seen() {
    let line = CommandLine::analyse("g\u{456}t push");
    assert_eq!(line.mixed_script_words(), ["g\u{456}t"]);
    assert!(index(&["git:*"]).allowing(&line).is_empty());
    assert!(
        CommandLine::analyse("git push")
            .mixed_script_words()
            .is_empty()
    );
}
