//! Plain components: no world of ours, any exported function a tool.
//!
//! Names, schemas and values come from the types of the exports; what they claim is the worst there is, and what they
//! reach is what the operator grants. Each call is a fresh instance within the same bounds as any other. Never contains a
//! guess about what a function does.

mod docs;
mod from;
mod into;
mod schema;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wasmtime::Store;
use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Val};

use self::docs::Docs;
use self::shape::{Outcome, Reader, Shape, joined};
use super::admission::Share;
use super::component::{ComponentError, imports, link};
use super::engine::ToolEngine;
use super::instance::{Begun, CallSetup, GuestEnd, GuestReport};
use super::state::State;
use crate::model::{
    Claim, Content, Declaration, DeclarationError, DeclarationParts, Limits, SideEffect, Stop,
    ToolFailure, ToolName, ToolOutput, hides,
};

pub use self::shape::Unusable;

/// The longest name of a tool that is made from a function's.
const MAX_NAME: usize = 40;
/// The longest description that a component's own words give, characters.
const MAX_DESCRIPTION: usize = 4_096;
/// The longest signature that a description quotes, characters.
const MAX_SIGNATURE: usize = 1_000;
/// The most functions of one component.
const MAX_FUNCTIONS: usize = 1_000;
/// What has a meaning of its own and makes no tools.
const OURS: &str = "toolgate:";

/// A component whose exported functions are tools.
#[derive(Clone)]
pub struct PlainComponent {
    functions: Vec<PlainFunction>,
    unusable: Vec<(String, Unusable)>,
    digest: Arc<str>,
    imports: Arc<[String]>,
}

/// One function of it.
#[derive(Clone)]
pub struct PlainFunction {
    engine: ToolEngine,
    share: Share,
    instance: InstancePre<State>,
    export: ComponentExportIndex,
    digest: Arc<str>,
    name: ToolName,
    words: Option<String>,
    signature: Arc<Signature>,
}

/// The parameters and the result of a function.
#[derive(Debug)]
struct Signature {
    parameters: Vec<(String, Shape)>,
    result: Option<Shape>,
}

/// A function as its component exports it.
struct Exported {
    /// As people know it: `NAME`, or `INTERFACE#NAME`.
    path: String,
    interface: Option<String>,
    name: String,
    index: ComponentExportIndex,
    ty: ComponentFunc,
}

impl PlainComponent {
    /// Reads the functions of a compiled component. `bytes` are those of its file, for the words in it.
    pub(super) fn of(
        engine: &ToolEngine,
        component: &Component,
        digest: String,
        bytes: &[u8],
    ) -> Result<Self, ComponentError> {
        let exported = exported(engine, component);
        let ours = component.component_type();
        let ours = ours
            .exports(engine.engine())
            .any(|(name, _)| name.starts_with(OURS));
        if ours || exported.is_empty() {
            return Err(ComponentError::NotATool);
        }
        let imports: Arc<[String]> = imports(engine, component)?.into();
        let instance = link(engine, component)?;
        let docs = Docs::of(bytes);
        let digest: Arc<str> = digest.into();
        let share = engine.admission().share(component);
        let mut unusable = Vec::new();
        let mut named: BTreeMap<ToolName, (String, PlainFunction)> = BTreeMap::new();
        for function in exported.into_iter().take(MAX_FUNCTIONS) {
            let path = function.path.clone();
            let read = name_of(&function).and_then(|name| Ok((name, signature(&function.ty)?)));
            let (name, signature) = match read {
                Ok(read) => read,
                Err(why) => {
                    unusable.push((path, why));
                    continue;
                }
            };
            let made = PlainFunction {
                engine: engine.clone(),
                share: share.clone(),
                instance: instance.clone(),
                export: function.index,
                digest: Arc::clone(&digest),
                words: docs.function(function.interface.as_deref(), &function.name),
                name: name.clone(),
                signature: Arc::new(signature),
            };
            // The first would be called in the place of the second: neither is.
            if let Some((other, _)) = named.get(&name) {
                let what = Unusable::Collides(other.clone(), name.to_string());
                return Err(ComponentError::Function(path, what));
            }
            named.insert(name, (path, made));
        }
        if let ([(path, why), ..], true) = (unusable.as_slice(), named.is_empty()) {
            return Err(ComponentError::Function(path.clone(), why.clone()));
        }
        Ok(Self {
            functions: named.into_values().map(|(_, function)| function).collect(),
            unusable,
            digest,
            imports,
        })
    }

