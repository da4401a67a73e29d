//! The code of a resolved input. It decides nothing: each part of an [`Input`] has one form.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned as _;

use crate::resolve::{DefaultValue, Input, ObjectField};

/// The implementation of `ToolInput`.
pub(crate) fn expand(input: &Input) -> TokenStream {
    match input {
        Input::Object { ident, fields } => object(ident, fields),
        Input::Choice { ident, variants } => choice(ident, variants),
    }
}

fn object(ident: &Ident, fields: &[ObjectField]) -> TokenStream {
    let wire_names = fields.iter().map(|field| &field.wire_name);
    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let properties = fields.iter().map(property);
    // Names of its own, because a field may be called as anything in the function is.
    let locals: Vec<_> = (0..fields.len())
        .map(|index| format_ident!("field_{index}"))
        .collect();
    let bindings = fields
        .iter()
        .zip(&locals)
        .map(|(field, local)| binding(field, local));
    let values = fields.iter().map(value);
    quote! {
        #[automatically_derived]
        impl ::toolgate_guest::ToolInput for #ident {
            const TYPE: ::toolgate_guest::JsonType = ::toolgate_guest::JsonType::Object;
            const FIELDS: &'static [&'static str] = &[#(#wire_names),*];

            fn schema() -> ::toolgate_guest::__private::Map<
                ::std::string::String,
                ::toolgate_guest::__private::Value,
            > {
                #[allow(unused_mut, reason = "a struct may have no fields")]
                let mut properties = ::toolgate_guest::__private::Properties::default();
                #(#properties)*
                properties.into_schema()
            }

            fn bind(
                value: ::toolgate_guest::__private::Value,
                faults: &mut ::toolgate_guest::Faults,
            ) -> ::core::option::Option<Self> {
                #[allow(unused_mut, unused_variables, reason = "a struct may have no fields")]
                let mut object = ::toolgate_guest::__private::Object::open(value, Self::FIELDS, faults)?;
                // All fields are bound before the first that does not fit ends it.
                #(#bindings)*
                ::core::option::Option::Some(Self { #(#idents: #locals?),* })
            }

            fn to_json(&self) -> ::toolgate_guest::__private::Value {
                ::toolgate_guest::__private::object([#(#values),*])
            }
        }
    }
}

fn property(field: &ObjectField) -> TokenStream {
    let ObjectField {
        ty,
        wire_name,
        description,
        default,
        ..
    } = field;
    match default {
        None => quote_spanned! {ty.span()=>
            properties.add::<#ty>(#wire_name, #description);
        },
        Some(default) => {
            let default = default_value(field, default);
            quote_spanned! {ty.span()=>
                properties.add_with_default::<#ty>(#wire_name, #description, || #default);
            }
        }
    }
}

fn binding(field: &ObjectField, local: &Ident) -> TokenStream {
    let ObjectField {
        ty,
        wire_name,
        default,
        ..
    } = field;
    match default {
        None => quote_spanned! {ty.span()=>
            let #local = object.take::<#ty>(#wire_name, faults);
        },
        Some(default) => {
            let default = default_value(field, default);
            quote_spanned! {ty.span()=>
                let #local = object.take_or::<#ty>(#wire_name, || #default, faults);
            }
        }
    }
}

fn default_value(field: &ObjectField, default: &DefaultValue) -> TokenStream {
    match default {
        DefaultValue::Expression(expression) => quote!(#expression),
        DefaultValue::Text(literal) => {
            let ty = &field.ty;
            quote_spanned!(literal.span()=> <#ty as ::core::convert::From<&str>>::from(#literal))
        }
    }
}

fn value(field: &ObjectField) -> TokenStream {
    let ObjectField {
        ident,
        ty,
        wire_name,
        ..
    } = field;
    quote_spanned! {ty.span()=>
        (#wire_name, <#ty as ::toolgate_guest::InputField>::field_to_json(&self.#ident))
    }
}

fn choice(ident: &Ident, variants: &[(Ident, String)]) -> TokenStream {
    let wire_names: Vec<_> = variants.iter().map(|(_, wire_name)| wire_name).collect();
    let idents: Vec<_> = variants.iter().map(|(ident, _)| ident).collect();
    let indices = 0..variants.len();
    quote! {
        const _: () = {
            const WIRE_NAMES: &[&str] = &[#(#wire_names),*];

            #[automatically_derived]
            impl ::toolgate_guest::ToolInput for #ident {
                const TYPE: ::toolgate_guest::JsonType = ::toolgate_guest::JsonType::String;

                fn schema() -> ::toolgate_guest::__private::Map<
                    ::std::string::String,
                    ::toolgate_guest::__private::Value,
                > {
                    ::toolgate_guest::__private::choice_schema(WIRE_NAMES)
                }

                fn bind(
                    value: ::toolgate_guest::__private::Value,
                    faults: &mut ::toolgate_guest::Faults,
                ) -> ::core::option::Option<Self> {
                    match ::toolgate_guest::__private::choice(&value, WIRE_NAMES, faults)? {
                        #(#indices => ::core::option::Option::Some(Self::#idents),)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn to_json(&self) -> ::toolgate_guest::__private::Value {
                    let name = match self {
                        #(Self::#idents => #wire_names,)*
                    };
                    ::toolgate_guest::__private::Value::from(name)
                }
            }
        };
    }
}
