//! Components: from bytes to something that can be called, with what it says of itself.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre};

use super::admission::Share;
use super::bindings::toolgate::tool::types as wit;
use super::bindings::with_subjects::ToolGuestWithSubjectsPre;
use super::bindings::{ToolGuestPre, exports};
use super::compile::MAX_COMPONENT;
use super::engine::ToolEngine;
use super::limiter::{MAX_MEMORIES, MAX_TABLES};
use super::plain::{PlainComponent, Unusable};
use super::state::State;
use crate::model::{
    CapabilityKind, Claim, Declaration, DeclarationError, DeclarationParts, MAX_INSTANCES,
    SideEffect, SubjectField, SubjectKind, hex,
};
use crate::policy::{NetworkAsk, NetworkAskError};

/// The export that makes a component a tool.
const TOOL: &str = "toolgate:tool/tool@";
/// The optional export.
const SUBJECTS: &str = "toolgate:tool/subjects@";
/// The versions of our contract that this host has.
const CONTRACT: &str = "0.1.";
/// What this host offers of our own packages.
const OFFERED: [&str; 8] = [
    "toolgate:tool/host@0.1.",
    "toolgate:tool/settings@0.1.",
    "toolgate:tool/types@0.1.",
    "toolgate:files/files@0.1.",
    "toolgate:secrets/secrets@0.1.",
    "toolgate:shell/shell@0.1.",
    "toolgate:shell/sessions@0.1.",
    "wasi:",
];

/// Where a component comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Ahead-of-time compiled by this crate's build script, with the digest of the component that it was compiled from.
    BuiltIn {
        /// Machine code.
        compiled: &'static [u8],
        /// SHA-256 in hexadecimal.
        digest: &'static str,
    },
    /// Bytes of a component, or of its text form.
    Bytes(Vec<u8>),
    /// A component of a known digest in a file, which is read only where its code is not cached.
    Stored {
        /// SHA-256 in hexadecimal.
        digest: String,
        /// Its file.
        file: PathBuf,
    },
}

/// A component that can be called.
#[derive(Clone)]
pub struct LoadedComponent {
    pub(super) engine: ToolEngine,
    pub(super) share: Share,
    pub(super) tool: ToolGuestPre<State>,
    pub(super) subjects: Option<ToolGuestWithSubjectsPre<State>>,
    digest: Arc<str>,
    imports: Arc<[String]>,
}

