//! Family K as far as the bridge goes: commands that nobody waits for.

use std::time::Duration;

use toolgate::shell::{Command, CommandEnd, Kind, SpillFile, Stream};

use crate::adversary::Adversary;
use crate::place::{Place, SLACK, length, timed_out, with_timeout};

fn background(line: &str, timeout: Option<u64>) -> Command {
    Command {
        kind: Kind::Background,
        timeout: timeout.map(Duration::from_millis),
        ..Command::new(line)
    }
}

#[tokio::test]
async fn k01_start_read_and_kill() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = format!("echo up; {}", Adversary::line("dsetsid", 2, true));
    let running = place.start(background(&line, None)).await.expect("a start");
    let output = running.output();
    assert!(output.more_than(0).await > 0);
    assert_eq!(output.read(Stream::Out, 0, 9).bytes, b"up\n");
    while length(&place.ws.join("beat")) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!running.has_ended());
    let killer = running.killer();
    killer.kill();
    let ended = running.wait().await;
    assert_eq!(ended.outcome, CommandEnd::Cancelled);
    adversary.is_dead(&ended).await;
    // K05: what has ended is not ended again.
    killer.kill();
    assert!(output.has_ended());
    assert_eq!(output.read(Stream::Out, 0, 9).bytes, b"up\n");
}

#[tokio::test]
async fn k02_a_deadline_of_its_own() {
    let place = Place::new();
    let running = place.start(background("sleep 60", Some(1_500))).await;
    let running = running.expect("a start");
    assert!(!running.has_ended());
    tokio::time::sleep(Duration::from_millis(500) + Duration::from_millis(600) * SLACK).await;
    assert!(running.has_ended());
    assert_eq!(running.wait().await.outcome, timed_out(1_500));
}

#[tokio::test]
async fn k03_endless_output_is_bounded() {
    let place = Place::new();
    let folder = place.outside.join("spill");
    let mut command = background("yes | head -c 200000000; sleep 60", Some(60_000));
    command.spill = Some(Box::new(SpillFile::create(&folder).expect("a spill")));
    let running = place.start(command).await.expect("a start");
    let output = running.output();
    let mut seen = 0;
    while seen < 200_000_000 {
        seen = output.more_than(seen).await;
    }
    // The end is there, the middle is not, and the spill stops at its limit.
    let last = output.read(Stream::Out, seen - 4, 100);
    assert_eq!(
        (last.start, last.bytes.as_slice()),
        (seen - 4, b"y\ny\n".as_slice())
    );
    let middle = output.read(Stream::Out, 1_000_000, 100);
    assert_eq!(middle.start, seen - (1 << 20));
    running.kill();
    let spill = running.wait().await.spill.expect("a spill");
    assert_eq!(length(&spill), 64 << 20);
}

#[tokio::test]
async fn k04_the_end_of_the_runtime_is_the_end_of_the_tree() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let beat = place.ws.join("beat");
    let line = Adversary::line("dsetsid", 2, true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let running = runtime.block_on(place.start(with_timeout(&line, 60_000)));
            let running = running.expect("a start");
            while length(&beat) == 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
            // Nothing of the runtime is left to drive it.
            drop(runtime);
            drop(running);
        });
    });
    tokio::time::sleep(Duration::from_millis(100) * SLACK).await;
    let before = length(&beat);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(length(&beat), before);
    drop(adversary);
}
