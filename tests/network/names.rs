//! Names and the addresses behind them.

use std::time::Duration;

use toolgate::egress::{EgressError, EgressLimits};
use toolgate::policy::{EgressGrant, EgressPattern, EgressRefusal};

use crate::connector::{get, refusal, text};
use crate::server::{HERE, Names, Server, connector, grant, run, with_limits};

#[test]
fn one_private_address_among_others_refuses_the_name() {
    run(async {
        let server = Server::saying("x").await;
        let grant = grant(&["http://*.test:*"]);
        for addresses in [
            &["127.0.0.1", "10.0.0.5"][..],
            &["10.0.0.5", "127.0.0.1"],
            &["127.0.0.1", "169.254.169.254"],
            &["127.0.0.1", "::1"],
            &["::ffff:127.0.0.1"],
            &["64:ff9b::7f00:1"],
            &["2002:7f00:1::"],
            &["0.0.0.0"],
            &["127.0.0.2"],
            &["100.64.0.1"],
            &["fe80::1"],
        ] {
            let connector = connector(&Names::new().say("in.test", addresses));
            let url = format!("http://in.test:{}/", server.port());
            let refused = refusal(connector.send(&grant, get(&url)).await);
            assert!(
                matches!(refused, EgressRefusal::Address(_)),
                "{addresses:?} {refused}"
            );
        }
        assert_eq!(server.connections(), 0);
        let neighbour = connector(&Names::new().here("in.test"));
        let url = format!("http://in.test:{}/", server.port());
        let answer = neighbour.send(&grant, get(&url)).await.expect("an answer");
        assert_eq!(text(answer).await, "x");
    });
}

#[test]
fn a_name_is_looked_up_once_for_each_request_and_what_was_judged_is_dialled() {
    run(async {
        let server = Server::saying("x").await;
        let names = Names::new().here("re.test").say("re.test", &["10.0.0.5"]);
        let (connector, grant) = (connector(&names), grant(&["http://re.test:*"]));
        let url = format!("http://re.test:{}/", server.port());
        let answer = connector.send(&grant, get(&url)).await.expect("an answer");
        assert_eq!(text(answer).await, "x");
        let refused = refusal(connector.send(&grant, get(&url)).await);
        assert!(matches!(refused, EgressRefusal::Address(_)), "{refused}");
        assert_eq!(names.asked(), ["re.test", "re.test"]);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn loopback_needs_an_entry_that_names_it() {
    run(async {
        let server = Server::saying("x").await;
        let names = Names::new().here("a.localhost").here("ok.test");
        let connector = connector(&names);
        let port = server.port();
        let open = |pattern: &str| {
            EgressGrant::of_operator([EgressPattern::parse(pattern).expect("a pattern")])
                .expect("a grant")
        };
        for (pattern, host, reached) in [
            ("http://127.0.0.1:*", HERE, true),
            ("http://127.0.0.1:*", "[::ffff:127.0.0.1]", true),
            ("http://127.0.0.1:*", "2130706433", true),
            ("http://*.localhost:*", "a.localhost", true),
            ("http://ok.test:*", "ok.test", false),
            ("http://*.test:*", "ok.test", false),
        ] {
            let url = format!("http://{host}:{port}/");
            let sent = connector.send(&open(pattern), get(&url)).await;
            match reached {
                true => assert_eq!(text(sent.expect("an answer")).await, "x", "{url}"),
                false => assert!(matches!(refusal(sent), EgressRefusal::Address(_)), "{url}"),
            }
        }
        assert_eq!(server.connections(), 4);
    });
}

#[test]
fn names_without_addresses_or_with_too_many_are_said() {
    run(async {
        let names = Names::new().say("none.test", &[]);
        let many: Vec<String> = (1..=65).map(|last| format!("93.184.216.{last}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        names.say("many.test", &many);
        let (connector, grant) = (connector(&names), grant(&["http://*.test"]));
        for host in ["none.test", "many.test", "unknown.test"] {
            let error = connector
                .send(&grant, get(&format!("http://{host}/")))
                .await;
            let error = error.expect_err("no answer");
            assert!(matches!(error, EgressError::Lookup { .. }), "{error}");
            assert!(error.for_model().contains(host), "{}", error.for_model());
        }
    });
}

#[test]
fn an_address_that_answers_is_found_among_those_that_do_not() {
    run(async {
        let server = Server::saying("x").await;
        let names = Names::new().say("two.test", &["127.0.0.9", HERE]);
        let limits = EgressLimits {
            connect: Duration::from_secs(10),
            ..EgressLimits::default()
        };
        let pattern = EgressPattern::parse("http://two.test:*").expect("a pattern");
        let pattern = pattern.with_addresses(["127.0.0.0/8"]).expect("addresses");
        let grant = EgressGrant::of_operator([pattern]).expect("a grant");
        let url = format!("http://two.test:{}/", server.port());
        let answer = with_limits(&names, limits).send(&grant, get(&url)).await;
        assert_eq!(text(answer.expect("an answer")).await, "x");
    });
}
