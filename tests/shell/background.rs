//! Family E: a call ends with its shell, not with its pipe.

use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketType,
};

use crate::place::{Place, SLACK, exit};

async fn stops_what_is_left(line: &str, output: &str) -> Duration {
    let (ended, took) = Place::new().timed(line, 60_000).await;
    assert_eq!(ended.outcome, exit(0));
    assert_eq!(ended.output.text, output);
    assert_eq!(ended.background_killed, 1, "{ended:?}");
    let text = ended.text();
    assert!(
        text.contains("1 background process was still running"),
        "{text}"
    );
    assert!(!text.contains("held open"), "{text}");
    assert!(took < Duration::from_millis(1_200) * SLACK, "{took:?}");
    took
}

async fn waits_for_what_ends(line: &str, output: &str) {
    let (ended, _) = Place::new().timed(line, 60_000).await;
    assert_eq!(ended.outcome, exit(0));
    assert_eq!(ended.output.text, output);
    assert_eq!(
        (ended.background_killed, ended.notes.len()),
        (0, 0),
        "{ended:?}"
    );
}

#[tokio::test]
async fn e01_a_job_is_left() {
    stops_what_is_left("sleep 60 & echo done", "done\n").await;
}

#[tokio::test]
async fn e02_all_output_is_kept() {
    stops_what_is_left("echo a; sleep 60 & echo b; echo c >&2", "a\nb\nc\n").await;
}

#[tokio::test]
async fn e03_nohup_and_disown() {
    stops_what_is_left("nohup sleep 60 & disown; echo ok", "ok\n").await;
}

#[tokio::test]
async fn e04_a_session_of_its_own() {
    stops_what_is_left("setsid sleep 60 & echo ok", "ok\n").await;
}

#[tokio::test]
async fn e05_nothing_holds_the_pipe() {
    let line = "setsid sleep 60 </dev/null >/dev/null 2>&1 & echo ok";
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        fastest = fastest.min(stops_what_is_left(line, "ok\n").await);
    }
    // The moment that an open pipe is given, once.
    assert!(fastest < Duration::from_millis(240), "{fastest:?}");
}

#[tokio::test]
async fn e06_a_process_substitution_finishes() {
    waits_for_what_ends("echo hi > >(sleep .05; cat)", "hi\n").await;
    waits_for_what_ends("echo hi > >(sleep .15; cat)", "hi\n").await;
}

#[tokio::test]
async fn e07_so_does_tee() {
    let line = "exec > >(tee f) 2>&1; echo one; echo two >&2";
    waits_for_what_ends(line, "one\ntwo\n").await;
}

#[tokio::test]
async fn e08_the_end_of_the_pipe_is_not_the_end() {
    let line = "exec 1>&- 2>&-; sleep .3; exit 5";
    let (ended, took) = Place::new().timed(line, 60_000).await;
    assert_eq!(ended.outcome, exit(5));
    assert!(took >= Duration::from_millis(300));
}

#[tokio::test]
async fn e09_exec() {
    let ended = Place::new().run("exec sh -c 'echo x; exit 9'").await;
    assert_eq!(
        (ended.outcome, ended.output.text.as_str()),
        (exit(9), "x\n")
    );
}

#[tokio::test]
async fn e10_jobs_that_are_waited_for() {
    let line = "for i in 1 2 3; do (sleep .1; echo job) & done; wait; echo end";
    waits_for_what_ends(line, "job\njob\njob\nend\n").await;
}

#[tokio::test]
async fn e11_the_pipe_may_leave_the_tree() {
    let place = Place::new();
    let socket =
        rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
    let address = SocketAddrUnix::new(place.ws.join("socket")).expect("an address");
    rustix::net::bind(&socket, &address).expect("a name");
    rustix::net::listen(&socket, 1).expect("a listener");
    let outside = std::thread::spawn(move || {
        let peer = rustix::net::accept(&socket).expect("a peer");
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; 8];
        let mut message = [std::io::IoSliceMut::new(&mut bytes)];
        rustix::net::recvmsg(&peer, &mut message, &mut ancillary, RecvFlags::empty())
            .expect("a message");
        let held = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut rights) => rights.next(),
            _ => None,
        });
        held.expect("the pipe")
    });
    let line = "/usr/bin/python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('socket'); \
                socket.send_fds(s, [b'x'], [1])\"; echo sent";
    let (ended, took) = place.timed(line, 60_000).await;
    assert_eq!(
        (ended.outcome.clone(), ended.output.text.as_str()),
        (exit(0), "sent\n")
    );
    let text = ended.text();
    assert!(
        text.contains("still held open by a process outside"),
        "{text}"
    );
    assert!(took < Duration::from_secs(1) * SLACK, "{took:?}");
    drop(outside.join().expect("the holder"));
}
