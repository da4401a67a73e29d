//! How a call ends. Four bad ends, four types: denial, tool failure, trap, host error; a bound that ended the call
//! stands beside them, with the bound's name.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Bound, CallId, Denial};

/// One part of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// Bytes with a type.
    Blob {
        /// Such as `image/png`.
        mime: String,
        /// Where they come from.
        uri: Option<String>,
        /// The bytes; base64 in JSON.
        #[serde(serialize_with = "base64_text")]
        data: Vec<u8>,
    },
    /// A pointer.
    Link {
        /// Where.
        uri: String,
        /// A label.
        name: String,
        /// What is there.
        mime: Option<String>,
    },
}

fn base64_text<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    use base64::Engine as _;
    serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(data))
}

/// What a tool gives when it did what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolOutput {
    /// In order.
    pub content: Vec<Content>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The host left something out of `content`, which the text says. Never recognised from the text.
    pub capped: bool,
}

impl ToolOutput {
    /// All text parts, joined by line feeds.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Blob { .. } | Content::Link { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A tool said no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolFailure {
    /// `invalid-input`, `denied`, `not-found`, `cancelled`, `failed` or the tool's own word.
    pub kind: String,
    /// For the model.
    pub message: String,
}

/// A bound ended the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "bound", rename_all = "kebab-case")]
pub enum Stop {
    /// The wall-clock deadline.
    WallClock {
        /// The deadline.
        limit: Duration,
    },
    /// The instruction budget.
    Fuel {
        /// The budget.
        limit: u64,
    },
    /// Memory and tables together.
    Memory {
        /// Bytes.
        limit: usize,
    },
    /// The native stack of the guest.
    Stack,
    /// Elements of all tables together.
    Tables {
        /// Elements.
        limit: usize,
    },
    /// Instances of core modules.
    Instances {
        /// Instances.
        limit: usize,
    },
    /// Handles, and what the host holds behind them.
    Handles {
        /// Handles.
        limit: usize,
    },
    /// Strings and lists that one call of the guest, or its result, hands to the host.
    Transfer {
        /// Bytes.
        limit: usize,
    },
    /// Random bytes.
    Random {
        /// Bytes.
        limit: usize,
    },
    /// HTTP fields of one request or response.
    Fields {
        /// Bytes.
        limit: usize,
    },
    /// What the guest gave back.
    ResultSize {
        /// Bytes.
        limit: usize,
    },
    /// The caller gave up.
    Cancelled,
    /// The host ends.
    Shutdown,
}

impl Stop {
    /// The setting that moves the bound, if there is one.
    pub fn bound(&self) -> Option<Bound> {
        match self {
            Self::WallClock { .. } => Some(Bound::Timeout),
            Self::Fuel { .. } => Some(Bound::Fuel),
            Self::Memory { .. } => Some(Bound::Memory),
            Self::Tables { .. } => Some(Bound::TableElements),
            Self::Instances { .. } => Some(Bound::Instances),
            Self::Handles { .. } => Some(Bound::Handles),
            Self::Transfer { .. } => Some(Bound::Transfer),
            Self::Random { .. } => Some(Bound::Random),
            Self::ResultSize { .. } => Some(Bound::Result),
            Self::Stack | Self::Fields { .. } | Self::Cancelled | Self::Shutdown => None,
        }
    }

    fn sentence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WallClock { limit } => {
                let millis = limit.as_millis();
                write!(f, "The tool was ended by its deadline of {millis} ms")
            }
            Self::Fuel { limit } => write!(f, "The tool used up its fuel of {limit} instructions"),
            Self::Memory { limit } => {
                let mebibytes = limit >> 20;
                write!(f, "The tool reached its memory limit of {mebibytes} MiB")
            }
            Self::Stack => f.write_str("The tool used up its stack"),
            Self::Tables { limit } => {
                write!(f, "The tool reached its limit of {limit} table elements")
            }
            Self::Instances { limit } => {
                write!(f, "The tool reached its limit of {limit} instances")
            }
            Self::Handles { limit } => write!(f, "The tool reached its limit of {limit} handles"),
            Self::Transfer { limit } => write!(
                f,
                "The tool handed more than {} MiB to the host at once",
                limit >> 20
            ),
            Self::Random { limit } => write!(
                f,
                "The tool asked for more than {} MiB of random bytes",
                limit >> 20
            ),
            Self::Fields { limit } => write!(
                f,
                "The tool made HTTP fields of more than {} KiB",
                limit >> 10
            ),
            Self::ResultSize { limit } => write!(
                f,
                "The tool gave back more than {} MiB, which the host does not take",
                limit >> 20
            ),
            Self::Cancelled => f.write_str("The call was cancelled"),
            Self::Shutdown => f.write_str("The call was ended because the host ends"),
        }
    }
}

/// A sentence with the bound and, in brackets, the setting that moves it.
impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence(f)?;
        match self.bound() {
            Some(bound) => write!(f, " ({bound})."),
            None => f.write_str("."),
        }
    }
}

/// The guest died.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trap {
    /// A short cause, such as `unreachable executed`.
    pub cause: String,
}

/// The host failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostFailure {
    /// For the operator; the model is told only that the host failed.
    pub message: String,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Ending {
    /// The tool did what it was asked.
    Done(ToolOutput),
    /// The tool said no.
    Failed(ToolFailure),
    /// A gate refused; the tool did not run.
    Denied(Denial),
    /// A bound ended the call.
    Stopped(Stop),
    /// The guest died.
    Trapped(Trap),
    /// The host failed.
    HostError(HostFailure),
}

impl From<Denial> for Ending {
    fn from(denial: Denial) -> Self {
        Self::Denied(denial)
    }
}

impl Ending {
    /// The word for it, as in the journal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Denied(_) => "denied",
            Self::Stopped(_) => "stopped",
            Self::Trapped(_) => "trapped",
            Self::HostError(_) => "host-error",
        }
    }

    /// What the model is told.
    pub fn text(&self) -> String {
        match self {
            Self::Done(output) => output.text(),
            Self::Failed(failure) => failure.message.clone(),
            Self::Denied(denial) => denial.for_model(),
            Self::Stopped(stop) => stop.to_string(),
            Self::Trapped(trap) => format!("The tool crashed: {}.", trap.cause),
            Self::HostError(_) => {
                "The host failed; the call has no result. Tell the operator.".to_owned()
            }
        }
    }
}

/// What a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Instructions.
    pub fuel: u64,
    /// The most memory and tables held at once, bytes.
    pub memory: usize,
    /// From the first gate to the result.
    pub wall: Duration,
}

/// One file that a call touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileUse {
    /// `read` or `write`.
    pub access: &'static str,
    /// As it was asked for.
    pub requested: PathBuf,
    /// What it was.
    pub resolved: PathBuf,
}

/// One command that a call ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandUse {
    /// The beginning of its line, at most 2 KiB. The journal scrubs it.
    pub line: String,
    /// SHA-256 of the line.
    pub line_sha256: String,
    /// `exit 1`, `signal KILL`, `timed out`, `cancelled` (also where its call ended first), `output limit`; `task ID` for one that nobody waits for; `refused` or
    /// `not started`, for which the reason stands in the tool's failure.
    pub outcome: String,
    /// What held its processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<String>,
    /// What of its sandbox was not in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// How long it took, milliseconds.
    pub ms: u64,
}

/// The one paired result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The call.
    pub id: CallId,
    /// The tool that was asked for.
    pub tool: String,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
    /// What it used.
    pub usage: Usage,
    /// Lines that the tool logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}
