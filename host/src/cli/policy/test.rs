//! `toolgate policy test`

use std::path::Path;

use serde::Serialize;
use toolgate::Host;
use toolgate::model::{CallOrigin, RawCall};
use toolgate::policy_test::{Case, Difference, Found, read};

use super::super::args::Cli;
use super::super::exit::Exit;
use super::super::{render, setup};

/// One case, and what came of it.
#[derive(Debug, Serialize)]
struct Judged {
    name: String,
    line: usize,
    call: String,
    ok: bool,
    differences: Vec<Difference>,
    found: Found,
}

/// All of them.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a Path,
    passed: usize,
    failed: usize,
    cases: Vec<Judged>,
}

pub(crate) async fn run(cli: &Cli, file: &Path) -> anyhow::Result<Exit> {
    let cases = read(file)?;
    let host = setup::host(&cli.setup).await?;
    let mut judged = Vec::with_capacity(cases.len());
    for case in cases {
        judged.push(judge(&host, case).await?);
    }
    let passed = judged.iter().filter(|case| case.ok).count();
    let report = Report {
        file,
        passed,
        failed: judged.len() - passed,
        cases: judged,
    };
    if cli.setup.json {
        render::json(&report)?;
    } else {
        print(&report);
    }
    Ok(match report.failed {
        0 => Exit::Done,
        _ => Exit::ToolFailure,
    })
}

async fn judge(host: &Host, case: Case) -> anyhow::Result<Judged> {
    let input = serde_json::to_vec(&case.input)?;
    let call = RawCall::new(&case.call, input).from_origin(CallOrigin::CommandLine);
    let explanation = host.explain(&call).await;
    let mut tools = host.all_tools();
    let tool = tools.find(|tool| tool.name().as_str() == case.call);
    let tool = tool.as_ref().map(|tool| tool.facts());
    let found = Found::of(&explanation, tool, &host.policy());
    let differences = case.differences(&found);
    Ok(Judged {
        name: case.name,
        line: case.line,
        call: case.call,
        ok: differences.is_empty(),
        differences,
        found,
    })
}

fn print(report: &Report<'_>) {
    for case in &report.cases {
        if case.ok {
            render::out(&format!("ok    {}", case.name));
        } else {
            render::out(&failed(report.file, case));
        }
    }
    let total = report.cases.len();
    let plural = if total == 1 { "case" } else { "cases" };
    render::out(&format!(
        "\n{total} {plural}: {} ok, {} failed",
        report.passed, report.failed
    ));
}

/// The case, each difference, and everything that a person needs to find the rule that is wrong.
fn failed(file: &Path, case: &Judged) -> String {
    let mut lines = vec![format!(
        "FAIL  {} ({}:{})",
        case.name,
        file.display(),
        case.line
    )];
    for difference in &case.differences {
        lines.push(format!(
            "      {}: expected {}, found {}",
            difference.what, difference.expected, difference.found
        ));
    }
    let found = &case.found;
    let at = found
        .gate
        .map(|gate| format!(" at the {gate} gate"))
        .unwrap_or_default();
    lines.push(format!("      decided: {}{at}", found.decision));
    lines.push(format!(
        "      because: {}",
        found.reason.replace('\n', "\n               ")
    ));
    for rule in &found.matched {
        lines.push(format!("      matched: {rule}"));
    }
    if found.matched.is_empty() {
        lines.push("      matched: no rule".to_owned());
    }
    lines.join("\n")
}
