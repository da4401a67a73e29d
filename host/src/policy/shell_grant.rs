//! Shell grants: which command lines a call may run, and where. The approval gate makes them, the bridge keeps to them.
//!
//! Guarantees that a tool whose subject is a command line runs the very bytes that were decided about, and that any other
//! tool runs only what the operator's patterns for it allow and no deny rule over commands touches.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::evaluate::ToolFacts;
use super::index::ToolRules;
use super::subjects::ReadSubject;
use super::{
    CommandIndex, CommandLine, CommandPattern, FileGuard, GuardedPaths, NotKnown, Roots, guarded,
};
use crate::model::{RuleSource, ShellTarget, SideEffect, Subject, SubjectKind, visible};

/// What the operator grants of the shell.
#[derive(Clone, Debug, Default)]
pub struct ShellGrants {
    /// Patterns, by the name of the tool that may run what they allow.
    pub patterns: BTreeMap<String, Vec<CommandPattern>>,
    /// Whether every command must be known to only read; none writes then. No by default.
    pub guarded: bool,
}

impl ShellGrants {
    /// Whether nothing differs from the default.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && !self.guarded
    }
}

/// The commands of one call.
#[derive(Clone, Debug)]
pub struct ShellGrant {
    lines: Lines,
    tasks: bool,
    stops: bool,
    writes: bool,
    guarded: bool,
    roots: Arc<Roots>,
    guard: Arc<FileGuard>,
}

#[derive(Clone, Debug)]
enum Lines {
    /// These bytes.
    Exactly(Vec<String>),
    /// What the operator allows.
    Allowed {
        index: CommandIndex,
        denying: Vec<Arc<ToolRules>>,
    },
    /// The tool asks for tasks only.
    Never,
}

/// What a tool asks for in a call.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) tool: &'a ToolFacts,
    pub(super) target: ShellTarget,
    pub(super) subjects: &'a [Subject],
}

/// What a grant is made from.
pub(super) struct Ground {
    pub(super) denying: Vec<Arc<ToolRules>>,
    pub(super) granted: Arc<ShellGrants>,
    pub(super) roots: Arc<Roots>,
    pub(super) guard: Arc<FileGuard>,
    pub(super) writes: bool,
}

/// Why a line does not run, or a task is not touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineRefusal {
    /// Another line than the call names.
    #[error("the tool asked to run another command than the call names, so it was not run")]
    NotOfThisCall,
    /// No pattern of the operator's covers it.
    #[error(
        "no pattern of the operator allows the tool to run this command: it would stand in [shell.grants]"
    )]
    NotGranted,
    /// A deny rule touches it.
    #[error("the command is denied by {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Denied(Vec<RuleSource>),
    /// A deny rule may be hidden in it.
    #[error("the command holds {0}, so that deny rules cannot be decided")]
    Undecidable(String),
    /// The shell is guarded, and something of the line is not known.
    #[error("the shell is guarded, so that only commands run which are known to read: {0}")]
    NotKnown(NotKnown),
    /// The shell is guarded, and an argument leads elsewhere.
    #[error(
        "the shell is guarded, and the argument '{}' leads outside of the granted directories", visible(.0)
    )]
    Outside(String),
    /// The tool asks for tasks only.
    #[error("the tool asks for 'shell:tasks', which runs nothing")]
    RunsNothing,
    /// Tasks are not for this tool.
    #[error("the tool may not see tasks: the operator has not named it in [shell.grants]")]
    NoTasks,
    /// A read-only tool stops nothing.
    #[error("the tool is read-only, and stopping a task changes something")]
    StopsNothing,
}

