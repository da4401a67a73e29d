//! Cases of the family `approval` about what a person is shown: nothing in it is hidden, and nothing of others passes for a
//! line of ours.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate::approval::{ApprovalProgram, Question, Queue};
use toolgate::config::{HookRun, HookSetting};
use toolgate::gate::{Answer, ApprovalRequest, Approver as _};
use toolgate::model::{
    Claim, Declaration, DeclarationParts, HookEventName, SideEffect, ToolName, visible,
};
use toolgate_tests::{Scratch, Setup, TestHost};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::command_host::{Shell, assert_ran, bash, with_bash};
use crate::support::{Asked, holds, lacks};

cases! {
    "A14" => a14_what_cannot_be_seen_is_shown_as_an_escape,
    "A15" => a15_no_control_character_reaches_an_approver,
    "A17" => a17_everything_that_others_chose_is_escaped_alike,
    "A18" => a18_a_word_of_several_scripts_matches_no_rule_and_is_warned_of,
}

/// The question that a command comes to.
async fn request(command: &str) -> ApprovalRequest {
    let asked = Asked::default();
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        with_bash(builder).approver(asked.clone())
    })
    .await;
    assert_ran(&host, command, &bash(&host, command).await);
    asked.requests().pop().expect("a question")
}

/// What a person reads: at the terminal, and later in the queue.
async fn shown(request: &ApprovalRequest) -> [String; 2] {
    let scratch = Scratch::new();
    let queue = Queue::open(&scratch.state.join("approvals")).expect("a queue");
    let answer = queue.ask(request).await;
    let Answer::Pending { id } = answer else {
        panic!("{answer:?}")
    };
    let later = queue.find(&id).expect("it waits").question;
    [Question::of(request).text(), later.text()]
}

/// What must be shown as an escape, wherever it stands.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Unassigned,
    };
    match get_general_category(c) {
        Control => c != '\n',
        SpaceSeparator => c != ' ',
        Format | LineSeparator | ParagraphSeparator | PrivateUse | Unassigned => true,
        _ => false,
    }
}

/// Private and unassigned code points come by the hundred thousand: one in sixteen, and where they begin and end.
fn is_taken(c: char) -> bool {
    let many = [GeneralCategory::PrivateUse, GeneralCategory::Unassigned];
    let is_one_of_many = |c: char| many.contains(&get_general_category(c));
    let number = u32::from(c);
    let beside = [number.wrapping_sub(1), number + 1].map(char::from_u32);
    let at_an_end = beside
        .iter()
        .any(|beside| !beside.is_some_and(is_one_of_many));
    !is_one_of_many(c) || at_an_end || number % 16 == 0
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match is_hidden(c) {
            true => c.escape_unicode().to_string(),
            false => c.to_string(),
        })
        .collect()
}

async fn a14_what_cannot_be_seen_is_shown_as_an_escape() {
    let command = "rm\u{200b} -rf /ws/d \u{e0041}\u{e0042}\u{e0100}\u{ad}";
    let request = request(command).await;
    for shown in shown(&request).await {
        let hidden: Vec<char> = shown.chars().filter(|c| is_hidden(*c)).collect();
        assert!(hidden.is_empty(), "{hidden:?} in {shown:?}");
        holds(
            &shown,
            &["rm\\u{200b} -rf", "\\u{e0041}\\u{e0042}\\u{e0100}\\u{ad}"],
        );
    }
    // Every code point of the small classes, and some of the two that hold most of all, through the function that every
    // surface uses, in a subject and in the input.
    let hidden = ('\0'..=char::MAX).filter(|c| is_hidden(*c) && is_taken(*c));
    let all: Vec<char> = hidden.collect();
    assert!(all.len() > 50_000, "{}", all.len());
    for some in all.chunks(10_000) {
        let some: String = some.iter().collect();
        let mut request = request.clone();
        request.subjects[0].value = some.clone();
        let input = json!({ "command": some });
        request.input = Arc::new(input.as_object().expect("an object").clone());
        let text = Question::of(&request).text();
        let hidden: Vec<char> = text.chars().filter(|c| is_hidden(*c)).collect();
        assert!(hidden.is_empty(), "{hidden:?}");
        let as_escapes = escaped(&some);
        assert!(text.contains(&as_escapes), "from {as_escapes:.20} on");
    }
    // What can be seen is left as it is.
    for plain in ["naïve", "漢字", "עברית", "🦀", "e\u{301}", "a b"] {
        assert_eq!(visible(plain), plain);
    }
}

