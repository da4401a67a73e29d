//! The result of a call that did what it was asked. It holds what the model reads and, beside it, the same as JSON;
//! it never holds a failure: that is a [`ToolError`](crate::ToolError).

use serde_json::Value;

/// Bytes with a type, such as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Such as `image/png`.
    pub mime: String,
    /// Where the bytes come from, if that can be named.
    pub uri: Option<String>,
    /// The bytes.
    pub data: Vec<u8>,
}

/// A pointer to something the model can read later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it is.
    pub uri: String,
    /// What to call it.
    pub name: String,
    /// Such as `text/plain`, if known.
    pub mime: Option<String>,
}

/// One part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text for the model.
    Text(String),
    /// Bytes with a type.
    Blob(Blob),
    /// A pointer.
    Link(Link),
}

/// The result of a call: parts in order, and the same result as JSON for programs if there is one.
///
/// A host limits how much text reaches a model; what is over goes to a file. A tool need not cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    content: Vec<Content>,
    structured: Option<Value>,
}

impl Output {
    /// A result of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with_text(text)
    }

    /// A structured result, with its indented JSON as the text for the model.
    #[must_use]
    pub fn json(value: Value) -> Self {
        Self::text(format!("{value:#}")).with_structured(value)
    }

    /// Adds a text.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with(Content::Text(text.into()))
    }

    /// Adds an image of type `mime`, such as `image/png`.
    #[must_use]
    pub fn with_image(self, mime: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        self.with_blob(Blob {
            mime: mime.into(),
            uri: None,
            data: data.into(),
        })
    }

    /// Adds bytes of any type.
    #[must_use]
    pub fn with_blob(self, blob: Blob) -> Self {
        self.with(Content::Blob(blob))
    }

    /// Adds a pointer.
    #[must_use]
    pub fn with_link(self, link: Link) -> Self {
        self.with(Content::Link(link))
    }

    /// Sets the result for programs. It says what the content says.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// The parts, in order.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// The result for programs.
    #[must_use]
    pub const fn structured(&self) -> Option<&Value> {
        self.structured.as_ref()
    }

    pub(crate) fn into_parts(self) -> (Vec<Content>, Option<Value>) {
        (self.content, self.structured)
    }

    fn with(mut self, part: Content) -> Self {
        self.content.push(part);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_structured_and_text() {
        let output = Output::json(json!({"n": 1}));
        assert_eq!(output.structured(), Some(&json!({"n": 1})));
        assert_eq!(
            output.content(),
            [Content::Text("{\n  \"n\": 1\n}".to_owned())]
        );
    }

    #[test]
    fn parts_keep_their_order() {
        let link = Link {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            mime: None,
        };
        let output = Output::text("one")
            .with_image("image/png", [1, 2])
            .with_link(link.clone());
        let image = Blob {
            mime: "image/png".to_owned(),
            uri: None,
            data: vec![1, 2],
        };
        assert_eq!(
            output.content(),
            [
                Content::Text("one".to_owned()),
                Content::Blob(image),
                Content::Link(link)
            ]
        );
        assert_eq!(output.structured(), None);
    }
}
