//! Secrets in what a record quotes: known by their shape, or by the key that they stand under.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

/// Tokens of well-known issuers, bearer headers, private keys; and values under keys that say what they are.
const PATTERNS: [&str; 7] = [
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    r"\b(sk|pk|rk)[-_](live|test|ant|proj|or)?[-_A-Za-z0-9]{16,}",
    r"\bgh[opusr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[-_A-Za-z0-9]{16,}",
    r"\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[-_A-Za-z0-9]{30,}|\bxox[abpr]-[-A-Za-z0-9]{10,}",
    r"\beyJ[-_A-Za-z0-9]{10,}\.[-_A-Za-z0-9]{10,}\.[-_A-Za-z0-9]{5,}",
    r"(?i)\bbearer\s+[-._~+/A-Za-z0-9]{16,}=*",
    r#"(?i)(?:password|passwd|secret|token|api[-_]?key|access[-_]?key)\\?"?\s*[:=]\s*\\?"?[^\s"\\,;}]{6,}"#,
];

/// What each of the patterns needs, in any letter case: a text without any of it has nothing to scrub, and no pattern is
/// compiled for it.
const MARKS: [&str; 20] = [
    "private key",
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk-",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "akia",
    "asia",
    "aiza",
    "xox",
    "eyj",
    "bearer",
];
/// The same for keys that say what they are.
const KEYS: [&str; 5] = ["password", "passwd", "secret", "token", "key"];

/// For texts in lower case. Vector instructions look for several literals at once, but not in either letter case, and not
/// for matches that overlap: measured six times as quick over a record, with the copy that lower case takes.
static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(MARKS.iter().chain(&KEYS))
        .ok()
});

static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
});

/// Whether it is worth looking closer.
pub(super) fn may_hold_secrets(text: &[u8]) -> bool {
    ANY.as_ref()
        .is_none_or(|any| any.is_match(&text.to_ascii_lowercase()))
}

/// The text without its secrets.
pub(super) fn scrub(text: &str) -> Cow<'_, str> {
    let mut scrubbed = Cow::Borrowed(text);
    for secret in SECRETS.iter() {
        if secret.is_match(&scrubbed) {
            scrubbed = Cow::Owned(secret.replace_all(&scrubbed, "[scrubbed]").into_owned());
        }
    }
    scrubbed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        assert_eq!(SECRETS.len(), PATTERNS.len());
        assert!(ANY.is_some());
        for secret in [
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAABCDEFGHIJKLMNOP",
            "Bearer abcdefghijklmnopqrstuvwxyz",
            r#"{"password": "hunter2hunter2"}"#,
            "API_KEY=abcdef123456",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        ] {
            let text = format!("before {secret} after");
            assert!(
                SECRETS.iter().any(|pattern| pattern.is_match(&text)),
                "{secret}"
            );
            assert!(may_hold_secrets(text.as_bytes()), "{secret}");
            assert!(scrub(&text).contains("[scrubbed]"), "{secret}");
        }
        let plain = r#"{"file_path":"src/token.rs","content":"fn tokens() {}"}"#;
        assert_eq!(scrub(plain), plain);
    }
}