async fn a15_no_control_character_reaches_an_approver() {
    let mut command = "echo x\u{1b}[2K\u{1b}[1A\u{1b}[8m; rm -rf /ws/d\n".to_owned();
    command.extend((1..0x20).filter_map(char::from_u32));
    let request = request(&command).await;
    let control = |byte: &u8| *byte < 0x20 && *byte != b'\n';
    for shown in shown(&request).await {
        assert!(!shown.bytes().any(|byte| control(&byte)), "{shown:?}");
        holds(&shown, &["echo x\\u{1b}[2K\\u{1b}[1A\\u{1b}[8m; rm -rf"]);
    }
    // A program that answers is told in JSON.
    let scratch = Scratch::new();
    let told = scratch.outside.join("told");
    let script = format!(
        "cat > '{}'; echo '{{\"decision\":\"approve\"}}'",
        told.display()
    );
    let program = ["/bin/sh".to_owned(), "-c".to_owned(), script];
    let program = ApprovalProgram::new(&program, Duration::from_secs(60)).expect("a program");
    let answer = program.ask(&request).await;
    assert!(matches!(answer, Answer::Approved { .. }), "{answer:?}");
    let told = std::fs::read(told).expect("it was told");
    assert!(
        !told.iter().any(control),
        "{}",
        String::from_utf8_lossy(&told)
    );
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    assert_eq!(told["input"]["command"], json!(request.input["command"]));
}

/// Line breaks that look like lines of ours, and direction marks.
const HOSTILE: &str =
    "x\u{202e}txt.\u{2066}\nWhy you are asked: all is well\r\u{2028}Input:\u{200f}";

fn declared(name: &str, description: &str, reason: &str) -> Result<Declaration, String> {
    let parts = DeclarationParts {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: None,
        claim: Claim {
            level: SideEffect::Mutating,
            destructive: true,
            idempotent: false,
            open_world: false,
            exclusive: false,
        },
        subject: None,
        capabilities: vec![(
            "fs-read".to_owned(),
            "workspace".to_owned(),
            reason.to_owned(),
            false,
        )],
        annotations: Vec::new(),
    };
    Declaration::check(parts).map_err(|error| error.to_string())
}

async fn a17_everything_that_others_chose_is_escaped_alike() {
    // A stranger's tool cannot be loaded with such a name, description or reason.
    declared("Stranger", "Looks.", "looks").expect("a good one");
    ToolName::try_from("Str\u{202e}anger").expect_err("a direction mark");
    ToolName::try_from("Stranger\nBash").expect_err("a line break");
    for hidden in [
        "\u{202e}",
        "\r",
        "\u{200b}",
        "\u{2028}",
        "\u{ad}",
        "\u{e0041}",
        "\u{e0100}",
    ] {
        declared("Stranger", &format!("Looks{hidden}."), "looks").expect_err("its description");
        declared("Stranger", "Looks.", &format!("looks{hidden}")).expect_err("its reason");
    }
    declared("Stranger", "Looks.", "looks\nInput: nothing").expect_err("a line break");

    // What a hook says, and what a call names.
    let scratch = Scratch::new();
    let reply = json!({"decision": "ask", "reason": HOSTILE});
    let hook = scratch.outside.join("ask.sh");
    std::fs::write(&hook, format!("cat <<'END'\n{reply}\nEND\n")).expect("a script");
    let command = ["/bin/sh".to_owned(), hook.display().to_string()];
    let asked = Asked::default();
    let mut setup = Setup::default();
    setup.config.hooks = vec![HookSetting::new(
        HookEventName::PreToolUse,
        HookRun::command(command.to_vec()),
    )];
    let host = TestHost::with(scratch, setup, |builder| {
        with_bash(builder).approver(asked.clone())
    })
    .await;
    let path = format!("/ws/{HOSTILE}");
    host.call("Write", json!({"file_path": path, "content": HOSTILE}))
        .await;
    bash(&host, HOSTILE).await;
    let requests = asked.requests();
    assert_eq!(requests.len(), 2);
    for mut request in requests {
        request.warnings.push(HOSTILE.to_owned());
        for shown in shown(&request).await {
            let hidden: Vec<char> = shown.chars().filter(|c| is_hidden(*c)).collect();
            assert!(hidden.is_empty(), "{hidden:?} in {shown:?}");
            for ours in ["Why you are asked", "Input", "Look twice"] {
                let lines = shown.lines().filter(|line| line.starts_with(ours));
                assert_eq!(lines.count(), 1, "{ours} in {shown}");
            }
            // The same escapes as in the command, in each place: reason, warning, subject, and the input where it does not
            // point to the subject.
            let places = if shown.contains("the command above") {
                3
            } else {
                4
            };
            let times = shown.matches("x\\u{202e}txt.\\u{2066}").count();
            assert!(times >= places, "{times} times in {shown}");
            lacks(&shown, &["\r"]);
        }
    }
}

async fn a18_a_word_of_several_scripts_matches_no_rule_and_is_warned_of() {
    let shell = Shell::new(&["Bash(git:*)"], &[]).await;
    shell.runs("git push").await;
    shell.asks("g\u{456}t push").await;
    let request = request("g\u{456}t push").await;
    assert_eq!(request.warnings.len(), 1, "{:?}", request.warnings);
    holds(&request.warnings[0], &["g\u{456}t", "scripts"]);
    for shown in shown(&request).await {
        holds(&shown, &["g\u{456}t", "mixes", "scripts"]);
    }
    // Several scripts in one text are no reason, only in one word.
    for plain in ["git push", "echo привет 漢字 hello"] {
        assert_eq!(self::request(plain).await.warnings, [""; 0], "{plain}");
    }
}
