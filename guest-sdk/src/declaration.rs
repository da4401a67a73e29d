//! What a tool says of itself, as a constant. What can be checked at compile time is: a bad name, a read-only tool that
//! destroys, or a ninth capability does not compile. There is no default side effect.

use crate::ToolInput;

/// Most capabilities, and most annotations, that a declaration holds.
const MAX_ITEMS: usize = 8;

/// What a call may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideEffect {
    /// The call changes nothing that outlives it.
    ReadOnly,
    /// The call may change something.
    Mutating,
}

/// What a permission rule's pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// A command line.
    Command,
    /// A file path; relative paths stand on the workspace root.
    Path,
    /// A URL.
    Url,
}

/// One thing a tool asks for. Asking grants nothing: a tool gets what it asks for and the operator allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    kind: &'static str,
    target: &'static str,
    reason: &'static str,
    optional: bool,
}

impl Capability {
    /// Asks for `target` of `kind`, because of `reason`, a sentence for the person who grants it.
    ///
    /// `kind` is `fs-read`, `fs-write`, `net`, `env`, `secret`, `shell`, `store` or `clock-real`; a host that does not
    /// know it makes the tool unavailable. `target` is `subject` (only what this call's subject names) or `workspace`
    /// for files, a URL pattern for the network, and `run` or `tasks` for the shell, never an absolute path.
    #[must_use]
    pub const fn new(kind: &'static str, target: &'static str, reason: &'static str) -> Self {
        assert!(!kind.is_empty(), "a capability needs a kind");
        assert!(!reason.is_empty(), "a capability needs a reason");
        Self {
            kind,
            target,
            reason,
            optional: false,
        }
    }

    /// The tool is still of use without it.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// What is asked for.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// What of that kind.
    #[must_use]
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// Why.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        self.reason
    }

    /// Whether the tool is still of use without it.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        self.optional
    }
}

/// What a tool says of itself. Every part of it is a claim: it may only take power away.
///
/// Made by [`read_only`](Self::read_only) or [`mutating`](Self::mutating), in a constant: its misuse is a compile error
/// there (and a panic anywhere else).
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) output_schema: Option<&'static str>,
    pub(crate) side_effect: SideEffect,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
    pub(crate) exclusive: bool,
    pub(crate) raw_input: bool,
    pub(crate) subject: Option<(SubjectKind, &'static str)>,
    pub(crate) capabilities: [Option<Capability>; MAX_ITEMS],
    pub(crate) annotations: [Option<(&'static str, &'static str)>; MAX_ITEMS],
}

impl Declaration {
    /// A tool whose calls change nothing that outlives them.
    ///
    /// `name` matches `^[A-Za-z][A-Za-z0-9_-]{0,63}$`; `description` is for the model, 1 to 4,096 characters.
    #[must_use]
    pub const fn read_only(name: &'static str, description: &'static str) -> Self {
        Self::new(name, description, SideEffect::ReadOnly)
    }

    /// A tool whose calls may change something. `name` and `description` as in [`read_only`](Self::read_only).
    #[must_use]
    pub const fn mutating(name: &'static str, description: &'static str) -> Self {
        Self::new(name, description, SideEffect::Mutating)
    }

    /// The call may overwrite or delete something.
    #[must_use]
    pub const fn destructive(self) -> Self {
        assert!(
            matches!(self.side_effect, SideEffect::Mutating),
            "only a mutating tool can be destructive"
        );
        Self {
            destructive: true,
            ..self
        }
    }

    /// The same call twice leaves what the call once leaves.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    /// The call reaches things that neither the host nor its operator owns, such as the public network.
    #[must_use]
    pub const fn open_world(self) -> Self {
        Self {
            open_world: true,
            ..self
        }
    }

    /// Two calls of the tool must not overlap, whatever their subjects.
    #[must_use]
    pub const fn exclusive(self) -> Self {
        Self {
            exclusive: true,
            ..self
        }
    }

    /// The input field that holds the permission subject, by its wire name. The host, never the tool, takes the value
    /// out of the input. The field is required or has a default.
    #[must_use]
    pub const fn subject(self, kind: SubjectKind, field: &'static str) -> Self {
        assert!(self.subject.is_none(), "a declaration has one subject");
        Self {
            subject: Some((kind, field)),
            ..self
        }
    }

    /// Asks for a capability. At most 8.
    #[must_use]
    pub const fn capability(mut self, capability: Capability) -> Self {
        assert!(
            place(&mut self.capabilities, capability),
            "a declaration holds at most 8 capabilities"
        );
        self
    }

