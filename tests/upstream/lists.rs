//! What a server's list becomes: odd tools cost themselves, names are told apart, changes are followed.

use serde_json::{Value, json};
use toolgate::model::DenialReason;
use toolgate::policy::SchemaMode;
use toolgate_tests::{Scratch, Setup};

use crate::fixture::{
    fake, host, host_of, lines, names, quarantined, report, settled, tool, until, upstreams,
};

/// One odd tool, and what becomes of it: offered, or why not.
fn odd_tools() -> Vec<(&'static str, Value, Result<Value, &'static str>)> {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let with = |key: &str, value: Value| {
        let mut tool = json!({"name": "odd", "inputSchema": object});
        tool[key] = value;
        tool
    };
    let schema = |schema: Value| with("inputSchema", schema);
    let fine = Ok(object.clone());
    vec![
        (
            "untyped root",
            schema(json!({"properties": {"a": {"type": "string"}}})),
            Ok(json!({"properties": {"a": {"type": "string"}}, "type": "object"})),
        ),
        (
            "a choice at the root",
            schema(
                json!({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {}}}),
            ),
            Ok(json!({"type": "object", "properties": {"a": {}}})),
        ),
        (
            "a property that may be anything",
            schema(json!({"type": "object", "properties": {"a": true}})),
            Ok(json!({"type": "object", "properties": {"a": {}}})),
        ),
        (
            "a list of types",
            schema(json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}})),
            Ok(json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}})),
        ),
        (
            "an old dialect",
            schema(json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"})),
            Ok(json!({"type": "object"})),
        ),
        (
            "an array",
            schema(json!({"type": "array"})),
            Err("its input is no object"),
        ),
        (
            "no schema",
            json!({"name": "odd"}),
            Err("its input schema is missing"),
        ),
        (
            "null for a schema",
            schema(Value::Null),
            Err("its input schema is no object"),
        ),
        (
            "a schema elsewhere",
            schema(
                json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/s.json"}}}),
            ),
            Err("/properties/a/$ref"),
        ),
        (
            "a type that is none",
            schema(json!({"type": "object", "properties": {"a": {"type": "strng"}}})),
            Err("does not hold"),
        ),
        (
            "an output schema without a type",
            with("outputSchema", json!({"description": "x"})),
            fine.clone(),
        ),
        (
            "an output schema elsewhere",
            with(
                "outputSchema",
                json!({"$ref": "https://example.com/s.json"}),
            ),
            fine.clone(),
        ),
        (
            "nulls",
            json!({"name": "odd", "title": null, "description": null, "annotations": null, "outputSchema": null, "inputSchema": object}),
            fine.clone(),
        ),
        (
            "unknown members",
            with("execution", json!({"taskSupport": "required"})),
            fine.clone(),
        ),
        (
            "icons",
            with("icons", json!([{"src": "https://example.com/x.png"}])),
            fine.clone(),
        ),
        (
            "a hint that is none",
            with("annotations", json!({"readOnlyHint": "yes"})),
            fine.clone(),
        ),
        (
            "a number for a name",
            with("name", json!(5)),
            Err("its name is no text"),
        ),
        ("no name", with("name", json!("")), Err("its name is empty")),
        (
            "a name in words",
            with("name", json!("my tool, v2")),
            fine.clone(),
        ),
        (
            "a very long name",
            with("name", json!("x".repeat(200))),
            fine,
        ),
        (
            "the name of the good one",
            with("name", json!("good")),
            Err("would all be called"),
        ),
        ("no object", json!([]), Err("its definition is no object")),
    ]
}

