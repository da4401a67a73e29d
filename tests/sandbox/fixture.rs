//! Components as text: a core module that answers `describe` with a declaration laid out in its memory, lifted and
//! passed through an inner component that gives the types their names.

use std::fmt::Write as _;

/// Where the strings of a declaration begin in the memory; the declaration itself stands before them.
const STRINGS: usize = 1_024;
/// Where the declaration stands.
const DECLARATION: usize = 16;

/// Where `call` may write its answer: zeros at first.
pub const ANSWER: usize = 200_000;

/// What a component is made of. The default is a tool that works and answers every call with an empty result.
pub struct Fixture {
    /// The exported interface.
    pub export: &'static str,
    /// More of the component before its module, as text: imports, other modules and their instances.
    pub imports: &'static str,
    /// More of the core module, as text: imports of its own first.
    pub core: &'static str,
    /// What the core module is given, as text.
    pub with: &'static str,
    /// Pages of its memory at the start; at least 8.
    pub pages: usize,
    /// The body of `call`: the place of an answer. Zeros there are an empty result.
    pub call: String,
    /// The body of `describe`.
    pub describe: String,
    /// The names of the levels; the contract has two.
    pub levels: &'static str,
    /// The declared name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The input schema.
    pub schema: String,
    /// Kind and target of the one capability, if there is one.
    pub capability: Option<(&'static str, &'static str)>,
}

/// Gives the core module the time that it has left, which tells a call from what runs before.
#[allow(dead_code, reason = "each that includes this file uses a part of it")]
const DEADLINE: &str = r#"
    (import "toolgate:tool/host@0.1.0" (instance $host (export "deadline-ms" (func (result u32)))))
    (alias export $host "deadline-ms" (func $deadline))
    (core func $core-deadline (canon lower (func $deadline)))"#;

#[allow(dead_code, reason = "each that includes this file uses a part of it")]
impl Fixture {
    /// One that describes itself in good order, and whose start function never ends where less than three seconds are
    /// left.
    pub fn spinning_in_start() -> Self {
        Self {
            imports: DEADLINE,
            with: r#"(with "host" (instance (export "deadline-ms" (func $core-deadline))))"#,
            core: r#"
                (import "host" "deadline-ms" (func $deadline (result i32)))
                (func $start (if (i32.lt_u (call $deadline) (i32.const 3000)) (then (loop $on (br $on)))))
                (start $start)"#,
            ..Self::default()
        }
    }

    /// The body of a `call` that answers with a failure of this kind (its place in the contract's list) whose text or list
    /// stands at `pointer` and is this long, whether or not there is anything.
    pub fn failing(kind: u32, pointer: u32, length: u32) -> String {
        let word = |at: usize, word: u32| {
            format!("(i32.store (i32.const {}) (i32.const {word}))", ANSWER + at)
        };
        [
            word(0, 1),
            word(4, kind),
            word(8, pointer),
            word(12, length),
            format!("(i32.const {ANSWER})"),
        ]
        .concat()
    }
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            export: "toolgate:tool/tool@0.1.0",
            imports: "",
            core: "",
            with: "",
            pages: 8,
            call: format!("(i32.const {ANSWER})"),
            describe: format!("(i32.const {DECLARATION})"),
            levels: r#""read-only" "mutating""#,
            name: "Fixture".to_owned(),
            description: "A component as text.".to_owned(),
            schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#.to_owned(),
            capability: None,
        }
    }
}

/// The memory of a fixture as it is laid out.
struct Memory {
    strings: Vec<u8>,
    record: Vec<u8>,
}

impl Memory {
    /// A string or list: its place and its length.
    fn push(&mut self, text: &str) {
        let at = STRINGS + self.strings.len();
        self.strings.extend(text.as_bytes());
        self.words(&[at, text.len()]);
    }

    fn words(&mut self, words: &[usize]) {
        for word in words {
            let word = u32::try_from(*word).expect("a small number");
            self.record.extend(word.to_le_bytes());
        }
    }
}

