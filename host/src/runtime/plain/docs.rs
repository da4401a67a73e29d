//! What a component's `package-docs` section says of its functions. Few components have one; what is none is ignored.

use serde_json::{Map, Value};
use wasmparser::{Parser, Payload};

/// The section.
const SECTION: &str = "package-docs";
/// The largest section that is read, bytes.
const MAX_SECTION: usize = 1 << 20;
/// Versions of it that are known: both write functions in the same places.
const VERSIONS: [u8; 2] = [0, 1];

/// The words of all packages that a component holds.
#[derive(Debug, Default)]
pub(super) struct Docs {
    packages: Vec<Value>,
}

impl Docs {
    /// Reads the sections of a component, also those of components in it.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut docs = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload {
                Ok(Payload::CustomSection(section)) if section.name() == SECTION => {
                    docs.packages.extend(package(section.data()));
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        docs
    }

    /// What is said of a function: `interface` is the name of its interface without package and version, if it has one.
    pub(super) fn function(&self, interface: Option<&str>, name: &str) -> Option<String> {
        self.packages.iter().find_map(|package| match interface {
            None => in_worlds(package, |world| {
                said(world, &["func_exports", "funcs"], name)
            }),
            Some(interface) => {
                let own = table(package, "interfaces").and_then(|all| all.get(interface));
                own.and_then(|own| said(own, &["funcs"], name)).or_else(|| {
                    in_worlds(package, |world| {
                        let exported = ["interface_exports", "interfaces"];
                        exported.iter().find_map(|key| {
                            let interface = table(world, key)?.get(interface)?;
                            said(interface, &["funcs"], name)
                        })
                    })
                })
            }
        })
    }
}

fn package(section: &[u8]) -> Option<Value> {
    let (version, json) = section.split_first()?;
    if section.len() > MAX_SECTION || !VERSIONS.contains(version) {
        return None;
    }
    serde_json::from_slice(json).ok()
}

fn in_worlds(package: &Value, find: impl Fn(&Value) -> Option<String>) -> Option<String> {
    table(package, "worlds")?.values().find_map(find)
}

fn table<'a>(of: &'a Value, key: &str) -> Option<&'a Map<String, Value>> {
    of.get(key)?.as_object()
}

/// The docs of a function: a text, or an object that holds it.
fn said(of: &Value, keys: &[&str], name: &str) -> Option<String> {
    let function = keys.iter().find_map(|key| table(of, key)?.get(name))?;
    let text = function.get("docs").unwrap_or(function).as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(version: u8, json: &str) -> Vec<u8> {
        let mut data = vec![version];
        data.extend(json.as_bytes());
        let mut content = vec![u8::try_from(SECTION.len()).unwrap()];
        content.extend(SECTION.as_bytes());
        content.extend(data);
        let mut bytes = b"\0asm\x0d\0\x01\0\0".to_vec();
        let mut length = content.len();
        loop {
            let low = u8::try_from(length & 0x7f).unwrap();
            length >>= 7;
            bytes.push(if length == 0 { low } else { low | 0x80 });
            if length == 0 {
                break;
            }
        }
        bytes.extend(content);
        bytes
    }

    #[test]
    fn both_ways_of_writing_are_read() {
        let json = r#"{"worlds": {"w": {"func_exports": {"fetch": {"docs": " Fetches. "}},
            "interface_exports": {"inline": {"funcs": {"now": "Says."}}}}},
            "interfaces": {"time": {"funcs": {"now": {"docs": "The time."}, "silent": {"stability": 1}}}}}"#;
        for version in [0, 1] {
            let docs = Docs::of(&section(version, json));
            let function = |interface, name| docs.function(interface, name);
            assert_eq!(function(None, "fetch").unwrap(), "Fetches.");
            assert_eq!(function(Some("time"), "now").unwrap(), "The time.");
            assert_eq!(function(Some("inline"), "now").unwrap(), "Says.");
            assert_eq!(function(Some("time"), "silent"), None);
            assert_eq!(function(None, "now"), None);
        }
    }

    #[test]
    fn what_is_no_section_says_nothing() {
        for bytes in [
            section(9, "{}"),
            section(1, "[1]"),
            section(1, "{\"worlds\": []}"),
            section(1, "{"),
            b"\0asm\x0d\0\x01\0\0\xff".to_vec(),
            b"(component)".to_vec(),
        ] {
            assert_eq!(Docs::of(&bytes).function(None, "fetch"), None);
        }
    }
}
