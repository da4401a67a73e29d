//! Family G: what is printed, whatever it is and however much.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use toolgate::shell::{Command, CommandEnd, Ended, Spill, SpillFile, Stream};

use crate::helper;
use crate::place::{Place, SLACK, exit, timed_out, with_timeout};

async fn spilled(line: &str) -> (Ended, Vec<u8>) {
    let place = Place::new();
    let mut command = Command::new(line);
    let folder = place.outside.join("spill");
    command.spill = Some(Box::new(SpillFile::create(&folder).expect("a spill")));
    let ended = place.command(command).await;
    let path = ended.spill.clone().expect("a spill");
    let bytes = std::fs::read(path).expect("the spill");
    (ended, bytes)
}

#[tokio::test]
async fn g01_much() {
    let line =
        "for i in $(seq 100000); do echo \"line $i $(printf %090d 0)\"; done | head -c 10000000";
    let line =
        format!("printf first; head -c 9999990 /dev/zero | tr '\\0' x; printf last.; : '{line}'");
    let ended = Place::new().run(&line).await;
    assert_eq!(
        (ended.outcome.clone(), ended.output.bytes),
        (exit(0), 10_000_000)
    );
    let text = &ended.output.text;
    assert!(text.starts_with("firstxx") && text.ends_with("xxlast."));
    assert!(ended.output.truncated && text.contains("10000000 bytes was left out"));
    let length = text.chars().count();
    assert!((30_000..30_200).contains(&length), "{length}");
}

#[test]
fn g02_endless_output_in_flat_memory() {
    helper::alone("output::g02_alone");
}

#[tokio::test]
#[ignore = "measured in a process of its own"]
async fn g02_alone() {
    let place = Place::new();
    place.run("true").await;
    let before = resident();
    let (ended, took) = place.timed("yes", 1_000).await;
    // A fast machine comes to the other limit first.
    let limit = CommandEnd::OutputLimit { limit: 1 << 30 };
    assert!(
        [timed_out(1_000), limit].contains(&ended.outcome),
        "{ended:?}"
    );
    assert!(took < Duration::from_millis(600) * SLACK, "{took:?}");
    let grown = resident().saturating_sub(before);
    println!(
        "measured: g02 {} MB read, {grown} KiB grown",
        ended.output.bytes / 1_000_000
    );
    assert!(ended.output.bytes > 10_000_000);
    assert!(grown < 16 << 10, "{grown} KiB");
}

/// Resident memory of this process, KiB.
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

#[tokio::test]
async fn g03_one_long_line() {
    let line = "head -c 3000000 /dev/zero | tr '\\0' y";
    let (ended, took) = Place::new().timed(line, 60_000).await;
    assert_eq!(ended.output.bytes, 3_000_000);
    assert!(took < Duration::from_secs(2) * SLACK, "{took:?}");
}

#[tokio::test]
async fn g04_only_stderr() {
    let mut command = Command::new("head -c 5000000 /dev/zero | tr '\\0' z >&2; echo end");
    command.separate = true;
    let ended = Place::new().command(command).await;
    let errors = ended.errors.expect("stderr");
    assert_eq!(
        (ended.output.text.as_str(), errors.bytes),
        ("end\n", 5_000_000)
    );
}

#[tokio::test]
async fn g05_bytes_that_are_no_text() {
    let ended = Place::new().run("printf '\\xff\\xfe\\x00ok'").await;
    assert_eq!(ended.output.text, "\u{fffd}\u{fffd}\u{fffd}ok");
    assert!(ended.output.binary);
    assert_eq!((ended.output.bytes, ended.output.invalid), (5, 2));
    let (ended, spill) = spilled("head -c 4000 /dev/zero").await;
    assert!(
        ended
            .output
            .text
            .starts_with("[binary output, 4000 bytes; all of it is in ")
    );
    assert_eq!(spill, vec![0; 4_000]);
}

#[tokio::test]
async fn g06_a_character_in_two_pieces() {
    let line = "printf '\\xf0\\x9f'; sleep .1; printf '\\xa6\\x80\\n'";
    let ended = Place::new().run(line).await;
    assert_eq!(
        (ended.output.text.as_str(), ended.output.invalid),
        ("🦀\n", 0)
    );
}

#[tokio::test]
async fn g07_the_same_with_stderr_between() {
    let mut command = Command::new(
        "printf '\\xf0\\x9f'; sleep .1; echo between >&2; sleep .1; printf '\\xa6\\x80\\n'",
    );
    command.separate = true;
    let ended = Place::new().command(command).await;
    let errors = ended.errors.as_ref().expect("stderr");
    assert_eq!(
        (ended.output.text.as_str(), errors.text.as_str()),
        ("🦀\n", "between\n")
    );
    assert_eq!(ended.text(), "🦀\n[stderr]\nbetween\n");
}

#[tokio::test]
async fn g08_overwritten_lines() {
    let (ended, spill) = spilled("printf 'a\\rb\\rc\\n'").await;
    assert_eq!(
        (ended.output.text.as_str(), spill.as_slice()),
        ("c\n", b"a\rb\rc\n".as_slice())
    );
}

#[tokio::test]
async fn g09_no_escape_sequence_arrives() {
    let line =
        "printf '\\e[31mred\\e[0m \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ \\e]0;title\\a.\\n'";
    let ended = Place::new().run(line).await;
    assert_eq!(ended.output.text, "red link .\n");
}

#[tokio::test]
async fn g10_a_spill_has_its_limit() {
    let (ended, spill) = spilled("head -c 70000000 /dev/zero | tr '\\0' s").await;
    assert_eq!(ended.output.bytes, 70_000_000);
    assert_eq!(spill.len(), 64 << 20);
    assert!(spill.iter().all(|byte| *byte == b's'));
}

#[derive(Debug)]
struct Full;

impl Spill for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn finish(self: Box<Self>) -> io::Result<PathBuf> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[tokio::test]
async fn g11_a_full_disk() {
    let mut command = Command::new("echo still here");
    command.spill = Some(Box::new(Full));
    let ended = Place::new().command(command).await;
    assert_eq!(
        (ended.outcome.clone(), ended.spill.clone()),
        (exit(0), None)
    );
    let text = ended.text();
    assert!(
        text.starts_with("still here\n[note: the whole output could not be kept: "),
        "{text}"
    );
}

#[tokio::test]
async fn g12_too_much_is_ended() {
    let (ended, _) = Place::new().timed("cat /dev/zero", 120_000).await;
    let limit = 1 << 30;
    assert_eq!(ended.outcome, CommandEnd::OutputLimit { limit });
    assert!(ended.output.bytes > limit && ended.output.bytes < limit + (1 << 20));
}

#[tokio::test]
async fn g13_output_is_read_as_it_comes() {
    let place = Place::new();
    let command = with_timeout(
        "echo one; while ! [ -e go ]; do sleep .02; done; echo two",
        30_000,
    );
    let running = place.start(command).await.expect("a start");
    let output = running.output();
    let mut printed = 0;
    while printed < 4 {
        printed = output.more_than(printed).await;
    }
    let piece = output.read(Stream::Out, 0, 100);
    assert_eq!(
        (piece.bytes.as_slice(), output.has_ended()),
        (b"one\n".as_slice(), false)
    );
    place.file("go", "");
    let all = output.more_than(4).await;
    let next = output.read(Stream::Out, piece.next(), 100);
    assert_eq!((all, next.bytes.as_slice()), (8, b"two\n".as_slice()));
    let ended = running.wait().await;
    assert_eq!(ended.outcome, exit(0));
    assert_eq!(output.more_than(8).await, 8);
    assert!(output.has_ended());
}