#[tokio::test]
async fn check_26_an_odd_tool_costs_itself() {
    for (what, odd, becomes) in odd_tools() {
        let host = settled(&[fake("s", json!({"tools": [tool("good"), odd]}))]).await;
        let names = names(&host);
        let quarantined = quarantined(&host, "s");
        match becomes {
            Ok(shown) => {
                assert_eq!(names.len(), 2, "{what}: {names:?} {quarantined:?}");
                let mut tools = host.host.all_tools();
                let odd = tools.find(|tool| {
                    tool.name().as_str().starts_with("s__") && tool.name().as_str() != "s__good"
                });
                let odd = odd.expect("the odd one");
                assert_eq!(odd.declaration().input_schema, shown, "{what}");
                assert!(odd.declaration().output_schema.is_none(), "{what}");
                assert!(odd.name().as_str().len() <= 48, "{what}");
                let text = host.done(odd.name().as_str(), json!({"a": "x"})).await;
                assert!(text.starts_with("did "), "{what}: {text}");
            }
            Err(why) => {
                assert!(
                    quarantined.iter().any(|one| one.contains(why)),
                    "{what}: {quarantined:?}"
                );
            }
        }
        if what != "the name of the good one" {
            assert_eq!(
                host.done("s__good", json!({})).await,
                "did good {}",
                "{what}"
            );
        }
        // The built-in tools are an innocent neighbour.
        host.scratch.file("a.txt", "still here");
        assert!(
            host.done("Read", json!({"file_path": "/ws/a.txt"}))
                .await
                .contains("still here"),
            "{what}"
        );
    }
}

#[tokio::test]
async fn m06_servers_with_tools_of_one_name_are_told_apart() {
    let search = json!([tool("search")]);
    let host = settled(&[
        fake("a", json!({"tools": search, "says": "from a"})),
        fake("b", json!({"tools": search, "says": "from b"})),
    ])
    .await;
    assert_eq!(names(&host), ["a__search", "b__search"]);
    assert_eq!(host.done("a__search", json!({})).await, "from a search {}");
    assert_eq!(host.done("b__search", json!({})).await, "from b search {}");
    let text = host.denied("search", json!({})).await;
    assert!(text.contains("unknown tool 'search'"), "{text}");
}

#[tokio::test]
async fn m08_a_server_cannot_take_a_name_of_the_hosts() {
    let host = settled(&[fake(
        "s",
        json!({"tools": [tool("Read"), tool("Bash"), tool("")]}),
    )])
    .await;
    assert_eq!(names(&host), ["s__Bash", "s__Read"]);
    host.scratch.file("a.txt", "the built-in answers");
    let text = host.done("Read", json!({"file_path": "/ws/a.txt"})).await;
    assert!(text.contains("the built-in answers"), "{text}");
    assert_eq!(quarantined(&host, "s"), ["number 3: its name is empty"]);
}

#[tokio::test]
async fn check_35_names_that_would_be_alike_are_not_guessed_at() {
    let tools = json!([
        tool("a.b"),
        tool("a b"),
        tool("search-a"),
        tool("search_a"),
        tool("Case"),
        tool("case")
    ]);
    let host = settled(&[fake("s", json!({"tools": tools}))]).await;
    assert_eq!(names(&host), ["s__search-a", "s__search_a"]);
    let quarantined = quarantined(&host, "s");
    assert_eq!(quarantined.len(), 4, "{quarantined:?}");
    assert!(
        quarantined
            .iter()
            .all(|one| one.contains("would all be called")),
        "{quarantined:?}"
    );
}

#[tokio::test]
async fn m25_a_long_description_full_of_tricks_is_cut_and_cleaned() {
    let mut odd = tool("odd");
    odd["description"] = json!(format!(
        "\u{1b}[31mRead\u{e0041}\u{202e}{}",
        "x".repeat(5 << 20)
    ));
    let host = settled(&[fake("s", json!({"tools": [odd]}))]).await;
    let mut tools = host.host.tools();
    let odd = tools
        .find(|tool| tool.name().as_str() == "s__odd")
        .expect("it is offered");
    let description = &odd.declaration().description;
    assert_eq!(description.chars().count(), 2_048);
    assert!(
        description.starts_with("[31mReadxxx"),
        "{}",
        &description[..20]
    );
    let altered = report(&host, "s").tools[0].altered.clone();
    assert_eq!(altered.len(), 2, "{altered:?}");
    assert_eq!(odd.declaration().annotations["altered"], json!(altered));
}