/// Why a component cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// Over the size limit.
    #[error("the component has {0} bytes or more, and {MAX_COMPONENT} is the most")]
    TooLarge(usize),
    /// Another kind of file.
    #[error("this is not WebAssembly")]
    NotWasm,
    /// A core module.
    #[error(
        "this is a core Wasm module, not a component: build for wasm32-wasip2, or wrap it as a component"
    )]
    CoreModule,
    /// It does not validate or compile.
    #[error("this is not a valid component: {0}")]
    Invalid(String),
    /// A compiler would take too long for it.
    #[error("the component is not compiled: {0}")]
    TooComplex(String),
    /// Compiling it was ended by a bound.
    #[error("compiling the component was ended: {0}")]
    CompileBound(String),
    /// The file of a stored component is missing, or holds something else.
    #[error("the stored component '{}' {what}", .file.display())]
    Stored {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It would take more than a call can be given.
    #[error("the component cannot be given what it needs: {0}")]
    Needs(String),
    /// It has no tool to offer.
    #[error("the component exports neither toolgate:tool/tool nor a function, so it is not a tool")]
    NotATool,
    /// A component of another world, of which a function stands in the way.
    #[error("the function {0} cannot be a tool: {1}")]
    Function(String, Unusable),
    /// It is no hook.
    #[error("the component does not export toolgate:tool/hook, so it is not a hook{0}")]
    NotAHook(&'static str),
    /// A hook that wants more than hooks get.
    #[error("the component imports {0}, and a hook is given only toolgate:tool/host and WASI")]
    NotForHooks(String),
    /// Built for another version of the contract.
    #[error("the component was built for {0}, and this host has toolgate:tool 0.1")]
    Version(String),
    /// It imports the shell.
    #[error("the component needs the shell, and this host offers none")]
    NeedsShell,
    /// It imports the shell and does not say so.
    #[error(
        "the component imports toolgate:shell and does not declare the capability 'shell', so that nobody could grant it: \
         declare it with the target 'run' or 'tasks', or leave the import out"
    )]
    ShellUndeclared,
    /// It imports something that this host does not offer.
    #[error("the component imports {0}, which this host does not offer")]
    UnknownImport(String),
    /// Its types are not those of the contract.
    #[error("the component does not fit toolgate:tool 0.1: {0}")]
    Types(String),
    /// Its own description could not be had.
    #[error("the component does not describe itself: {0}")]
    Describe(String),
    /// It needs what this host has no way to grant.
    #[error("the tool needs the capability {0}, which this version of the host cannot grant")]
    Ungrantable(String),
    /// What it declares of the network.
    #[error("the component asks for a network that cannot be: {0}")]
    Network(#[from] NetworkAskError),
    /// Its own description does not hold.
    #[error("the component's declaration does not hold: {0}")]
    Declaration(#[from] DeclarationError),
}

/// A component by what it exports.
#[derive(Clone, Debug)]
pub enum AnyComponent {
    /// Our contract: one tool.
    Tool(Box<LoadedComponent>),
    /// Another world: each function is a tool.
    Plain(PlainComponent),
}

impl AnyComponent {
    fn tool(component: LoadedComponent) -> Self {
        Self::Tool(Box::new(component))
    }

    /// Loads a component of either kind.
    ///
    /// # Errors
    /// [`ComponentError`], in the words of the contract rather than of the engine.
    pub fn load(engine: &ToolEngine, source: Source) -> Result<Self, ComponentError> {
        let (component, digest, bytes) = match source {
            Source::BuiltIn { .. } => return LoadedComponent::load(engine, source).map(Self::tool),
            Source::Bytes(bytes) => {
                let digest = sha256(&bytes);
                (compile(engine, &digest, &bytes)?, digest, bytes)
            }
            Source::Stored { digest, file } => {
                let component = stored(engine, &digest, &file)?;
                // For its words alone: what is not there any more says nothing.
                let bytes = read_component(&file).unwrap_or_default();
                (component, digest, bytes)
            }
        };
        if exported(engine, &component, TOOL).is_some() {
            return LoadedComponent::of(engine, &component, digest).map(Self::tool);
        }
        PlainComponent::of(engine, &component, digest, &bytes).map(Self::Plain)
    }
}

impl LoadedComponent {
    /// Loads a component of our contract.
    ///
    /// # Errors
    /// [`ComponentError`], in the words of the contract rather than of the engine.
    pub fn load(engine: &ToolEngine, source: Source) -> Result<Self, ComponentError> {
        let (component, digest) = match source {
            Source::BuiltIn { compiled, digest } => {
                let code = super::compile::built_in(engine.engine(), compiled)?;
                (code, digest.to_owned())
            }
            Source::Bytes(bytes) => {
                let digest = sha256(&bytes);
                (compile(engine, &digest, &bytes)?, digest)
            }
            Source::Stored { digest, file } => (stored(engine, &digest, &file)?, digest),
        };
        Self::of(engine, &component, digest)
    }

    fn of(
        engine: &ToolEngine,
        component: &Component,
        digest: String,
    ) -> Result<Self, ComponentError> {
        let imports = imports(engine, component)?;
        let tool = exported(engine, component, TOOL);
        of_this_contract(tool, TOOL, ComponentError::NotATool)?;
        let has_subjects = exported(engine, component, SUBJECTS).is_some();
        let instance = link(engine, component)?;
        let types = |error: wasmtime::Error| ComponentError::Types(format!("{error:#}"));
        let subjects = match has_subjects {
            true => Some(ToolGuestWithSubjectsPre::new(instance.clone()).map_err(types)?),
            false => None,
        };
        Ok(Self {
            engine: engine.clone(),
            share: engine.admission().share(component),
            tool: ToolGuestPre::new(instance).map_err(types)?,
            subjects,
            digest: digest.into(),
            imports: imports.into(),
        })
    }

    /// SHA-256 of the component in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether it exports `subjects`.
    pub fn computes_subjects(&self) -> bool {
        self.subjects.is_some()
    }

    /// What it imports.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Whether it is of no use without a shell: it imports one, or asks for one.
    pub fn needs_shell(&self, declaration: &Declaration) -> bool {
        let asks = declaration
            .capabilities
            .iter()
            .any(|asked| matches!(asked.kind, CapabilityKind::Shell(_)) && !asked.optional);
        asks || self.imports_shell()
    }

    fn imports_shell(&self) -> bool {
        self.imports
            .iter()
            .any(|import| import.starts_with("toolgate:shell/"))
    }

    /// What it says of itself: asked in an empty sandbox, and checked.
    ///
    /// # Errors
    /// It traps, takes too long, or says what cannot be.
    pub async fn describe(&self) -> Result<Declaration, ComponentError> {
        let said = self
            .ask_description()
            .await
            .map_err(ComponentError::Describe)?;
        let declaration = Declaration::check(parts(said))?;
        NetworkAsk::read(&declaration)?;
        let needed = declaration
            .capabilities
            .iter()
            .filter(|asked| !asked.optional);
        match needed
            .map(|asked| &asked.kind)
            .find(|kind| !grantable(kind))
        {
            Some(kind) => Err(ComponentError::Ungrantable(kind.to_string())),
            None if self.imports_shell() && declaration.shell().is_none() => {
                Err(ComponentError::ShellUndeclared)
            }
            None => Ok(declaration),
        }
    }
}

impl fmt::Debug for LoadedComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedComponent")
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// Files, commands, requests and secrets are granted by the verdict, the clock always; for the rest there is no way yet.
fn grantable(kind: &CapabilityKind) -> bool {
    matches!(
        kind,
        CapabilityKind::FsRead(_)
            | CapabilityKind::FsWrite(_)
            | CapabilityKind::Net(_)
            | CapabilityKind::Secret(_)
            | CapabilityKind::Shell(_)
            | CapabilityKind::ClockReal
    )
}

/// Reads a component file. What is no regular file, or too large, is not read at all.
///
/// # Errors
/// The operating system's, or what the file is instead.
pub fn read_component(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A pipe without a writer would be waited for.
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut options = std::fs::OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(without_waiting)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::new(
            ErrorKind::InvalidInput,
            "it is no regular file",
        ));
    }
    if metadata.len() > MAX_COMPONENT as u64 {
        let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        let said = ComponentError::TooLarge(length).to_string();
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, said));
    }
    std::io::Read::read_to_end(
        &mut std::io::Read::take(file, MAX_COMPONENT as u64 + 1),
        &mut bytes,
    )?;
    Ok(bytes)
}