impl ShellGrant {
    /// None where nothing would be granted: a stranger that asks for tasks and that the operator has not named.
    pub(super) fn new(request: Request<'_>, ground: Ground) -> Option<Self> {
        let Request {
            tool,
            target,
            subjects,
        } = request;
        let named = ground.granted.patterns.get(tool.name.as_str());
        let names_commands = tool.computes_subjects || tool.subject == Some(SubjectKind::Command);
        let lines = match target {
            ShellTarget::Tasks => Lines::Never,
            ShellTarget::Run if names_commands => Lines::Exactly(
                subjects
                    .iter()
                    .filter(|subject| subject.kind == SubjectKind::Command)
                    .map(|subject| subject.value.clone())
                    .collect(),
            ),
            ShellTarget::Run => Lines::Allowed {
                index: CommandIndex::new(named.into_iter().flatten()),
                denying: ground.denying,
            },
        };
        let tasks = tool.built_in || named.is_some();
        let mutating = tool.traits.level == SideEffect::Mutating;
        Some(Self {
            lines,
            tasks,
            stops: mutating,
            writes: mutating && ground.writes && !ground.granted.guarded,
            guarded: ground.granted.guarded,
            roots: ground.roots,
            guard: ground.guard,
        })
        .filter(|grant| tasks || !matches!(grant.lines, Lines::Never))
    }

    /// May this line run? Where the shell is guarded, the paths that it names come back: each must lead into a granted
    /// directory, which only those can find out who see files.
    ///
    /// # Errors
    /// [`LineRefusal`].
    pub fn judge(&self, line: &str) -> Result<GuardedPaths, LineRefusal> {
        self.judge_line(line)?;
        match self.guarded {
            true => guarded(&CommandLine::analyse(line)).map_err(LineRefusal::NotKnown),
            false => Ok(GuardedPaths::default()),
        }
    }

    fn judge_line(&self, line: &str) -> Result<(), LineRefusal> {
        match &self.lines {
            Lines::Never => Err(LineRefusal::RunsNothing),
            Lines::Exactly(lines) if lines.iter().any(|known| known == line) => Ok(()),
            Lines::Exactly(_) => Err(LineRefusal::NotOfThisCall),
            Lines::Allowed { index, denying } => {
                let subject = [ReadSubject::Command(CommandLine::analyse(line))];
                let [ReadSubject::Command(analysed)] = &subject else {
                    return Err(LineRefusal::NotGranted);
                };
                let rules: Vec<RuleSource> = denying
                    .iter()
                    .flat_map(|rules| rules.deny.touching(analysed))
                    .collect();
                if !rules.is_empty() {
                    return Err(LineRefusal::Denied(rules));
                }
                let unclear = denying.iter();
                let unclear = unclear.filter_map(|rules| rules.deny.undecided(&subject));
                if let Some((_, what)) = unclear.into_iter().next() {
                    return Err(LineRefusal::Undecidable(what.to_owned()));
                }
                if index.allowing(analysed).is_empty() {
                    return Err(LineRefusal::NotGranted);
                }
                Ok(())
            }
        }
    }

    /// May tasks be listed and read?
    ///
    /// # Errors
    /// [`LineRefusal`].
    pub fn judge_reading(&self) -> Result<(), LineRefusal> {
        match self.tasks {
            true => Ok(()),
            false => Err(LineRefusal::NoTasks),
        }
    }

    /// May a task be stopped?
    ///
    /// # Errors
    /// [`LineRefusal`].
    pub fn judge_stopping(&self) -> Result<(), LineRefusal> {
        self.judge_reading()?;
        match self.stops {
            true => Ok(()),
            false => Err(LineRefusal::StopsNothing),
        }
    }

    /// Whether commands may write in the writable roots.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Whether any command may run.
    pub fn runs(&self) -> bool {
        match &self.lines {
            Lines::Exactly(_) | Lines::Allowed { .. } => true,
            Lines::Never => false,
        }
    }

    /// The granted directories.
    pub fn roots(&self) -> &Arc<Roots> {
        &self.roots
    }

    /// Which files no command may touch.
    pub fn guard(&self) -> &Arc<FileGuard> {
        &self.guard
    }
}

/// What is granted, in words for whoever approves it.
impl fmt::Display for ShellGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.lines {
            Lines::Exactly(_) => "run commands: exactly the call's",
            Lines::Allowed { .. } => "run commands: what [shell.grants] allows the tool",
            Lines::Never => "see tasks",
        })?;
        if self.writes && self.runs() {
            let roots = self.roots.all(super::Access::Write);
            let roots: Vec<String> = roots.map(|root| root.display().to_string()).collect();
            write!(f, "; they write below {}", roots.join(", "))?;
        }
        Ok(())
    }
}
