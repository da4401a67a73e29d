//! The types of a function, read once when its component is loaded: owned, bounded, and only what JSON can hold.

use std::fmt;

use wasmtime::component::types::Type;

/// The deepest nesting.
const MAX_DEPTH: usize = 32;
/// The most types that one function is made of; shared types count each time, as they do in its schema.
const MAX_PARTS: usize = 2_000;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Bool,
    Whole(Whole),
    Float32,
    Float64,
    Char,
    Text,
    /// `list<u8>`.
    Bytes,
    List(Box<Shape>),
    /// A list of exactly so many.
    Fixed(Box<Shape>, u32),
    Map(Box<Shape>, Box<Shape>),
    Record(Vec<(String, Shape)>),
    Tuple(Vec<Shape>),
    Variant(Vec<Case>),
    Enum(Vec<String>),
    Flags(Vec<String>),
    Option(Box<Shape>),
    Result(Outcome),
}

/// A case of a variant, with what it carries.
pub(super) type Case = (String, Option<Shape>);

/// What a `result` carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) ok: Option<Box<Shape>>,
    pub(super) error: Option<Box<Shape>>,
}

/// A whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
}

impl Whole {
    /// The least and the most.
    pub(super) fn range(self) -> (i128, i128) {
        match self {
            Self::S8 => (i8::MIN.into(), i8::MAX.into()),
            Self::U8 => (u8::MIN.into(), u8::MAX.into()),
            Self::S16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U16 => (u16::MIN.into(), u16::MAX.into()),
            Self::S32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (u32::MIN.into(), u32::MAX.into()),
            Self::S64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U64 => (u64::MIN.into(), u64::MAX.into()),
        }
    }

    /// Whether readers of JSON may round it: then it may be a text.
    pub(super) fn is_wide(self) -> bool {
        matches!(self, Self::S64 | Self::U64)
    }

    fn word(self) -> &'static str {
        match self {
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
        }
    }
}

/// Why a function is no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A type that has no value outside of its component.
    #[error("it takes or gives a {0}, which no JSON can hold")]
    Type(&'static str),
    /// It belongs to a resource.
    #[error("it belongs to a resource, which does not outlive a call")]
    OfAResource,
    /// Deep, or large.
    #[error("its types are nested too deep, or too many")]
    TooLarge,
    /// Its name.
    #[error("'{0}' is no name of a tool: a letter, then at most 39 letters, digits, '_' or '-'")]
    Name(String),
    /// Two functions would be one tool.
    #[error("{0} would be the same tool '{1}'")]
    Collides(String, String),
    /// WASI's own exports are for runtimes.
    #[error("it is WASI's own, for a runtime to call and not for a model")]
    OfWasi,
    /// It has to be called another way.
    #[error("it is asynchronous, which this host does not call")]
    Asynchronous,
}

/// Reads types, and counts them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    parts: usize,
}

impl Reader {
    pub(super) fn read(&mut self, ty: &Type) -> Result<Shape, Unusable> {
        self.at(ty, 0)
    }

    fn at(&mut self, ty: &Type, depth: usize) -> Result<Shape, Unusable> {
        self.parts += 1;
        if depth > MAX_DEPTH || self.parts > MAX_PARTS {
            return Err(Unusable::TooLarge);
        }
        Ok(match ty {
            Type::Bool => Shape::Bool,
            Type::S8 => Shape::Whole(Whole::S8),
            Type::U8 => Shape::Whole(Whole::U8),
            Type::S16 => Shape::Whole(Whole::S16),
            Type::U16 => Shape::Whole(Whole::U16),
            Type::S32 => Shape::Whole(Whole::S32),
            Type::U32 => Shape::Whole(Whole::U32),
            Type::S64 => Shape::Whole(Whole::S64),
            Type::U64 => Shape::Whole(Whole::U64),
            Type::Float32 => Shape::Float32,
            Type::Float64 => Shape::Float64,
            Type::Char => Shape::Char,
            Type::String => Shape::Text,
            Type::List(list) if matches!(list.ty(), Type::U8) => Shape::Bytes,
            Type::List(list) => Shape::List(self.boxed(&list.ty(), depth)?),
            Type::FixedLengthList(list) => Shape::Fixed(self.boxed(&list.ty(), depth)?, list.len()),
            Type::Map(map) => Shape::Map(
                self.boxed(&map.key(), depth)?,
                self.boxed(&map.value(), depth)?,
            ),
            Type::Enum(of) => Shape::Enum(of.names().map(str::to_owned).collect()),
            Type::Flags(of) => Shape::Flags(of.names().map(str::to_owned).collect()),
            Type::Option(of) => Shape::Option(self.boxed(&of.ty(), depth)?),
            Type::Own(_) | Type::Borrow(_) => return Err(Unusable::Type("resource")),
            Type::Future(_) => return Err(Unusable::Type("future")),
            Type::Stream(_) => return Err(Unusable::Type("stream")),
            Type::ErrorContext => return Err(Unusable::Type("error context")),
            Type::Record(_) | Type::Tuple(_) | Type::Variant(_) | Type::Result(_) => {
                self.compound(ty, depth)?
            }
        })
    }

