//! `toolgate doctor`

use serde::Serialize;
use toolgate::config::Layer;

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

/// One thing that was checked by doing it.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    ok: bool,
    found: String,
}

pub(crate) async fn run(cli: &Cli) -> anyhow::Result<Exit> {
    let checks = checks(cli).await;
    let exit = if checks.iter().all(|check| check.ok) {
        Exit::Done
    } else {
        Exit::HostError
    };
    if cli.setup.json {
        render::json(&checks)?;
        return Ok(exit);
    }
    let mut table = render::table(&["CHECK", "", "FOUND"]);
    for check in &checks {
        table.add_row([
            check.what,
            if check.ok { "ok" } else { "FAIL" },
            &check.found,
        ]);
    }
    render::out(&table.to_string());
    Ok(exit)
}

async fn checks(cli: &Cli) -> Vec<Check> {
    let mut checks = vec![configuration(cli)];
    let built = match setup::builder(&cli.setup) {
        Ok(builder) => builder.build().await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    let host = match built {
        Ok(host) => host,
        Err(error) => {
            checks.push(Check {
                what: "host",
                ok: false,
                found: format!("{error:#}"),
            });
            return checks;
        }
    };
    let policy = host.policy();
    let roots = policy.roots();
    let shown: Vec<String> = roots
        .all(toolgate::policy::Access::Read)
        .map(|root| root.display().to_string())
        .collect();
    checks.push(Check {
        what: "directories in reach",
        ok: true,
        found: shown.join(", "),
    });
    let names: Vec<&str> = host.tools().map(|tool| tool.name().as_str()).collect();
    checks.push(Check {
        what: "tools",
        ok: !names.is_empty(),
        found: names.join(", "),
    });
    checks.push(Check {
        what: "policy",
        ok: true,
        found: format!(
            "mode {}, ceiling {}",
            host.policy().mode(),
            host.policy().ceiling()
        ),
    });
    checks.push(sandbox(&host).await);
    checks.push(approver());
    checks.push(Check {
        what: "shell",
        ok: true,
        found: "none: this version has no shell, and no tool that needs one is registered"
            .to_owned(),
    });
    checks
}

/// The layers, the greatest first: the order in which they set a single setting.
fn configuration(cli: &Cli) -> Check {
    let what = "configuration";
    let loaded = match setup::load(&cli.setup) {
        Ok(loaded) => loaded,
        Err(error) => {
            return Check {
                what,
                ok: false,
                found: format!("{error:#}"),
            };
        }
    };
    let mut files = loaded.in_force;
    files.sort_by_key(|file| std::cmp::Reverse(file.layer));
    let read = files
        .iter()
        .map(|file| format!("{}: {}", file.layer, file.file.display()));
    let left = loaded.not_in_force.iter().map(ToString::to_string);
    let mut found: Vec<String> = read.chain(left).collect();
    if found.is_empty() {
        found.push("no file".to_owned());
    }
    if cli.setup.no_user_config {
        found.push("the user's is left out by --no-user-config".to_owned());
    } else if !files.iter().any(|file| file.layer == Layer::User) {
        found.push(match toolgate::config::user_file() {
            Some(file) => format!("the user's would be {}", file.display()),
            None => "no home directory for the user's".to_owned(),
        });
    }
    Check {
        what,
        ok: true,
        found: found.join("; "),
    }
}

fn approver() -> Check {
    let found = match toolgate::approval::Terminal::is_there() {
        true => "a terminal",
        false => "nobody: what has to be asked is denied",
    };
    Check {
        what: "approval",
        ok: true,
        found: found.to_owned(),
    }
}

/// A whole call through every gate, with a record in the journal.
async fn sandbox(host: &toolgate::Host) -> Check {
    let call = toolgate::model::RawCall::new("LS", r#"{"path":"."}"#);
    let outcome = host
        .call(call.from_origin(toolgate::model::CallOrigin::CommandLine))
        .await;
    let ok = matches!(outcome.ending, toolgate::model::Ending::Done(_));
    let found = match ok {
        true => format!(
            "LS of the workspace ran: {} instructions, {} KiB, {} µs",
            outcome.usage.fuel,
            outcome.usage.memory >> 10,
            outcome.usage.wall.as_micros()
        ),
        false => outcome.ending.text(),
    };
    Check {
        what: "a sandboxed call",
        ok,
        found,
    }
}