#[tokio::test]
async fn s19_a_schema_elsewhere_is_not_fetched_and_said_with_its_place() {
    let schema = json!({"type": "object", "properties": {"q": {"$ref": "http://127.0.0.1:9/x.json"}, "f": {"$ref": "file:///etc/hostname"}}, "required": []});
    let odd = json!({"name": "odd", "inputSchema": schema});
    let host = settled(&[fake("s", json!({"tools": [odd, tool("good")]}))]).await;
    assert_eq!(names(&host), ["s__good"]);
    assert_eq!(
        quarantined(&host, "s"),
        [
            "odd: its input schema refers to \"http://127.0.0.1:9/x.json\", outside of itself, at /properties/q/$ref"
        ]
    );
}

#[tokio::test]
async fn s22_a_choice_at_the_root_is_kept_for_validation() {
    let mut tools: Vec<Value> = (0..26).map(|n| tool(&format!("t{n}"))).collect();
    tools.push(json!({"name": "odd", "inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}));
    let mut setup = Setup::default();
    setup.config.schema = Some(SchemaMode::Enforce.into());
    let host = host_of(Scratch::new(), setup, &[fake("s", json!({"tools": tools}))]).await;
    upstreams(&host).settle().await;
    assert_eq!(names(&host).len(), 27);
    assert_eq!(
        host.done("s__odd", json!({"b": 1})).await,
        "did odd {\"b\": 1}"
    );
    let outcome = host.call("s__odd", json!({"c": 1})).await;
    let toolgate::model::Ending::Denied(denial) = outcome.ending else {
        panic!("{:?}", outcome.ending);
    };
    assert!(
        matches!(denial.reason, DenialReason::InvalidInput { .. }),
        "{denial:?}"
    );
}

#[tokio::test]
async fn s24_one_invalid_schema_among_forty_is_named() {
    let mut tools: Vec<Value> = (1..=40).map(|n| tool(&format!("t{n}"))).collect();
    tools[30]["inputSchema"] = json!({"type": "object", "properties": {"a": {"type": "strng"}}});
    let host = settled(&[fake("s", json!({"tools": tools}))]).await;
    assert_eq!(names(&host).len(), 39);
    let quarantined = quarantined(&host, "s");
    assert!(
        quarantined.len() == 1 && quarantined[0].starts_with("t31: "),
        "{quarantined:?}"
    );
    assert_eq!(host.done("s__t1", json!({})).await, "did t1 {}");
}

#[tokio::test]
async fn all_pages_are_read_and_a_list_without_end_is_not() {
    let many: Vec<Value> = (0..250).map(|n| tool(&format!("t{n:03}"))).collect();
    let host = settled(&[fake("s", json!({"tools": many, "page": 100}))]).await;
    assert_eq!(names(&host).len(), 250);
    let endless: Vec<Value> = (0..150).map(|n| tool(&format!("t{n}"))).collect();
    let host = settled(&[
        fake("s", json!({"tools": endless, "page": 1})),
        fake("n", json!({"tools": [tool("good")]})),
    ])
    .await;
    let down = report(&host, "s").down.expect("given up");
    assert!(down.contains("more than 100 pages"), "{down}");
    assert_eq!(names(&host), ["n__good"], "the neighbour");
}

#[tokio::test]
async fn a_list_that_changes_is_followed_and_calls_of_what_is_gone_are_refused() {
    let does = json!({
        "tools": [tool("grow"), tool("old")],
        "calls": {"grow": {"tools": [tool("grow"), tool("new")]}},
    });
    let host = settled(&[fake("s", does)]).await;
    let mut changed = host.host.tools_changed();
    assert_eq!(names(&host), ["s__grow", "s__old"]);
    host.done("s__grow", json!({})).await;
    tokio::time::timeout(std::time::Duration::from_secs(20), changed.changed())
        .await
        .expect("in time")
        .expect("the host lives");
    assert_eq!(names(&host), ["s__grow", "s__new"]);
    assert_eq!(host.done("s__new", json!({})).await, "did new {}");
    let text = host.denied("s__old", json!({})).await;
    assert!(text.contains("unknown tool"), "{text}");
}

#[tokio::test]
async fn check_33_nobody_waits_for_servers_that_are_slow() {
    let slow = |alias| {
        fake(
            alias,
            json!({"tools": [tool("t")], "wait_for": "/outside/go", "started": "/outside/started"}),
        )
    };
    let host = host(&[
        slow("a"),
        slow("b"),
        slow("c"),
        slow("d"),
        slow("e"),
        slow("f"),
    ])
    .await;
    assert_eq!(
        lines(&host, "started").len(),
        0,
        "nothing is started before it is needed"
    );
    upstreams(&host).start();
    until("all were started at once", || {
        lines(&host, "started").len() == 6
    })
    .await;
    // Not one of them has answered, and everything else works.
    assert_eq!(names(&host), [""; 0]);
    host.scratch.file("a.txt", "x");
    host.done("Read", json!({"file_path": "/ws/a.txt"})).await;
    let mut changed = host.host.tools_changed();
    std::fs::write(host.scratch.outside.join("go"), "").expect("a file");
    upstreams(&host).settle().await;
    assert_eq!(names(&host).len(), 6);
    assert!(changed.has_changed().expect("the host lives"));
    changed.mark_unchanged();
    // From now on the lists are known before anything is started.
    let scratch = host.scratch;
    drop(host.host);
    let again = host_of(scratch, Setup::default(), &[slow("a"), slow("b")]).await;
    assert_eq!(names(&again), ["a__t", "b__t"]);
    assert_eq!(lines(&again, "started").len(), 6, "nothing was started");
    assert_eq!(again.done("b__t", json!({})).await, "did t {}");
    assert_eq!(lines(&again, "started").len(), 7, "only what was called");
}

#[tokio::test]
async fn a_call_before_the_list_is_known_waits_for_its_own_server() {
    let host = host(&[
        fake("s", json!({"tools": [tool("t")]})),
        fake(
            "never",
            json!({"silent": true, "started": "/outside/never"}),
        ),
    ])
    .await;
    assert_eq!(host.done("s__t", json!({})).await, "did t {}");
    assert_eq!(
        lines(&host, "never").len(),
        0,
        "the other one was not needed"
    );
    let text = host.denied("s__gone", json!({})).await;
    assert!(text.contains("unknown tool"), "{text}");
}

#[tokio::test]
async fn a_rule_for_a_tool_that_is_not_there_yet_binds_it() {
    let setup = Setup::default().deny(&["s__write"]).allow(&["s__read"]);
    let host = host_of(
        Scratch::new(),
        setup,
        &[fake(
            "s",
            json!({"tools": [tool("read"), tool("write"), tool("push")]}),
        )],
    )
    .await;
    upstreams(&host).settle().await;
    assert_eq!(names(&host), ["s__push", "s__read"]);
    let text = host.denied("s__write", json!({})).await;
    assert!(text.contains("unknown tool"), "{text}");
    // A pattern that cannot be compared with the tool's calls keeps it out.
    let setup = Setup::default().deny(&["s__push(force:*)"]);
    let host = host_of(
        Scratch::new(),
        setup,
        &[fake("s", json!({"tools": [tool("read"), tool("push")]}))],
    )
    .await;
    upstreams(&host).settle().await;
    assert_eq!(names(&host), ["s__read"]);
    let quarantined = quarantined(&host, "s");
    assert!(
        quarantined[0].starts_with("push: test.toml:1: the deny rule 's__push(force:*)'"),
        "{quarantined:?}"
    );
}

#[tokio::test]
async fn junk_on_stdout_is_passed_over_and_counted() {
    let junk = json!(["Server ready!", "", "{\"level\": \"info\"}", "[1]"]);
    let host = settled(&[fake("s", json!({"tools": [tool("t")], "junk": junk}))]).await;
    assert_eq!(host.done("s__t", json!({})).await, "did t {}");
    assert_eq!(report(&host, "s").junk_lines, 3);
}
