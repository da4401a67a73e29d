//! How hooks run: within a time limit, and with a panic caught, whatever kind of hook it is.
//!
//! Owns that bound, and the walk over hooks on events that are no tool use. Never contains what a broken hook means for
//! a call: that is gates 6 and 10.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;

use super::ports::{EventHook, HookEvent, HookReply, PortError};
use crate::model::DenialReason;

/// What a hook may take that names no limit of its own.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// What a hook that keeps to a limit of its own may take beyond it, to end in good order.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a hook. `own`: the limit that it says it keeps to; `otherwise` holds for one that names none.
///
/// # Errors
/// What the hook reports, a panic, or the limit that it passed.
pub(super) async fn bounded<T, F>(
    own: Option<Duration>,
    otherwise: Duration,
    hook: impl FnOnce() -> F,
) -> Result<T, PortError>
where
    F: Future<Output = Result<T, PortError>>,
{
    let limit = limit(own, otherwise);
    // The hook is only called inside, so that a panic before its first wait is caught as well.
    let run = AssertUnwindSafe(async move { hook().await }).catch_unwind();
    match tokio::time::timeout(limit, run).await {
        Ok(Ok(said)) => said,
        Ok(Err(_)) => Err(PortError("it panicked".to_owned())),
        Err(_) => Err(PortError(format!(
            "took more than {} ms",
            limit.as_millis()
        ))),
    }
}

fn limit(own: Option<Duration>, otherwise: Duration) -> Duration {
    own.map_or(otherwise, |own| own.saturating_add(GRACE))
}

/// The hooks on events that are no tool use.
#[derive(Clone, Debug)]
pub struct EventHooks {
    hooks: Vec<Arc<dyn EventHook>>,
    timeout: Duration,
}

impl EventHooks {
    /// Hooks in their order. `timeout`: for those that name no limit of their own.
    pub fn new(hooks: Vec<Arc<dyn EventHook>>, timeout: Duration) -> Self {
        Self { hooks, timeout }
    }

    /// Tells the hooks that want to hear of the event, in order, until one denies.
    ///
    /// # Errors
    /// A hook denied the event, or broke: it took too long, panicked, failed, or said what only fits before a call (ask,
    /// rewrite).
    pub async fn raise(&self, event: &HookEvent) -> Result<(), DenialReason> {
        let tool = event.tool_name.as_ref();
        let wanting = self
            .hooks
            .iter()
            .filter(|hook| hook.wants(event.hook_event_name, tool));
        for hook in wanting {
            let broken = |what: &str| DenialReason::HookBroken {
                hook: hook.name().to_owned(),
                what: what.to_owned(),
            };
            match bounded(hook.time_limit(), self.timeout, || hook.run(event)).await {
                Ok(HookReply::Nothing) => {}
                Ok(HookReply::Deny { message }) => {
                    let hook = hook.name().to_owned();
                    return Err(DenialReason::HookDenied { hook, message });
                }
                Ok(HookReply::Ask { .. }) => {
                    return Err(broken("it asks, where it can only deny"));
                }
                Ok(HookReply::Rewrite { .. }) => {
                    return Err(broken("it rewrites, where it can only deny"));
                }
                Err(PortError(what)) => return Err(broken(&what)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use serde_json::Map;

    use super::*;
    use crate::model::{HookEventName, ToolName};

    const SHORT: Duration = Duration::from_millis(20);

    async fn hangs() -> Result<(), PortError> {
        std::future::pending().await
    }

    #[tokio::test]
    async fn a_hook_that_hangs_is_ended_by_the_limit_that_is_named() {
        let error = bounded(None, SHORT, hangs).await.unwrap_err();
        assert_eq!(error.0, "took more than 20 ms");
    }

    #[tokio::test]
    async fn a_limit_of_its_own_takes_the_place_of_the_hosts() {
        let slow = || async {
            tokio::time::sleep(SHORT * 3).await;
            Ok(7)
        };
        assert_eq!(
            bounded(Some(Duration::from_secs(60)), SHORT, slow).await,
            Ok(7)
        );
        assert_eq!(limit(Some(SHORT), HOOK_TIMEOUT), SHORT + GRACE);
        assert_eq!(limit(Some(Duration::MAX), SHORT), Duration::MAX);
        assert_eq!(limit(None, SHORT), SHORT);
    }

    #[tokio::test]
    async fn a_panic_is_caught_wherever_it_comes() {
        let at_once = || -> std::future::Ready<Result<(), PortError>> { panic!("at once") };
        let later = || async {
            tokio::task::yield_now().await;
            panic!("later")
        };
        let first: Result<(), _> = bounded(None, HOOK_TIMEOUT, at_once).await;
        let second: Result<(), _> = bounded(None, HOOK_TIMEOUT, later).await;
        let panicked = Err(PortError("it panicked".to_owned()));
        assert_eq!((first, second), (panicked.clone(), panicked));
    }

    /// Gives its reply to one event and counts how often it ran.
    #[derive(Debug)]
    struct On(HookEventName, HookReply, Arc<Mutex<u32>>);

    #[async_trait]
    impl EventHook for On {
        fn name(&self) -> &str {
            "on"
        }

        fn wants(&self, event: HookEventName, _tool: Option<&ToolName>) -> bool {
            self.0 == event
        }

        async fn run(&self, _event: &HookEvent) -> Result<HookReply, PortError> {
            *self.2.lock().unwrap() += 1;
            Ok(self.1.clone())
        }
    }

    async fn raise(replies: &[HookReply]) -> (Result<(), DenialReason>, u32) {
        let ran = Arc::new(Mutex::new(0));
        let stop = |reply: &HookReply| {
            Arc::new(On(HookEventName::Stop, reply.clone(), Arc::clone(&ran))) as Arc<dyn EventHook>
        };
        let other = HookReply::Deny {
            message: "for another event".to_owned(),
        };
        let other = On(HookEventName::SessionStart, other, Arc::clone(&ran));
        let mut hooks = vec![Arc::new(other) as Arc<dyn EventHook>];
        hooks.extend(replies.iter().map(stop));
        let event = HookEvent {
            hook_event_name: HookEventName::Stop,
            session_id: "s".to_owned(),
            cwd: PathBuf::from("/ws"),
            tool_name: None,
            tool_use_id: None,
            tool_input: None,
            tool_response: None,
            details: Map::new(),
        };
        let said = EventHooks::new(hooks, HOOK_TIMEOUT).raise(&event).await;
        let count = *ran.lock().unwrap();
        (said, count)
    }

    #[tokio::test]
    async fn the_first_hook_that_denies_an_event_stops_it() {
        let deny = HookReply::Deny {
            message: "not yet".to_owned(),
        };
        assert_eq!(raise(&[HookReply::Nothing]).await, (Ok(()), 1));
        let (said, ran) = raise(&[HookReply::Nothing, deny.clone(), deny]).await;
        let (hook, message) = ("on".to_owned(), "not yet".to_owned());
        assert_eq!(said, Err(DenialReason::HookDenied { hook, message }));
        assert_eq!(ran, 2);
    }

    #[tokio::test]
    async fn what_only_fits_before_a_call_is_a_broken_hook() {
        let ask = HookReply::Ask {
            message: "well?".to_owned(),
            input: None,
        };
        let rewrite = HookReply::Rewrite { input: Map::new() };
        for reply in [ask, rewrite] {
            let (said, _) = raise(&[reply]).await;
            assert!(
                matches!(said, Err(DenialReason::HookBroken { .. })),
                "{said:?}"
            );
        }
    }
}
