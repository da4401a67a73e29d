//! Whom the configuration names to be asked, and what was said to "always".

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::approval::{ApprovalProgram, Fixed, InTurn, Queue, StandingAnswers, Terminal};
use crate::config::{ApprovalSetting, ApproverKind, Sourced, unchanged};
use crate::error::HostError;
use crate::gate::{Answer, ApprovalRequest, Approver};

/// The approvers that the configuration names, in turn; where it names none, the person at the client, if there is a way
/// to ask them.
///
/// # Errors
/// The program is not there, or the queue's folder cannot be used.
pub(super) fn named(
    setting: &ApprovalSetting,
    client: Option<Arc<dyn Approver>>,
    state: &Path,
) -> Result<Arc<dyn Approver>, HostError> {
    let nobody = || Arc::new(Fixed::nobody()) as Arc<dyn Approver>;
    let Some(Sourced { value: kinds, .. }) = &setting.approvers else {
        return Ok(client.unwrap_or_else(nobody));
    };
    let mut approvers: Vec<Arc<dyn Approver>> = Vec::new();
    for kind in kinds {
        approvers.push(match kind {
            // The terminal of a program that serves a client is the client's own.
            ApproverKind::Terminal => match &client {
                Some(client) => Arc::clone(client),
                None => Arc::new(Terminal),
            },
            ApproverKind::Client => client.clone().unwrap_or_else(nobody),
            ApproverKind::Queue => Arc::new(Queue::open(&state.join("approvals"))?),
            ApproverKind::Program => match &setting.program {
                Some(program) => {
                    let timeout = Duration::from_millis(setting.program_timeout_ms());
                    let found = ApprovalProgram::new(&program.value, timeout)
                        .map_err(|error| program.source.wrong(error.to_string()))?;
                    Arc::new(Trusted {
                        program: found,
                        bound: setting.bound.clone(),
                    })
                }
                None => nobody(),
            },
        });
    }
    Ok(Arc::new(InTurn(approvers)))
}

/// An approval program that answers only as long as it is what was trusted.
#[derive(Debug)]
struct Trusted {
    program: ApprovalProgram,
    bound: BTreeMap<PathBuf, String>,
}

#[async_trait]
impl Approver for Trusted {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let bound = self.bound.clone();
        let judged = tokio::task::spawn_blocking(move || unchanged(&bound)).await;
        let broke = match judged {
            Ok(Ok(())) => return self.program.ask(request).await,
            Ok(Err(what)) => what,
            Err(error) => error.to_string(),
        };
        Answer::Refused {
            by: "the approval program".to_owned(),
            message: Some(format!("it does not work: {broke}")),
        }
    }
}

/// What was said to "always", in the state folder.
///
/// # Errors
/// The file holds something else.
pub(super) fn standing(state: &Path) -> Result<StandingAnswers, HostError> {
    Ok(StandingAnswers::open(&state.join("standing.json"))?)
}
