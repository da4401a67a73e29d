//! Whom the configuration names to be asked, and what was said to "always".

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::approval::{ApprovalProgram, Fixed, InTurn, Queue, StandingAnswers, Terminal};
use crate::config::{ApprovalSetting, ApproverKind, Sourced};
use crate::error::HostError;
use crate::gate::Approver;

/// The approvers that the configuration names, in turn; nobody where it names none.
///
/// # Errors
/// The program is not there, or the queue's folder cannot be used.
pub(super) fn named(
    setting: &ApprovalSetting,
    state: &Path,
) -> Result<Arc<dyn Approver>, HostError> {
    let Some(Sourced { value: kinds, .. }) = &setting.approvers else {
        return Ok(Arc::new(Fixed::nobody()));
    };
    let mut approvers: Vec<Arc<dyn Approver>> = Vec::new();
    for kind in kinds {
        approvers.push(match kind {
            ApproverKind::Terminal => Arc::new(Terminal),
            ApproverKind::Queue => Arc::new(Queue::open(&state.join("approvals"))?),
            ApproverKind::Program => match &setting.program {
                Some(program) => Arc::new(
                    ApprovalProgram::new(
                        &program.value,
                        Duration::from_millis(setting.program_timeout_ms()),
                    )
                    .map_err(|error| program.source.wrong(error.to_string()))?,
                ),
                None => Arc::new(Fixed::nobody()),
            },
        });
    }
    Ok(Arc::new(InTurn(approvers)))
}

/// What was said to "always", in the state folder.
///
/// # Errors
/// The file holds something else.
pub(super) fn standing(state: &Path) -> Result<StandingAnswers, HostError> {
    Ok(StandingAnswers::open(&state.join("standing.json"))?)
}
