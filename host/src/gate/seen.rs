//! What a person is asked about: where the call's paths lead now, and what the rules say to that place.
//!
//! Guarantees that a call which would be refused when it opens the file is refused before anybody is asked, as far as that
//! can be known, and that two looks are equal only if the call would do the same.

use std::path::{Path, PathBuf};

use super::g04_permission::Permitted;
use super::ports::{SeenFile, SeenPath, Sight};
use crate::model::{Denial, DenialReason, Gate};
use crate::policy::{Access, Policy};

/// The most characters of a path in a reason.
const MAX_QUOTED: usize = 1_000;

/// One look.
#[derive(Debug)]
pub(super) struct Seen {
    paths: Vec<SeenPath>,
    /// What the rules say only to where the paths lead, one sentence each.
    reasons: Vec<String>,
}

impl Seen {
    /// Looks, and asks the rules.
    ///
    /// # Errors
    /// The denial of what could not be opened whatever somebody answers.
    pub(super) async fn look(
        sight: &dyn Sight,
        policy: &Policy,
        call: &Permitted,
    ) -> Result<Self, Denial> {
        let named = call.verdict().paths.clone();
        if named.is_empty() {
            return Ok(Self {
                paths: Vec::new(),
                reasons: Vec::new(),
            });
        }
        let facts = call.call().tool().facts();
        let writes = matches!(facts.files, Some((Access::Write, _)));
        let paths = sight.look(named, writes).await;
        let mut reasons = Vec::new();
        for path in paths.iter().filter(|path| path.real != path.named) {
            let place = policy
                .judge_place(facts, &path.real)
                .map_err(|reason| denial(reason, path))?;
            let leads = format!("'{}' leads to '{}'", cut(&path.named), cut(&path.real));
            for rule in place.asked {
                reasons.push(format!("{leads}, of which speaks the rule {rule}"));
            }
            if let Some(pattern) = place.runs_code {
                reasons.push(format!(
                    "{leads}, and programs may run files matching '{pattern}' later"
                ));
            }
        }
        Ok(Self { paths, reasons })
    }

    pub(super) fn paths(&self) -> &[SeenPath] {
        &self.paths
    }

    /// The places, for the grant.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        self.paths.iter().map(|path| path.real.clone()).collect()
    }

    /// Why it is asked, with what the rules say to the places.
    pub(super) fn reason(&self, first: &str) -> String {
        let mut reason = first.to_owned();
        for more in &self.reasons {
            reason.push_str("; ");
            reason.push_str(more);
        }
        reason
    }

    /// Whether an allow rule for these places would let the call run.
    pub(super) fn allow_is_enough(&self) -> bool {
        let known = |path: &SeenPath| !matches!(path.what, SeenFile::Unknown { .. });
        self.reasons.is_empty() && self.paths.iter().all(known)
    }

    /// What changed since an earlier look, for people. None: nothing.
    pub(super) fn since(&self, earlier: &Self) -> Option<String> {
        if self.paths == earlier.paths {
            return None;
        }
        let pairs = self.paths.iter().zip(&earlier.paths);
        let mut changed = pairs.filter(|(now, then)| now != then).map(|(now, then)| {
            let path = cut(&now.named);
            if now.real == then.real {
                format!("'{path}' changed")
            } else {
                format!("'{path}' leads to another file")
            }
        });
        Some(
            changed
                .next()
                .unwrap_or_else(|| "a path changed".to_owned()),
        )
    }
}

fn denial(reason: DenialReason, path: &SeenPath) -> Denial {
    // Where a link leads outside of the roots is not the model's business.
    let reason = if let DenialReason::OutsideRoots { access, .. } = reason {
        let path = cut(&path.named);
        DenialReason::OutsideRoots { path, access }
    } else {
        reason
    };
    let hint = format!("it leads to '{}'", cut(&path.real));
    Denial::new(Gate::Approval, reason).with_hint(hint)
}

fn cut(path: &Path) -> String {
    path.to_string_lossy().chars().take(MAX_QUOTED).collect()
}
