//! A thousand installed tools: listing them runs nothing and compiles nothing.

use std::fs;

use serde_json::Value;
use toolgate::Host;
use toolgate::runtime::ToolEngine;
use toolgate::store::{Choice, Fetched, Grants, Publisher, Signed, Store};

use crate::desk::{Desk, compiled};
use crate::fixture::Fixture;
use crate::said::{assert_exit, stdout};

/// How many there are.
const MANY: usize = 1_000;

async fn installed(desk: &Desk) {
    let store = Store::open(&desk.state).unwrap();
    let engine = ToolEngine::new(1).unwrap();
    let engine =
        engine.with_code_cache(toolgate::runtime::CodeCache::in_state(&desk.state).unwrap());
    let bytes = Fixture {
        name: "Peek".to_owned(),
        ..Fixture::default()
    }
    .text();
    let mut candidates = Vec::new();
    for number in 0..MANY {
        let fetched = Fetched {
            bytes: bytes.clone(),
            source: format!("/tools/{number}.wasm"),
            manifest: None,
            signed: Signed::Nobody,
        };
        let choice = Choice {
            publisher: Some(Publisher::chosen(&format!("p{}", letters(number))).unwrap()),
            ..Choice::default()
        };
        let examined = store.examine(&engine, fetched, &choice).await.unwrap();
        candidates.extend(examined.into_iter().map(|one| (one, Grants::Withhold)));
    }
    assert_eq!(engine.compilations(), 1, "all have the same bytes");
    store.install(&candidates).unwrap();
}

/// A number in letters none of which stands for another.
fn letters(number: usize) -> String {
    let digits = number.to_string();
    digits
        .bytes()
        .map(|digit| char::from(b"abcdefghjk"[usize::from(digit - b'0')]))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_tools_are_listed_and_nothing_is_compiled() {
    let desk = Desk::new();
    installed(&desk).await;
    // What is cached cannot be what keeps a listing from compiling.
    fs::remove_dir_all(desk.state.join("code")).unwrap();
    for _ in 0..2 {
        let output = desk.run(&["list", "--json"]);
        assert_exit(&output, 0);
        let listed: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let names = listed.as_array().unwrap().iter();
        let ours = names.filter(|tool| tool["name"].as_str().unwrap().ends_with("__Peek"));
        assert_eq!(ours.count(), MANY);
        assert_eq!(compiled(&output), 0);
    }
    let engine = ToolEngine::new(4).unwrap();
    let host = Host::builder(&desk.ws)
        .state_dir(&desk.state)
        .engine(engine.clone())
        .build()
        .await
        .unwrap();
    assert!(host.tools().count() >= MANY);
    assert_eq!(engine.compilations(), 0);
    assert!(desk.code().is_empty());
    for compilations in [1, 0] {
        let output = desk.run(&["call", &format!("p{}__Peek", letters(77)), "{}"]);
        assert_exit(&output, 0);
        assert_eq!(compiled(&output), compilations);
    }
}
