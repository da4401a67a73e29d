//! Family D: deadlines and giving up.

use std::time::{Duration, Instant};

use crate::adversary::Adversary;
use crate::helper;
use crate::place::{Place, SLACK, exit, length, timed_out, with_timeout};
use toolgate::shell::{CommandEnd, Stream};

async fn ends_at_its_deadline(line: &str, output: &str) {
    let (ended, took) = Place::new().timed(line, 1_000).await;
    assert_eq!(ended.outcome, timed_out(1_000));
    assert_eq!(ended.output.text, output);
    assert!(took >= Duration::from_secs(1));
    assert!(took < Duration::from_millis(600) * SLACK, "{took:?}");
}

#[tokio::test]
async fn d01_lines_until_then_are_kept() {
    ends_at_its_deadline("echo one; echo two; sleep 60", "one\ntwo\n").await;
}

#[tokio::test]
async fn d02_half_a_line_is_kept() {
    ends_at_its_deadline("printf half; sleep 60", "half").await;
}

#[tokio::test]
async fn d03_signals_may_be_ignored() {
    ends_at_its_deadline("trap '' TERM INT HUP; while :; do sleep .1; done", "").await;
}

#[tokio::test]
async fn d04_the_shell_may_be_stopped() {
    ends_at_its_deadline("kill -STOP $$; echo on", "").await;
}

#[tokio::test]
async fn d05_it_may_be_busy() {
    ends_at_its_deadline("while :; do :; done", "").await;
}

#[tokio::test]
async fn d06_nested_shells_die() {
    let place = Place::new();
    place.file(
        "nest",
        "if [ $1 -gt 0 ]; then bash nest $(($1-1)); else while sleep .01; do printf . >>beat; done; fi; :",
    );
    let (ended, _) = place.timed("bash nest 30", 2_000).await;
    assert_eq!(ended.outcome, timed_out(2_000));
    let before = length(&place.ws.join("beat"));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(before > 0);
    assert_eq!(length(&place.ws.join("beat")), before);
}

#[tokio::test]
async fn d07_timeouts_are_clamped_and_it_is_said() {
    let (ended, took) = Place::new().timed("sleep 60", 200).await;
    assert_eq!(ended.outcome, timed_out(1_000));
    assert!(took >= Duration::from_secs(1));
    assert!(
        ended.text().contains("1000 ms was used"),
        "{}",
        ended.text()
    );
    let (ended, _) = Place::new().timed("true", 9_999_000).await;
    assert!(
        ended.text().contains("600000 ms was used"),
        "{}",
        ended.text()
    );
}

#[tokio::test]
async fn d08_giving_up_keeps_the_output_and_ends_the_tree() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = format!("echo begun; {}", Adversary::line("dsetsid", 3, true));
    let running = place
        .start(with_timeout(&line, 30_000))
        .await
        .expect("a start");
    let output = running.output();
    while length(&place.ws.join("beat")) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(output.read(Stream::Out, 0, 100).bytes, b"begun\n");
    running.kill();
    running.kill();
    let begun = Instant::now();
    let ended = running.wait().await;
    assert!(begun.elapsed() < Duration::from_millis(500) * SLACK);
    assert_eq!(ended.outcome, CommandEnd::Cancelled);
    assert_eq!(ended.text(), "begun\n[cancelled]");
    adversary.is_dead(&ended).await;
}

#[tokio::test]
async fn d08_dropping_the_handle_ends_the_tree() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line("dsetsid", 3, true);
    let running = place
        .start(with_timeout(&line, 30_000))
        .await
        .expect("a start");
    let beat = place.ws.join("beat");
    while length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(running);
    tokio::time::sleep(Duration::from_millis(100) * SLACK).await;
    let before = length(&beat);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(length(&beat), before);
    drop(adversary);
}

#[tokio::test]
async fn d09_the_host_may_be_killed() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let mut host = helper::host(&place, &Adversary::line("dsetsid", 3, true), &[]);
    let beat = place.ws.join("beat");
    while length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    host.kill().expect("a kill");
    host.wait().expect("its end");
    tokio::time::sleep(Duration::from_millis(100) * SLACK).await;
    let before = length(&beat);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(length(&beat), before);
    drop(adversary);
}

#[tokio::test]
async fn d10_exit_and_deadline_at_once_are_one_end() {
    let place = Place::new();
    let mut ends = [0, 0];
    for _ in 0..20 {
        let commands = (0..50).map(|number| {
            let line = format!("sleep 0.{}; echo over", 950 + number);
            let place = &place;
            async move { place.timed(&line, 1_000).await.0 }
        });
        for ended in futures(commands).await {
            match &ended.outcome {
                CommandEnd::Exit { code: 0 } => {
                    assert_eq!(ended.output.text, "over\n");
                    ends[0] += 1;
                }
                CommandEnd::TimedOut { .. } => ends[1] += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(ends[0] + ends[1], 1_000);
    println!("d10: {} exits, {} timeouts", ends[0], ends[1]);
}

/// All at once, results in order.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (future, output) in &mut waiting {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    waiting
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}

#[tokio::test]
async fn d11_the_shell_may_replace_itself() {
    let (ended, _) = Place::new().timed("exec sleep 60", 1_000).await;
    assert_eq!(ended.outcome, timed_out(1_000));
    let ended = Place::new().run("exec sh -c 'exit 7'").await;
    assert_eq!(ended.outcome, exit(7));
}
