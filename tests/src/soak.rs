//! A mix of calls, hostile ones in between, again and again on one host: what they leave behind would add up.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate::Host;
use toolgate::approval::Fixed;
use toolgate::config::{Config, LimitSetting};
use toolgate::model::{Ending, RawCall};
use toolgate_artifacts as guests;

use crate::Scratch;

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Resident memory, bytes.
    pub memory: u64,
    /// File descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
}

impl Held {
    /// What this process holds now.
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("the own status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.expect("the line").trim().trim_end_matches(" kB");
        let count = |folder| fs::read_dir(folder).expect("a folder of /proc").count();
        Self {
            memory: kibibytes.parse::<u64>().expect("a number") << 10,
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
        }
    }
}

/// One kind of call: the tool, its input, the word of its ending, and how many of a hundred calls are of it.
struct Kind {
    tool: &'static str,
    input: &'static str,
    ending: &'static str,
    share: usize,
}

const fn kind(tool: &'static str, input: &'static str, ending: &'static str, share: usize) -> Kind {
    Kind {
        tool,
        input,
        ending,
        share,
    }
}

/// The mix. The innocent ones are checked by their text too.
const MIX: [Kind; 17] = [
    kind("Echo", r#"{"text":"still here"}"#, "done", 40),
    kind("Read", r#"{"file_path":"a.txt"}"#, "done", 10),
    kind("Grep", r#"{"pattern":"cont","path":"."}"#, "done", 6),
    kind(
        "Write",
        r#"{"file_path":"b.txt","content":"new"}"#,
        "done",
        6,
    ),
    kind("Read", r#"{"file_path":"missing.txt"}"#, "failed", 4),
    kind("Read", r#"{"file_path":1}"#, "denied", 4),
    kind("NoSuchTool", "{}", "denied", 2),
    kind("values_silent", "{}", "done", 4),
    kind("LoopsForever", "{}", "stopped", 4),
    kind("EatsMemory", "{}", "stopped", 2),
    kind("OverflowsStack", "{}", "stopped", 2),
    kind("Traps", r#"{"how":"panic"}"#, "trapped", 4),
    kind("LeaksPollables", r#"{"times":100000}"#, "stopped", 3),
    kind(
        "LeaksHandles",
        r#"{"what":"host_file","path":"a.txt","times":100000}"#,
        "stopped",
        2,
    ),
    kind("FloodsOutput", r#"{"lines":500,"width":200}"#, "done", 2),
    kind(
        "AsksRandom",
        r#"{"exponent":40,"times":1,"insecure":false}"#,
        "stopped",
        3,
    ),
    kind(
        "FillsFields",
        r#"{"entries":1000,"width":100}"#,
        "stopped",
        2,
    ),
];

/// Calls of a hundred that are dropped on their way.
const DROPPED: usize = 2;

/// The host of the mix, its bounds low, so that hostile calls are short.
pub async fn host(scratch: &Scratch) -> Host {
    let mut config = Config::default();
    let few = |fuel: u64, memory: u64| LimitSetting {
        fuel: Some(fuel.into()),
        memory_mib: Some(memory.into()),
        ..LimitSetting::default()
    };
    for tool in ["LoopsForever", "EatsMemory"] {
        let limits = few(50_000_000, 16);
        config.limits_of.insert(tool.to_owned(), limits);
    }
    scratch.file("a.txt", "content\n");
    let components = [
        ("echo", guests::ECHO),
        ("loops", guests::LOOPS_FOREVER),
        ("eats", guests::EATS_MEMORY),
        ("overflows", guests::OVERFLOWS_STACK),
        ("traps", guests::TRAPS),
        ("pollables", guests::LEAKS_POLLABLES),
        ("handles", guests::LEAKS_HANDLES),
        ("floods", guests::FLOODS_OUTPUT),
        ("random", guests::ASKS_RANDOM),
        ("fields", guests::FILLS_FIELDS),
        ("waits", guests::WAITS_IN_HOST),
        ("types", guests::PLAIN_TYPES),
    ];
    let builder = Host::builder(&scratch.ws)
        .config(config)
        .state_dir(&scratch.state)
        .approver(Fixed::approve("the soak"));
    let builder = components
        .into_iter()
        .fold(builder, |builder, (label, bytes)| {
            builder.component(label, bytes.to_vec())
        });
    builder.build().await.expect("a host")
}

/// So many calls, `lanes` at a time.
///
/// # Panics
/// A call ends otherwise than it has to.
pub async fn soak(host: &Host, calls: usize, lanes: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..lanes {
        let (host, next) = (host.clone(), Arc::clone(&next));
        running.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    break;
                }
                one(&host, number).await;
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.expect("every call ends as it has to");
    }
}

async fn one(host: &Host, number: usize) {
    // A prime far from the shares, so that kinds follow each other in changing order.
    let mut place = number.wrapping_mul(61) % (100 + DROPPED);
    if place >= 100 {
        return dropped(host).await;
    }
    let kind = MIX.iter().find(|kind| {
        let found = place < kind.share;
        place = place.wrapping_sub(kind.share);
        found
    });
    let kind = kind.expect("the shares are a hundred");
    let outcome = host.call(RawCall::new(kind.tool, kind.input)).await;
    let word = outcome.ending.word();
    assert_eq!(word, kind.ending, "{}: {:?}", kind.tool, outcome.ending);
    if kind.tool == "Echo" {
        assert_eq!(outcome.ending.text(), "still here");
    }
}

/// A call that would wait for an hour, dropped as soon as it has run for a moment.
async fn dropped(host: &Host) {
    let call = RawCall::new("WaitsInHost", r#"{"how":"clock","ms":3600000}"#);
    let moment = std::time::Duration::from_millis(2);
    let ended = tokio::time::timeout(moment, host.call(call)).await;
    assert!(
        ended.is_err() || ended.is_ok_and(|outcome| matches!(outcome.ending, Ending::Stopped(_))),
        "it cannot have ended"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_a_hundred() {
        assert_eq!(MIX.iter().map(|kind| kind.share).sum::<usize>(), 100);
    }
}
