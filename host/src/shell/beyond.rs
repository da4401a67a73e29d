//! What runs beyond the tree that is held here, where that tree is only a client of it: a container.
//!
//! Guarantees that a command beyond is heard of before it counts as begun, and ended before its client is.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

use super::capture::Stream;
use super::command::CouldNotStart;
use super::ended::{CommandEnd, InForce, Stuck};
use super::start::LONGEST_START;
use super::streams::Streams;
use super::tree::{Lifeline, Tree};

/// How long the last words of a client that has ended are awaited.
const ECHO: Duration = Duration::from_millis(250);

/// See the module.
#[async_trait]
pub(super) trait Beyond: Send + Sync + std::fmt::Debug {
    /// Takes what came on the client's second stream.
    fn hear(&mut self, bytes: &[u8]);

    /// Lets the command begin once all is known that it waits for: what is in force, or why it may not.
    fn begin(&mut self) -> Option<Result<InForce, CouldNotStart>>;

    /// Why it did not begin.
    fn failure(&self) -> CouldNotStart;

    /// How the command ended, once its client has; how many others were stopped with it; a note.
    fn ended(&self) -> (CommandEnd, u32, Option<&'static str>);

    /// Ends it, and gives what could not be ended. Nothing of it acts afterwards.
    async fn end(&mut self) -> Option<Stuck>;
}

/// Hears what runs beyond until the command begins there. Where it does not, it is ended, and the client with it.
pub(super) async fn begun(
    beyond: &mut dyn Beyond,
    (tree, lifeline): (&mut dyn Tree, &dyn Lifeline),
    streams: &mut Streams,
) -> Result<InForce, CouldNotStart> {
    let heard = timeout(LONGEST_START, heard(beyond, tree, streams)).await;
    match heard.unwrap_or_else(|_| Err(beyond.failure())) {
        Ok(in_force) => Ok(in_force),
        Err(error) => {
            let stuck = beyond.end().await;
            lifeline.cut();
            tracing::debug!(?stuck, "what did not begin beyond");
            Err(error)
        }
    }
}

async fn heard(
    beyond: &mut dyn Beyond,
    tree: &mut dyn Tree,
    streams: &mut Streams,
) -> Result<InForce, CouldNotStart> {
    let mut gone = false;
    loop {
        if let Some(begun) = beyond.begin() {
            return begun;
        }
        tokio::select! {
            biased;
            piece = streams.next() => match piece {
                Some((Stream::Err, length)) => beyond.hear(streams.buffer(length)),
                Some((Stream::Out, _)) => {}
                None => return Err(beyond.failure()),
            },
            ended = tree.ended(), if !gone => match ended {
                // The client has ended; what it said may still be in its stream.
                Some(_) => gone = true,
                None => return Err(beyond.failure()),
            },
            () = tokio::time::sleep(ECHO), if gone => return Err(beyond.failure()),
        }
    }
}
