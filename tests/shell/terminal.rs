//! Family L: commands on a terminal. J12 is here too, because only a terminal can be typed into.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate::shell::{
    Command, CommandEnd, CouldNotStart, LONGEST_LINE, Probe, Running, Sandbox, Session, Sessions,
    Shell, Step, Terminal, TerminalError,
};

use crate::adversary::Adversary;
use crate::place::{Place, SLACK, exit, length, signal};

const LONG: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_millis(500);

async fn opened(place: &Place, session: Session) -> Terminal {
    let terminal = place.open(session).await;
    terminal.unwrap_or_else(|error| panic!("{error}"))
}

async fn types(terminal: &Terminal, keys: &str) {
    let written = terminal.write(keys.as_bytes(), LONG).await.expect("taken");
    assert_eq!((written.bytes, written.note), (keys.len(), None));
}

/// Reads until something was printed, and gives all of it. Fails at the end of its patience.
async fn until(terminal: &Terminal, from: &mut u64, expected: &str) -> String {
    let begun = Instant::now();
    let mut text = String::new();
    while !text.contains(expected) {
        assert!(begun.elapsed() < LONG, "no {expected:?} in {text:?}");
        let reading = terminal.read(*from, Duration::from_secs(1)).await;
        assert_eq!(reading.missed, 0);
        *from = reading.next;
        text.push_str(&reading.text);
        assert!(
            reading.end.is_none() || text.contains(expected),
            "{:?} without {expected:?} in {text:?}",
            reading.end
        );
    }
    text
}

/// All that is printed until the end.
async fn to_the_end(terminal: &Terminal) -> (String, CommandEnd) {
    let (mut text, mut from) = (String::new(), 0);
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        let reading = terminal.read(from, Duration::from_secs(1)).await;
        from = reading.next;
        text.push_str(&reading.text);
        if let Some(end) = reading.end {
            return (text, end);
        }
    }
    panic!("no end after {text:?}");
}

#[tokio::test]
async fn l01_a_terminal_of_the_given_size() {
    let place = Place::new();
    let session = Session {
        rows: 33,
        cols: 101,
        ..Session::new(
            "stty size; tty; test -t 0 -a -t 1 -a -t 2 && echo all; : </dev/tty && echo own; ls /dev/pts",
        )
    };
    let terminal = opened(&place, session).await;
    let (text, end) = to_the_end(&terminal).await;
    // The only terminal that it sees is its own.
    assert_eq!(text, "33 101\n/dev/pts/0\nall\nown\n0  ptmx\n");
    assert_eq!(end, exit(0));
    assert_eq!(terminal.ended().await.background_killed, 0);
}

#[tokio::test]
async fn l01_an_interactive_shell_with_its_state() {
    let place = Place::new();
    let terminal = opened(&place, Session::default()).await;
    let mut from = 0;
    types(
        &terminal,
        "PS1='> '; here=un; set -o | grep -c 'monitor.*on'\r",
    )
    .await;
    until(&terminal, &mut from, "\n1\n").await;
    types(&terminal, "cd /usr; echo $here$PWD\r").await;
    until(&terminal, &mut from, "\nun/usr\n").await;
    // Job control works, so the terminal is the shell's own.
    types(&terminal, "sleep 60\r").await;
    tokio::time::sleep(SOON).await;
    types(&terminal, "\x1a").await;
    until(&terminal, &mut from, "Stopped").await;
    // It says that a job is stopped before it goes.
    types(&terminal, "exit 7\r").await;
    until(&terminal, &mut from, "There are stopped jobs").await;
    types(&terminal, "exit 7\r").await;
    let (_, end) = to_the_end(&terminal).await;
    assert_eq!(end, exit(7));
    let gone = terminal.write(b"echo\r", LONG).await;
    assert_eq!(gone, Err(TerminalError::Ended));
}

#[tokio::test]
async fn l02_interrupt_and_end_of_input() {
    let place = Place::new();
    let line = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep .05; done";
    let terminal = opened(&place, Session::new(line)).await;
    until(&terminal, &mut 0, "ready\n").await;
    types(&terminal, "\x03").await;
    let (text, end) = to_the_end(&terminal).await;
    assert!(text.contains("caught"), "{text}");
    assert_eq!(end, exit(5));

    let terminal = opened(&place, Session::new("cat; echo rc=$?")).await;
    types(&terminal, "line\n\x04").await;
    let (text, end) = to_the_end(&terminal).await;
    assert_eq!((text.as_str(), end), ("line\nline\nrc=0\n", exit(0)));
}

