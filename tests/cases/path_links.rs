//! Cases of the family `path` about links and other names of a file: what is judged is what is used.

use serde_json::json;
use toolgate::model::Ending;
use toolgate::policy::Mode;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::support::{Meanwhile, asking, bytes, holds, lacks, last_record, link, names, refused};

cases! {
    "P03" => p03_write_through_a_dangling_link_that_leads_out,
    "P04" => p04_write_below_a_linked_folder_that_leads_out,
    "P06" => p06_a_link_swapped_in_during_a_write_leads_nowhere,
    "P08" => p08_a_deny_rule_binds_the_file_behind_a_link,
    "P09" => p09_a_deny_rule_on_a_link_binds_its_target,
    "P25" => p25_the_journal_names_the_link_and_the_target,
    "P28" => p28_a_file_with_several_hard_links_is_readable,
    "P31" => p31_special_spaces_in_names_are_kept,
}

/// A host for each way of letting a call run: somebody says yes, and nobody has to be asked.
async fn willing(prepare: impl Fn(&Scratch)) -> [TestHost; 2] {
    let prepared = || {
        let scratch = Scratch::new();
        prepare(&scratch);
        scratch
    };
    let (approving, _) = asking(prepared(), Setup::default()).await;
    let bypass = Setup::default().mode(Mode::Bypass);
    [
        approving,
        TestHost::with(prepared(), bypass, |builder| builder).await,
    ]
}

async fn p03_write_through_a_dangling_link_that_leads_out() {
    let hosts = willing(|scratch| link(scratch.outside.join("new"), scratch.ws.join("new"))).await;
    for host in hosts {
        let text = refused(
            &host
                .call("Write", json!({"file_path": "/ws/new", "content": "x"}))
                .await,
        );
        holds(&text, &["outside"]);
        assert!(names(&host.scratch.outside).is_empty());
        assert_eq!(names(&host.scratch.ws), ["new"]);
    }
}

async fn p04_write_below_a_linked_folder_that_leads_out() {
    let hosts = willing(|scratch| link(&scratch.outside, scratch.ws.join("d"))).await;
    for host in hosts {
        for path in ["/ws/d/f.txt", "/ws/d/new/f.txt"] {
            let text = refused(
                &host
                    .call("Write", json!({"file_path": path, "content": "x"}))
                    .await,
            );
            holds(&text, &["outside"]);
        }
        assert!(names(&host.scratch.outside).is_empty());
        assert_eq!(names(&host.scratch.ws), ["d"]);
    }
}

async fn p06_a_link_swapped_in_during_a_write_leads_nowhere() {
    const CALLS: usize = 5_000;
    let host = TestHost::approving(Scratch::new()).await;
    let target = host.scratch.outside.join("t");
    std::fs::write(&target, "untouched").expect("the target");
    let at = host.scratch.file("out.txt", "regular");
    let next = host.scratch.ws.join("next");
    let lure = target.clone();
    let swap = Meanwhile::start(move |round| {
        if round % 2 == 0 {
            link(&lure, &next);
        } else {
            std::fs::write(&next, "regular").expect("a file");
        }
        std::fs::rename(&next, &at).expect("in its place");
    });
    let (mut written, mut not_written) = (0, 0);
    for _ in 0..CALLS {
        let outcome = host
            .call("Write", json!({"file_path": "/ws/out.txt", "content": "A"}))
            .await;
        match &outcome.ending {
            Ending::Done(_) => written += 1,
            // By the view, or by the gate that looked before.
            Ending::Failed(_) | Ending::Denied(_) => not_written += 1,
            other => panic!("{other:?}"),
        }
        assert_eq!(bytes(&target), b"untouched");
    }
    assert!(swap.stop() > 1, "the link was never swapped in");
    assert!(
        written > 0 && not_written > 0,
        "{written} written, {not_written} not: the two never met"
    );
    assert_eq!(names(&host.scratch.outside), ["t"]);
    let left: Vec<String> = names(&host.scratch.ws)
        .into_iter()
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

async fn p08_a_deny_rule_binds_the_file_behind_a_link() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=abc123\n");
    link(".env", scratch.ws.join("notes.txt"));
    let (host, _) = asking(scratch, Setup::default().deny(&["Read(.env)"])).await;
    for path in ["/ws/notes.txt", "/ws/.env"] {
        let text = refused(&host.call("Read", json!({"file_path": path})).await);
        holds(&text, &["Read(.env)"]);
        lacks(&text, &["abc123"]);
    }
}

async fn p09_a_deny_rule_on_a_link_binds_its_target() {
    let scratch = Scratch::new();
    scratch.file("dotfiles/rc", "KEY=abc123\n");
    link(scratch.ws.join("dotfiles/rc"), scratch.ws.join("rc"));
    let (host, _) = asking(scratch, Setup::default().deny(&["Read(/ws/rc)"])).await;
    for path in ["/ws/rc", "/ws/dotfiles/rc"] {
        lacks(
            &refused(&host.call("Read", json!({"file_path": path})).await),
            &["abc123"],
        );
    }
}

async fn p25_the_journal_names_the_link_and_the_target() {
    let scratch = Scratch::new();
    let real = scratch.file("real.txt", "old");
    let notes = scratch.ws.join("notes.txt");
    link(&real, &notes);
    let setup = Setup::default().allow(&["Write(/ws/**)"]);
    let host = TestHost::with(scratch, setup, |builder| builder).await;
    host.done(
        "Write",
        json!({"file_path": "/ws/notes.txt", "content": "x"}),
    )
    .await;
    assert_eq!(bytes(&real), b"x");
    let record = last_record(&host);
    let files = record["files"].as_array().expect("the files of the record");
    let expected = json!({"access": "write", "requested": notes, "resolved": real});
    assert!(files.contains(&expected), "{files:?}");
}

async fn p28_a_file_with_several_hard_links_is_readable() {
    let scratch = Scratch::new();
    let stored = scratch.outside.join("store.js");
    std::fs::write(&stored, "module.exports = 1\n").expect("a file");
    std::fs::create_dir(scratch.ws.join("node_modules")).expect("a folder");
    for name in ["a.js", "b.js"] {
        std::fs::hard_link(&stored, scratch.ws.join("node_modules").join(name))
            .expect("a hard link");
    }
    let host = TestHost::with(scratch, Setup::default(), |builder| builder).await;
    let text = host
        .done("Read", json!({"file_path": "/ws/node_modules/a.js"}))
        .await;
    holds(&text, &["module.exports = 1"]);
}

async fn p31_special_spaces_in_names_are_kept() {
    let scratch = Scratch::new();
    scratch.file("a\u{a0}b.txt", "N\n");
    scratch.file("a b.txt", "S\n");
    let (host, asked) = asking(scratch, Setup::default()).await;
    for (path, content) in [("/ws/a\u{a0}b.txt", "1\tN"), ("/ws/a b.txt", "1\tS")] {
        let text = host.done("Read", json!({"file_path": path})).await;
        assert_eq!(text.trim(), content);
    }
    assert_eq!(asked.count(), 0);
}
