//! Command hooks: a program that reads the event as JSON on stdin.
//!
//! Exit 0: the reply is on stdout. Exit 2: a refusal, its reason on stderr. Anything else is a broken hook.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::reply;
use crate::gate::{HookEvent, HookReply, PortError, PostHook, PreHook};
use crate::model::ToolName;

/// The most bytes of stdout or stderr that are read.
const MAX_OUTPUT: u64 = 1 << 20;

/// A program of the operator.
#[derive(Clone, Debug)]
pub struct CommandHook {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    tools: Vec<ToolName>,
    on_failure: bool,
    timeout: Duration,
}

/// Why a hook cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// No program.
    #[error("a hook's command is empty")]
    Empty,
    /// The program is not there.
    #[error("the hook '{0}' cannot run: there is no such program, or it may not be executed")]
    Missing(String),
}

impl CommandHook {
    /// A hook for some tools (none: all). `on_failure`: after the call, whether it hears of failures or of successes.
    ///
    /// # Errors
    /// The command is empty, or its program is not found here and now.
    pub fn new(
        command: &[String],
        tools: Vec<ToolName>,
        on_failure: bool,
        timeout: Duration,
    ) -> Result<Self, HookError> {
        let (program, arguments) = command.split_first().ok_or(HookError::Empty)?;
        Ok(Self {
            name: command.join(" "),
            program: find(program).ok_or_else(|| HookError::Missing(program.clone()))?,
            arguments: arguments.to_vec(),
            tools,
            on_failure,
            timeout,
        })
    }

    async fn call(&self, event: &HookEvent) -> Result<Ran, PortError> {
        let input = serde_json::to_vec(event).map_err(|error| PortError(error.to_string()))?;
        let mut child = self
            .spawn()
            .map_err(|error| PortError(format!("could not start: {error}")))?;
        let group = child.id();
        let ran = tokio::time::timeout(self.timeout, converse(&mut child, input)).await;
        let result = match ran {
            Ok(result) => result,
            Err(_) => Err(PortError(format!(
                "took more than {} ms",
                self.timeout.as_millis()
            ))),
        };
        end_group(group);
        result
    }

    fn spawn(&self) -> std::io::Result<Child> {
        #[expect(
            clippy::disallowed_methods,
            reason = "hooks are the operator's own programs"
        )]
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// What a run came to.
struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

/// Feeds the program and reads what it says, all at once, so that neither side waits for the other.
async fn converse(child: &mut Child, input: Vec<u8>) -> Result<Ran, PortError> {
    let mut stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let feed = async move {
        if let Some(stdin) = &mut stdin {
            // A hook that does not read its input may still answer.
            let written = stdin.write_all(&input).await;
            tracing::trace!(?written, "hook input");
        }
    };
    let (_, stdout, stderr) = tokio::join!(feed, read(stdout), read(stderr));
    let (stdout, stderr) = (stdout?, stderr?);
    let status = child
        .wait()
        .await
        .map_err(|error| PortError(error.to_string()))?;
    Ok(Ran {
        status,
        stdout,
        stderr,
    })
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> Result<String, PortError> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let mut bounded = stream.take(MAX_OUTPUT + 1);
        bounded
            .read_to_end(&mut bytes)
            .await
            .map_err(|error| PortError(error.to_string()))?;
    }
    if bytes.len() as u64 > MAX_OUTPUT {
        return Err(PortError("printed more than 1 MiB".to_owned()));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ends what the hook left running in its process group.
fn end_group(group: Option<u32>) {
    let group = group
        .and_then(|id| i32::try_from(id).ok())
        .and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        tracing::trace!(?ended, "hook process group");
    }
}

/// The program's path, as a shell would find it: a file that may be executed.
fn find(program: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(runs)
}

#[async_trait]
impl PreHook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, tool: &ToolName) -> bool {
        self.tools.is_empty() || self.tools.contains(tool)
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        let ran = self.call(event).await?;
        match ran.status.code() {
            Some(0) => reply::parse(&ran.stdout),
            Some(2) => Ok(HookReply::Deny {
                message: ran.stderr.trim().chars().take(2_000).collect(),
            }),
            _ => Err(PortError(format!("ended with {}", ran.status))),
        }
    }
}

#[async_trait]
impl PostHook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, tool: &ToolName, failed: bool) -> bool {
        self.on_failure == failed && PreHook::wants(self, tool)
    }

    async fn run(&self, event: &HookEvent) -> Result<(), PortError> {
        let ran = self.call(event).await?;
        match ran.status.code() {
            Some(0) => Ok(()),
            _ => Err(PortError(format!("ended with {}", ran.status))),
        }
    }
}
