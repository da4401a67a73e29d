//! What an input is made of: [`ToolInput`] is the single source of a value's schema and of its binding, so that the
//! two cannot drift. This module holds the traits; it knows no concrete type.

use serde_json::{Map, Value};

use crate::Faults;

/// A JSON type, as sentences and schemas name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// Any value.
    Any,
    /// `array`.
    Array,
    /// `boolean`.
    Boolean,
    /// `integer`: a number without a fraction; `5.0` is one.
    Integer,
    /// `number`.
    Number,
    /// `object`.
    Object,
    /// `string`.
    String,
}

impl JsonType {
    /// The word of JSON Schema, such as `string`; `any` for [`JsonType::Any`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// The word with its article, such as `a string` or `an integer`.
    #[must_use]
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Array => "an array",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::String => "a string",
        }
    }
}

/// A value that a tool takes: its schema, its binding and its way back to JSON.
///
/// Derive it for structs with named fields (a JSON object that takes nothing but these fields) and for enums without
/// data (one of a list of strings). Implemented here for [`String`], [`bool`], [`u32`], [`i32`], [`u64`], [`i64`],
/// [`f64`], [`Vec`] and [`Value`] (any JSON but null). `Option` is not a value but a way for a field to be absent: see
/// [`InputField`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an input",
    label = "neither derives `ToolInput` nor is one of the types that a parameter can have",
    note = "a parameter is a `String`, `bool`, `u32`, `i32`, `u64`, `i64`, `f64`, `Value`, a `Vec` of these, or a type \
            that derives `ToolInput`; an `Option` of one stands directly in a field"
)]
pub trait ToolInput: Sized {
    /// The JSON type of the value.
    const TYPE: JsonType;

    /// The wire names of an object's fields in declaration order; empty for everything else.
    const FIELDS: &'static [&'static str] = &[];

    /// JSON Schema (2020-12) of the value, without `$ref`; an object says `additionalProperties: false`.
    fn schema() -> Map<String, Value>;

    /// Binds a value. `None` means that it does not fit, and then every violation in it is in `faults`.
    fn bind(value: Value, faults: &mut Faults) -> Option<Self>;

    /// The wire value: binding it again gives an equal value.
    fn to_json(&self) -> Value;
}

/// What the type of a struct's field may be: a [`ToolInput`], which is required unless it has a default, or an
/// `Option` of one, which may be absent. JSON null stands for an absent field.
pub trait InputField: Sized {
    /// Whether the field must be there.
    const REQUIRED: bool;

    /// JSON Schema of the field's value.
    fn field_schema() -> Map<String, Value>;

    /// Binds the field: `value` is `None` where it is absent. `None` means that it does not fit, as in
    /// [`ToolInput::bind`].
    fn bind_field(value: Option<Value>, faults: &mut Faults) -> Option<Self>;

    /// The wire value, `None` where the field is absent.
    fn field_to_json(&self) -> Option<Value>;
}

impl<T: ToolInput> InputField for T {
    const REQUIRED: bool = true;

    fn field_schema() -> Map<String, Value> {
        T::schema()
    }

    fn bind_field(value: Option<Value>, faults: &mut Faults) -> Option<Self> {
        match value {
            Some(value) => T::bind(value, faults),
            None => {
                faults.required(T::TYPE);
                None
            }
        }
    }

    fn field_to_json(&self) -> Option<Value> {
        Some(T::to_json(self))
    }
}

impl<T: ToolInput> InputField for Option<T> {
    const REQUIRED: bool = false;

    fn field_schema() -> Map<String, Value> {
        T::schema()
    }

    fn bind_field(value: Option<Value>, faults: &mut Faults) -> Option<Self> {
        match value {
            Some(value) => T::bind(value, faults).map(Some),
            None => Some(None),
        }
    }

    fn field_to_json(&self) -> Option<Value> {
        self.as_ref().map(T::to_json)
    }
}