    /// Its functions that can be called, by name.
    pub fn functions(&self) -> &[PlainFunction] {
        &self.functions
    }

    /// Its other functions, and why they are no tools.
    pub fn unusable(&self) -> &[(String, Unusable)] {
        &self.unusable
    }

    /// SHA-256 of the component in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What it imports.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }
}

impl fmt::Debug for PlainComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainComponent")
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PlainFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainFunction")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// Every exported function: those of the component itself, and those of its interfaces.
fn exported(engine: &ToolEngine, component: &Component) -> Vec<Exported> {
    let mut found = Vec::new();
    let own = component.component_type();
    for (export, item) in own.exports(engine.engine()) {
        match item.ty {
            ComponentItem::ComponentFunc(ty) => {
                let index = component.get_export_index(None, export);
                found.extend(index.map(|index| Exported {
                    path: export.to_owned(),
                    interface: None,
                    name: export.to_owned(),
                    index,
                    ty,
                }));
            }
            ComponentItem::ComponentInstance(instance) => {
                let Some(parent) = component.get_export_index(None, export) else {
                    continue;
                };
                for (name, item) in instance.exports(engine.engine()) {
                    let ComponentItem::ComponentFunc(ty) = item.ty else {
                        continue;
                    };
                    let index = component.get_export_index(Some(&parent), name);
                    found.extend(index.map(|index| Exported {
                        path: format!("{export}#{name}"),
                        interface: Some(interface_name(export).to_owned()),
                        name: name.to_owned(),
                        index,
                        ty,
                    }));
                }
            }
            _ => {}
        }
    }
    found
}

/// `time` of `example:clock/time@0.1.0`.
fn interface_name(export: &str) -> &str {
    let without_version = export.split('@').next().unwrap_or(export);
    without_version
        .rsplit('/')
        .next()
        .unwrap_or(without_version)
}

/// The name of the tool: the function's, behind that of its interface. It does not depend on what else is there, so that
/// a rule that names it stays true.
fn name_of(function: &Exported) -> Result<ToolName, Unusable> {
    if function.name.starts_with('[') {
        return Err(Unusable::OfAResource);
    }
    if function.path.starts_with("wasi:") {
        return Err(Unusable::OfWasi);
    }
    let name = match &function.interface {
        Some(interface) => format!("{interface}_{}", function.name),
        None => function.name.clone(),
    };
    let made = ToolName::try_from(name.as_str()).ok();
    made.filter(|name| name.as_str().len() <= MAX_NAME)
        .ok_or_else(|| Unusable::Name(name.chars().take(2 * MAX_NAME).collect()))
}

fn signature(ty: &ComponentFunc) -> Result<Signature, Unusable> {
    if ty.async_() {
        return Err(Unusable::Asynchronous);
    }
    let mut reader = Reader::default();
    let parameters = ty.params().map(|(name, ty)| {
        let shape = reader.read(&ty)?;
        Ok((name.to_owned(), shape))
    });
    let parameters = parameters.collect::<Result<_, Unusable>>()?;
    let result = ty.results().next().map(|ty| reader.read(&ty));
    Ok(Signature {
        parameters,
        result: result.transpose()?,
    })
}

impl Signature {
    /// What a call gives when it goes well.
    fn given(&self) -> Option<&Shape> {
        match &self.result {
            Some(Shape::Result(Outcome { ok, .. })) => ok.as_deref(),
            other => other.as_ref(),
        }
    }
}

/// As WIT writes it.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(name, shape)| format!("{name}: {shape}"));
        write!(f, "func({})", joined(parameters))?;
        match &self.result {
            Some(result) => write!(f, " -> {result}"),
            None => Ok(()),
        }
    }
}

