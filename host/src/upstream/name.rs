//! Published names: the operator's alias, `__`, and what of the server's own name every client takes.

use sha2::{Digest as _, Sha256};

use crate::model::{ServerAlias, ToolName, hex};

/// The longest published name: with the prefix that clients put before it, it stays below the 64 characters of model APIs.
const MAX: usize = 48;
/// Hexadecimal digits that tell long names apart which begin alike.
const TELLING: usize = 6;

/// The published name of a server's tool; none for a tool without a name.
pub(super) fn published(alias: &ServerAlias, raw: &str) -> Option<ToolName> {
    if raw.is_empty() {
        return None;
    }
    let known = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    let mut name = alias.prefix();
    // Far more than what is kept; the digest below is of the whole name.
    name.extend(raw.chars().take(4 * MAX).map(known));
    if name.len() > MAX {
        let digest = hex(&Sha256::digest(raw.as_bytes()));
        name.truncate(MAX - TELLING - 1);
        name.push('_');
        name.extend(digest.chars().take(TELLING));
    }
    ToolName::try_from(name.as_str()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_client_takes() {
        let alias = ServerAlias::try_from("words").unwrap();
        let named = |raw: &str| published(&alias, raw).map(|name| name.to_string());
        assert_eq!(named("search").unwrap(), "words__search");
        assert_eq!(named("my tool, v2").unwrap(), "words__my_tool__v2");
        assert_eq!(named("a.b/c").unwrap(), "words__a_b_c");
        assert_eq!(named("ä").unwrap(), "words___");
        assert_eq!(named(""), None);
        let (long, longer) = ("x".repeat(200), "x".repeat(201));
        let (one, other) = (named(&long).unwrap(), named(&longer).unwrap());
        assert_eq!((one.len(), other.len()), (MAX, MAX));
        assert_ne!(one, other, "names that begin alike stay apart");
        assert_eq!(named(&"y".repeat(41)).unwrap().len(), 48);
        assert!(named(&"y".repeat(41)).unwrap().ends_with("yy"));
    }
}
