//! One server: connected when it is needed, ended when nobody needs it, and never in the way of anybody else.
//!
//! Guarantees that it is started once however many wait for it, that who gives up waiting does not stop the start, that
//! failed starts are spaced out (1 s to 60 s), and that a server which ends is started again by the next call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::Ground;
use super::launch;
use super::link::{self, Conversation, Ears, Link};
use super::offer::Offer;
use super::stdio::{Junk, Pipes};
use crate::config::{McpReach, McpServer};
use crate::shell::{Output, Running, Stream};

/// Between failed starts.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A server that lived so long begins anew with its pauses.
const SETTLED: Duration = Duration::from_secs(60);
/// How long a server may take to end by itself when its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How long one that has stopped talking may take.
const SHORT_GRACE: Duration = Duration::from_millis(250);
/// A change of the list is looked at once it has been quiet for so long, and at most so often.
const QUIET: Duration = Duration::from_millis(300);
/// Whoever says so without rest is not waited for longer.
const MANY: usize = 10;
const AT_MOST_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked at whether somebody accepted what is not offered.
const ACCEPTED: Duration = Duration::from_secs(2);
/// Bytes of stderr that are shown.
const STDERR_TAIL: usize = 8 << 10;

/// See the module.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) setting: McpServer,
    pub(super) ground: Arc<Ground>,
    pub(super) offer: Offer,
    phase: Arc<tokio::sync::Mutex<Phase>>,
    seen: Mutex<Seen>,
    stop: CancellationToken,
}

/// Whether it runs, and when it may be started again.
#[derive(Debug, Default)]
struct Phase {
    link: Option<Arc<Link>>,
    failures: u32,
    not_before: Option<Instant>,
}

/// What was seen of its process, for people.
#[derive(Debug, Default)]
struct Seen {
    stderr: Option<Output>,
    junk: Option<Arc<Junk>>,
    /// Why it does not run; none: it runs, or was never started.
    down: Option<String>,
    speaks: Option<(String, Option<String>)>,
    runs: bool,
}

/// What of a server's process a report shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    pub(super) runs: bool,
    pub(super) down: Option<String>,
    pub(super) stderr: String,
    pub(super) junk: u64,
    pub(super) speaks: Option<(String, Option<String>)>,
}

impl Server {
    pub(super) fn new(setting: McpServer, ground: Arc<Ground>, stop: CancellationToken) -> Self {
        let offer = Offer::new(&setting, &ground);
        Self {
            setting,
            ground,
            offer,
            phase: Arc::default(),
            seen: Mutex::default(),
            stop,
        }
    }

    /// The connection, made if there is none.
    ///
    /// # Errors
    /// For people: it does not run, and why.
    pub(super) async fn link(self: &Arc<Self>) -> Result<Arc<Link>, String> {
        let mut phase = Arc::clone(&self.phase).lock_owned().await;
        if let Some(link) = phase.link.as_ref().filter(|link| !link.is_gone()) {
            return Ok(Arc::clone(link));
        }
        // Its process is gone before another one begins.
        if let Some(old) = phase.link.take() {
            old.close();
            old.over().cancelled().await;
        }
        if self.stop.is_cancelled() {
            return Err("the host is being closed".to_owned());
        }
        let now = Instant::now();
        if let Some(pause) = phase
            .not_before
            .and_then(|at| at.checked_duration_since(now))
        {
            let why = self.sight().down.unwrap_or_default();
            return Err(format!(
                "{why} (it is tried again in {} s)",
                pause.as_secs_f64().ceil()
            ));
        }
        let server = Arc::clone(self);
        // A task of its own: who gives up waiting does not stop it.
        let starting = tokio::spawn(async move {
            let started = server.start().await;
            match &started {
                Ok(link) => phase.link = Some(Arc::clone(link)),
                Err(why) => {
                    server.is_down(why.clone());
                    phase.pause();
                }
            }
            started
        });
        let started = starting.await;
        started.unwrap_or_else(|lost| Err(format!("its start was lost: {lost}")))
    }