impl PlainFunction {
    /// The name of the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// SHA-256 of its component in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What the tool is, in the worst case: it changes, destroys and reaches out. It asks for nothing.
    ///
    /// # Errors
    /// Its schema is too large.
    pub fn declaration(&self) -> Result<Declaration, DeclarationError> {
        Declaration::check(DeclarationParts {
            name: self.name.to_string(),
            description: self.description(),
            input_schema: schema::object(&self.signature.parameters).to_string(),
            output_schema: self.output_schema().map(|schema| schema.to_string()),
            claim: Claim {
                level: SideEffect::Mutating,
                destructive: true,
                idempotent: false,
                open_world: true,
                exclusive: true,
            },
            subject: None,
            capabilities: Vec::new(),
            annotations: Vec::new(),
        })
    }

    fn description(&self) -> String {
        let own = self.words.as_deref().filter(|words| !hides(words));
        if let Some(words) = own {
            return words.chars().take(MAX_DESCRIPTION).collect();
        }
        let signature = self.signature.to_string();
        let short: String = signature.chars().take(MAX_SIGNATURE).collect();
        let end = if short.len() < signature.len() {
            "…"
        } else {
            ""
        };
        format!(
            "A function of a component that says nothing of it: {}: {short}{end}",
            self.name
        )
    }

    fn output_schema(&self) -> Option<Value> {
        let given = self.signature.given()?;
        Some(match given {
            Shape::Record(fields) => schema::object(fields),
            shape => json!({
                "type": "object",
                "properties": {"result": schema::schema(shape)},
                "required": ["result"],
                "additionalProperties": false,
            }),
        })
    }

    /// Runs one call in a fresh instance. Dropping the future ends it wherever it is.
    pub async fn call(&self, setup: CallSetup, input: &Map<String, Value>) -> GuestReport {
        let mut begun = Begun::new(&self.engine, setup);
        let arguments = match into::arguments(&self.signature.parameters, input) {
            Ok(arguments) => arguments,
            Err(violations) => {
                return begun.report(GuestEnd::Failed(ToolFailure {
                    kind: "invalid-input".to_owned(),
                    message: violations.join("\n"),
                }));
            }
        };
        // Boxed: the instance's future is large, and would be copied on its way down.
        let run = Box::pin(self.run(&mut begun.store, &arguments));
        let ran = timeout(begun.time, run).await;
        begun.ended(ran, |given, limits| self.answered(given, limits))
    }

    async fn run(
        &self,
        store: &mut Store<State>,
        arguments: &[Val],
    ) -> wasmtime::Result<Option<Val>> {
        let _room = self.share.room().await?;
        let instance = self.instance.instantiate_async(&mut *store).await?;
        let Some(function) = instance.get_func(&mut *store, self.export) else {
            return Err(wasmtime::format_err!("the function is gone"));
        };
        let count = usize::from(self.signature.result.is_some());
        let mut results = vec![Val::Bool(false); count];
        function.call_async(store, arguments, &mut results).await?;
        Ok(results.pop())
    }

    fn answered(&self, given: Option<Val>, limits: &Limits) -> GuestEnd {
        let (shape, val, failed) = match (&self.signature.result, given) {
            (Some(Shape::Result(outcome)), Some(Val::Result(result))) => match result {
                Ok(val) => (outcome.ok.as_deref(), val.map(|val| *val), false),
                Err(val) => (outcome.error.as_deref(), val.map(|val| *val), true),
            },
            (shape, val) => (shape.as_ref(), val, false),
        };
        let value = shape
            .zip(val.as_ref())
            .map(|(shape, val)| from::json(shape, val));
        let text = match &value {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let limit = limits.result.get();
        if text.len() > limit {
            return GuestEnd::Stopped(Stop::ResultSize { limit });
        }
        if failed {
            let message = match text.is_empty() {
                true => "The function failed and did not say why.".to_owned(),
                false => text,
            };
            return GuestEnd::Failed(ToolFailure {
                kind: "failed".to_owned(),
                message,
            });
        }
        GuestEnd::Done(done(shape, value, text))
    }
}

fn done(shape: Option<&Shape>, value: Option<Value>, text: String) -> ToolOutput {
    let structured = value.map(|value| match shape {
        Some(Shape::Record(_)) => value,
        _ => json!({"result": value}),
    });
    let content = match structured {
        Some(_) => vec![Content::Text { text }],
        None => Vec::new(),
    };
    ToolOutput {
        content,
        structured,
        capped: false,
    }
}
