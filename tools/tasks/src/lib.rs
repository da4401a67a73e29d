//! What the tools over tasks have in common: how a task and a page of its output read.
//!
//! Owns texts only. Never calls the host.
#![forbid(unsafe_code)]

use toolgate_guest::shell::{Ending, Task, TaskPage};

/// How a task stands, in words.
#[must_use]
pub fn status(task: &Task) -> String {
    match &task.ending {
        None => "running".to_owned(),
        Some(Ending::Exit(code)) => format!("ended with exit code {code}"),
        Some(Ending::Signal(name)) => format!("killed by signal {name}"),
        Some(Ending::TimedOut) => "ended by its deadline".to_owned(),
        Some(Ending::Cancelled) => "stopped".to_owned(),
        Some(Ending::OutputLimit) => "ended because it printed too much".to_owned(),
        Some(Ending::Other(kind)) => format!("ended: {kind}"),
    }
}

/// A task in one line.
#[must_use]
pub fn line(task: &Task) -> String {
    let about = match task.description.is_empty() {
        true => shortened(&task.line),
        false => format!(
            "{} ({})",
            shortened(&task.description),
            shortened(&task.line)
        ),
    };
    format!(
        "{}: {}, {} s, {} bytes of output: {about}",
        task.id,
        status(task),
        task.duration_ms / 1_000,
        task.bytes
    )
}

/// A page: the output, then what is to be known of it.
#[must_use]
pub fn page(page: &TaskPage) -> String {
    let mut text = String::new();
    if page.dropped > 0 {
        text.push_str(&format!(
            "[{} bytes before this are no longer kept]\n",
            page.dropped
        ));
    }
    text.push_str(&page.text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for note in &page.notes {
        text.push_str(&format!("[note: {note}]\n"));
    }
    if let Some(spill) = &page.spill {
        text.push_str(&format!("[all of the output: {spill}]\n"));
    }
    let more = match (page.next < page.task.bytes, &page.task.ending) {
        (true, _) => format!("; more with offset {}", page.next),
        (false, None) => format!("; what comes next with offset {}", page.next),
        (false, Some(_)) => String::new(),
    };
    text.push_str(&format!("[{} {}{more}]", page.task.id, status(&page.task)));
    text
}

/// One line of at most 100 characters.
fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut line: String = characters
        .by_ref()
        .take(100)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(ending: Option<Ending>) -> Task {
        Task {
            id: "task-1-ab".to_owned(),
            line: "make\ntest".to_owned(),
            description: String::new(),
            ending,
            bytes: 10,
            duration_ms: 2_500,
        }
    }

    #[test]
    fn a_task_is_one_line() {
        let running = line(&task(None));
        assert_eq!(
            running,
            "task-1-ab: running, 2 s, 10 bytes of output: make test"
        );
        assert!(line(&task(Some(Ending::Exit(3)))).contains("ended with exit code 3"));
    }

    #[test]
    fn a_page_says_how_it_goes_on() {
        let mut shown = TaskPage {
            task: task(None),
            text: "abc".to_owned(),
            next: 4,
            dropped: 1,
            spill: None,
            notes: Vec::new(),
        };
        assert_eq!(
            page(&shown),
            "[1 bytes before this are no longer kept]\nabc\n[task-1-ab running; more with offset 4]"
        );
        shown.next = 10;
        assert!(page(&shown).ends_with("what comes next with offset 10]"));
        shown.task.ending = Some(Ending::Cancelled);
        assert!(page(&shown).ends_with("[task-1-ab stopped]"));
    }
}
