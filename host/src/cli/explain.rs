//! `toolgate explain`

use toolgate::gate::GateNote;

use super::args::{CallArgs, Cli};
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli, call: &CallArgs) -> anyhow::Result<Exit> {
    let raw = setup::call(call)?;
    let host = setup::host(&cli.setup).await?;
    let explanation = host.explain(&raw).await;
    let exit = if explanation.denial.is_some() {
        Exit::Denied
    } else {
        Exit::Done
    };
    if cli.setup.json {
        render::json(&explanation)?;
        return Ok(exit);
    }
    let mut table = render::table(&["GATE", "VERDICT", "BECAUSE"]);
    for step in &explanation.steps {
        let word = match step.note {
            GateNote::Passed => "pass",
            GateNote::Changed => "change",
            GateNote::Asked => "ask",
            GateNote::Denied => "DENY",
            GateNote::Warned => "warn",
            GateNote::NotReached => "-",
        };
        let rules: Vec<String> = step.rules.iter().map(ToString::to_string).collect();
        let because = match rules.as_slice() {
            [] => step.detail.to_string(),
            rules => format!("{}: {}", step.detail, rules.join("; ")),
        };
        table.add_row([step.gate.as_str(), word, &because.replace('\n', " ")]);
    }
    render::out(&table.to_string());
    if let Some(hint) = explanation.denial.and_then(|denial| denial.hint) {
        render::note(&format!("hint: {hint}"));
    }
    Ok(exit)
}
