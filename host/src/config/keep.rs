//! Which of several values of a single setting is in force.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::ConfigError;
use super::source::{Layer, Sourced};

/// Keeps the value of the greater layer; within a layer, the later one.
pub(super) fn keep<T>(slot: &mut Option<Sourced<T>>, new: Option<Sourced<T>>) {
    if let Some(new) = new
        && slot.as_ref().is_none_or(|old| yields(old, &new))
    {
        *slot = Some(new);
    }
}

/// The same for one tool's entry in a table.
pub(super) fn keep_in<T>(table: &mut BTreeMap<String, Sourced<T>>, tool: String, new: Sourced<T>) {
    if table.get(&tool).is_none_or(|old| yields(old, &new)) {
        table.insert(tool, new);
    }
}

/// The same for a setting that an administrator can fix: who asks for another value at the start is told that it is not
/// to be had, since going on without it would do something else than was asked for.
///
/// # Errors
/// Both positions.
pub(super) fn keep_fixed<T: PartialEq + Display>(
    key: &str,
    slot: &mut Option<Sourced<T>>,
    new: Option<Sourced<T>>,
) -> Result<(), ConfigError> {
    if let (Some(old), Some(new)) = (&*slot, &new)
        && old.source.layer == Layer::Managed
        && new.source.layer == Layer::CommandLine
        && old.value != new.value
    {
        return Err(new.source.wrong(format!(
            "the {key} '{}' cannot be had here: {} sets '{}', which only an administrator can change",
            new.value, old.source, old.value
        )));
    }
    keep(slot, new);
    Ok(())
}

fn yields<T>(old: &Sourced<T>, new: &Sourced<T>) -> bool {
    old.source.layer <= new.source.layer
}
