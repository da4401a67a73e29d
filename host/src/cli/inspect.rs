//! `toolgate inspect`

use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;
use toolgate::model::{Claim, Traits, suggestion};
use toolgate::runtime::{LoadedComponent, Source, ToolEngine};

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli, tool: &str) -> anyhow::Result<Exit> {
    let path = PathBuf::from(tool);
    if path.is_file() {
        return file(cli, &path).await;
    }
    let host = setup::host(&cli.setup).await?;
    let Some(found) = host.all_tools().find(|known| known.name().as_str() == tool) else {
        let names = host.all_tools().map(|known| known.name().as_str());
        render::note(&format!(
            "there is neither a tool nor a file '{tool}'.{}",
            suggestion(tool, names)
        ));
        return Ok(Exit::Usage);
    };
    let declaration = found.declaration();
    show(
        cli,
        declaration,
        &found.facts().traits,
        found.digest(),
        None,
    )
}

/// A component that is not registered anywhere: asked in an empty sandbox.
async fn file(cli: &Cli, path: &std::path::Path) -> anyhow::Result<Exit> {
    let bytes =
        toolgate::runtime::read_component(path).with_context(|| path.display().to_string())?;
    let engine = ToolEngine::new(1)?;
    let component = LoadedComponent::load(&engine, Source::Bytes(bytes))
        .with_context(|| path.display().to_string())?;
    let declaration = component
        .describe()
        .await
        .with_context(|| path.display().to_string())?;
    let traits = Traits::resolve(&declaration.claim, &declaration.evidence());
    show(
        cli,
        &declaration,
        &traits,
        component.digest(),
        Some(component.imports()),
    )
}

fn show(
    cli: &Cli,
    declaration: &toolgate::model::Declaration,
    traits: &Traits,
    digest: &str,
    imports: Option<&[String]>,
) -> anyhow::Result<Exit> {
    let evidence = declaration.evidence();
    if cli.setup.json {
        return render::json(&json!({
            "declaration": declaration,
            "evidence": evidence,
            "traits": traits,
            "digest": digest,
            "imports": imports,
        }));
    }
    render::out(&format!(
        "{}\n{}\n",
        declaration.name, declaration.description
    ));
    let mut table = render::table(&["", ""]);
    table.add_row(["digest", &format!("sha256:{digest}")]);
    table.add_row(["claim", &claim(&declaration.claim)]);
    table.add_row(["evidence", &words(&evidence)]);
    table.add_row(["verdict", &verdict(traits)]);
    for reduction in &traits.reductions {
        table.add_row(["reduced", reduction]);
    }
    let subject = declaration.subject.as_ref();
    let subject = subject.map_or("none".to_owned(), |subject| {
        format!("{} in '{}'", subject.kind, subject.field)
    });
    table.add_row(["subject", &subject]);
    for asked in &declaration.capabilities {
        let optional = if asked.optional { " (optional)" } else { "" };
        table.add_row([
            "asks for",
            &format!("{}{optional}: {}", asked.kind, asked.reason),
        ]);
    }
    for import in imports.unwrap_or_default() {
        table.add_row(["imports", import]);
    }
    render::out(&table.to_string());
    render::out(&format!(
        "\ninput schema\n{}",
        serde_json::to_string_pretty(&declaration.input_schema)?
    ));
    Ok(Exit::Done)
}

fn claim(claim: &Claim) -> String {
    let flags = [
        (claim.destructive, "destructive"),
        (claim.idempotent, "idempotent"),
        (claim.open_world, "open world"),
        (claim.exclusive, "exclusive"),
    ];
    joined(claim.level.as_str(), &flags)
}

fn verdict(traits: &Traits) -> String {
    let exclusive = traits.concurrency == toolgate::model::Concurrency::Exclusive;
    let flags = [
        (traits.destructive, "destructive"),
        (traits.idempotent, "idempotent"),
        (traits.open_world, "open world"),
        (exclusive, "exclusive"),
    ];
    joined(traits.level.as_str(), &flags)
}

fn joined(first: &str, flags: &[(bool, &str)]) -> String {
    let set = flags.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
    std::iter::once(first)
        .chain(set)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The facts that are true, as words.
fn words(facts: &impl Serialize) -> String {
    let value = serde_json::to_value(facts).unwrap_or_default();
    let set = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, is)| is.as_bool() == Some(true));
    let words: Vec<String> = set.map(|(word, _)| word.replace('_', " ")).collect();
    if words.is_empty() {
        "asks for nothing but reading".to_owned()
    } else {
        words.join(", ")
    }
}
