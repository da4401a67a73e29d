//! Readings of a command.

use std::sync::Arc;

use super::word::Word;

/// One reading of a command: some of its words.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) words: Arc<[Word]>,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl View {
    /// All of the words.
    pub(super) fn whole(words: Arc<[Word]>) -> Self {
        Self {
            start: 0,
            end: words.len(),
            words,
        }
    }

    /// The words, the command word first.
    pub(super) fn words(&self) -> &[Word] {
        self.words.get(self.start..self.end).unwrap_or_default()
    }

    /// A copy in which only another program knows what stands at `token`.
    pub(super) fn with_unknown(&self, token: &str) -> Self {
        Self::whole(
            self.words()
                .iter()
                .map(|word| match word.text().contains(token) {
                    true => word.with_unknown(token),
                    false => word.clone(),
                })
                .collect(),
        )
    }
}
