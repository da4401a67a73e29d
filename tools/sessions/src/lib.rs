//! What the tools over sessions have in common: how a session, a page of it and what was typed read.
//!
//! Owns texts only. Never calls the host.
#![forbid(unsafe_code)]

use toolgate_guest::sessions::{Page, Session, Typed};
use toolgate_guest::shell::Ending;

/// How a session stands, in words.
#[must_use]
pub fn status(session: &Session) -> String {
    match &session.ending {
        None => "is running".to_owned(),
        Some(Ending::Exit(code)) => format!("has ended with exit code {code}"),
        Some(Ending::Signal(name)) => format!("was killed by signal {name}"),
        Some(Ending::TimedOut) => "was ended by its deadline".to_owned(),
        Some(Ending::Cancelled) => "was closed".to_owned(),
        Some(Ending::OutputLimit) => "was ended because it printed too much".to_owned(),
        Some(Ending::Other(kind)) if kind == "idle" => {
            "was ended because nobody used it".to_owned()
        }
        Some(Ending::Other(kind)) => format!("has ended: {kind}"),
    }
}

/// A session in one line.
#[must_use]
pub fn line(session: &Session) -> String {
    format!(
        "{} {}; its terminal has {} rows and {} columns.",
        session.id,
        status(session),
        session.rows,
        session.columns
    )
}

/// A page: what was shown, then how to go on.
#[must_use]
pub fn page(page: &Page) -> String {
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
    let next = page.next;
    let after = match (page.more, &page.session.ending) {
        (true, _) => format!("; more is there with offset {next}"),
        (false, None) => format!("; what comes next has offset {next}"),
        (false, Some(_)) => String::new(),
    };
    text.push_str(&format!(
        "[{} {}{after}]",
        page.session.id,
        status(&page.session)
    ));
    text
}

/// What came of typing.
#[must_use]
pub fn typed(id: &str, typed: &Typed) -> String {
    let note = typed.note.as_ref();
    let note = note.map_or_else(String::new, |note| format!("\n[note: {note}]"));
    format!(
        "Typed {} bytes into {id}. Read what it shows with ShellRead.{note}",
        typed.bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(ending: Option<Ending>) -> Session {
        Session {
            id: "terminal-ab-1".to_owned(),
            line: "bash".to_owned(),
            rows: 24,
            columns: 80,
            ending,
        }
    }

    #[test]
    fn a_session_is_one_line() {
        assert_eq!(
            line(&session(None)),
            "terminal-ab-1 is running; its terminal has 24 rows and 80 columns."
        );
        let idle = Ending::Other("idle".to_owned());
        for (ending, said) in [
            (Ending::Exit(0), "has ended with exit code 0;"),
            (Ending::Signal("KILL".to_owned()), "by signal KILL;"),
            (Ending::Cancelled, "was closed;"),
            (idle, "because nobody used it;"),
        ] {
            assert!(line(&session(Some(ending))).contains(said), "{said}");
        }
    }

    #[test]
    fn a_page_says_how_it_goes_on() {
        let mut shown = Page {
            session: session(None),
            text: "$ ".to_owned(),
            next: 7,
            dropped: 5,
            more: true,
        };
        assert_eq!(
            page(&shown),
            "[5 bytes before this are no longer kept]\n$ \n[terminal-ab-1 is running; more is there with offset 7]"
        );
        shown.more = false;
        assert!(page(&shown).ends_with("is running; what comes next has offset 7]"));
        shown.session.ending = Some(Ending::Exit(3));
        assert!(page(&shown).ends_with("\n[terminal-ab-1 has ended with exit code 3]"));
    }

    #[test]
    fn what_was_cut_is_said() {
        let mut taken = Typed {
            bytes: 3,
            note: None,
        };
        assert!(typed("x", &taken).ends_with("ShellRead."));
        taken.note = Some("cut".to_owned());
        assert!(typed("x", &taken).ends_with("\n[note: cut]"));
    }
}
