//! The first process of a container: tells what is in force, waits until the command may begin, tells how it ended, and ends
//! with the host.
//!
//! It is a text for the image's own bash. Its second stream is the report, which is why a container has one stream of output.
//! Whoever writes a report by hand from inside changes how its own command is said to have ended, and nothing else: what the
//! sandbox is was told, and looked at, before the command began.

use super::super::command::CouldNotStart;
use super::super::ended::CommandEnd;
use super::super::wire::Step;
use super::mounts::{Seen, unescaped};

/// Begins a line of the report.
const MARK: &str = "toolgate-report ";
/// The most that is kept of what an engine says beside it, bytes.
const MOST_WORDS: usize = 2_000;
/// The longest line that is looked at, bytes.
const LONGEST_LINE: usize = 16_384;
/// The most mounts that are looked at.
const MOST_MOUNTS: usize = 20_000;

/// Lets the command begin.
pub(super) const GO: &[u8] = b"go\n";

/// See the module. Arguments: the shell, and the command line. The first process waits for the end of its input, which is the
/// host's, and no process inside can stop or kill it; the command is held by a second one, which learns from its jobs whether
/// the command exited or was killed, as the status alone does not tell.
pub(super) const SCRIPT: &str = r#"
exec 3<&0 4>&2 </dev/null 2>/dev/null
tell() { local IFS=' '; printf 'toolgate-report %s\n' "$*" >&4; }
filter=0 privileges=0 bounding=unknown network=unknown
while read -r key value; do
  case $key in Seccomp:) filter=$value;; NoNewPrivs:) privileges=$value;; CapBnd:) bounding=$value;; esac
done </proc/self/status
{ read -r _ && network=off; read -r _ && network=on; } </proc/net/route
while read -r _ _ _ _ _ name; do [ "$name" = lo ] || network=on; done </proc/net/if_inet6
while read -r _ _ device root point options _; do
  tell mount "$device" "$root" "$point" "$options"
done </proc/self/mountinfo
tell ready "$filter" "$privileges" "$bounding" "$network"
IFS= read -r go <&3 && [ "$go" = go ] || exit 0
over() {
  wait "$holder"
  for turn in 1 2 3 4 5; do
    set -- /proc/[0-9]*
    others=$(($# - 1))
    [ "$others" -gt 0 ] || break
    read -r -t 0.05 -n 1 -u 3
  done
  tell others "$others"
  exit 0
}
trap over USR1
(
  set -m
  trap 'seen+=$(jobs -l)' CHLD
  "$1" --norc --noprofile -c -- "$2" 2>&1 3<&- 4>&- & command=$!
  wait "$command"; code=$?
  while kill -0 "$command"; do wait "$command"; code=$?; done
  trap - CHLD
  case $seen in
    *" $command Exit "*|*" $command Done "*) end=exit;;
    *) end=signal code=$((code - 128));;
  esac
  tell ended "$end" "$code"
  kill -USR1 1
) 3<&- & holder=$!
IFS= read -r -n 1 -u 3
"#;

/// What is in force as the command waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) filtered: bool,
    pub(super) no_new_privileges: bool,
    /// Capabilities that a program could still gain.
    pub(super) capabilities: bool,
    pub(super) network: bool,
}

/// What was heard of a container.
#[derive(Debug, Default)]
pub(super) struct Heard {
    line: Vec<u8>,
    /// What the engine said itself.
    pub(super) words: String,
    pub(super) mounts: Vec<Seen>,
    pub(super) ready: Option<Ready>,
    pub(super) ended: Option<CommandEnd>,
    /// How many processes were stopped with it.
    pub(super) others: u32,
}

