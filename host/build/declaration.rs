//! Asks a built-in tool what it is, as a host does at its first start with a component: here once and for all, so that a
//! start neither loads nor runs it.

use serde_json::{Value, json};
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Engine, Store};

const TOOL: &str = "toolgate:tool/tool@0.1.0";
const SUBJECTS: &str = "toolgate:tool/subjects@0.1.0";
/// What the hash tables of Rust's library ask for. What a tool says does not hang on their order.
const SEED: &str = "wasi:random/insecure-seed@";
/// What `describe` may use: a thousand times what the largest takes.
const FUEL: u64 = 5_000_000_000;

/// What a component says of itself.
pub(crate) struct Said {
    /// The host's `DeclarationParts`, as JSON.
    pub(crate) declaration: String,
    /// Whether it exports `subjects`.
    pub(crate) computes_subjects: bool,
}

/// Runs `describe` in a sandbox in which every import traps, but for the seed of hash tables.
pub(crate) fn ask(
    engine: &Engine,
    component: &Component,
) -> Result<Said, Box<dyn std::error::Error>> {
    let mut linker = Linker::<()>::new(engine);
    let imports = component.component_type();
    for (name, _) in imports
        .imports(engine)
        .filter(|(name, _)| name.starts_with(SEED))
    {
        let mut seed = linker.instance(name)?;
        seed.func_wrap("insecure-seed", |_, (): ()| Ok(((0_u64, 0_u64),)))?;
    }
    linker.define_unknown_imports_as_traps(component)?;
    let mut store = Store::new(engine, ());
    store.set_fuel(FUEL)?;
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, component)?;
    let tool = instance
        .get_export_index(&mut store, None, TOOL)
        .ok_or("it is no tool")?;
    let describe = instance
        .get_export_index(&mut store, Some(&tool), "describe")
        .and_then(|index| instance.get_func(&mut store, index))
        .ok_or("it has no 'describe'")?;
    let mut said = [Val::Bool(false)];
    describe.call(&mut store, &[], &mut said)?;
    let [said] = said;
    Ok(Said {
        declaration: parts(&value(said)?).to_string(),
        computes_subjects: component.get_export_index(None, SUBJECTS).is_some(),
    })
}

/// The names of the contract in the places of the host's.
fn parts(said: &Value) -> Value {
    let capability = |asked: &Value| {
        json!([
            asked["kind"],
            asked["target"],
            asked["reason"],
            asked["optional"]
        ])
    };
    let capabilities = said["capabilities"].as_array().into_iter().flatten();
    json!({
        "name": said["name"],
        "description": said["description"],
        "input_schema": said["input-schema"],
        "output_schema": said["output-schema"],
        "claim": {
            "level": said["side-effect"],
            "destructive": said["destructive"],
            "idempotent": said["idempotent"],
            "open_world": said["open-world"],
            "exclusive": said["exclusive"],
        },
        "subject": said["subject"],
        "capabilities": capabilities.map(capability).collect::<Vec<_>>(),
        "annotations": said["annotations"],
    })
}

fn value(said: Val) -> Result<Value, String> {
    Ok(match said {
        Val::Bool(is) => is.into(),
        Val::String(text) | Val::Enum(text) => text.into(),
        Val::Option(None) => Value::Null,
        Val::Option(Some(some)) => value(*some)?,
        Val::List(items) | Val::Tuple(items) => {
            Value::Array(items.into_iter().map(value).collect::<Result<_, _>>()?)
        }
        Val::Record(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, field)| Ok((name, value(field)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => return Err(format!("a declaration has no {other:?}")),
    })
}
