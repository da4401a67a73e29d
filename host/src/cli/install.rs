//! `toolgate install`, `toolgate uninstall`, and what is installed.

use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::json;
use toolgate::Host;
use toolgate::config::Config;
use toolgate::model::ToolName;
use toolgate::runtime::{CodeCache, ToolEngine};
use toolgate::store::{
    Candidate, Choice, Grants, Lock, Publisher, Reach, Registries, RegistryAccess, Signed, Source,
    Step, Store,
};

use super::args::Cli;
use super::exit::Exit;
use super::store_args::InstallArgs;
use super::{ask, render, setup};

/// What this process may hold while strangers talk to it, bytes.
const MEMORY: u64 = 4 << 30;

pub(crate) async fn run(cli: &Cli, arguments: &InstallArgs) -> anyhow::Result<Exit> {
    bound_memory();
    let state = setup::state_dir(&cli.setup)?;
    let store = Store::open(&state)?;
    let config = setup::load(&cli.setup)?.config;
    let engine = ToolEngine::new(1)?
        .with_compile_worker(setup::compile_worker())
        .with_code_cache(CodeCache::in_state(&state)?);
    let choice = choice(cli, arguments, &config).await?;
    let registries = registries(arguments, &config);
    let candidates = match arguments.frozen {
        true => frozen(&store, &engine, arguments, &registries, &choice).await?,
        false => named(&store, &engine, arguments, &registries, &choice).await?,
    };
    if cli.setup.json {
        let all: Vec<_> = candidates
            .iter()
            .map(|one| described(one, &config))
            .collect();
        render::json(&all)?;
    }
    let mut consented = Vec::new();
    let mut exit = Exit::Done;
    for candidate in candidates {
        match consent(cli, arguments, &candidate, &config)? {
            Some(grants) => consented.push((candidate, grants)),
            None => {
                render::note(&format!(
                    "{} is not installed",
                    candidate.name().published()
                ));
                exit = Exit::Denied;
            }
        }
    }
    store.install(&consented)?;
    for (candidate, _) in &consented {
        said(&store, candidate)?;
    }
    Ok(exit)
}

/// Uninstalls a tool.
pub(crate) fn uninstall(cli: &Cli, name: &str) -> anyhow::Result<Exit> {
    let store = Store::open(&setup::state_dir(&cli.setup)?)?;
    let name = store.uninstall(name)?;
    render::note(&format!("{} is uninstalled", name.published()));
    Ok(Exit::Done)
}

/// What is installed, as the lock says.
pub(crate) fn list(cli: &Cli) -> anyhow::Result<Exit> {
    let store = Store::existing(&setup::state_dir(&cli.setup)?)?;
    let lock = match store {
        Some(store) => store.lock()?,
        None => Lock::default(),
    };
    if cli.setup.json {
        let entry = |(name, entry): (&toolgate::store::QualifiedName, &toolgate::store::Entry)| json!({"published": name.published(), "entry": entry});
        return render::json(&lock.tools().map(entry).collect::<Vec<_>>());
    }
    let mut table = render::table(&["TOOL", "NAME", "KEY", "INSTALLED", "DIGEST", "SOURCE"]);
    for (name, entry) in lock.tools() {
        table.add_row([
            name.published().as_str(),
            &name.to_string(),
            entry.key.as_deref().unwrap_or("unsigned"),
            &entry.installed.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            entry.digest.get(..16).unwrap_or_default(),
            &entry.source,
        ]);
    }
    render::out(&table.to_string());
    Ok(Exit::Done)
}

/// What comes over the network, and what is compiled from it, cannot take the machine's memory.
fn bound_memory() {
    let limit = rustix::process::Rlimit {
        current: Some(MEMORY),
        maximum: Some(MEMORY),
    };
    let bound = rustix::process::setrlimit(rustix::process::Resource::Data, limit);
    tracing::debug!(?bound, "memory of the installer");
}

async fn choice(cli: &Cli, arguments: &InstallArgs, config: &Config) -> anyhow::Result<Choice> {
    let publisher = arguments.publisher.as_deref().map(Publisher::chosen);
    let required = config.store.require_signatures.as_ref();
    let pinned = arguments.digest.clone();
    Ok(Choice {
        publisher: publisher.transpose()?,
        replace: arguments.replace,
        pinned: pinned.map(|digest| (digest, "--digest".to_owned())),
        name: None,
        signature_required_by: required
            .map(|required| format!("'require_signatures' ({})", required.source)),
        others: others(cli).await,
    })
}

