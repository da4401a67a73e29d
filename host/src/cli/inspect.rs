//! `toolgate inspect`

use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;
use toolgate::model::{
    Claim, Concurrency, Declaration, Evidence, Ground, Traits, Trust, suggestion,
};
use toolgate::runtime::{AnyComponent, PlainComponent, Source, ToolEngine};

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli, tool: &str) -> anyhow::Result<Exit> {
    let path = PathBuf::from(tool);
    // No tool has a '/' in its name: what is there and no regular file is said so when it is opened.
    if path.is_file() || (tool.contains('/') && path.exists()) {
        return file(cli, &path).await;
    }
    let host = setup::host(&cli.setup).await?;
    setup::settled(&host).await;
    let tools: Vec<_> = host.all_tools().collect();
    let Some(found) = tools.iter().find(|known| known.name().as_str() == tool) else {
        let names = tools.iter().map(|known| known.name().as_str());
        anyhow::bail!(
            "there is neither a tool nor a file '{tool}'.{}",
            suggestion(tool, names)
        );
    };
    show(
        cli,
        &Shown {
            declaration: found.declaration(),
            evidence: found.declaration().evidence(),
            trust: found.trust(),
            traits: &found.facts().traits,
            digest: found.digest(),
            imports: None,
        },
    )
}

/// A component that is not registered anywhere: asked in an empty sandbox.
async fn file(cli: &Cli, path: &std::path::Path) -> anyhow::Result<Exit> {
    let bytes =
        toolgate::runtime::read_component(path).with_context(|| path.display().to_string())?;
    let engine = ToolEngine::new(1)?.with_compile_worker(setup::compile_worker());
    let component = AnyComponent::load(&engine, Source::Bytes(bytes))
        .with_context(|| path.display().to_string())?;
    let component = match component {
        AnyComponent::Tool(component) => component,
        AnyComponent::Plain(component) => return plain(cli, &component),
    };
    let declaration = component
        .describe()
        .await
        .with_context(|| path.display().to_string())?;
    // Nobody vouches for what is registered nowhere.
    let trust = Trust::None;
    let evidence = declaration.evidence();
    show(
        cli,
        &Shown {
            declaration: &declaration,
            evidence,
            trust,
            traits: &Traits::resolve(&declaration.claim, &evidence, trust),
            digest: component.digest(),
            imports: Some(component.imports()),
        },
    )
}

/// A component of another world: each function, as a tool in the worst case and without any grant.
fn plain(cli: &Cli, component: &PlainComponent) -> anyhow::Result<Exit> {
    for (function, why) in component.unusable() {
        let function = toolgate::model::visible(function);
        render::note(&format!(
            "the function '{function}' cannot be a tool: {why}"
        ));
    }
    let mut all = Vec::new();
    for function in component.functions() {
        all.push(function.declaration()?);
    }
    let trust = Trust::None;
    let traits: Vec<Traits> = all
        .iter()
        .map(|declaration| Traits::resolve(&declaration.claim, &declaration.evidence(), trust))
        .collect();
    let shown = all.iter().zip(&traits).map(|(declaration, traits)| Shown {
        declaration,
        evidence: declaration.evidence(),
        trust,
        traits,
        digest: component.digest(),
        imports: Some(component.imports()),
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    if cli.setup.json {
        return render::json(&shown);
    }
    for tool in &shown {
        show(cli, tool)?;
    }
    Ok(Exit::Done)
}

/// Everything that is shown of a tool.
#[derive(Serialize)]
struct Shown<'a> {
    declaration: &'a Declaration,
    evidence: Evidence,
    trust: Trust,
    traits: &'a Traits,
    digest: &'a str,
    imports: Option<&'a [String]>,
}

fn show(cli: &Cli, shown: &Shown<'_>) -> anyhow::Result<Exit> {
    if cli.setup.json {
        return render::json(shown);
    }
    let declaration = shown.declaration;
    render::out(&format!(
        "{}\n{}\n",
        declaration.name, declaration.description
    ));
    render::out(&facts(shown).to_string());
    render::out(&format!("\n{}", verdicts(shown)));
    for reduction in &shown.traits.reductions {
        render::out(&format!("reduced: {reduction}"));
    }
    render::out(&format!(
        "\ninput schema\n{}",
        serde_json::to_string_pretty(&declaration.input_schema)?
    ));
    Ok(Exit::Done)
}

fn facts(shown: &Shown<'_>) -> comfy_table::Table {
    let declaration = shown.declaration;
    let mut table = render::table(&["", ""]);
    table.add_row(["digest", &format!("sha256:{}", shown.digest)]);
    table.add_row(["claim", &claim(&declaration.claim)]);
    table.add_row(["evidence", &words(&shown.evidence)]);
    table.add_row(["trust", trust(shown.trust)]);
    table.add_row(["verdict", &verdict(shown.traits)]);
    if shown.traits.create_only {
        table.add_row([
            "files",
            "it can only create: what exists is never overwritten, cut, renamed or deleted",
        ]);
        table.add_row([
            "",
            "a tool that has to change what exists declares itself destructive",
        ]);
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
    for import in shown.imports.unwrap_or_default() {
        table.add_row(["imports", import]);
    }
    table
}

/// Each trait: what the tool claims, what the host makes of it, and on what ground.
fn verdicts(shown: &Shown<'_>) -> comfy_table::Table {
    let Shown {
        declaration: Declaration { claim, .. },
        traits,
        ..
    } = shown;
    let yes = |is: bool| if is { "yes" } else { "no" };
    let claimed = match claim.exclusive {
        true => Concurrency::Exclusive,
        false => Concurrency::Shared,
    };
    let grounds = &traits.grounds;
    let mut table = render::table(&["TRAIT", "CLAIM", "VERDICT", "GROUND"]);
    for (name, claim, verdict, ground) in [
        (
            "level",
            claim.level.as_str(),
            traits.level.as_str(),
            grounds.level,
        ),
        (
            "destructive",
            yes(claim.destructive),
            yes(traits.destructive),
            grounds.destructive,
        ),
        (
            "idempotent",
            yes(claim.idempotent),
            yes(traits.idempotent),
            grounds.idempotent,
        ),
        (
            "open world",
            yes(claim.open_world),
            yes(traits.open_world),
            grounds.open_world,
        ),
        (
            "concurrency",
            claimed.as_str(),
            traits.concurrency.as_str(),
            grounds.concurrency,
        ),
    ] {
        table.add_row([name, claim, verdict, why(ground)]);
    }
    table
}

fn why(ground: Ground) -> &'static str {
    match ground {
        Ground::Verified => "verified: the sandbox makes it true",
        Ground::Trusted => "trusted: nothing shows it, somebody vouches for the tool",
        Ground::Admitted => "admitted: the tool claims nothing for itself",
        Ground::NotBelieved => "not believed: see below",
    }
}

fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::Audited => "audited: one of the host's own tools",
        Trust::Operator => "operator: its claims are believed where nothing shows them",
        Trust::None => "none: what nothing shows counts as nothing",
    }
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
    let exclusive = traits.concurrency == Concurrency::Exclusive;
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
