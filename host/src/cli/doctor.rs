//! `toolgate doctor`

use serde::Serialize;
use toolgate::Host;
use toolgate::config::{ApprovalSetting, ApproverKind, Layer, Loaded, WebSearchSetting};

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
    let (checks, exit) = checks(cli).await;
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

/// What fails first ends the list: nothing behind it could be looked at. A wrong configuration ends as it does for every
/// other command.
async fn checks(cli: &Cli) -> (Vec<Check>, Exit) {
    let loaded = match setup::load(&cli.setup) {
        Ok(loaded) => loaded,
        Err(error) => return failed(Vec::new(), &error),
    };
    let mut checks = vec![configuration(cli, &loaded)];
    let asked = approver(&loaded.config.approval);
    let search = web_search(&loaded.config.web_search);
    checks.extend(setup::unheard(&loaded.config).map(|found| Check {
        what: "session hooks",
        ok: true,
        found,
    }));
    let built = match setup::hosted(&cli.setup, loaded) {
        Ok(builder) => builder.build().await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    match built {
        Ok(host) => running(&host, checks, [asked, search]).await,
        Err(error) => failed(checks, &error),
    }
}

/// The list with what failed: in the configuration's place where that is what is wrong.
fn failed(mut checks: Vec<Check>, error: &anyhow::Error) -> (Vec<Check>, Exit) {
    let exit = render::exit_of(error);
    let what = match exit {
        Exit::Usage => "configuration",
        Exit::Done
        | Exit::ToolFailure
        | Exit::Denied
        | Exit::Bounded
        | Exit::HostError
        | Exit::Ended(_) => "host",
    };
    checks.retain(|check| check.what != what);
    checks.push(Check {
        what,
        ok: false,
        found: format!("{error:#}"),
    });
    (checks, exit)
}

async fn running(
    host: &Host,
    mut checks: Vec<Check>,
    configured: [Check; 2],
) -> (Vec<Check>, Exit) {
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
    let names: Vec<String> = host.tools().map(|tool| tool.name().to_string()).collect();
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
    checks.push(sandbox(host).await);
    checks.extend(configured);
    checks.push(shell(host).await);
    let exit = match checks.iter().all(|check| check.ok) {
        true => Exit::Done,
        false => Exit::HostError,
    };
    (checks, exit)
}

/// A command that was run, and what held it.
async fn shell(host: &toolgate::Host) -> Check {
    let what = "shell";
    let Some(probe) = host.probe_shell().await else {
        return Check {
            what,
            ok: true,
            found: "none is configured ([shell], or --shell local), and no tool that needs one is registered"
                .to_owned(),
        };
    };
    let mut found = vec![format!("started by {}", probe.launcher)];
    if let Some(containment) = probe.containment {
        found.push(format!("a command ran, held by {}", containment.as_str()));
    }
    if let Some(sandbox) = &probe.sandbox {
        found.push(format!(
            "network {}, Landlock ABI {} {}, system calls {}",
            if sandbox.network { "shared" } else { "off" },
            sandbox.landlock.abi,
            sandbox.landlock.enforced.as_str(),
            if sandbox.seccomp {
                "filtered"
            } else {
                "not filtered"
            },
        ));
        found.extend(sandbox.gaps.iter().map(|gap| format!("gap: {gap}")));
    }
    found.extend(probe.troubles);
    let warnings = probe.warnings.iter();
    found.extend(warnings.map(|warning| format!("warning: {warning}")));
    Check {
        what,
        ok: probe.containment.is_some(),
        found: found.join("; "),
    }
}

/// The layers, the greatest first: the order in which they set a single setting.
fn configuration(cli: &Cli, loaded: &Loaded) -> Check {
    let mut files = loaded.in_force.clone();
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
        what: "configuration",
        ok: true,
        found: found.join("; "),
    }
}

/// Who is asked, in turn, as the configuration has it.
fn approver(approval: &ApprovalSetting) -> Check {
    let there = toolgate::approval::Terminal::is_there();
    let one = |kind: &ApproverKind| match (kind, there) {
        (ApproverKind::Terminal, true) => "the terminal".to_owned(),
        (ApproverKind::Terminal, false) => "the terminal, which is not there now".to_owned(),
        (ApproverKind::Client, _) => "the MCP client ('toolgate serve')".to_owned(),
        (ApproverKind::Queue, _) => "the queue ('toolgate approvals' answers)".to_owned(),
        (ApproverKind::Program, _) => {
            let program = approval.program.as_ref();
            let words = program.map(|program| program.value.join(" "));
            format!("the program '{}'", words.unwrap_or_default())
        }
    };
    let nobody = approval.approvers() == [ApproverKind::Terminal] && !there;
    let found = match approval.approvers() {
        [] => "nobody: what has to be asked is denied".to_owned(),
        [_] if nobody => {
            "the terminal, which is not there now: what has to be asked is denied".to_owned()
        }
        kinds => kinds.iter().map(one).collect::<Vec<_>>().join(", then "),
    };
    Check {
        what: "approval",
        ok: true,
        found,
    }
}

/// Whom questions to the web go to. Nobody is asked here: that would cost.
fn web_search(setting: &WebSearchSetting) -> Check {
    let found = match setting.service() {
        Ok(Some(service)) => format!(
            "{} at {} (not asked now)",
            service.backend.as_str(),
            service.url
        ),
        Ok(None) => "none is configured ([web_search]), and WebSearch is not registered".to_owned(),
        Err(error) => error.to_string(),
    };
    Check {
        what: "web search",
        ok: true,
        found,
    }
}

/// A whole call through every gate, with a record in the journal.
async fn sandbox(host: &Host) -> Check {
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
