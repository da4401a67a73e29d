//! `toolgate mcp list`, `inspect` and `accept`: the MCP servers whose tools are offered.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use anyhow::{Context as _, bail};
use toolgate::Host;
use toolgate::model::visible;
use toolgate::upstream::{Changed, ServerReport, Upstreams};

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

/// Runs a command over the servers of the host that the flags describe, and ends them.
async fn with<F, D>(cli: &Cli, does: D) -> anyhow::Result<Exit>
where
    D: FnOnce(Host) -> F,
    F: Future<Output = anyhow::Result<Exit>>,
{
    let host = setup::host(&cli.setup).await?;
    if host.upstreams().is_none() {
        render::note("no MCP server is set: name one in a table [mcp.servers.NAME]");
        return Ok(Exit::Usage);
    }
    let done = does(host.clone()).await;
    host.close().await;
    done
}

fn servers(host: &Host) -> anyhow::Result<&Upstreams> {
    host.upstreams().context("no MCP server is set")
}

pub(crate) async fn list(cli: &Cli) -> anyhow::Result<Exit> {
    with(
        cli,
        |host| async move { list_of(cli, servers(&host)?).await },
    )
    .await
}

pub(crate) async fn inspect(cli: &Cli, server: &str) -> anyhow::Result<Exit> {
    with(cli, |host| async move {
        inspect_of(cli, servers(&host)?, server).await
    })
    .await
}

pub(crate) async fn accept(
    cli: &Cli,
    server: &str,
    tool: Option<&str>,
    yes: bool,
) -> anyhow::Result<Exit> {
    with(cli, |host| async move {
        accept_of(servers(&host)?, server, tool, yes).await
    })
    .await
}

async fn list_of(cli: &Cli, upstreams: &Upstreams) -> anyhow::Result<Exit> {
    upstreams.connect(None).await?;
    let reports = upstreams.report();
    if cli.setup.json {
        render::json(&reports)?;
    } else {
        let mut table = render::table(&["SERVER", "STATE", "TOOLS", "NOT OFFERED", "REACHED BY"]);
        for report in &reports {
            let state = match (&report.down, report.runs) {
                (_, true) => "runs".to_owned(),
                (Some(why), false) => format!("does not run: {why}"),
                (None, false) => "was not started".to_owned(),
            };
            table.add_row([
                report.alias.to_string(),
                state,
                report.tools.len().to_string(),
                report.quarantined.len().to_string(),
                report.reach.clone(),
            ]);
        }
        render::out(&table.to_string());
    }
    Ok(match reports.iter().all(|report| report.runs) {
        true => Exit::Done,
        false => Exit::ToolFailure,
    })
}

async fn inspect_of(cli: &Cli, upstreams: &Upstreams, server: &str) -> anyhow::Result<Exit> {
    let report = connected(upstreams, server).await?;
    if cli.setup.json {
        return render::json(&report);
    }
    show(&report);
    Ok(Exit::Done)
}

async fn connected(upstreams: &Upstreams, server: &str) -> anyhow::Result<ServerReport> {
    upstreams.connect(Some(server)).await?;
    let reports = upstreams.report().into_iter();
    let mut found = reports.filter(|report| report.alias.as_str() == server);
    found.next().context("the server is gone")
}

fn show(report: &ServerReport) {
    let line = |name: &str, text: &str| {
        if !text.is_empty() {
            render::out(&format!("{name:<14}{}", visible(text)));
        }
    };
    line("server", report.alias.as_str());
    line("reached by", &report.reach);
    line("set in", &report.source.to_string());
    line("runs", if report.runs { "yes" } else { "no" });
    line("why not", report.down.as_deref().unwrap_or_default());
    line("protocol", report.protocol.as_deref().unwrap_or_default());
    let itself = report.calls_itself.as_deref().unwrap_or_default();
    line("calls itself", itself);
    if report.junk_lines > 0 {
        let junk = format!("{} lines that are no messages", report.junk_lines);
        line("printed", &junk);
    }
    for tool in &report.tools {
        let mut text = format!("{} (its own name: {})", tool.name, tool.of_server);
        if !tool.altered.is_empty() {
            text.push_str(&format!("; altered: {}", tool.altered.join(", ")));
        }
        line("tool", &text);
    }
    for tool in &report.left_out {
        line("left out", tool);
    }
    for one in &report.quarantined {
        line("not offered", &format!("{}: {}", one.tool, one.why));
    }
    for note in &report.notes {
        line("note", note);
    }
    for changed in &report.changed {
        render::out(&format!(
            "\nchanged: {}\n{}",
            visible(&changed.tool),
            changed.difference
        ));
    }
    if !report.stderr.trim().is_empty() {
        render::out(&format!(
            "\nits stderr ends in:\n{}",
            visible(report.stderr.trim_end())
        ));
    }
}

async fn accept_of(
    upstreams: &Upstreams,
    server: &str,
    tool: Option<&str>,
    yes: bool,
) -> anyhow::Result<Exit> {
    let report = connected(upstreams, server).await?;
    if !report.listed || !report.runs {
        let why = report.down.as_deref().unwrap_or("it gave no list");
        bail!("the server '{server}' does not run, so that nothing can be looked at: {why}");
    }
    let wanted: Vec<&Changed> = report
        .changed
        .iter()
        .filter(|changed| tool.is_none_or(|tool| changed.tool == tool))
        .collect();
    if wanted.is_empty() {
        let what = match tool {
            Some(tool) => format!("the tool '{tool}' of the server '{server}' has not changed"),
            None => format!("no tool of the server '{server}' has changed"),
        };
        render::note(&visible(&what));
        return Ok(Exit::Done);
    }
    for changed in &wanted {
        render::out(&format!(
            "{}\n{}",
            visible(&changed.tool),
            changed.difference
        ));
    }
    if !yes && !ask(wanted.len())? {
        render::note("nothing was accepted");
        return Ok(Exit::Denied);
    }
    let digests: Vec<String> = wanted
        .iter()
        .map(|changed| changed.sha256.clone())
        .collect();
    let accepted = upstreams.accept(server, &digests).await;
    accepted.map_err(anyhow::Error::msg)?;
    render::note(&format!("{} accepted", count(wanted.len())));
    Ok(Exit::Done)
}

fn count(tools: usize) -> String {
    match tools {
        1 => "1 definition".to_owned(),
        many => format!("{many} definitions"),
    }
}

/// Asks at the controlling terminal, whatever stdin is: only `y` and `yes` are a yes.
fn ask(tools: usize) -> anyhow::Result<bool> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .context("there is no terminal to ask at; --yes accepts what is shown without asking")?;
    // What was typed before the question is no answer to it.
    rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush)?;
    write!(terminal, "Accept {}? [y/N] ", count(tools))?;
    terminal.flush()?;
    let mut line = String::new();
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
