//! Cases of the family `network` about where a URL leads: addresses, names, redirects.

use serde_json::json;
use toolgate::model::{DenialReason, Ending};
use toolgate_tests::net::{Authority, HERE, Names, Server, redirect};

use crate::network_host::{OPEN, any, get, host, requests};
use crate::support::{Asked, denial, holds, lacks};

cases! {
    "N01" => n01_a_redirect_to_a_private_address_is_refused_by_its_name,
    "N03" => n03_one_private_address_refuses_the_name,
    "N04" => n04_mapped_addresses_are_the_addresses_in_them,
    "N06" => n06_networks_of_carriers_and_none_are_refused,
    "N07" => n07_what_is_no_url_opens_no_connection,
    "N09" => n09_names_are_compared_whole_and_in_one_form,
    "N10" => n10_every_spelling_of_an_address_is_that_address,
    "N12" => n12_a_denied_name_is_not_looked_up,
    "N22" => n22_no_redirect_leads_from_https_to_http,
    "N23" => n23_strangers_pass_the_same_filter,
    "N25" => n25_hosts_in_other_scripts_are_shown_as_they_are_dialled,
}

async fn n01_a_redirect_to_a_private_address_is_refused_by_its_name() {
    let server = Server::answering(redirect("http://169.254.169.254/latest/")).await;
    let names = Names::new().here("ok.test");
    let allow = ["Get(http://ok.test:*)"];
    let host = host(&names, OPEN, |setup| setup.allow(&allow), |builder| builder).await;
    let outcome = get(&host, &format!("http://ok.test:{}/", server.port())).await;
    let text = outcome.ending.text();
    holds(
        &text,
        &[
            "http://169.254.169.254/latest/: ",
            "leads to what no rule allows",
        ],
    );
    let noted = requests(&host);
    assert_eq!((noted.len(), noted[0]["status"].as_u64()), (2, Some(302)));
    assert!(noted[1]["address"].is_null() && noted[1]["failure"].is_string());
    // A rule that allows the place does not open the address.
    let host = any(&names, OPEN).await;
    let outcome = get(&host, &format!("http://ok.test:{}/", server.port())).await;
    holds(
        &outcome.ending.text(),
        &["169.254.169.254/latest/: ", "never dialled"],
    );
    assert!(requests(&host)[1]["address"].is_null());
}

async fn n03_one_private_address_refuses_the_name() {
    let names = Names::new().say("in.test", &["10.0.0.5", "93.184.216.34"]);
    names.say("turned.test", &["93.184.216.34", "10.0.0.5"]);
    let host = any(&names, "").await;
    for name in ["in.test", "turned.test"] {
        let text = get(&host, &format!("http://{name}/")).await.ending.text();
        holds(&text, &["the host has a private address"]);
        assert!(requests(&host)[0]["address"].is_null());
    }
}

/// Each is refused before anything is dialled.
async fn all_refused(urls: &[&str]) {
    let host = any(&Names::new(), "").await;
    for url in urls {
        let text = get(&host, url).await.ending.text();
        holds(&text, &["the host has a"]);
        let noted = requests(&host);
        assert!(
            noted[0]["address"].is_null() && noted[0]["failure"].is_string(),
            "{url}"
        );
    }
}

async fn n04_mapped_addresses_are_the_addresses_in_them() {
    all_refused(&["http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/"]).await;
}

async fn n06_networks_of_carriers_and_none_are_refused() {
    all_refused(&[
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://192.0.0.8/",
        "http://255.255.255.255/",
    ])
    .await;
}

async fn n07_what_is_no_url_opens_no_connection() {
    let names = Names::new().here("ok.test");
    let host = any(&names, OPEN).await;
    for url in [
        "http:///x",
        "http://exa mple.test/",
        "//ok.test/",
        "http://ok.test:99999/",
        "javascript:1",
        "file:///etc/passwd",
    ] {
        let outcome = get(&host, url).await;
        assert!(
            matches!(denial(&outcome).reason, DenialReason::Undecidable { .. }),
            "{url}"
        );
    }
    assert_eq!(names.asked(), [""; 0]);
}

async fn n09_names_are_compared_whole_and_in_one_form() {
    let names = Names::new()
        .here("ok.test")
        .here("notok.test")
        .here("bad.test");
    let (allow, deny) = (["Get(http://ok.test:*)"], ["Get(http://bad.test:*)"]);
    let host = host(
        &names,
        OPEN,
        |setup| setup.allow(&allow).deny(&deny),
        |builder| builder,
    )
    .await;
    let outcome = get(&host, "http://notok.test/").await;
    assert_eq!(denial(&outcome).reason, DenialReason::NoApprover);
    for url in ["http://bad.test./", "http://BAD.test/"] {
        let outcome = get(&host, url).await;
        assert!(
            matches!(denial(&outcome).reason, DenialReason::Rule { .. }),
            "{url}"
        );
    }
    assert_eq!(names.asked(), [""; 0]);
    let server = Server::saying("fine").await;
    let outcome = get(&host, &format!("http://ok.test:{}/", server.port())).await;
    holds(&outcome.ending.text(), &["200 4 bytes, whole: fine"]);
}

