//! F15 with a control group, where the system lets one be made: otherwise the supervisor has to do.

use std::time::Duration;

use toolgate::shell::Containment;

use crate::adversary::Adversary;
use crate::ids;
use crate::place::{Place, SLACK, exit, is_root, timed_out};

async fn dies(manner: &str, count: u32) {
    let place = Place::with_cgroup();
    let adversary = Adversary::new(&place);
    let (ended, took) = place
        .timed(&Adversary::line(manner, count, true), 1_000)
        .await;
    assert_eq!(ended.outcome, timed_out(1_000));
    if ended.containment != Containment::Cgroup {
        // Only root, or the owner of a delegated group, makes groups.
        assert!(!is_root() && ended.containment == Containment::Subreaper);
        ids::not_here("f15 in a control group", "this user makes none");
        return;
    }
    adversary.is_dead(&ended).await;
    println!(
        "{manner} x{count}: {:?} in a group",
        took - Duration::from_secs(1)
    );
}

#[tokio::test]
async fn f15_daemons_born_late_in_a_group() {
    dies("late", 2).await;
}

#[tokio::test]
async fn f15_comets_in_a_group() {
    dies("scomet", 16).await;
}

#[tokio::test]
async fn f15_a_subreaper_inside_a_group() {
    dies("subreap", 5).await;
}

#[tokio::test]
async fn groups_are_removed() {
    let groups = || {
        let own = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
        let mount = own.lines().find(|line| line.contains(" cgroup2 "));
        let mount = mount
            .and_then(|line| line.split(' ').nth(1))
            .unwrap_or("/nowhere");
        let entries = std::fs::read_dir(mount).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with("toolgate-"))
            .collect::<Vec<_>>()
    };
    let place = Place::with_cgroup();
    let (ended, took) = place
        .timed("cat /proc/self/cgroup; sleep 60 & echo done", 60_000)
        .await;
    assert_eq!(
        (ended.outcome.clone(), ended.background_killed),
        (exit(0), 1),
        "{ended:?}"
    );
    assert!(took < Duration::from_millis(1_200) * SLACK, "{took:?}");
    if is_root() {
        let text = &ended.output.text;
        let name = text
            .split("toolgate-")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next());
        let name = format!("toolgate-{}", name.expect("a group"));
        // The next command removes what could not be removed at once.
        place.run("true").await;
        assert!(!groups().contains(&name), "{name}");
    }
}
