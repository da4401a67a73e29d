//! What holds the processes of one command together, whatever that is on this system, and how they are ended.

use async_trait::async_trait;

use super::ended::Stuck;

/// A command's processes.
#[async_trait]
pub(super) trait Tree: Send + Sync + std::fmt::Debug {
    /// Waits until the command's first process has ended: its raw status, and how many others lived then. None: it was ended
    /// from outside, and nobody knows how. To give up waiting loses nothing.
    async fn ended(&mut self) -> Option<(i32, u32)>;

    /// How many processes live beside the first one; none where nobody answers.
    async fn count(&mut self) -> Option<u32>;

    /// Ends all of them and waits until they are gone, for some seconds. Gives what is not.
    async fn end(&mut self) -> Option<Stuck>;

    /// Waits, for a moment, for what set them up.
    async fn bury(&mut self);
}

/// What ends a tree at once, whether or not the runtime drives anything any more.
pub(super) trait Lifeline: Send + Sync + std::fmt::Debug {
    /// Cuts it.
    fn cut(&self);
}
