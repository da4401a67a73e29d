//! What was written in `#[input(…)]` and in doc comments, without a judgement of what it means where it stands.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result};

/// The attributes of one field, variant or type.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `name = "…"`.
    pub(crate) name: Option<LitStr>,
    /// `default = …`, with the word `default` for messages.
    pub(crate) default: Option<(Ident, Expr)>,
    /// The first `#[input(…)]`.
    pub(crate) input: Option<Attribute>,
    /// The doc comment as one text: lines of a paragraph joined, paragraphs on lines of their own.
    pub(crate) docs: String,
}

/// Reads the attributes; other macros' are passed over.
pub(crate) fn read(attributes: &[Attribute]) -> Result<Attributes> {
    let mut read = Attributes::default();
    let mut doc_lines = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("doc") {
            doc_lines.extend(doc_line(attribute));
        } else if attribute.path().is_ident("input") {
            attribute.parse_nested_meta(|meta| read.key(&meta))?;
            read.input.get_or_insert_with(|| attribute.clone());
        }
    }
    read.docs = join(&doc_lines);
    Ok(read)
}

impl Attributes {
    fn key(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(key) = meta.path.get_ident().cloned() else {
            return Err(unknown_key(meta));
        };
        let repeated = match key.to_string().as_str() {
            "name" => self.name.replace(meta.value()?.parse()?).is_some(),
            "default" => self
                .default
                .replace((key.clone(), meta.value()?.parse()?))
                .is_some(),
            _ => return Err(unknown_key(meta)),
        };
        if repeated {
            Err(Error::new(key.span(), format!("`{key}` is set twice")))
        } else {
            Ok(())
        }
    }
}

fn unknown_key(meta: &ParseNestedMeta<'_>) -> Error {
    meta.error("unknown key; `#[input(…)]` takes `name = \"…\"` and `default = …`")
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &pair.value
    else {
        return None;
    };
    Some(text.value())
}

fn join(lines: &[String]) -> String {
    let mut text = String::new();
    let mut paragraph_ended = false;
    // One attribute may hold several lines: `/** … */`.
    for line in lines
        .iter()
        .flat_map(|line| line.split('\n'))
        .map(str::trim)
    {
        if line.is_empty() {
            paragraph_ended = true;
            continue;
        }
        if !text.is_empty() {
            text.push(if paragraph_ended { '\n' } else { ' ' });
        }
        text.push_str(line);
        paragraph_ended = false;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(lines: &[&str]) -> String {
        let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        join(&lines)
    }

    #[test]
    fn a_paragraph_is_one_line() {
        assert_eq!(
            docs(&[" One", " two.", "", "", " Three."]),
            "One two.\nThree."
        );
        assert_eq!(docs(&["\n One\n two.\n"]), "One two.");
        assert_eq!(docs(&["", " "]), "");
    }
}
