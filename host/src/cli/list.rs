//! `toolgate list`

use toolgate::gate::RegisteredTool;

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli) -> anyhow::Result<Exit> {
    // A list shows what there is: whoever looks at it learns what is broken, beside what is not.
    let builder = setup::builder(&cli.setup)?.leave_out_broken();
    let host = builder.build().await?;
    setup::settled(&host).await;
    for left_out in host.left_out() {
        render::note(&left_out.to_string());
    }
    let broken = host.left_out().iter().any(|left| left.function.is_none());
    let exit = if broken { Exit::Usage } else { Exit::Done };
    if cli.setup.json {
        let tools: Vec<_> = host.tools().map(|tool| entry(&tool)).collect();
        render::json(&tools)?;
        return Ok(exit);
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
    Ok(exit)
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
