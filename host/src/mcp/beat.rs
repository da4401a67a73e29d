//! Signs of life: a client that asked for progress hears from a call before its own patience ends.
//!
//! Guarantees the first sign after one second and one at least every five, never more than four a second beyond a burst
//! of twenty, always a greater number than the last one, and none after the result.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::clients::{Caller, Step};
use crate::model::visible;

/// Steps of a tool that may wait to be sent.
pub(super) const MAX_STEPS: usize = 64;
/// When the first sign comes.
const FIRST: Duration = Duration::from_secs(1);
/// How often one comes afterwards.
const EVERY: Duration = Duration::from_secs(5);
/// Signs that may come at once.
const BURST: f64 = 20.0;
/// Signs a second beyond that.
const RATE: f64 = 4.0;
/// The longest message, characters.
const MAX_MESSAGE: usize = 120;
/// What a sign without news adds to the number, which must grow.
const TICK: f64 = 0.001;

/// The progress of one call, on its way to the client.
pub(super) struct Beat {
    /// Where to; none: the client did not ask for it.
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    caller: Arc<Caller>,
    steps: mpsc::Receiver<Step>,
    started: Instant,
    count: Count,
    allowance: f64,
    refilled: Instant,
}

/// The number that a client sees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    last: Option<f64>,
    total: Option<f64>,
    /// The tool counts itself.
    counted: bool,
}

impl Count {
    /// The number of a step of the tool. None: it does not grow, so it is not shown.
    fn step(&mut self, done: u32, total: Option<u32>) -> Option<f64> {
        let number = f64::from(done);
        if self.last.is_some_and(|last| number <= last) {
            return None;
        }
        *self = Self {
            last: Some(number),
            total: total.map(f64::from),
            counted: true,
        };
        Some(number)
    }

    /// The number of a sign without news: seconds, or just more than the tool's last.
    fn tick(&mut self, since: Duration) -> f64 {
        let seconds = since.as_secs_f64().floor();
        let number = match self.last {
            Some(last) if self.counted || seconds <= last => last + TICK,
            Some(_) | None => seconds,
        };
        self.last = Some(number);
        number
    }
}

impl Beat {
    /// The progress of a call that begins now.
    pub(super) fn new(
        to: Option<(Peer<RoleServer>, ProgressToken)>,
        caller: Arc<Caller>,
        steps: mpsc::Receiver<Step>,
    ) -> Self {
        let now = Instant::now();
        Self {
            to,
            caller,
            steps,
            started: now,
            count: Count::default(),
            allowance: BURST,
            refilled: now,
        }
    }

    /// Sends signs for as long as it is waited for.
    pub(super) async fn run(&mut self) -> std::convert::Infallible {
        let mut next = self.started + FIRST;
        loop {
            tokio::select! {
                step = self.steps.recv() => match step {
                    Some(step) => {
                        self.step(step).await;
                        next = Instant::now() + EVERY;
                    }
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep_until(next) => {
                    let number = self.count.tick(self.started.elapsed());
                    let message = match self.caller.waits.load(Ordering::Relaxed) {
                        true => "waiting for approval".to_owned(),
                        false => format!("running for {} s", self.started.elapsed().as_secs()),
                    };
                    self.send(number, message).await;
                    next = Instant::now() + EVERY;
                }
            }
        }
    }

    /// What the tool said last, before its result goes out.
    pub(super) async fn finish(&mut self) {
        while let Ok(step) = self.steps.try_recv() {
            self.step(step).await;
        }
    }

    async fn step(&mut self, step: Step) {
        let now = Instant::now();
        let refill = now.duration_since(self.refilled).as_secs_f64() * RATE;
        self.allowance = (self.allowance + refill).min(BURST);
        self.refilled = now;
        if self.allowance < 1.0 {
            return;
        }
        if let Some(number) = self.count.step(step.done, step.total) {
            self.allowance -= 1.0;
            self.send(number, step.message).await;
        }
    }

    async fn send(&self, number: f64, message: String) {
        let Some((peer, token)) = &self.to else {
            return;
        };
        let mut sign = ProgressNotificationParam::new(token.clone(), number);
        if let Some(total) = self.count.total {
            sign = sign.with_total(total);
        }
        let message: String = visible(&message).chars().take(MAX_MESSAGE).collect();
        if !message.is_empty() {
            sign = sign.with_message(message);
        }
        if let Err(error) = peer.notify_progress(sign).await {
            tracing::debug!("progress does not reach the client: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_always_grows() {
        let mut count = Count::default();
        let second = Duration::from_secs(1);
        let mut seen = vec![
            count.tick(second),
            count.tick(second),
            count.tick(6 * second),
        ];
        assert_eq!(count.step(3, None), None);
        seen.extend(count.step(50, Some(100)));
        seen.push(count.tick(90 * second));
        seen.extend(count.step(51, Some(100)));
        assert_eq!(count.step(51, Some(100)), None);
        seen.push(count.tick(900 * second));
        assert_eq!(seen.len(), 7);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
        assert!(seen[5] < 52.0 && seen[6] < 52.0, "{seen:?}");
    }
}
