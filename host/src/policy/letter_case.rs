//! Letter case, for comparisons that ignore it.

/// The text with every spelling of a letter made one: `A` and `a`, `Σ`, `σ` and `ς`. One character always becomes one,
/// wherever it stands, though not always one of as many bytes. What has no other spelling of one character (`İ`, `ß`)
/// stays.
pub(super) fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(fold_char).collect()
}

/// One letter of [`fold_case`].
pub(super) fn fold_char(letter: char) -> char {
    let upper = only(letter.to_uppercase()).unwrap_or(letter);
    only(upper.to_lowercase()).unwrap_or(upper)
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let first = letters.next();
    first.filter(|_| letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_becomes_one_of_the_same_length() {
        for (text, folded) in [
            ("/Ab/.ENV", "/ab/.env"),
            ("ΑΣΒΣ ας", "ασβσ ασ"),
            ("\u{212a}ſẞß", "ksßß"),
            ("İı", "İi"),
            ("/ÜÄ/é/ДЖ", "/üä/é/дж"),
            ("[*?]{,}\\", "[*?]{,}\\"),
        ] {
            assert_eq!(fold_case(text), folded);
            assert_eq!(fold_case(folded), folded);
        }
        for letter in ('\0'..=char::MAX).filter(|letter| !letter.is_ascii_alphabetic()) {
            let folded = fold_char(letter);
            assert!(!"/*?[]{},!-\\".contains(folded) || folded == letter);
            assert_eq!(fold_char(folded), folded, "{letter:?}");
        }
    }
}