    /// Adds an annotation: a hint, example or icon, as JSON text. At most 8.
    #[must_use]
    pub const fn annotation(mut self, key: &'static str, json: &'static str) -> Self {
        assert!(
            place(&mut self.annotations, (key, json)),
            "a declaration holds at most 8 annotations"
        );
        self
    }

    /// JSON Schema of the structured output, as text, if every result carries it.
    #[must_use]
    pub const fn output_schema(self, json: &'static str) -> Self {
        Self {
            output_schema: Some(json),
            ..self
        }
    }

    /// Asks the host to show the input schema and not to enforce it. The input is bound all the same.
    #[must_use]
    pub const fn raw_input(self) -> Self {
        Self {
            raw_input: true,
            ..self
        }
    }

    const fn new(name: &'static str, description: &'static str, side_effect: SideEffect) -> Self {
        assert!(
            is_tool_name(name),
            "a tool's name is a letter, then at most 63 letters, digits, '_' or '-'"
        );
        let length = count_chars(description);
        assert!(
            length >= 1 && length <= 4096,
            "a tool's description has 1 to 4,096 characters"
        );
        Self {
            name,
            description,
            output_schema: None,
            side_effect,
            destructive: false,
            idempotent: false,
            open_world: false,
            exclusive: false,
            raw_input: false,
            subject: None,
            capabilities: [None; MAX_ITEMS],
            annotations: [None; MAX_ITEMS],
        }
    }

    /// Whether the subject, if there is one, names a field of `Input`.
    pub(crate) const fn subject_is_field<Input: ToolInput>(&self) -> bool {
        let Some((_, subject)) = self.subject else {
            return true;
        };
        let mut fields = Input::FIELDS;
        while let [field, rest @ ..] = fields {
            if bytes_are_equal(field.as_bytes(), subject.as_bytes()) {
                return true;
            }
            fields = rest;
        }
        false
    }

    /// Whether a capability is for what the subject names, without there being a subject.
    pub(crate) const fn lacks_subject(&self) -> bool {
        if self.subject.is_some() {
            return false;
        }
        let mut slots: &[Option<Capability>] = &self.capabilities;
        while let [slot, rest @ ..] = slots {
            if let Some(capability) = slot
                && bytes_are_equal(capability.target.as_bytes(), b"subject")
            {
                return true;
            }
            slots = rest;
        }
        false
    }
}

/// Puts an item into the first free slot; false if there is none.
const fn place<T: Copy>(mut slots: &mut [Option<T>], item: T) -> bool {
    while let [slot, rest @ ..] = slots {
        if slot.is_none() {
            *slot = Some(item);
            return true;
        }
        slots = rest;
    }
    false
}

const fn is_tool_name(name: &str) -> bool {
    let Some((first, mut rest)) = name.as_bytes().split_first() else {
        return false;
    };
    if !first.is_ascii_alphabetic() || rest.len() > 63 {
        return false;
    }
    while let [byte, tail @ ..] = rest {
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-') {
            return false;
        }
        rest = tail;
    }
    true
}

const fn count_chars(text: &str) -> usize {
    let mut count = 0;
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        // Bytes of the form 10xxxxxx continue a character.
        if *byte & 0xC0 != 0x80 {
            count += 1;
        }
        bytes = rest;
    }
    count
}

const fn bytes_are_equal(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        left = left_rest;
        right = right_rest;
    }
    left.is_empty() && right.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["A", "WordCount", "a-b_9", &"a".repeat(64)] {
            assert!(is_tool_name(good), "{good}");
        }
        for bad in ["", "9a", "-a", "a b", "ä", "a.b", &"a".repeat(65)] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(count_chars("aé€😀"), 4);
        assert_eq!(count_chars(""), 0);
    }

    #[test]
    fn equality_needs_the_same_length() {
        assert!(bytes_are_equal(b"ab", b"ab"));
        assert!(!bytes_are_equal(b"ab", b"a"));
        assert!(!bytes_are_equal(b"a", b"ab"));
        assert!(!bytes_are_equal(b"ab", b"ac"));
    }

    #[test]
    fn eight_capabilities_fit() {
        let one = Capability::new("net", "https://example.com", "asks");
        let mut declaration = Declaration::read_only("A", "b");
        for _ in 0..8 {
            declaration = declaration.capability(one);
        }
        assert_eq!(declaration.capabilities, [Some(one); 8]);
        let ninth = std::panic::catch_unwind(|| declaration.capability(one));
        assert!(ninth.is_err());
    }

    #[test]
    fn a_read_only_tool_cannot_be_destructive() {
        assert!(Declaration::mutating("A", "b").destructive().destructive);
        assert!(
            std::panic::catch_unwind(|| Declaration::read_only("A", "b").destructive()).is_err()
        );
    }
}