    fn compound(&mut self, ty: &Type, depth: usize) -> Result<Shape, Unusable> {
        Ok(match ty {
            Type::Record(record) => {
                let fields = record.fields().map(|field| {
                    let shape = self.at(&field.ty, depth + 1)?;
                    Ok((field.name.to_owned(), shape))
                });
                Shape::Record(fields.collect::<Result<_, Unusable>>()?)
            }
            Type::Tuple(tuple) => {
                let types = tuple.types().map(|ty| self.at(&ty, depth + 1));
                Shape::Tuple(types.collect::<Result<_, _>>()?)
            }
            Type::Variant(variant) => {
                let cases = variant.cases().map(|case| {
                    let carried = case.ty.map(|ty| self.at(&ty, depth + 1));
                    Ok((case.name.to_owned(), carried.transpose()?))
                });
                Shape::Variant(cases.collect::<Result<_, Unusable>>()?)
            }
            Type::Result(result) => Shape::Result(Outcome {
                ok: self.carried(result.ok(), depth)?,
                error: self.carried(result.err(), depth)?,
            }),
            // What has no parts was read already.
            _ => return Err(Unusable::Type("type that this host does not know")),
        })
    }

    fn carried(&mut self, ty: Option<Type>, depth: usize) -> Result<Option<Box<Shape>>, Unusable> {
        ty.map(|ty| self.boxed(&ty, depth)).transpose()
    }

    fn boxed(&mut self, ty: &Type, depth: usize) -> Result<Box<Shape>, Unusable> {
        self.at(ty, depth + 1).map(Box::new)
    }
}

impl Shape {
    /// Whether null is one of its values.
    pub(super) fn is_optional(&self) -> bool {
        matches!(self, Self::Option(_))
    }

    /// The cases of what is written like a variant.
    pub(super) fn cases(&self) -> Option<Vec<(&str, Option<&Shape>)>> {
        match self {
            Self::Variant(cases) => {
                let cases = cases.iter();
                Some(
                    cases
                        .map(|(name, carried)| (name.as_str(), carried.as_ref()))
                        .collect(),
                )
            }
            Self::Result(Outcome { ok, error }) => {
                Some(vec![("ok", ok.as_deref()), ("err", error.as_deref())])
            }
            _ => None,
        }
    }
}

/// As WIT writes it; records and the like without their names, which a component does not keep.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Whole(whole) => f.write_str(whole.word()),
            Self::Float32 => f.write_str("f32"),
            Self::Float64 => f.write_str("f64"),
            Self::Char => f.write_str("char"),
            Self::Text => f.write_str("string"),
            Self::Bytes => f.write_str("list<u8>"),
            Self::List(item) => write!(f, "list<{item}>"),
            Self::Fixed(item, count) => write!(f, "list<{item}, {count}>"),
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Self::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, shape)| format!("{name}: {shape}"));
                write!(f, "{{ {} }}", joined(fields))
            }
            Self::Tuple(items) => write!(f, "tuple<{}>", joined(items.iter())),
            Self::Variant(cases) => {
                let cases = cases.iter().map(|(name, carried)| match carried {
                    Some(shape) => format!("{name}({shape})"),
                    None => name.clone(),
                });
                write!(f, "variant {{ {} }}", joined(cases))
            }
            Self::Enum(names) => write!(f, "enum {{ {} }}", joined(names.iter())),
            Self::Flags(names) => write!(f, "flags {{ {} }}", joined(names.iter())),
            Self::Option(inner) => write!(f, "option<{inner}>"),
            Self::Result(Outcome { ok, error }) => match (ok, error) {
                (None, None) => f.write_str("result"),
                (Some(ok), None) => write!(f, "result<{ok}>"),
                (None, Some(error)) => write!(f, "result<_, {error}>"),
                (Some(ok), Some(error)) => write!(f, "result<{ok}, {error}>"),
            },
        }
    }
}

pub(super) fn joined(parts: impl Iterator<Item = impl fmt::Display>) -> String {
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    parts.join(", ")
}
