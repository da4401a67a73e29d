//! Processes that do not want to end.

use std::path::PathBuf;
use std::time::Duration;

use toolgate::shell::Ended;

use crate::place::{Place, length};

/// How long after the call the heart is watched.
const WATCHED: Duration = Duration::from_millis(300);

/// Arguments: the manner, how many, and whether the first process stays.
const SCRIPT: &str = r#"
import ctypes, os, signal, sys, time
manner, count, stays = sys.argv[1], int(sys.argv[2]), sys.argv[3] == 'stay'
end = time.monotonic() + 20
def lives():
    return time.monotonic() < end and not os.path.exists('stop')
def tick():
    fd = os.open('beat', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, b'.')
    os.close(fd)
def beat():
    while lives():
        tick()
        time.sleep(0.01)
    os._exit(0)
def child(act):
    if os.fork() == 0:
        act()
        os._exit(0)
def daemon(act):
    def middle():
        os.setsid()
        child(act)
    child(middle)
def late():
    while lives():
        daemon(lambda: (tick(), time.sleep(0.2), tick()))
        time.sleep(0.02)
def comet(own_session):
    while lives():
        tick()
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            continue
        if own_session:
            os.setsid()
    os._exit(0)
def deaf():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    beat()
if manner == 'subreap':
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
for _ in range(count):
    if manner == 'plain': child(beat)
    elif manner == 'ignterm': child(deaf)
    elif manner in ('dsetsid', 'subreap'): daemon(beat)
    elif manner == 'late': daemon(late)
    elif manner == 'comet': child(lambda: comet(False))
    elif manner == 'scomet': child(lambda: comet(True))
while not os.path.exists('beat'):
    time.sleep(0.01)
while stays and lives():
    time.sleep(0.01)
"#;

/// An adversary in a workspace; its end is the end of whatever it left.
pub struct Adversary<'a> {
    place: &'a Place,
    beat: PathBuf,
}

impl<'a> Adversary<'a> {
    pub fn new(place: &'a Place) -> Self {
        place.file("adversary.py", SCRIPT);
        Self {
            beat: place.ws.join("beat"),
            place,
        }
    }

    pub fn line(manner: &str, count: u32, stays: bool) -> String {
        let stays = if stays { "stay" } else { "go" };
        format!("exec /usr/bin/python3 adversary.py {manner} {count} {stays}")
    }

    /// After the call has returned: it had a heart, and that does not beat any more.
    pub async fn is_dead(&self, ended: &Ended) {
        let before = length(&self.beat);
        tokio::time::sleep(WATCHED).await;
        let after = length(&self.beat);
        assert!(before > 0, "the adversary never lived: {ended:?}");
        assert_eq!(before, after, "the adversary lives on: {ended:?}");
        assert_eq!(ended.kill_incomplete, None);
    }
}

impl Drop for Adversary<'_> {
    fn drop(&mut self) {
        self.place.file("stop", "");
    }
}

/// Asserts that a heart does not beat any more.
pub async fn is_quiet(beat: &std::path::Path) {
    let before = length(beat);
    assert!(before > 0, "it never beat");
    tokio::time::sleep(WATCHED).await;
    assert_eq!(length(beat), before, "something still lives");
}
