//! The table `[approval]`: who is asked.

use super::ConfigError;
use super::file::Approval;
use super::hooks::timeout;
use super::keep::keep;
use super::reading::Reading;
use super::settings::{ApproverKind, Config};
use super::source::{Layer, Sourced};

/// Adds what a file says.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    approval: Approval,
) -> Result<(), ConfigError> {
    let line = approval.exempt_at_or_below;
    keep(&mut config.exempt, line.map(|line| reading.sourced(line)));
    let into = &mut config.approval;
    if let Some(approvers) = approval.approvers {
        let at = approvers.span().start;
        let approvers = reading.sourced(approvers);
        let twice = |kind: &&ApproverKind| {
            let same = approvers.value.iter().filter(|other| other == kind);
            same.count() > 1
        };
        if let Some(kind) = approvers.value.iter().find(twice) {
            let what = format!("'{}' stands twice in 'approvers'", kind.as_str());
            return Err(reading.wrong(at, what));
        }
        keep(&mut into.approvers, Some(approvers));
    }
    if let Some(program) = approval.program {
        keep(&mut into.program, Some(reading.command(program)?));
    }
    if let Some(given) = approval.program_timeout_ms {
        let value = timeout(reading, "program_timeout_ms", &given)?;
        let source = reading.source(given.span().start);
        keep(
            &mut into.program_timeout_ms,
            Some(Sourced { value, source }),
        );
    }
    Ok(())
}

/// What only holds of all layers together.
///
/// # Errors
/// The program is asked and there is none, or it has a setting and is not asked.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let approval = &config.approval;
    let asked = approval.approvers().contains(&ApproverKind::Program);
    if let (true, None, Some(approvers)) = (asked, &approval.program, &approval.approvers) {
        let what = "'approvers' names 'program', and [approval] has no 'program'";
        return Err(approvers.source.wrong(what));
    }
    // Where a greater layer chose the approvers, what a lower one says of its program is no mistake.
    let chosen_above = |layer: Layer| {
        let approvers = approval.approvers.as_ref();
        approvers.is_some_and(|approvers| approvers.source.layer > layer)
    };
    let idle = match (&approval.program, &approval.program_timeout_ms) {
        (Some(program), _) if !asked => Some((
            &program.source,
            "'program' of [approval] is never asked: 'approvers' does not name it",
        )),
        (None, Some(timeout)) => Some((
            &timeout.source,
            "'program_timeout_ms' of [approval] bounds nothing: there is no 'program'",
        )),
        (Some(_), _) | (None, None) => None,
    };
    match idle {
        Some((source, what)) if !chosen_above(source.layer) => Err(source.wrong(what)),
        Some(_) | None => Ok(()),
    }
}
