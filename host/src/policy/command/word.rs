//! One word of a command, as bash makes it out of its quoting.

/// A word after quotes, escapes and `$'…'` are taken away.
///
/// A literal word is exactly what the program is given. Any other (an expansion, an unquoted glob, brace or tilde) may
/// become another text, or several words; what is sure of it is how it begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    text: String,
    open: Option<Open>,
    bare: bool,
    assigns: bool,
    indexes: bool,
}

/// What is sure of a word that the shell still turns into something else.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    prefix: String,
    suffix: String,
}

impl Word {
    /// A word that stands for itself.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            open: None,
            bare: false,
            assigns: false,
            indexes: false,
        }
    }

    /// The decoded text; of a word that is not literal, the text with its wildcards and without its expansions.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the program is given exactly [`Word::text`].
    pub(super) fn is_literal(&self) -> bool {
        self.open.is_none()
    }

    /// Whether it begins as an array element does (`a[`), which bash reads on to the closing bracket, over blanks and
    /// separators, where it looks for assignments.
    pub(super) fn indexes(&self) -> bool {
        self.indexes
    }

    /// The text, if the program is given exactly that.
    pub(super) fn known(&self) -> Option<&str> {
        self.is_literal().then_some(self.text.as_str())
    }

    /// Whether it was written without any quoting, so that it may be a reserved word.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// Whether it sets a variable where a command word is looked for.
    pub(super) fn assigns(&self) -> bool {
        self.assigns
    }

    /// Whether the shell could give the program this text instead: yes wherever that is not ruled out.
    pub(super) fn could_become(&self, text: &str) -> bool {
        match &self.open {
            None => self.text == text,
            Some(open) => {
                text.len() >= open.prefix.len() + open.suffix.len()
                    && text.starts_with(&open.prefix)
                    && text.ends_with(&open.suffix)
            }
        }
    }

    /// The word where another program replaces `token` by what only it knows.
    pub(super) fn with_unknown(&self, token: &str) -> Self {
        let (Some((prefix, _)), Some((_, suffix))) =
            (self.text.split_once(token), self.text.rsplit_once(token))
        else {
            return self.clone();
        };
        let open = match &self.open {
            Some(_) => Open {
                prefix: String::new(),
                suffix: String::new(),
            },
            None => Open {
                prefix: prefix.to_owned(),
                suffix: suffix.to_owned(),
            },
        };
        Self {
            open: Some(open),
            ..self.clone()
        }
    }
}

/// Collects one word, character by character.
#[derive(Clone, Debug, Default)]
pub(super) struct WordBuilder {
    text: String,
    started: bool,
    /// Where the first quoted or expanded part begins.
    plain_until: Option<usize>,
    /// The parts of the text that the shell may turn into something else: from the first to the end of the last.
    open: Option<(usize, usize)>,
    bracket: Option<usize>,
    brace: Option<usize>,
    brace_chooses: bool,
    /// Where the last tilde stands that the shell replaces.
    tilde: Option<usize>,
}