    /// Starts it, shakes hands, and takes its list.
    async fn start(self: &Arc<Self>) -> Result<Arc<Link>, String> {
        let within = Duration::from_millis(self.setting.start_timeout_ms);
        let closing = || "the host is being closed".to_owned();
        // Whatever is dropped here takes its process along.
        tokio::select! {
            started = timeout(within, self.start_within(within)) => started.unwrap_or_else(|_late| {
                Err(format!("it was not ready within {} ms", within.as_millis()))
            }),
            () = self.stop.cancelled() => Err(closing()),
        }
    }

    async fn start_within(self: &Arc<Self>, within: Duration) -> Result<Arc<Link>, String> {
        let list_changed = Arc::new(Notify::new());
        let ears = Ears::new(Arc::clone(&list_changed), self.ground.progress.clone());
        let (conversation, running) = self.converse(ears).await?;
        let gone = Arc::new(AtomicBool::new(false));
        let link = Arc::new(Link::new(&conversation, Arc::clone(&gone)));
        // What fails from here on, or takes too long, ends it.
        let given_up = link.closing().drop_guard();
        self.now(|seen| {
            seen.speaks = Some(link.speaks());
            seen.runs = true;
            seen.down = None;
        });
        tokio::spawn(Arc::clone(self).keep(Kept {
            link: Arc::clone(&link),
            conversation,
            running,
            gone,
            list_changed,
        }));
        let list = link.tools(within).await?;
        self.take(list).await?;
        given_up.disarm();
        Ok(link)
    }

    async fn converse(&self, ears: Ears) -> Result<(Conversation, Option<Running>), String> {
        let era = self.setting.era;
        if let McpReach::Http { url, secret } = &self.setting.reach {
            let transport = self.ground.http(url, secret.as_ref())?;
            return Ok((link::shake(ears, transport, era).await?, None));
        }
        let policy = self.ground.policy().ok_or("the host is being closed")?;
        let (launcher, places) = (&self.ground.launcher, &self.ground.places);
        let service = launch::start(&self.setting, launcher, places, &policy).await?;
        let junk = Arc::new(Junk::default());
        self.now(|seen| {
            seen.stderr = Some(service.running.output());
            seen.junk = Some(Arc::clone(&junk));
        });
        let alias = self.setting.alias.clone();
        let pipes = Pipes::new(alias, service.input, service.output, Arc::clone(&junk));
        match link::shake(ears, pipes, era).await {
            Ok(conversation) => Ok((conversation, Some(service.running))),
            Err(why) => {
                let ended = launch::ended(service.running, SHORT_GRACE).await;
                Err(match junk.why() {
                    Some(junk) => junk,
                    None => format!("{why}; {}", launch::words(ended.as_ref())),
                })
            }
        }
    }

    /// Stays with a connection until it ends, and its process with it.
    async fn keep(self: Arc<Self>, kept: Kept) {
        let Kept {
            link,
            conversation,
            running,
            gone,
            list_changed,
        } = kept;
        let began = Instant::now();
        let stop = conversation.cancellation_token();
        let closing = link.closing();
        let talk = conversation.waiting();
        tokio::pin!(talk);
        let wanted = tokio::select! {
            _ended = &mut talk => false,
            () = closing.cancelled() => true,
            () = self.stop.cancelled() => true,
            () = self.follow(&link, &list_changed) => true,
        };
        gone.store(true, Ordering::Release);
        if wanted {
            stop.cancel();
            // Closes the server's input.
            let closed = timeout(GRACE, talk).await;
            tracing::trace!(in_time = closed.is_ok(), "a server is asked to end");
        }
        let grace = if wanted { GRACE } else { SHORT_GRACE };
        let ended = match running {
            Some(running) => launch::ended(running, grace).await,
            None => None,
        };
        let junk = self.now(|seen| seen.junk.clone());
        match (wanted, junk.and_then(|junk| junk.why())) {
            (_, Some(why)) => self.is_down(why),
            // Whoever wanted its end may have said why.
            (true, None) => self.now(|seen| {
                seen.runs = false;
                let closed = || "it was closed".to_owned();
                seen.down.get_or_insert_with(closed);
            }),
            (false, None) => self.is_down(launch::words(ended.as_ref())),
        }
        link.over().cancel();
        if !wanted {
            self.crashed(began).await;
        }
    }