/// The other tools that this host has. Where the configuration does not hold, those that it has in any case: what has to be
/// installed so that it holds must not be refused for that.
async fn others(cli: &Cli) -> Vec<(ToolName, String)> {
    let built = match setup::load(&cli.setup).and_then(|loaded| setup::hosted(&cli.setup, loaded)) {
        Ok(builder) => builder.build().await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    match built {
        Ok(host) => {
            let tools = host.all_tools();
            tools
                .map(|tool| {
                    let source = match tool.facts().built_in {
                        true => "built in".to_owned(),
                        false => format!("sha256:{}", tool.digest()),
                    };
                    (tool.name().clone(), source)
                })
                .collect()
        }
        Err(error) => {
            tracing::debug!("names are compared with the built-in tools only: {error:#}");
            let names = Host::built_in_tools();
            names
                .filter_map(|name| Some((ToolName::try_from(name).ok()?, "built in".to_owned())))
                .collect()
        }
    }
}

fn registries(arguments: &InstallArgs, config: &Config) -> Registries {
    let mut access: std::collections::BTreeMap<String, RegistryAccess> = config
        .store
        .registries
        .iter()
        .map(|(host, setting)| {
            let setting = &setting.value;
            let access = RegistryAccess {
                plain_http: setting.plain_http,
                username: setting.username.clone(),
                password_file: setting.password_file.clone(),
            };
            (host.clone(), access)
        })
        .collect();
    for host in &arguments.plain_http {
        access.entry(host.clone()).or_default().plain_http = true;
    }
    Registries {
        access,
        docker_config: docker_config(),
    }
}

/// Where `docker login` keeps logins.
fn docker_config() -> Option<PathBuf> {
    let folder = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".docker"));
    Some(folder.or_else(home)?.join("config.json"))
}

async fn frozen(
    store: &Store,
    engine: &ToolEngine,
    arguments: &InstallArgs,
    registries: &Registries,
    choice: &Choice,
) -> anyhow::Result<Vec<Candidate>> {
    let file = arguments.lock.clone().unwrap_or_else(|| store.lock_file());
    anyhow::ensure!(file.exists(), "there is no lock file '{}'", file.display());
    let lock = Lock::read(&file)?;
    let reach = match arguments.offline {
        true => Reach::Offline,
        false => Reach::Anywhere,
    };
    let examined = store.examine_pinned(engine, (&lock, &file), (registries, reach), choice);
    let candidates = examined.await?;
    if candidates.is_empty() {
        render::note("everything is installed as the lock says");
    }
    Ok(candidates)
}

async fn named(
    store: &Store,
    engine: &ToolEngine,
    arguments: &InstallArgs,
    registries: &Registries,
    choice: &Choice,
) -> anyhow::Result<Vec<Candidate>> {
    anyhow::ensure!(
        !arguments.sources.is_empty(),
        "name what to install: a file, a directory or oci://HOST/REPOSITORY:TAG; or --frozen"
    );
    let keys = store.keys()?;
    let mut candidates = Vec::new();
    for text in &arguments.sources {
        let source = Source::read(text)?;
        if arguments.offline && matches!(source, Source::Oci(_)) {
            let lock = store.lock()?;
            let known = lock.tools().find(|(_, entry)| entry.source == *text);
            let (name, _) = known.with_context(|| {
                format!("'{text}' is not in the store, and --offline asks no registry for it")
            })?;
            render::note(&format!("{} is installed already", name.published()));
            continue;
        }
        for fetched in source.fetch(registries, &keys).await? {
            candidates.extend(store.examine(engine, fetched, choice).await?);
        }
    }
    Ok(candidates)
}

fn described(candidate: &Candidate, config: &Config) -> serde_json::Value {
    let step = match candidate.step() {
        Step::New => json!("new"),
        Step::Same => json!("same"),
        Step::Changed { from, differences } => json!({
            "changed": differences,
            "from": from.as_ref().map(|entry| &entry.digest),
            "another_key": candidate.another_key(),
        }),
    };
    json!({
        "name": candidate.name().to_string(),
        "published": candidate.name().published(),
        "digest": candidate.digest(),
        "source": candidate.fetched().source,
        "manifest": candidate.fetched().manifest,
        "signed": signer(candidate),
        "asks": candidate.asks(),
        "level": candidate.declaration().claim.level,
        "plain": candidate.is_plain(),
        "step": step,
        "grants": config.grants_of(candidate.name().published()),
    })
}

