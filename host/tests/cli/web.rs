//! The service for questions to the web, from the command line.

use std::fs;

use super::Desk;
use super::said::{assert_exit, stderr, stdout};

#[test]
fn a_search_service_is_there_or_said_not_to_be_and_a_wrong_one_stops_the_start() {
    let desk = Desk::new();
    let list = desk.run(&["list"]);
    assert!(
        stderr(&list).contains("WebSearch is not there: no service is configured ([web_search])")
    );
    assert!(!stdout(&list).contains("WebSearch"), "{}", stdout(&list));
    assert!(stdout(&desk.run(&["doctor"])).contains("WebSearch is not registered"));
    let config = desk.ws.join("search.toml");
    let with = |text: &str, command: &[&str]| {
        fs::write(&config, text).unwrap();
        desk.run(&[command, &["--config", config.to_str().unwrap()]].concat())
    };
    let there = with("[web_search]\nbackend = \"duckduckgo\"", &["list"]);
    assert!(stdout(&there).contains("WebSearch"), "{}", stderr(&there));
    for (text, says) in [
        (
            "[web_search]\nbackend = \"brave\"",
            "search.toml:2: in [web_search], 'brave' answers nobody without a key",
        ),
        (
            "[web_search]\nbackend = \"searxng\"",
            "search.toml:2: in [web_search], 'searxng' has no place of its own",
        ),
        (
            "[tools.WebSearch.settings]\nurl = \"x\"",
            "search.toml:2: [tools.WebSearch.settings] is filled by the host",
        ),
        (
            "[tools.Nobody.settings]\na = \"x\"",
            "the table [tools] names the tool 'Nobody', which does not exist",
        ),
    ] {
        let wrong = with(text, &["list"]);
        assert_exit(&wrong, 2);
        assert!(stderr(&wrong).contains(says), "{}", stderr(&wrong));
    }
}