impl Fixture {
    /// The component's text.
    pub fn text(&self) -> Vec<u8> {
        let (declaration, strings) = self.memory();
        let core = format!(
            r#"(core module $m
                {more}
                (memory (export "memory") {pages})
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 262144))
                (func (export "describe") (result i32) {describe})
                (func (export "call") (param i32 i32) (result i32) {call})
                (data (i32.const {DECLARATION}) "{declaration}")
                (data (i32.const {STRINGS}) "{strings}"))"#,
            describe = self.describe,
            more = self.core,
            pages = self.pages,
            call = self.call,
            declaration = escaped(&declaration),
            strings = escaped(&strings),
        );
        let types = self.types();
        let named: String = types
            .iter()
            .map(|(name, is)| format!("(type ${name} {is})\n"))
            .collect();
        let shim = shim(&types);
        let given: String = types
            .iter()
            .map(|(name, _)| format!("(with \"import-type-{name}\" (type ${name}))\n"))
            .collect();
        format!(
            r#"(component
                {imports}
                {core}
                (core instance $i (instantiate $m {with}))
                (alias core export $i "memory" (core memory $memory))
                (alias core export $i "cabi_realloc" (core func $realloc))
                (alias core export $i "describe" (core func $core-describe))
                (alias core export $i "call" (core func $core-call))
                {named}
                (func $describe (result $declaration)
                    (canon lift (core func $core-describe) (memory $memory) (realloc $realloc)))
                (func $call (param "input" string) (result (result $output (error $tool-error)))
                    (canon lift (core func $core-call) (memory $memory) (realloc $realloc)))
                {shim}
                (instance $tool (instantiate $shim
                    {given}
                    (with "import-func-describe" (func $describe))
                    (with "import-func-call" (func $call))))
                (export "{export}" (instance $tool)))"#,
            imports = self.imports,
            with = self.with,
            export = self.export,
        )
        .into_bytes()
    }

    /// The declaration in the layout of the canonical ABI, and the strings that it points at.
    fn memory(&self) -> (Vec<u8>, Vec<u8>) {
        let mut memory = Memory {
            strings: Vec::new(),
            record: Vec::new(),
        };
        for text in [&self.name, &self.description, &self.schema] {
            memory.push(text);
        }
        // No output schema; read-only, and nothing else claimed; no subject.
        memory.words(&[0, 0, 0]);
        memory.record.extend([0; 8]);
        memory.words(&[0, 0, 0, 0]);
        let capability = DECLARATION + 76;
        let count = usize::from(self.capability.is_some());
        memory.words(&[capability, count, 0, 0]);
        assert_eq!(memory.record.len(), 76, "the size of a declaration");
        if let Some((kind, target)) = self.capability {
            for text in [kind, target, "a reason"] {
                memory.push(text);
            }
            memory.words(&[0]);
        }
        (memory.record, memory.strings)
    }

    /// The types of the contract, each after those that it uses.
    fn types(&self) -> Vec<(&'static str, String)> {
        let fixed = [
            ("subject-kind", r#"(enum "command" "path" "url")"#),
            (
                "subject",
                r#"(record (field "kind" $subject-kind) (field "field" string))"#,
            ),
            (
                "capability",
                r#"(record (field "kind" string) (field "target" string) (field "reason" string) (field "optional" bool))"#,
            ),
            (
                "declaration",
                r#"(record (field "name" string) (field "description" string) (field "input-schema" string)
                    (field "output-schema" (option string)) (field "side-effect" $side-effect) (field "destructive" bool)
                    (field "idempotent" bool) (field "open-world" bool) (field "exclusive" bool)
                    (field "subject" (option $subject)) (field "capabilities" (list $capability))
                    (field "annotations" (list (tuple string string))))"#,
            ),
            (
                "blob",
                r#"(record (field "mime" string) (field "uri" (option string)) (field "data" (list u8)))"#,
            ),
            (
                "link",
                r#"(record (field "uri" string) (field "name" string) (field "mime" (option string)))"#,
            ),
            (
                "content",
                r#"(variant (case "text" string) (case "blob" $blob) (case "link" $link))"#,
            ),
            (
                "output",
                r#"(record (field "content" (list $content)) (field "structured" (option string)))"#,
            ),
            (
                "tool-error",
                r#"(variant (case "invalid-input" (list string)) (case "denied" string) (case "not-found" string)
                    (case "cancelled") (case "failed" string) (case "other" (tuple string string)))"#,
            ),
        ];
        let mut types = vec![("side-effect", format!("(enum {})", self.levels))];
        types.extend(fixed.map(|(name, is)| (name, is.to_owned())));
        types
    }
}

/// The inner component: takes types and functions, and gives them under their names.
fn shim(types: &[(&'static str, String)]) -> String {
    let mut text = String::from("(component $shim\n");
    let mut line =
        |written: std::fmt::Arguments<'_>| text.write_fmt(written).expect("a string takes all");
    for (name, is) in types {
        line(format_args!(
            "(type $raw-{name} {is})\n(import \"import-type-{name}\" (type ${name} (eq $raw-{name})))\n"
        ));
    }
    line(format_args!(
        "(import \"import-func-describe\" (func $describe (result $declaration)))\n"
    ));
    line(format_args!(
        "(import \"import-func-call\" (func $call (param \"input\" string) (result (result $output (error $tool-error)))))\n"
    ));
    for (name, is) in types {
        let is = is.replace('$', "$out-");
        line(format_args!(
            "(type $made-{name} {is})\n(export $out-{name} \"{name}\" (type $made-{name}))\n"
        ));
    }
    line(format_args!(
        "(export \"describe\" (func $describe) (func (result $out-declaration)))\n\
         (export \"call\" (func $call) (func (param \"input\" string) (result (result $out-output (error $out-tool-error)))))"
    ));
    text.push(')');
    text
}

/// Bytes as a string of the text format.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}