#[tokio::test]
async fn l03_long_lines_are_cut_unless_raw() {
    let long = "x".repeat(6_000);
    let place = Place::new();
    let line = "stty -echo; echo ready; head -n 1 | tr -d '\\n' | wc -c";
    let terminal = opened(&place, Session::new(line)).await;
    until(&terminal, &mut 0, "ready\n").await;
    let written = terminal.write(format!("{long}\n").as_bytes(), LONG).await;
    let written = written.expect("taken");
    let note = written.note.expect("a note");
    assert!(note.contains("4095") && note.contains("raw"), "{note}");
    let (text, _) = to_the_end(&terminal).await;
    assert_eq!(text, format!("ready\n{LONGEST_LINE}\n"));

    let raw = Session {
        raw: true,
        ..Session::new("echo ready; head -c 6000 | wc -c")
    };
    let terminal = opened(&place, raw).await;
    until(&terminal, &mut 0, "ready\n").await;
    types(&terminal, &long).await;
    let (text, _) = to_the_end(&terminal).await;
    assert_eq!(text, "ready\n6000\n");
}

#[tokio::test]
async fn l03_what_nobody_reads_is_not_waited_for_without_end() {
    let place = Place::new();
    let raw = Session {
        raw: true,
        ..Session::new("echo ready; sleep 60")
    };
    let terminal = opened(&place, raw).await;
    until(&terminal, &mut 0, "ready\n").await;
    let begun = Instant::now();
    let much = vec![b'x'; 1 << 20];
    let written = terminal.write(&much, SOON).await.expect("taken");
    assert!(written.bytes < much.len());
    assert!(written.note.expect("a note").contains("do not read"));
    assert!(begun.elapsed() < SOON * SLACK, "{:?}", begun.elapsed());
    // The end does not wait for what was not read.
    assert_eq!(terminal.close().await.outcome, CommandEnd::Cancelled);
}

/// What survives a hang-up: ignores it, runs under nohup, or is in a session of its own.
async fn nothing_survives(manner: &str, place: &Place) {
    let adversary = Adversary::new(place);
    let terminal = opened(place, Session::new(Adversary::line(manner, 2, true))).await;
    while length(&place.ws.join("beat")) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let begun = Instant::now();
    let ended = terminal.close().await;
    assert!(begun.elapsed() < Duration::from_millis(250) * SLACK);
    assert_eq!(ended.outcome, CommandEnd::Cancelled);
    adversary.is_dead(&ended).await;
    // Closing again changes nothing.
    assert_eq!(terminal.close().await, ended);
}

#[tokio::test]
async fn l04_closing_ends_what_ignores_a_hang_up() {
    for manner in ["ignterm", "dsetsid", "late", "scomet"] {
        nothing_survives(manner, &Place::new()).await;
    }
}

#[tokio::test]
async fn l04_closing_ends_jobs_of_an_interactive_shell() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let terminal = opened(&place, Session::default()).await;
    let line = Adversary::line("plain", 1, true);
    let line = line.strip_prefix("exec ").expect("a program");
    types(
        &terminal,
        &format!("trap '' HUP; nohup {line} >/dev/null 2>&1 & disown\r"),
    )
    .await;
    while length(&place.ws.join("beat")) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    adversary.is_dead(&terminal.close().await).await;
}

#[tokio::test]
async fn l04_a_supervisor_ends_terminals_too() {
    let place = Place::without_namespaces();
    let adversary = Adversary::new(&place);
    let line = format!("stty size; {}", Adversary::line("dsetsid", 2, true));
    let terminal = opened(&place, Session::new(line)).await;
    until(&terminal, &mut 0, "24 80\n").await;
    while length(&place.ws.join("beat")) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    adversary.is_dead(&terminal.close().await).await;
}

#[tokio::test]
async fn l04_a_dropped_terminal_is_dead() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let sessions = Sessions::new();
    let session = Session::new(Adversary::line("dsetsid", 2, true));
    let (_, terminal) = place.open_in(&sessions, session).await.expect("a start");
    let beat = place.ws.join("beat");
    while length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The host ends while somebody still reads.
    drop(sessions);
    adversary.is_dead(&terminal.ended().await).await;
}

#[tokio::test]
async fn l05_a_new_size_is_told() {
    let place = Place::new();
    let line = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep .05; done";
    let terminal = opened(&place, Session::new(line)).await;
    until(&terminal, &mut 0, "ready\n").await;
    for (rows, cols) in [(0, 80), (24, 0), (1_001, 80)] {
        let refused = terminal.resize(rows, cols);
        assert!(
            matches!(refused, Err(TerminalError::Size(_))),
            "{refused:?}"
        );
    }
    terminal.resize(50, 132).expect("a size");
    assert_eq!(terminal.size(), Ok((50, 132)));
    let (text, end) = to_the_end(&terminal).await;
    assert_eq!((text.as_str(), end), ("ready\n50 132\n", exit(0)));
    assert_eq!(terminal.resize(24, 80), Err(TerminalError::Ended));
}