impl Heard {
    pub(super) fn hear(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.take(&String::from_utf8_lossy(&line));
            } else if self.line.len() < LONGEST_LINE {
                self.line.push(*byte);
            }
        }
    }

    fn take(&mut self, line: &str) {
        let Some(report) = line.strip_prefix(MARK) else {
            if self.words.len() < MOST_WORDS {
                self.words.push_str(line.trim_end());
                self.words.push('\n');
            }
            return;
        };
        let words: Vec<&str> = report.split(' ').collect();
        match words.as_slice() {
            ["mount", device, root, target, options]
                if self.ready.is_none() && self.mounts.len() < MOST_MOUNTS =>
            {
                self.mounts.push(Seen {
                    device: (*device).to_owned(),
                    root: unescaped(root),
                    target: unescaped(target),
                    read_only: options.split(',').any(|option| option == "ro"),
                });
            }
            ["ready", filter, privileges, bounding, network] if self.ready.is_none() => {
                self.ready = Some(Ready {
                    filtered: *filter == "2",
                    no_new_privileges: *privileges == "1",
                    capabilities: bounding.chars().any(|digit| digit != '0'),
                    network: *network != "off",
                });
            }
            ["ended", end, code] if self.ended.is_none() => {
                let code = code.parse::<i32>().ok();
                self.ended = match (*end, code) {
                    ("exit", Some(code @ 0..=255)) => Some(CommandEnd::of_status(code << 8)),
                    ("signal", Some(number @ 1..=64)) => Some(CommandEnd::of_status(number)),
                    (_, _) => None,
                };
            }
            ["others", count] => self.others = count.parse().unwrap_or_default(),
            _ => {}
        }
    }

    /// Why the command did not begin, in the engine's words.
    pub(super) fn failure(&self, engine: &str, image: &str) -> CouldNotStart {
        let words = self.words.trim();
        let lower = words.to_lowercase();
        let has = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
        let (step, fix) = if has(&["no such image", "image not known", "unable to find image"]) {
            (
                Step::Container,
                format!("fetch it first: {engine} pull {image}"),
            )
        } else if has(&[
            "cannot connect",
            "is the docker daemon running",
            "connection refused",
        ]) {
            (
                Step::Container,
                format!("start the engine: '{engine} info' must work for this user"),
            )
        } else if has(&["exec:", "executable file", "no such file or directory"]) {
            (
                Step::Shell,
                "the image needs bash: set 'path' in [shell] to where it is".to_owned(),
            )
        } else {
            (
                Step::Container,
                format!("see that '{engine} run --rm {image} true' works for this user"),
            )
        };
        let said = match words.is_empty() {
            true => "it said nothing".to_owned(),
            false => crate::model::visible(&words.replace('\n', "; ")).into_owned(),
        };
        CouldNotStart::new(
            step,
            format!(
                "{engine} could not start a container of '{image}': {said}. Nothing was run. Fix: {fix}."
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_from_an_engines_words() {
        let mut heard = Heard::default();
        heard.hear(b"WARNING: slow\ntoolgate-rep");
        heard.hear(b"ort mount 8:1 /a\\040b /ws ro,relatime\ntoolgate-report ready 2 1 0000 off\n");
        heard.hear(b"toolgate-report ended signal 9\ntoolgate-report ended exit 0\n");
        heard.hear(b"toolgate-report others 2\n");
        heard.hear(b"toolgate-report mount 8:1 / / ro\ntoolgate-report ready 0 0 ff on\n");
        assert_eq!(heard.words, "WARNING: slow\n");
        let [mount] = heard.mounts.as_slice() else {
            panic!("{heard:?}");
        };
        assert!(mount.read_only && mount.root == std::path::Path::new("/a b"));
        let ready = heard.ready.clone().unwrap();
        assert!(ready.filtered && ready.no_new_privileges);
        assert!(!ready.network && !ready.capabilities);
        let killed = CommandEnd::Signal {
            name: "KILL".to_owned(),
        };
        assert_eq!((heard.ended, heard.others), (Some(killed), 2));
        let mut odd = Heard::default();
        odd.hear(b"toolgate-report ended exit 999\ntoolgate-report ended\ntoolgate-report\n");
        odd.hear(&[b'x'; 10_000]);
        assert!(odd.ended.is_none() && odd.ready.is_none());
    }

    #[test]
    fn failures_say_what_to_do() {
        for (words, step, says) in [
            (
                "docker: Error response from daemon: No such image: x:1.\n",
                Step::Container,
                "docker pull x:1",
            ),
            (
                "Cannot connect to the Docker daemon at unix:///x.\n",
                Step::Container,
                "'docker info' must work",
            ),
            (
                "exec: \"/bin/bash\": stat /bin/bash: no such file or directory\n",
                Step::Shell,
                "set 'path'",
            ),
            ("", Step::Container, "it said nothing"),
            ("\u{1b}[31mno\n", Step::Container, "\\u{1b}[31mno"),
        ] {
            let mut heard = Heard::default();
            heard.hear(words.as_bytes());
            let failure = heard.failure("docker", "x:1");
            assert_eq!(failure.step, step, "{failure}");
            assert!(failure.hint.contains(says), "{failure}");
        }
    }
}
