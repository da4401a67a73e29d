//! From JSON to the values of a component: all violations at once, in the sentences of the schema gate.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::shape::{Shape, Whole, joined};
use crate::model::suggestion;

/// The most violations that are told.
const MAX_VIOLATIONS: usize = 50;
/// The longest value that a sentence quotes, characters.
const MAX_QUOTE: usize = 60;

/// The arguments of a call.
///
/// # Errors
/// One sentence for each violation.
pub(super) fn arguments(
    parameters: &[(String, Shape)],
    input: &Map<String, Value>,
) -> Result<Vec<Val>, Vec<String>> {
    let mut binder = Binder::default();
    let fields = binder.fields(parameters, input, "");
    match binder.violations {
        found if !found.is_empty() => Err(found),
        _ => Ok(fields
            .unwrap_or_default()
            .into_iter()
            .map(|(_, val)| val)
            .collect()),
    }
}

#[derive(Debug, Default)]
struct Binder {
    violations: Vec<String>,
}

/// None where there was a violation, which is kept.
type Bound<T> = Option<T>;

impl Binder {
    fn wrong<T>(&mut self, what: String) -> Bound<T> {
        self.say(format!("{what}."));
        None
    }

    fn say(&mut self, sentence: String) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations
                .push(format!("{sentence} The tool was not executed."));
        }
    }

    fn must<T>(&mut self, path: &str, be: &str) -> Bound<T> {
        self.wrong(format!("Parameter '{path}' must be {be}"))
    }

    fn fields(
        &mut self,
        fields: &[(String, Shape)],
        input: &Map<String, Value>,
        path: &str,
    ) -> Bound<Vec<(String, Val)>> {
        let below = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let known = || fields.iter().map(|(name, _)| name.as_str());
        let mut good = true;
        for name in input.keys() {
            if !known().any(|known| known == name) {
                let shown = shortened(&below(name));
                let hint = suggestion(name, known());
                self.say(format!("Unknown parameter '{shown}'.{hint}"));
                good = false;
            }
        }
        let mut vals = Vec::with_capacity(fields.len());
        for (name, shape) in fields {
            let at = below(name);
            let val = match (input.get(name), shape) {
                (Some(value), shape) => self.val(shape, value, &at),
                (None, Shape::Option(_)) => Some(Val::Option(None)),
                (None, shape) => {
                    self.wrong(format!("Parameter '{at}' is required ({})", kind(shape)))
                }
            };
            match val {
                Some(val) => vals.push((name.clone(), val)),
                None => good = false,
            }
        }
        good.then_some(vals)
    }

    fn val(&mut self, shape: &Shape, value: &Value, path: &str) -> Bound<Val> {
        match (shape, value) {
            (Shape::Bool, Value::Bool(value)) => Some(Val::Bool(*value)),
            (Shape::Text, Value::String(text)) => Some(Val::String(text.clone())),
            (Shape::Whole(whole), value) => self.whole(*whole, value, path),
            (Shape::Float32 | Shape::Float64, Value::Number(number)) => {
                self.float(shape, number.as_f64(), path)
            }
            (Shape::Char, Value::String(text)) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(only), None) => Some(Val::Char(only)),
                    _ => self.must(path, "one character"),
                }
            }
            (Shape::Bytes, Value::String(text)) => match STANDARD.decode(text) {
                Ok(bytes) => Some(Val::List(bytes.into_iter().map(Val::U8).collect())),
                Err(_) => self.must(path, "base64"),
            },
            (Shape::Enum(names), Value::String(name)) => {
                self.one_of(names, name, path).map(Val::Enum)
            }
            (Shape::Option(_), Value::Null) => Some(Val::Option(None)),
            (Shape::Option(inner), value) => self.some(inner, value, path),
            (Shape::Variant(_) | Shape::Result(_), value) => self.case(shape, value, path),
            (Shape::Record(fields), Value::Object(object)) => {
                self.fields(fields, object, path).map(Val::Record)
            }
            (Shape::Map(key, of), Value::Object(object)) if **key == Shape::Text => {
                self.map(of, object, path)
            }
            (_, Value::Array(items)) => self.array(shape, items, path),
            _ => self.must(path, &article(kind(shape))),
        }
    }

    fn whole(&mut self, whole: Whole, value: &Value, path: &str) -> Bound<Val> {
        let number = match value {
            Value::Number(number) => number
                .as_i64()
                .map(i128::from)
                .or_else(|| number.as_u64().map(i128::from)),
            // Only the one way in which a number is written.
            Value::String(text) if whole.is_wide() => text
                .parse::<i128>()
                .ok()
                .filter(|number| number.to_string() == *text),
            _ => None,
        };
        let Some(number) = number else {
            return self.must(path, "an integer");
        };
        let (low, high) = whole.range();
        let val = match whole {
            Whole::S8 => i8::try_from(number).map(Val::S8),
            Whole::U8 => u8::try_from(number).map(Val::U8),
            Whole::S16 => i16::try_from(number).map(Val::S16),
            Whole::U16 => u16::try_from(number).map(Val::U16),
            Whole::S32 => i32::try_from(number).map(Val::S32),
            Whole::U32 => u32::try_from(number).map(Val::U32),
            Whole::S64 => i64::try_from(number).map(Val::S64),
            Whole::U64 => u64::try_from(number).map(Val::U64),
        };
        match val {
            Ok(val) => Some(val),
            Err(_) => self.must(path, &format!("an integer from {low} to {high}")),
        }
    }

    fn float(&mut self, shape: &Shape, number: Option<f64>, path: &str) -> Bound<Val> {
        let Some(number) = number.filter(|number| number.is_finite()) else {
            return self.must(path, "a number");
        };
        if *shape == Shape::Float64 {
            return Some(Val::Float64(number));
        }
        // What the component takes keeps what 32 bits can hold.
        let narrow = number as f32;
        match narrow.is_finite() {
            true => Some(Val::Float32(narrow)),
            false => self.must(path, "a number that 32 bits can hold"),
        }
    }

    fn one_of(&mut self, names: &[String], name: &str, path: &str) -> Bound<String> {
        if names.iter().any(|known| known == name) {
            return Some(name.to_owned());
        }
        let (names, name) = (joined(names.iter()), shortened(name));
        self.must(path, &format!("one of [{names}], but was '{name}'"))
    }

    fn some(&mut self, inner: &Shape, value: &Value, path: &str) -> Bound<Val> {
        let some = |val| Val::Option(Some(Box::new(val)));
        if !inner.is_optional() {
            return self.val(inner, value, path).map(some);
        }
        match single(value) {
            Some(("some", value)) => self.val(inner, value, path).map(some),
            _ => self.must(path, "null or an object with the one key 'some'"),
        }
    }

    fn case(&mut self, shape: &Shape, value: &Value, path: &str) -> Bound<Val> {
        let cases = shape.cases().unwrap_or_default();
        let (name, value) = match value {
            Value::String(name) => (name.as_str(), None),
            value => match single(value) {
                Some((name, value)) => (name, Some(value)),
                None => {
                    return self.must(path, "the name of a case, or an object with that one key");
                }
            },
        };
        let Some((_, carried)) = cases.iter().find(|(case, _)| *case == name) else {
            let names: Vec<String> = cases.iter().map(|(case, _)| (*case).to_owned()).collect();
            self.one_of(&names, name, path)?;
            return None;
        };
        let carried = match (carried, value) {
            (None, None) => None,
            (Some(carried), Some(value)) => {
                let at = format!("{path}.{name}");
                Some(Box::new(self.val(carried, value, &at)?))
            }
            (None, Some(_)) => {
                return self.must(
                    path,
                    &format!("the text '{name}': the case carries nothing"),
                );
            }
            (Some(carried), None) => {
                let kind = kind(carried);
                return self.must(
                    path,
                    &format!("an object: '{name}' carries a value ({kind})"),
                );
            }
        };
        Some(match shape {
            Shape::Result(_) if name == "ok" => Val::Result(Ok(carried)),
            Shape::Result(_) => Val::Result(Err(carried)),
            _ => Val::Variant(name.to_owned(), carried),
        })
    }

    fn map(&mut self, of: &Shape, object: &Map<String, Value>, path: &str) -> Bound<Val> {
        let pairs: Vec<Bound<(Val, Val)>> = object
            .iter()
            .map(|(key, value)| {
                let at = format!("{path}.{}", shortened(key));
                Some((Val::String(key.clone()), self.val(of, value, &at)?))
            })
            .collect();
        pairs.into_iter().collect::<Bound<Vec<_>>>().map(Val::Map)
    }

    fn array(&mut self, shape: &Shape, items: &[Value], path: &str) -> Bound<Val> {
        match shape {
            Shape::List(item) => self.items(|_| Some(&**item), items, path).map(Val::List),
            Shape::Fixed(item, count) => {
                if items.len() != *count as usize {
                    return self.must(path, &format!("an array of {count}"));
                }
                let items = self.items(|_| Some(&**item), items, path);
                items.map(Val::FixedLengthList)
            }
            Shape::Tuple(shapes) => {
                if items.len() != shapes.len() {
                    return self.must(path, &format!("an array of {}", shapes.len()));
                }
                let items = self.items(|index| shapes.get(index), items, path);
                items.map(Val::Tuple)
            }
            Shape::Flags(names) => self.flags(names, items, path),
            Shape::Map(key, value) => self.pairs(key, value, items, path),
            _ => self.must(path, &article(kind(shape))),
        }
    }

    fn items<'a>(
        &mut self,
        shape: impl Fn(usize) -> Option<&'a Shape>,
        items: &[Value],
        path: &str,
    ) -> Bound<Vec<Val>> {
        let vals: Vec<Bound<Val>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| self.val(shape(index)?, item, &format!("{path}[{index}]")))
            .collect();
        vals.into_iter().collect()
    }

    fn flags(&mut self, names: &[String], items: &[Value], path: &str) -> Bound<Val> {
        let mut set: Vec<String> = Vec::new();
        let mut good = true;
        for (index, item) in items.iter().enumerate() {
            let at = format!("{path}[{index}]");
            let name = match item {
                Value::String(name) => self.one_of(names, name, &at),
                _ => self.must(&at, "a string"),
            };
            match name {
                Some(name) if set.contains(&name) => {}
                Some(name) => set.push(name),
                None => good = false,
            }
        }
        good.then_some(Val::Flags(set))
    }

    fn pairs(&mut self, key: &Shape, value: &Shape, items: &[Value], path: &str) -> Bound<Val> {
        let mut pairs = Vec::with_capacity(items.len());
        let mut good = true;
        for (index, item) in items.iter().enumerate() {
            let at = format!("{path}[{index}]");
            let pair = match item.as_array().map(Vec::as_slice) {
                Some([first, second]) => {
                    let first = self.val(key, first, &format!("{at}[0]"));
                    let second = self.val(value, second, &format!("{at}[1]"));
                    first.zip(second)
                }
                _ => self.must(&at, "an array of 2"),
            };
            match pair {
                Some(pair) => pairs.push(pair),
                None => good = false,
            }
        }
        good.then_some(Val::Map(pairs))
    }
}

/// The one key of an object, and its value.
fn single(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object()?;
    let mut entries = object.iter();
    match (entries.next(), entries.next()) {
        (Some((key, value)), None) => Some((key, value)),
        _ => None,
    }
}

/// What a value of the shape is in JSON.
fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool => "boolean",
        Shape::Whole(_) => "integer",
        Shape::Float32 | Shape::Float64 => "number",
        Shape::Char | Shape::Text | Shape::Bytes | Shape::Enum(_) => "string",
        Shape::List(_) | Shape::Fixed(..) | Shape::Tuple(_) | Shape::Flags(_) => "array",
        Shape::Map(key, _) if **key == Shape::Text => "object",
        Shape::Map(..) => "array",
        Shape::Record(_) => "object",
        Shape::Variant(_) | Shape::Result(_) => "string or object",
        Shape::Option(inner) => kind(inner),
    }
}

fn article(kind: &str) -> String {
    match kind.starts_with(['a', 'i', 'o']) {
        true => format!("an {kind}"),
        false => format!("a {kind}"),
    }
}

/// What somebody chose, short enough for a sentence and with nothing in it that a reader does not see.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    crate::model::visible(&short).into_owned()
}