async fn n10_every_spelling_of_an_address_is_that_address() {
    all_refused(&[
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://127.1/",
    ])
    .await;
}

async fn n12_a_denied_name_is_not_looked_up() {
    let names = Names::new().here("bad.test");
    let deny = ["Get(http://bad.test:*)"];
    let host = host(
        &names,
        OPEN,
        |setup| setup.allow(&["Get"]).deny(&deny),
        |builder| builder,
    )
    .await;
    let outcome = get(&host, "http://bad.test/").await;
    assert!(matches!(denial(&outcome).reason, DenialReason::Rule { .. }));
    assert_eq!(names.asked(), [""; 0]);
}

async fn n22_no_redirect_leads_from_https_to_http() {
    let plain = Server::saying("plain").await;
    let to = format!("http://a.test:{}/", plain.port());
    let authority = Authority::new();
    let server = authority
        .server(&["a.test"], move |mut caller| {
            let answer = redirect(&to);
            async move {
                caller.head().await;
                caller.send(answer).await;
            }
        })
        .await;
    let names = Names::new().here("a.test");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).expect("a file");
    let config = format!("{OPEN}\nca_file = {:?}\n", file.display().to_string());
    let url = format!("https://a.test:{}/", server.port());
    let secure = ["Get(https://a.test:*)"];
    for rules in [&secure[..], &["Get"]] {
        let host = host(
            &names,
            &config,
            |setup| setup.allow(rules),
            |builder| builder,
        )
        .await;
        let text = get(&host, &url).await.ending.text();
        holds(&text, &["302", "leads from https to http"]);
    }
    assert_eq!(plain.connections(), 0);
    let both = ["Get(https://a.test:*)", "Get(http://a.test:*)"];
    let host = host(
        &names,
        &config,
        |setup| setup.allow(&both),
        |builder| builder,
    )
    .await;
    let text = get(&host, &url).await.ending.text();
    holds(&text, &["200 5 bytes, whole: plain"]);
}

async fn n23_strangers_pass_the_same_filter() {
    let server = Server::saying("fine").await;
    let port = server.port();
    let names = Names::new().here("ok.test").here("evil.test");
    let config = r#"
        [egress.tools.Listed]
        allow = [{ url = "http://ok.test:*", addresses = ["127.0.0.1"] }]
    "#;
    let host = host(
        &names,
        config,
        |setup| setup.allow(&["Listed"]),
        |builder| builder,
    )
    .await;
    let urls = [
        format!("http://ok.test:{port}/"),
        format!("http://evil.test:{port}/"),
        format!("http://{HERE}:{port}/"),
    ];
    let text = host.done("Listed", json!({ "urls": urls })).await;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with(": 200 fine"), "{text}");
    assert!(
        lines[1..].iter().all(|line| line.contains("was not sent")),
        "{text}"
    );
    assert_eq!((server.connections(), names.asked().len()), (1, 1));
}

async fn n25_hosts_in_other_scripts_are_shown_as_they_are_dialled() {
    let server = Server::saying("fine").await;
    let port = server.port();
    let names = Names::new()
        .here("ok.test")
        .here("evil.test")
        .here("xn--o-ttb.test");
    let asked = Asked::default();
    let allow = ["Get(http://ok.test:*)"];
    let approver = asked.clone();
    let host = host(
        &names,
        OPEN,
        |setup| setup.allow(&allow),
        |builder| builder.approver(approver),
    )
    .await;
    get(&host, &format!("http://o\u{43a}.test:{port}/")).await;
    let [request] = <[_; 1]>::try_from(asked.requests()).expect("one question");
    holds(&request.grants.join("\n"), &["http://xn--o-ttb.test:"]);
    // As it is dialled, it is as little covered by the rule.
    let outcome = get(&host, &format!("http://xn--o-ttb.test:{port}/")).await;
    holds(&outcome.ending.text(), &["200 4 bytes"]);
    assert_eq!(asked.count(), 2);
    // The rule covers the other dot, which the guest's own words cannot hold.
    let outcome = get(&host, &format!("http://ok\u{3002}test:{port}/")).await;
    holds(&outcome.ending.text(), &["no request can be made of it"]);
    assert_eq!(asked.count(), 2);
    let outcome = get(&host, &format!("http://ok.test\u{ff0f}x@evil.test:{port}/")).await;
    assert!(matches!(outcome.ending, Ending::Denied(_)));
    lacks(&names.asked().join(" "), &["evil.test"]);
    assert_eq!(names.asked(), ["xn--o-ttb.test"]);
}