impl WordBuilder {
    /// Whether there is a word, be it an empty one in quotes.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Whether the word is digits alone so far, which makes it part of a redirection that follows at once.
    pub(super) fn is_number(&self) -> bool {
        self.plain_until.is_none()
            && !self.text.is_empty()
            && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// A quotation begins, which makes a word even if nothing is in it.
    pub(super) fn quote(&mut self) {
        self.started = true;
        self.plain_until.get_or_insert(self.text.len());
    }

    /// A character that stands for itself.
    pub(super) fn push_quoted(&mut self, c: char) {
        self.quote();
        self.text.push(c);
    }

    /// A character without quotes around it.
    pub(super) fn push(&mut self, c: char) {
        let at = self.text.len();
        let before = self.text.chars().next_back();
        self.text.push(c);
        let end = self.text.len();
        match c {
            '*' | '?' => self.open_between(at, end),
            '[' => {
                self.bracket.get_or_insert(at);
            }
            ']' => {
                if let Some(from) = self.bracket {
                    self.open_between(from, end);
                }
            }
            '{' => {
                self.brace.get_or_insert(at);
            }
            ',' => self.brace_chooses |= self.brace.is_some(),
            '.' => self.brace_chooses |= self.brace.is_some() && before == Some('.'),
            '}' => {
                if let Some(from) = self.brace
                    && self.brace_chooses
                {
                    self.open_between(from, end);
                }
            }
            '~' if !self.started || matches!(before, Some('=' | ':')) => {
                self.tilde = Some(at);
                self.open_between(at, end);
            }
            _ => {}
        }
        self.started = true;
    }

    /// An expansion stands here.
    pub(super) fn expand(&mut self) {
        self.quote();
        self.open_between(self.text.len(), self.text.len());
    }

    fn open_between(&mut self, from: usize, to: usize) {
        self.open = Some(match self.open {
            None => (from, to),
            Some((first, last)) => (first.min(from), last.max(to)),
        });
    }

    /// The finished word.
    pub(super) fn finish(self) -> Word {
        let plain = self.plain_until.unwrap_or(self.text.len());
        let unquoted = self.text.get(..plain).unwrap_or_default();
        let assigns = is_assignment(unquoted);
        let indexes = unquoted
            .split_once('[')
            .is_some_and(|(name, _)| is_name(name));
        let open = self.open.map(|(from, to)| {
            let before = self.text.get(..from).unwrap_or_default();
            let after = self.text.get(to..).unwrap_or_default();
            let home_ends_it = self.tilde.is_some_and(|at| at + 1 == to);
            let home_begins_it = from == 0 && self.text.starts_with('~') && self.tilde.is_some();
            Open {
                // A home directory is an absolute path.
                prefix: if home_begins_it { "/" } else { before }.to_owned(),
                suffix: match after.find('/') {
                    _ if !home_ends_it => after,
                    Some(slash) => after.get(slash..).unwrap_or_default(),
                    None => "",
                }
                .to_owned(),
            }
        });
        Word {
            assigns,
            indexes,
            open,
            bare: self.plain_until.is_none(),
            text: self.text,
        }
    }
}

/// Whether a text without quotes begins as `NAME=`, `NAME+=` or `NAME[…]=` does.
fn is_assignment(text: &str) -> bool {
    let Some((left, _)) = text.split_once('=') else {
        return false;
    };
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = match left.split_once('[') {
        Some((name, index)) if index.ends_with(']') => name,
        Some(_) => return false,
        None => left,
    };
    is_name(name)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unquoted(text: &str) -> Word {
        let mut builder = WordBuilder::default();
        text.chars().for_each(|c| builder.push(c));
        builder.finish()
    }

    #[test]
    fn wildcards_are_only_where_the_shell_sees_them() {
        for text in [
            "[", "]", "a]", "{}", "HEAD@{1}", "{a}", "a~b", "--x", "a,b", "a..b", "-", "}",
        ] {
            assert!(unquoted(text).is_literal(), "{text}");
        }
        for text in [
            "*", "a?", "r[m]", "{a,b}", "{1..3}", "~", "~/x", "x=~/y", "{,a}", "a{b,c}d",
        ] {
            assert!(!unquoted(text).is_literal(), "{text}");
        }
    }

    #[test]
    fn an_open_word_could_become_what_its_ends_allow() {
        for (word, text, expected) in [
            ("*.o", "-rf", false),
            ("*", "-rf", true),
            ("{push,x}", "push", true),
            ("a[bc]d", "abd", true),
            ("a[bc]d", "ad", true),
            ("a*a", "a", false),
            ("~", "-la", false),
            ("~/x", "/home/u/x", true),
            ("~/x", "/home/u/y", false),
            ("~/x*", "/home/u/xyz", true),
        ] {
            assert_eq!(unquoted(word).could_become(text), expected, "{word} {text}");
        }
    }

    #[test]
    fn assignments_are_told_from_words() {
        for (text, expected) in [
            ("A=b", true),
            ("_a1+=b", true),
            ("a[1]=x", true),
            ("--a=b", false),
            ("1a=b", false),
            ("=b", false),
            ("a", false),
            ("a.b=c", false),
        ] {
            assert_eq!(unquoted(text).assigns(), expected, "{text}");
        }
        let mut quoted = WordBuilder::default();
        quoted.push_quoted('A');
        quoted.push('=');
        assert!(!quoted.finish().assigns());
    }
}