/// Loads a component of this digest: from its cached code, or by compiling it.
pub(super) fn compile(
    engine: &ToolEngine,
    digest: &str,
    bytes: &[u8],
) -> Result<Component, ComponentError> {
    engine.compiler().component(engine.engine(), digest, bytes)
}

/// The same of a file, which is read only where the code is not cached.
fn stored(engine: &ToolEngine, digest: &str, file: &Path) -> Result<Component, ComponentError> {
    if let Some(component) = engine.compiler().cached(engine.engine(), digest) {
        return Ok(component);
    }
    let wrong = |what: String| ComponentError::Stored {
        file: file.to_owned(),
        what,
    };
    let bytes = read_component(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if sha256(&bytes) != digest {
        return Err(wrong("is not what was installed".to_owned()));
    }
    compile(engine, digest, &bytes)
}

/// What is wrong with a component, or with what it would take: that is said in the words of the bounds.
pub(super) fn refused(error: &wasmtime::Error) -> ComponentError {
    let text = format!("{error:#}");
    let bounds = [
        (
            "core module instances",
            "instances of core modules",
            MAX_INSTANCES,
        ),
        ("linear memories", "memories", MAX_MEMORIES.into()),
        ("transitively contains", "tables", MAX_TABLES.into()),
    ];
    let over = bounds
        .iter()
        .find(|(words, _, _)| text.contains("transitively contains") && text.contains(words));
    match over {
        Some((_, what, most)) => ComponentError::Needs(format!(
            "it has more than {most} {what}, which is the most that one call is given"
        )),
        None if text.contains("which exceeds the limit of") => ComponentError::Needs(text),
        None => ComponentError::Invalid(text),
    }
}

pub(super) fn imported(engine: &ToolEngine, component: &Component) -> Vec<String> {
    let component_type = component.component_type();
    let imports = component_type.imports(engine.engine());
    imports.map(|(name, _)| name.to_owned()).collect()
}

/// The imports, all of which this host offers.
pub(super) fn imports(
    engine: &ToolEngine,
    component: &Component,
) -> Result<Vec<String>, ComponentError> {
    let imports = imported(engine, component);
    for name in &imports {
        if !OFFERED.iter().any(|offered| name.starts_with(offered)) {
            return Err(ComponentError::UnknownImport(name.clone()));
        }
    }
    Ok(imports)
}

/// The whole name of an exported interface that begins so.
pub(super) fn exported(
    engine: &ToolEngine,
    component: &Component,
    interface: &str,
) -> Option<String> {
    component
        .component_type()
        .exports(engine.engine())
        .find(|(name, item)| {
            name.starts_with(interface) && matches!(item.ty, ComponentItem::ComponentInstance(_))
        })
        .map(|(name, _)| name.to_owned())
}

/// Whether an export is of a version that this host has; `missing` if there is none.
pub(super) fn of_this_contract(
    export: Option<String>,
    interface: &str,
    missing: ComponentError,
) -> Result<(), ComponentError> {
    let export = export.ok_or(missing)?;
    let version = export.strip_prefix(interface);
    if version.is_some_and(|version| version.starts_with(CONTRACT)) {
        Ok(())
    } else {
        Err(ComponentError::Version(export))
    }
}

pub(super) fn link(
    engine: &ToolEngine,
    component: &Component,
) -> Result<InstancePre<State>, ComponentError> {
    engine
        .linker()
        .instantiate_pre(component)
        .map_err(|error| ComponentError::Types(format!("{error:#}")))
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn parts(said: exports::toolgate::tool::tool::Declaration) -> DeclarationParts {
    DeclarationParts {
        name: said.name,
        description: said.description,
        input_schema: said.input_schema,
        output_schema: said.output_schema,
        claim: Claim {
            level: match said.side_effect {
                wit::SideEffect::ReadOnly => SideEffect::ReadOnly,
                wit::SideEffect::Mutating => SideEffect::Mutating,
            },
            destructive: said.destructive,
            idempotent: said.idempotent,
            open_world: said.open_world,
            exclusive: said.exclusive,
        },
        subject: said.subject.map(|subject| SubjectField {
            kind: subject_kind(subject.kind),
            field: subject.field,
        }),
        capabilities: said
            .capabilities
            .into_iter()
            .map(|asked| (asked.kind, asked.target, asked.reason, asked.optional))
            .collect(),
        annotations: said.annotations,
    }
}

pub(super) fn subject_kind(kind: wit::SubjectKind) -> SubjectKind {
    match kind {
        wit::SubjectKind::Command => SubjectKind::Command,
        wit::SubjectKind::Path => SubjectKind::Path,
        wit::SubjectKind::Url => SubjectKind::Url,
    }
}
