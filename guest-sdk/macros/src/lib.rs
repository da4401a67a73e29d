//! The derive of `toolgate-guest`. Three steps, one file each: `attr` says what was written, `resolve` what it
//! means (or what is wrong, at its place), `expand` writes the code and decides nothing.

mod attr;
mod expand;
mod resolve;

use proc_macro::TokenStream;

/// Derives `toolgate_guest::ToolInput`: schema and binding of a tool's input from one type.
///
/// For a struct with named fields (the top of an input, or nested in one) and for an enum without data (one of a list
/// of strings). Neither may be generic.
///
/// | where | attribute | meaning |
/// |---|---|---|
/// | field | doc comment | the parameter's description; required |
/// | field | `#[input(name = "-i")]` | its wire name; without it, the field's own name |
/// | field | `#[input(default = EXPR)]` | what an absent field stands for: an expression of the field's type, or a string literal for a `String` |
/// | field | type `Option<T>` | the field may be absent |
/// | variant | `#[input(name = "…")]` | its wire name; without it, the variant's name in `snake_case` |
#[proc_macro_derive(ToolInput, attributes(input))]
pub fn tool_input(tokens: TokenStream) -> TokenStream {
    let written = syn::parse_macro_input!(tokens as syn::DeriveInput);
    match resolve::resolve(written) {
        Ok(input) => expand::expand(&input).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
