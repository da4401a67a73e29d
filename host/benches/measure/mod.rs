//! Timing for benches: minimum and median of several runs, printed as ratios to a reference of the same run.

use std::time::{Duration, Instant};

/// Times of several runs.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The fastest.
    pub min: Duration,
    /// The middle one.
    pub median: Duration,
}

/// Runs two things in turn, so that a noisy machine disturbs both, and gives the times of each.
pub fn pair(
    runs: usize,
    mut subject: impl FnMut(),
    mut reference: impl FnMut(),
) -> (Sample, Sample) {
    subject();
    reference();
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..runs {
        times.0.push(time(&mut subject));
        times.1.push(time(&mut reference));
    }
    (sample(times.0), sample(times.1))
}

fn time(run: &mut impl FnMut()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn sample(mut times: Vec<Duration>) -> Sample {
    times.sort();
    Sample {
        min: times.first().copied().unwrap_or_default(),
        median: times.get(times.len() / 2).copied().unwrap_or_default(),
    }
}

/// Prints one line: times of both, the ratio, and the goal.
pub fn report(
    what: &str,
    reference_name: &str,
    (subject, reference): (Sample, Sample),
    goal: &str,
) {
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(f64::MIN_POSITIVE);
    println!(
        "{what:<34} {:>10.1?} {:>10.1?} | {reference_name:<34} {:>10.1?} {:>10.1?} | ratio {:>5.2} {:>5.2} | goal {goal}",
        subject.min,
        subject.median,
        reference.min,
        reference.median,
        ratio(subject.min, reference.min),
        ratio(subject.median, reference.median),
    );
}

/// Prints the head of the table.
pub fn head(title: &str) {
    println!("\n{title}: minimum and median of each, then the ratios of both");
}