#[tokio::test]
async fn j12_no_program_types_for_the_user() {
    let place = Place::new();
    let line = "/usr/bin/python3 -c 'import fcntl
for fd in (0, open(\"/dev/tty\", \"rb\").fileno()):
    for request in (0x5412, 0x541C):
        try:
            fcntl.ioctl(fd, request, b\"\\x01\")
            print(\"typed\")
        except OSError as error:
            print(error.errno)'";
    let terminal = opened(&place, Session::new(line)).await;
    let (text, end) = to_the_end(&terminal).await;
    // EPERM, each time.
    assert_eq!((text.as_str(), end), ("1\n1\n1\n1\n", exit(0)));
}

#[tokio::test]
async fn what_a_terminal_may_not_do_is_what_a_command_may_not() {
    let place = Place::new();
    let secret = place.outside.join("note");
    std::fs::write(&secret, "out").expect("a file");
    let line = format!(
        "echo in >kept; echo over >{}; (: </dev/tcp/1.1.1.1/53) 2>&1 | grep -o unreachable; grep NoNewPrivs /proc/self/status; \
         ls /proc/self/fd | tr '\\n' ' '",
        secret.display()
    );
    let terminal = opened(&place, Session::new(line)).await;
    let (text, _) = to_the_end(&terminal).await;
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(
        text.contains("unreachable\nNoNewPrivs:\t1\n0 1 2 3 "),
        "{text}"
    );
    assert_eq!(
        std::fs::read_to_string(place.ws.join("kept")).expect("a file"),
        "in\n"
    );
    assert_eq!(std::fs::read_to_string(&secret).expect("a file"), "out");
}

#[tokio::test]
async fn a_terminal_ends_with_its_tree_and_not_with_its_readers() {
    let place = Place::new();
    let line =
        "exec 3>&1; exec >/dev/null 2>&1 </dev/null; exec 3>&-; sleep .4; echo back >/dev/tty";
    let terminal = opened(&place, Session::new(line)).await;
    let (text, end) = to_the_end(&terminal).await;
    assert_eq!((text.as_str(), end), ("back\n", exit(0)));
}

#[tokio::test]
async fn readings_are_clean_whole_and_in_order() {
    let place = Place::new();
    let line = r#"printf '\033[1;3'; sleep .3; printf '1mred\033[0m \xf0\x9f'; sleep .3; printf '\xa6\x80\n'; printf '1%%\r2%%\n'"#;
    let terminal = opened(&place, Session::new(line)).await;
    let (text, _) = to_the_end(&terminal).await;
    assert_eq!(text, "red 🦀\n2%\n");
    let raw = terminal.read(0, Duration::ZERO).await.raw;
    assert_eq!(raw, "\x1b[1;31mred\x1b[0m 🦀\r\n1%\r2%\r\n".as_bytes());

    let terminal = opened(&place, Session::new("seq 1 50000")).await;
    let (text, _) = to_the_end(&terminal).await;
    let expected: String = (1..=50_000).map(|number| format!("{number}\n")).collect();
    assert!(text == expected, "{} of {}", text.len(), expected.len());
}

#[tokio::test]
async fn a_reading_waits_no_longer_than_asked() {
    let place = Place::new();
    let terminal = opened(&place, Session::new("echo ready; yes >&2 | cat; cat")).await;
    let reading = loop {
        let begun = Instant::now();
        let reading = terminal.read(0, SOON).await;
        assert!(begun.elapsed() < SOON * SLACK);
        // The first word may be there alone.
        if reading.more {
            break reading;
        }
    };
    assert!(reading.text.len() <= 28_000);
    terminal.close().await;

    let terminal = opened(&place, Session::new("cat")).await;
    let begun = Instant::now();
    let reading = terminal.read(0, SOON).await;
    assert_eq!((reading.text.as_str(), reading.end), ("", None));
    assert!(begun.elapsed() >= SOON && begun.elapsed() < SOON * SLACK);
    let begun = Instant::now();
    let later = terminal.read(u64::MAX, Duration::ZERO).await;
    assert_eq!((later.text.as_str(), later.next), ("", 0));
    assert!(begun.elapsed() < SOON);
}

#[tokio::test]
async fn nobody_uses_it_and_time_is_up() {
    let place = Place::new();
    let idle = Session {
        idle: Some(Duration::from_secs(1)),
        ..Session::new("yes")
    };
    let terminal = opened(&place, idle).await;
    let begun = Instant::now();
    // Using it is what counts, not what it prints.
    while begun.elapsed() < Duration::from_millis(1_500) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(terminal.read(0, Duration::ZERO).await.end, None);
    }
    let after = Duration::from_secs(1);
    let ended = tokio::time::timeout(LONG, terminal.ended())
        .await
        .expect("an end");
    assert_eq!(ended.outcome, CommandEnd::Idle { after });
    assert!(ended.text().ends_with("[closed after 1000ms without use]"));

    let short = Session {
        timeout: Some(Duration::from_millis(1)),
        idle: Some(Duration::ZERO),
        ..Session::new("while :; do sleep .05; done")
    };
    let terminal = opened(&place, short).await;
    let ended = loop {
        let reading = terminal.read(0, Duration::from_millis(200)).await;
        if reading.end.is_some() {
            break terminal.ended().await;
        }
    };
    assert_eq!(ended.outcome, CommandEnd::TimedOut { after });
    let notes = ended.notes.join("\n");
    assert!(
        notes.contains("timeout of 1 ms") && notes.contains("idle time of 0 ms"),
        "{notes}"
    );
}

#[tokio::test]
async fn a_host_knows_its_terminals() {
    let place = Place::new();
    let sessions = Sessions::new();
    let mut ids = Vec::new();
    for _ in 0..16 {
        let opened = place.open_in(&sessions, Session::new("cat")).await;
        ids.push(opened.expect("a start").0);
    }
    let refused = place.open_in(&sessions, Session::new("cat")).await;
    let refused = refused.expect_err("too many");
    assert_eq!(refused.step, Step::Terminal);
    assert!(refused.hint.contains(&ids[0]), "{}", refused.hint);
    let ended = sessions.close(&ids[3]).await.expect("a terminal");
    assert_eq!(sessions.close(&ids[3]).await.expect("known"), ended);
    let listed = sessions.list();
    assert_eq!(listed.iter().filter(|listed| listed.running).count(), 15);
    assert_eq!(
        (listed[3].running, listed[3].command.as_str()),
        (false, "cat")
    );
    let unknown = sessions.close("terminal-1").await.expect_err("nothing");
    let text = unknown.to_string();
    assert!(
        text.contains("'terminal-1'") && text.contains(&ids[0]) && !text.contains(&ids[3]),
        "{text}"
    );
    let (again, terminal) = place
        .open_in(&sessions, Session::new("cat"))
        .await
        .expect("a start");
    assert!(!ids.contains(&again));
    assert!(Arc::ptr_eq(
        &terminal,
        &sessions.get(&again).expect("a terminal")
    ));
    sessions.close_all().await;
    assert!(sessions.list().iter().all(|listed| !listed.running));
    let other = Sessions::new();
    let (elsewhere, _) = place
        .open_in(&other, Session::new("cat"))
        .await
        .expect("a start");
    assert!(sessions.get(&elsewhere).is_err());
}

#[tokio::test]
async fn what_is_no_session_is_refused_before_anything_runs() {
    let place = Place::new();
    let refused = async |session| {
        let refused = place.open(session).await.expect_err("refused");
        assert_eq!(refused.step, Step::Validate);
        refused.hint
    };
    assert!(refused(Session::new(" ")).await.contains("empty"));
    for (rows, cols) in [(0, 80), (24, 1_001)] {
        let session = Session {
            rows,
            cols,
            ..Session::default()
        };
        assert!(refused(session).await.contains("from 1 to 1000"));
    }
}

/// A shell that has none.
#[derive(Debug)]
struct Plain;

#[async_trait::async_trait]
impl Shell for Plain {
    async fn start(&self, _: Command, _: &Sandbox) -> Result<Running, CouldNotStart> {
        unreachable!("no command is started here")
    }

    fn has_terminals(&self) -> bool {
        false
    }

    async fn probe(&self) -> Probe {
        unreachable!("nobody asks")
    }
}

#[tokio::test]
async fn a_shell_may_have_no_terminals() {
    let refused = Plain.open(Session::default(), &Sandbox::default()).await;
    let refused = refused.expect_err("no terminal");
    assert_eq!(refused.step, Step::Terminal);
    assert!(refused.text().contains("has no terminals"));
}

#[tokio::test]
async fn a_killed_shell_is_no_exit() {
    let place = Place::new();
    let terminal = opened(&place, Session::new("kill -9 $$")).await;
    let (_, end) = to_the_end(&terminal).await;
    assert_eq!(end, signal("KILL"));
}
