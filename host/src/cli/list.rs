//! `toolgate list`

use toolgate::gate::RegisteredTool;

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli) -> anyhow::Result<Exit> {
    let host = setup::host(&cli.setup).await?;
    if cli.setup.json {
        let tools: Vec<_> = host.tools().map(|tool| entry(&tool)).collect();
        return render::json(&tools);
    }
    let mut table = render::table(&["TOOL", "LEVEL", "SUBJECT", "ASKS FOR", "WHAT IT DOES"]);
    for tool in host.tools() {
        let declaration = tool.declaration();
        let subject = declaration
            .subject
            .as_ref()
            .map_or("-", |subject| subject.field.as_str());
        let asks: Vec<String> = declaration
            .capabilities
            .iter()
            .map(|asked| asked.kind.to_string())
            .collect();
        let first_sentence = declaration
            .description
            .split_inclusive(['.', '\n'])
            .next()
            .unwrap_or_default();
        table.add_row([
            tool.name().as_str(),
            tool.facts().traits.level.as_str(),
            subject,
            &asks.join(", "),
            first_sentence.trim(),
        ]);
    }
    render::out(&table.to_string());
    for said in setup::missing(&setup::load(&cli.setup)?.config) {
        render::note(said);
    }
    Ok(Exit::Done)
}

fn entry(tool: &RegisteredTool) -> serde_json::Value {
    let declaration = tool.declaration();
    serde_json::json!({
        "name": tool.name(),
        "description": declaration.description,
        "input_schema": declaration.input_schema,
        "traits": tool.facts().traits,
        "subject": declaration.subject,
        "capabilities": declaration.capabilities,
        "digest": tool.digest(),
    })
}