    /// The second end in a short time, and every further one, costs a pause.
    async fn crashed(&self, began: Instant) {
        let mut phase = self.phase.lock().await;
        if began.elapsed() >= SETTLED {
            phase.failures = 0;
        }
        if phase.failures == 0 {
            phase.failures = 1;
        } else {
            phase.pause();
        }
    }

    /// Looks at the list again whenever it has changed.
    async fn follow(self: &Arc<Self>, link: &Link, list_changed: &Notify) {
        let within = Duration::from_millis(self.setting.start_timeout_ms);
        let looking = async {
            loop {
                list_changed.notified().await;
                // Servers say so several times in a row, above all when they have just begun.
                for _ in 0..MANY {
                    if timeout(QUIET, list_changed.notified()).await.is_err() {
                        break;
                    }
                }
                let looked = match link.tools(within).await {
                    Ok(list) => self.take(list).await,
                    Err(why) => Err(why),
                };
                if let Err(why) = looked {
                    tracing::warn!("the server '{}': {why}", self.setting.alias);
                }
                tokio::time::sleep(AT_MOST_EVERY).await;
            }
        };
        let listening = async {
            if link.is_modern() {
                link.listen(list_changed).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = looking => {}
            () = listening => {}
            () = self.accepting() => {}
        }
    }

    /// Offers what a person accepts from elsewhere.
    async fn accepting(self: &Arc<Self>) {
        loop {
            tokio::time::sleep(ACCEPTED).await;
            if self.offer.was_accepted_elsewhere() {
                let server = Arc::clone(self);
                let taking = tokio::task::spawn_blocking(move || server.remember());
                let taken = taking.await.is_ok();
                tracing::debug!(taken, "accepted elsewhere");
            }
        }
    }

    /// Takes a list, on a thread that may take its time.
    async fn take(self: &Arc<Self>, list: Vec<serde_json::Value>) -> Result<(), String> {
        let server = Arc::clone(self);
        let taking = tokio::task::spawn_blocking(move || server.offer.take(&server, &list, true));
        let taken = taking.await;
        taken.unwrap_or_else(|lost| Err(format!("its list was lost: {lost}")))
    }

    /// Takes the last good list, if it is of exactly this server.
    pub(super) fn remember(self: &Arc<Self>) {
        if let Some(list) = self.offer.kept(&self.setting)
            && let Err(why) = self.offer.take(self, &list, false)
        {
            tracing::warn!("the server '{}': {why}", self.setting.alias);
        }
    }

    /// Ends it: its input is closed, and what is left of its tree after a second is ended.
    pub(super) async fn close(&self) {
        let link = self.phase.lock().await.link.take();
        if let Some(link) = link {
            link.close();
            link.over().cancelled().await;
        }
    }

    fn now<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_down(&self, why: String) {
        tracing::debug!("the server '{}' does not run: {why}", self.setting.alias);
        self.now(|seen| {
            seen.runs = false;
            seen.down = Some(why);
        });
    }

    /// What was seen of its process.
    pub(super) fn sight(&self) -> Sight {
        self.now(|seen| Sight {
            runs: seen.runs,
            down: seen.down.clone(),
            stderr: seen.stderr.as_ref().map(tail).unwrap_or_default(),
            junk: seen.junk.as_ref().map_or(0, |junk| junk.lines()),
            speaks: seen.speaks.clone(),
        })
    }
}

/// The end of what it said on stderr, whole lines where there are several.
fn tail(output: &Output) -> String {
    let piece = output.last(Stream::Err, STDERR_TAIL);
    let text = String::from_utf8_lossy(&piece.bytes).into_owned();
    match (piece.start > 0, text.split_once('\n')) {
        (true, Some((_, whole))) => whole.to_owned(),
        _ => text,
    }
}

impl Phase {
    fn pause(&mut self) {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + doubled.min(LONGEST_PAUSE));
    }
}

/// A connection with all that belongs to it.
struct Kept {
    link: Arc<Link>,
    conversation: Conversation,
    running: Option<Running>,
    gone: Arc<AtomicBool>,
    list_changed: Arc<Notify>,
}
