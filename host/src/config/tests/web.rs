//! Settings of tools, and the service for questions to the web.

use super::Desk;
use crate::config::WebSearchBackend;

fn error(text: &str) -> String {
    let desk = Desk::new();
    desk.file("user.toml", text);
    desk.error()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of mistakes")]
fn a_service_that_cannot_be_asked_stops_the_start_with_what_to_write() {
    for (text, line, says) in [
        (
            "[web_search]\nbackend = \"bing\"",
            2,
            "expected one of `brave`, `tavily`, `searxng`",
        ),
        (
            "[web_search]\nbakend = \"brave\"",
            2,
            "Did you mean 'backend'?",
        ),
        ("[web_search]", 1, "[web_search] is empty: name a backend"),
        (
            "[web_search]\nbackend = \"brave\"",
            2,
            "write secret = \"NAME\", and a table [secrets.NAME]",
        ),
        (
            "[web_search]\nbackend = \"tavily\"",
            2,
            "answers nobody without a key",
        ),
        (
            "[web_search]\nbackend = \"searxng\"",
            2,
            "write url = \"https://HOST/search\"",
        ),
        (
            "[web_search]\nsecret = \"x\"",
            2,
            "names no service: write backend =",
        ),
        (
            "[web_search]\nurl = \"https://a.test/\"",
            2,
            "names no service",
        ),
        (
            "[web_search]\nbackend = \"duckduckgo\"\nsecret = \"x\"",
            3,
            "takes no key: leave 'secret' out",
        ),
        (
            "[web_search]\nbackend = \"searxng\"\nurl = \"a.test/search\"",
            3,
            "does not begin with a scheme",
        ),
        (
            "[web_search]\nbackend = \"searxng\"\nurl = \"ftp://a.test/\"",
            3,
            "must begin with 'https://'",
        ),
        (
            "[web_search]\nbackend = \"searxng\"\nurl = \"https://u:p@a.test/\"",
            3,
            "name or password",
        ),
        (
            "[web_search]\nbackend = \"searxng\"\nurl = \"https://a.test/?q=\"",
            3,
            "must end with its path",
        ),
        (
            "[web_search]\nbackend = \"searxng\"\nurl = \"https://a.test/#x\"",
            3,
            "must end with its path",
        ),
    ] {
        let said = error(text);
        assert!(said.contains(says), "{text}: {said}");
        assert!(
            said.contains(&format!("/user.toml:{line}:")),
            "{text}: {said}"
        );
    }
}

#[test]
fn the_keys_of_several_layers_make_one_service() {
    let desk = Desk::new();
    desk.file(
        "user.toml",
        "[web_search]\nbackend = \"brave\"\nsecret = \"mine\"",
    );
    desk.file("managed.toml", "[web_search]\nsecret = \"ours\"");
    let service = desk.load().config.web_search.service().unwrap().unwrap();
    assert_eq!(service.backend, WebSearchBackend::Brave);
    assert_eq!(
        service.url,
        "https://api.search.brave.com/res/v1/web/search"
    );
    assert_eq!(service.secret.unwrap().value, "ours");
    desk.file("managed.toml", "[web_search]\nbackend = \"none\"");
    assert_eq!(desk.load().config.web_search.service(), Ok(None));
    assert_eq!(Desk::new().load().config.web_search.service(), Ok(None));
}

#[test]
fn settings_of_a_tool_merge_name_by_name_and_are_bounded() {
    let desk = Desk::new();
    desk.file(
        "user.toml",
        "[tools.Jira.settings]\nserver = \"a\"\nproject = \"p\"",
    );
    desk.file("managed.toml", "[tools.Jira.settings]\nserver = \"b\"");
    let settings = desk.load().config.tool_settings;
    let told = &settings["Jira"];
    assert_eq!(
        (
            told["server"].value.as_str(),
            told["project"].value.as_str()
        ),
        ("b", "p")
    );
    let many: String = (0..65).map(|n| format!("k{n} = \"v\"\n")).collect();
    for (text, line, says) in [
        (
            format!("[tools.X.settings]\nk = \"{}\"", "v".repeat(4_097)),
            2,
            "'k' has 4097 bytes, and 4096",
        ),
        (
            format!("[tools.X.settings]\n{} = \"v\"", "k".repeat(65)),
            2,
            "a name has 65 bytes",
        ),
        (
            format!("[tools.X.settings]\n{many}"),
            2,
            "more than 64 settings",
        ),
        (
            "[tools.X.settings]\nk = 1".to_owned(),
            2,
            "invalid type: integer",
        ),
        (
            "[tools.X]\nsetings = {}".to_owned(),
            2,
            "Did you mean 'settings'?",
        ),
    ] {
        let said = error(&text);
        assert!(said.contains(says), "{said}");
        // Of too many, whichever the reader comes to last is named.
        assert!(
            said.contains(&format!("/user.toml:{line}:")) || says.contains("more than"),
            "{said}"
        );
    }
}
