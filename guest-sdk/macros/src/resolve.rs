//! What the written type means as a tool's input, or everything that is wrong with it, at its place. After this step
//! nothing can be wrong any more but the types of the fields, which the compiler checks.

use heck::ToSnakeCase as _;
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Generics, Ident, Lit, Result, Token,
    Type, Variant,
};

use crate::attr::{self, Attributes};

/// A type that can be derived for.
pub(crate) enum Input {
    /// A struct: a JSON object.
    Object {
        ident: Ident,
        fields: Vec<ObjectField>,
    },
    /// An enum without data: one of some strings. Each variant with its wire name.
    Choice {
        ident: Ident,
        variants: Vec<(Ident, String)>,
    },
}

/// A field of an object.
pub(crate) struct ObjectField {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) wire_name: String,
    pub(crate) description: String,
    pub(crate) default: Option<DefaultValue>,
}

/// What an absent field stands for.
pub(crate) enum DefaultValue {
    /// An expression of the field's type.
    Expression(Expr),
    /// A string literal, to be converted into the field's type.
    Text(Expr),
}

/// All that is wrong, collected so that an author sees it at once.
#[derive(Default)]
struct Wrong(Option<Error>);

impl Wrong {
    fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn at(&mut self, span: Span, message: &str) {
        self.add(Error::new(span, message));
    }

    /// The value, or the error in it noted.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn or<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

/// The meaning of a type, or all that is wrong with it.
pub(crate) fn resolve(written: DeriveInput) -> Result<Input> {
    let mut wrong = Wrong::default();
    refuse_generics(&written.generics, &mut wrong);
    if let Some(attribute) = wrong
        .note(attr::read(&written.attrs))
        .and_then(|attributes| attributes.input)
    {
        wrong.at(
            attribute.path().span(),
            "`#[input(…)]` belongs on a field or a variant",
        );
    }
    let ident = written.ident;
    let input = match written.data {
        Data::Struct(data) => {
            let fields = fields(data.fields, &ident, &mut wrong);
            Input::Object { ident, fields }
        }
        Data::Enum(data) => {
            let variants = variants(data.variants, &ident, &mut wrong);
            Input::Choice { ident, variants }
        }
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "an input is a struct or an enum, not a union",
            ));
        }
    };
    wrong.or(input)
}

fn refuse_generics(generics: &Generics, wrong: &mut Wrong) {
    if !generics.params.is_empty() {
        wrong.at(
            generics.params.span(),
            "an input is not generic: a tool has one schema",
        );
    }
}

fn fields(fields: Fields, ident: &Ident, wrong: &mut Wrong) -> Vec<ObjectField> {
    let Fields::Named(named) = fields else {
        wrong.at(
            ident.span(),
            "an input struct has named fields: they are the names of the parameters",
        );
        return Vec::new();
    };
    let mut names = WireNames::default();
    let mut resolved = Vec::new();
    for written in named.named {
        let Some(attributes) = wrong.note(attr::read(&written.attrs)) else {
            continue;
        };
        resolved.extend(field(written, attributes, &mut names, wrong));
    }
    resolved
}

fn field(
    written: Field,
    attributes: Attributes,
    names: &mut WireNames,
    wrong: &mut Wrong,
) -> Option<ObjectField> {
    let ident = written.ident?;
    if attributes.docs.is_empty() {
        wrong.at(
            ident.span(),
            "a field needs a doc comment: it is the parameter's description",
        );
    }
    if let Some((key, _)) = &attributes.default
        && is_option(&written.ty)
    {
        wrong.at(key.span(), "an `Option` has no default: the field may be absent, or stands for something, not both");
    }
    let wire_name = names.take(&attributes, ident.unraw().to_string(), ident.span(), wrong);
    let default = attributes.default.map(|(_, expression)| match &expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(_), ..
        }) => DefaultValue::Text(expression),
        _ => DefaultValue::Expression(expression),
    });
    Some(ObjectField {
        ident,
        ty: written.ty,
        wire_name,
        description: attributes.docs,
        default,
    })
}

fn variants(
    written: Punctuated<Variant, Token![,]>,
    ident: &Ident,
    wrong: &mut Wrong,
) -> Vec<(Ident, String)> {
    if written.is_empty() {
        wrong.at(ident.span(), "an input enum has at least one variant");
    }
    let mut names = WireNames::default();
    let mut resolved = Vec::new();
    for variant in written {
        if !matches!(variant.fields, Fields::Unit) {
            wrong.at(
                variant.fields.span(),
                "a variant of an input enum carries no data: it is one of some strings",
            );
        }
        let Some(attributes) = wrong.note(attr::read(&variant.attrs)) else {
            continue;
        };
        if let Some((key, _)) = &attributes.default {
            wrong.at(key.span(), "a default belongs on a field");
        }
        let own_name = variant.ident.unraw().to_string().to_snake_case();
        let wire_name = names.take(&attributes, own_name, variant.ident.span(), wrong);
        resolved.push((variant.ident, wire_name));
    }
    resolved
}

/// The wire names taken so far.
#[derive(Default)]
struct WireNames(Vec<String>);

impl WireNames {
    fn take(
        &mut self,
        attributes: &Attributes,
        own: String,
        own_span: Span,
        wrong: &mut Wrong,
    ) -> String {
        let (name, span) = match &attributes.name {
            Some(literal) => (literal.value(), literal.span()),
            None => (own, own_span),
        };
        if name.is_empty() {
            wrong.at(span, "a wire name is not empty");
        }
        if self.0.contains(&name) {
            wrong.at(span, &format!("the wire name \"{name}\" is taken"));
        }
        self.0.push(name.clone());
        name
    }
}

fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path
        .segments
        .last()
        .is_some_and(|segment| segment.ident == "Option")
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
