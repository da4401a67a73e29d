//! `toolgate keys`

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolgate::model::hex;
use toolgate::store::{PublicKey, Publisher, Store, signature_file, signed_message};

use super::args::Cli;
use super::exit::Exit;
use super::store_args::KeysCommand;
use super::{render, setup};

/// The most bytes of a key's file.
const MAX_KEY: u64 = 16 << 10;

pub(crate) fn run(cli: &Cli, command: &KeysCommand) -> anyhow::Result<Exit> {
    match command {
        KeysCommand::Add { name, key } => add(cli, name, key),
        KeysCommand::List => list(cli),
        KeysCommand::Remove { name } => {
            let removed = store(cli)?.remove_key(&Publisher::chosen(name)?)?;
            render::note(&format!(
                "the key {} is no longer known as '{name}'",
                removed.key.id()
            ));
            Ok(Exit::Done)
        }
        KeysCommand::New { file } => new(file),
        KeysCommand::Sign { component, key } => sign(component, key),
    }
}

fn store(cli: &Cli) -> anyhow::Result<Store> {
    Ok(Store::open(&setup::state_dir(&cli.setup)?)?)
}

fn add(cli: &Cli, name: &str, key: &str) -> anyhow::Result<Exit> {
    let path = Path::new(key);
    let text = match path.is_file() {
        true => read(path)?,
        false => key.to_owned(),
    };
    let key: PublicKey = text.parse()?;
    let publisher = Publisher::chosen(name)?;
    let id = key.id();
    store(cli)?.add_key(&publisher, key)?;
    render::note(&format!("the key {id} is known as '{publisher}'"));
    Ok(Exit::Done)
}

fn list(cli: &Cli) -> anyhow::Result<Exit> {
    let keys = store(cli)?.keys()?;
    if cli.setup.json {
        let all = keys.all().map(|(name, known)| {
            json!({"name": name.as_str(), "id": known.key.id(), "key": known.key.to_string(), "added": known.added})
        });
        return render::json(&all.collect::<Vec<_>>());
    }
    let mut table = render::table(&["NAME", "ID", "KEY", "ADDED"]);
    for (name, known) in keys.all() {
        let day = known.added.strftime("%Y-%m-%d %H:%M UTC").to_string();
        table.add_row([name.as_str(), &known.key.id(), &known.key.to_string(), &day]);
    }
    render::out(&table.to_string());
    Ok(Exit::Done)
}

/// Makes a key pair: the private key into a file of its owner's alone, the public one onto stdout.
fn new(file: &Path) -> anyhow::Result<Exit> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).context("no random bytes")?;
    let key = SigningKey::from_bytes(&seed);
    let pem = key.to_pkcs8_pem(LineEnding::LF)?;
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .with_context(|| file.display().to_string())?;
    out.write_all(pem.as_bytes())?;
    out.sync_all()?;
    render::out(&PublicKey::Ed25519(key.verifying_key()).to_string());
    Ok(Exit::Done)
}

/// Signs a component: `COMPONENT.sig` beside it.
fn sign(component: &Path, key: &Path) -> anyhow::Result<Exit> {
    let Ok(signer) = SigningKey::from_pkcs8_pem(&read(key)?) else {
        bail!("'{}' is no private Ed25519 key (PKCS#8 PEM)", key.display());
    };
    let bytes = toolgate::runtime::read_component(component)
        .with_context(|| component.display().to_string())?;
    let digest = hex(&Sha256::digest(&bytes));
    let signature = signer.sign(signed_message(&digest).as_bytes()).to_bytes();
    let mut beside = component.as_os_str().to_owned();
    beside.push(".sig");
    let public = PublicKey::Ed25519(signer.verifying_key());
    fs::write(&beside, signature_file(&public, &signature))?;
    render::note(&format!(
        "{} is signed with the key {}: {}",
        component.display(),
        public.id(),
        Path::new(&beside).display()
    ));
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let opened = fs::File::open(file).with_context(|| file.display().to_string())?;
    opened
        .take(MAX_KEY)
        .read_to_string(&mut text)
        .with_context(|| file.display().to_string())?;
    Ok(text)
}