/// Whether the person wants it, and with which grants. Nothing is asked where nothing would change.
fn consent(
    cli: &Cli,
    arguments: &InstallArgs,
    candidate: &Candidate,
    config: &Config,
) -> anyhow::Result<Option<Grants>> {
    let published = candidate.name().published();
    let wanted = match arguments.keep_grants {
        true => Grants::Keep,
        false => Grants::Withhold,
    };
    if *candidate.step() == Step::Same && wanted == Grants::Withhold {
        return Ok(Some(wanted));
    }
    let grants = config.grants_of(published);
    if !cli.setup.json {
        show(candidate, &grants);
    }
    if arguments.yes {
        return Ok(Some(wanted));
    }
    if !ask::yes(&format!("Install {published}?"))? {
        return Ok(None);
    }
    let changed = matches!(candidate.step(), Step::Changed { .. });
    if changed && wanted == Grants::Withhold && !grants.is_empty() {
        let question =
            format!("Shall what the settings grant to {published} hold for these bytes too?");
        if ask::yes(&question)? {
            return Ok(Some(Grants::Keep));
        }
    }
    Ok(Some(wanted))
}

/// Everything that is consented to. The one who made the component chose most of it; `render::out` escapes it.
fn show(candidate: &Candidate, grants: &[String]) {
    let declaration = candidate.declaration();
    let line = |what: &str, text: &str| render::out(&format!("  {what:<12} {text}"));
    render::out(candidate.name().published().as_str());
    line("name", &candidate.name().to_string());
    line("source", &one_line(&candidate.fetched().source));
    line("digest", &format!("sha256:{}", candidate.digest()));
    line("signed", &signer(candidate));
    line("level", declaration.claim.level.as_str());
    line("says", &one_line(&declaration.description));
    match (candidate.is_plain(), declaration.capabilities.is_empty()) {
        (true, _) => line(
            "is",
            "a function of a plain component: it reaches what [plain], [subjects] and [egress.tools] grant to it",
        ),
        (false, true) => line("asks for", "nothing"),
        (false, false) => {}
    }
    for asked in &declaration.capabilities {
        let optional = if asked.optional { " (optional)" } else { "" };
        line(
            "asks for",
            &one_line(&format!("{}{optional}: {}", asked.kind, asked.reason)),
        );
    }
    if let Step::Changed { from, differences } = candidate.step() {
        match from {
            Some(from) => line(
                "in place of",
                &format!("sha256:{}, from {}", from.digest, one_line(&from.source)),
            ),
            None => line("in place of", "other bytes that were uninstalled"),
        }
        if candidate.another_key() {
            line("", "! another key signed it than the one before");
        }
        for difference in differences {
            line("", &one_line(difference));
        }
        if differences.is_empty() && from.is_some() {
            line("", "it declares what it declared before");
        }
    }
    for grant in grants {
        line("granted", &one_line(grant));
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

fn signer(candidate: &Candidate) -> String {
    match &candidate.fetched().signed {
        Signed::By { publisher, key } => format!("by '{publisher}', key {key}"),
        Signed::Unknown(keys) => format!("by no key of the store ({})", keys.join(", ")),
        Signed::Nobody => "by nobody".to_owned(),
    }
}

/// What became of it.
fn said(store: &Store, candidate: &Candidate) -> anyhow::Result<()> {
    let published = candidate.name().published();
    let (_, entry) = store.find(published.as_str())?;
    let word = match candidate.step() {
        Step::Same => "is installed already, as it is",
        Step::New | Step::Changed { .. } => "is installed",
    };
    render::note(&format!("{published} {word} (sha256:{})", entry.digest));
    if entry.grants_withheld {
        render::note(&format!(
            "{published}: what settings grant to it was given to other bytes and does not hold; 'toolgate install \
             --keep-grants {}' lets it hold",
            one_line(&entry.source)
        ));
    }
    Ok(())
}
