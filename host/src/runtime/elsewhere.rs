//! Work that nobody can end once it has begun (a disk that is waited for, a directory of a million names): done on a thread
//! of its own, so that the call can be given up meanwhile, and bounded, because what was given up goes on to its end.

use std::fs::File;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Such works at once in one process. Whoever finds no room waits, as long as its call has time.
static ROOM: Semaphore = Semaphore::const_new(64);
/// How often it is looked whether a work that was given up has come to its end.
const LOOK: Duration = Duration::from_millis(20);

/// Does a work elsewhere.
///
/// # Errors
/// It panicked, or the runtime ends.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<T> {
    let room = ROOM.acquire().await;
    let done = tokio::task::spawn_blocking(move || {
        let _until_done = room;
        work()
    });
    Ok(done.await?)
}

/// The room of a work that somebody else begins: taken until nobody has the file any more that it works on.
#[derive(Debug)]
pub(super) struct Occupied {
    room: Option<SemaphorePermit<'static>>,
    file: Weak<File>,
}

impl Occupied {
    pub(super) async fn by(file: &Arc<File>) -> Self {
        Self {
            room: ROOM.acquire().await.ok(),
            file: Arc::downgrade(file),
        }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let (room, file) = (self.room.take(), std::mem::take(&mut self.file));
        if file.strong_count() == 0 {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                while file.strong_count() > 0 {
                    tokio::time::sleep(LOOK).await;
                }
                drop(room);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_given_up_keeps_its_room_until_its_end() {
        let free = || ROOM.available_permits();
        let before = free();
        let file = Arc::new(tempfile::tempfile().unwrap());
        let ended = Occupied::by(&file).await;
        let (end, ending) = std::sync::mpsc::channel::<()>();
        let given_up = tokio::time::timeout(LOOK, run(move || ending.recv())).await;
        assert!(given_up.is_err());
        drop(ended);
        tokio::time::sleep(3 * LOOK).await;
        assert_eq!(free(), before - 2);
        drop((file, end));
        while free() < before {
            tokio::time::sleep(LOOK).await;
        }
    }
}
