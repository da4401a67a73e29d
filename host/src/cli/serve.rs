//! `toolgate serve`

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;
use toolgate::Host;
use toolgate::config::{ServeSetting, Sourced};
use toolgate::mcp::{Clients, HttpSettings, McpServer, McpSettings, Token};

use super::args::{Cli, ServeArgs};
use super::exit::Exit;
use super::signals::Signals;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli, arguments: &ServeArgs) -> anyhow::Result<Exit> {
    // Before anything is built: whoever ends us early gets the same end.
    let mut signals = Signals::listen()?;
    let clients = Clients::new();
    let (builder, setting) = setup::builder_for_clients(&cli.setup, clients.clone())?;
    let host: Host = builder.on_progress(clients.progress()).build().await?;
    if let Some(upstreams) = host.upstreams() {
        // Their tools come to the list as they are known; nobody waits for them.
        upstreams.start();
    }
    let server = McpServer::new(host.clone(), clients, settings(&setting))?;
    let stop = CancellationToken::new();
    let mut serving = match arguments.http {
        None => {
            let stop = stop.clone();
            tokio::spawn(async move { server.serve_stdio(stop).await.context("stdio") })
        }
        Some(address) => {
            let settings = http_settings(arguments, &setting, address)?;
            http(&server, settings, stop.clone()).await?
        }
    };
    let signal = tokio::select! {
        ended = &mut serving => {
            host.close().await;
            ended??;
            return Ok(Exit::Done);
        }
        signal = signals.next() => signal,
    };
    stop.cancel();
    let ended = serving.await;
    host.close().await;
    ended??;
    Ok(Exit::Ended(signal))
}

type Serving = tokio::task::JoinHandle<anyhow::Result<()>>;

async fn http(
    server: &McpServer,
    settings: HttpSettings,
    stop: CancellationToken,
) -> anyhow::Result<Serving> {
    let open = settings.tokens.is_empty();
    let bound = server.bind_http(settings).await?;
    if open {
        render::note("no token is needed: every program on this machine can call the tools");
    }
    render::note(&format!("listening on http://{}/mcp", bound.address()));
    Ok(tokio::spawn(async move {
        bound.serve(stop).await;
        Ok(())
    }))
}

fn settings(setting: &ServeSetting) -> McpSettings {
    let mut settings = McpSettings::default();
    if let Some(timeout) = &setting.approval_timeout_ms {
        settings.approval_timeout = Duration::from_millis(timeout.value);
    }
    if let Some(most) = &setting.max_calls {
        settings.max_calls = count(most.value);
    }
    settings
}

fn http_settings(
    arguments: &ServeArgs,
    setting: &ServeSetting,
    address: SocketAddr,
) -> anyhow::Result<HttpSettings> {
    let mut settings = HttpSettings::new(address);
    let names = |names: &[Sourced<String>]| names.iter().map(|name| name.value.clone()).collect();
    settings.hosts = names(&setting.allowed_hosts);
    settings.origins = names(&setting.allowed_origins);
    if let Some(idle) = &setting.session_idle_ms {
        settings.session_idle = Duration::from_millis(idle.value);
    }
    if let Some(most) = &setting.max_sessions {
        settings.max_sessions = count(most.value);
    }
    if !arguments.no_auth {
        settings.tokens = tokens(arguments, setting)?;
    }
    Ok(settings)
}

/// All tokens that were named. A place that is named and holds none stops the start.
fn tokens(arguments: &ServeArgs, setting: &ServeSetting) -> anyhow::Result<Vec<Token>> {
    let configured = setting.token_file.as_ref();
    let file = arguments.token_file.as_deref();
    let mut tokens = match (file, configured) {
        (Some(file), _) => Token::read_file(file).context("--token-file")?,
        (None, Some(file)) => {
            Token::read_file(&file.value).map_err(|error| file.source.wrong(error.to_string()))?
        }
        (None, None) => Vec::new(),
    };
    if let Some(name) = &setting.token_env {
        let wrong = |what: String| name.source.wrong(what);
        let value = std::env::var(&name.value).map_err(|_unset| {
            wrong(format!(
                "the environment variable '{}' is not set",
                name.value
            ))
        })?;
        let token = Token::new(&value)
            .map_err(|error| wrong(format!("in the variable '{}', {error}", name.value)))?;
        tokens.push(token);
    }
    Ok(tokens)
}

fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
