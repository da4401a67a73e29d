//! The layers: which files are read, in which order, and which of them are in force.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::merge;
use super::places::{MANAGED_FILE, user_file};
use super::read_once::{self, Content, Unusable};
use super::settings::Config;
use super::shell::ShellKind;
use super::source::{Layer, Source, Sourced};
use super::trust::TrustStore;
use super::workspace::{self, NotInForce, WorkspaceFile};
use super::{ConfigError, approval, keep};
use crate::model::SideEffect;
use crate::policy::{Decision, Mode, Rule};

/// Where configuration comes from. Empty: nothing is read.
///
/// Precedence of single settings: managed, command line, local, project, user. Rules of all layers add up, and the
/// strictest wins whatever its layer. Hooks add up and run in the order managed, user, project, local, command line:
/// the one whom a call should pass in any case sees it first and as it was made, and what a workspace brings along sees
/// only what the machine's and the person's own hooks let pass.
///
/// ```no_run
/// use toolgate::config::Layers;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let state = toolgate::state_dir().ok_or("no home directory")?;
/// let loaded = Layers::standard("/path/to/workspace", &state).load()?;
/// for file in &loaded.not_in_force {
///     eprintln!("{file}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The administrator's file, if it is there.
    pub managed: Option<PathBuf>,
    /// The person's file, if it is there.
    pub user: Option<PathBuf>,
    /// The workspace whose project and local files are looked for.
    pub workspace: Option<PathBuf>,
    /// The state directory, which holds what the person trusts. None: nothing of the workspace is in force.
    pub state: Option<PathBuf>,
    /// Files that a person named at the start (`--config`), which must be there.
    pub named: Vec<PathBuf>,
    /// What else was given at the start.
    pub flags: Flags,
}

/// Settings given at the start.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Rules: effect and text.
    pub rules: Vec<(Decision, String)>,
    /// The mode (`--mode`); the only place for `bypass`.
    pub mode: Option<Mode>,
    /// The ceiling (`--ceiling`).
    pub ceiling: Option<SideEffect>,
    /// Directories for reading (`--read`).
    pub read: Vec<PathBuf>,
    /// Directories for writing (`--write`).
    pub write: Vec<PathBuf>,
    /// Commands on this machine (`--shell local`), or none (`--shell none`).
    pub shell: Option<ShellKind>,
    /// Component files (`--component`).
    pub components: Vec<PathBuf>,
}

/// What the layers come to.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The settings in force.
    pub config: Config,
    /// The files that they come from, in the order in which they were read.
    pub in_force: Vec<InForce>,
    /// Files of the workspace that set nothing.
    pub not_in_force: Vec<NotInForce>,
}

/// A file whose settings are in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// Whose it is.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
}

impl Layers {
    /// The layers of a workspace at their usual places, with what the person trusts in `state`.
    pub fn standard(workspace: impl Into<PathBuf>, state: &Path) -> Self {
        Self {
            managed: Some(PathBuf::from(MANAGED_FILE)),
            user: user_file(),
            workspace: Some(workspace.into()),
            state: Some(state.to_owned()),
            named: Vec::new(),
            flags: Flags::default(),
        }
    }

    /// Reads all layers.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line. A workspace's file that nobody trusts is not read at all,
    /// so that nothing in it is an error.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        self.load_with(&[])
    }

    fn load_with(&self, as_if: &[&WorkspaceFile]) -> Result<Loaded, ConfigError> {
        let mut loaded = Loaded::default();
        if let Some(file) = &self.managed {
            loaded.add_if_there(Layer::Managed, file)?;
        }
        if let Some(file) = &self.user {
            loaded.add_if_there(Layer::User, file)?;
        }
        loaded.add_workspace(self, as_if)?;
        for file in &self.named {
            match read_once::config_file(file) {
                Ok(content) => loaded.add(Layer::CommandLine, file, &content)?,
                Err(Unusable::Absent) => {
                    return Err(unreadable(file, "cannot be read: there is no such file"));
                }
                Err(Unusable::Wrong(what)) => return Err(unreadable(file, what)),
            }
        }
        self.flags.add_to(&mut loaded.config)?;
        approval::check(&loaded.config)?;
        loaded.config.web_search.service()?;
        Ok(loaded)
    }

    /// The same as if these files of the workspace were trusted as they were read: what a start with them would be.
    ///
    /// # Errors
    /// As for [`Layers::load`].
    pub fn load_as_if_trusted(&self, files: &[&WorkspaceFile]) -> Result<Loaded, ConfigError> {
        self.load_with(files)
    }

    /// The files that the workspace has, whether or not they are in force.
    pub fn workspace_files(&self) -> Vec<WorkspaceFile> {
        let Some(workspace) = &self.workspace else {
            return Vec::new();
        };
        // A file that a person named is theirs to name, and counts once.
        let named: Vec<PathBuf> = [&self.managed, &self.user]
            .into_iter()
            .flatten()
            .chain(&self.named)
            .cloned()
            .collect();
        workspace::files(workspace, &named)
    }
}

impl Loaded {
    fn add_if_there(&mut self, layer: Layer, file: &Path) -> Result<(), ConfigError> {
        match read_once::config_file(file) {
            Ok(content) => self.add(layer, file, &content),
            Err(Unusable::Absent) => {
                self.config.files.push(file.to_owned());
                Ok(())
            }
            Err(Unusable::Wrong(what)) => Err(unreadable(file, what)),
        }
    }

    fn add(&mut self, layer: Layer, file: &Path, content: &Content) -> Result<(), ConfigError> {
        merge::add(&mut self.config, layer, file, &content.text)?;
        self.config.files.push(file.to_owned());
        self.in_force.push(InForce {
            layer,
            file: file.to_owned(),
        });
        Ok(())
    }

    fn add_workspace(
        &mut self,
        layers: &Layers,
        as_if: &[&WorkspaceFile],
    ) -> Result<(), ConfigError> {
        let places = layers.workspace.iter();
        let places = places.flat_map(|workspace| workspace::possible(workspace));
        self.config.files.extend(places);
        let files = layers.workspace_files();
        let store = match &layers.state {
            Some(state) if !files.is_empty() => Some(TrustStore::open(state)?),
            Some(_) | None => None,
        };
        for file in files {
            let given = as_if.iter().find(|given| given.file == file.file);
            let trusted = store.as_ref().and_then(|store| store.get(&file.file));
            let (file, judged) = match given {
                Some(given) => ((*given).clone(), Ok(given.preview()?)),
                None => {
                    let judged = file.judge(trusted)?;
                    (file, judged)
                }
            };
            match judged {
                Err(why) => self.not_in_force.push(NotInForce {
                    layer: file.layer,
                    file: file.file,
                    why,
                }),
                Ok(preview) => {
                    file.add_to(&mut self.config, &preview)?;
                    self.in_force.push(InForce {
                        layer: file.layer,
                        file: file.file,
                    });
                }
            }
        }
        Ok(())
    }
}

impl Flags {
    fn add_to(&self, config: &mut Config) -> Result<(), ConfigError> {
        for (effect, text) in &self.rules {
            // Rules say `command line` where others say their file, whichever flag it was.
            let rule = Rule::parse(*effect, text, Path::new("command line"), 0);
            let flag = Source::flag(&format!("--{effect}"));
            config
                .rules
                .push(rule.map_err(|error| flag.wrong(error.to_string()))?);
        }
        let mode = self.mode.map(|mode| from_flag("--mode", mode));
        keep::keep_fixed("mode", &mut config.mode, mode)?;
        keep::keep(
            &mut config.shell.kind,
            self.shell.map(|kind| from_flag("--shell", kind)),
        );
        let ceiling = self.ceiling.map(|level| from_flag("--ceiling", level));
        keep::keep_fixed("ceiling", &mut config.ceiling, ceiling)?;
        for (list, flag, paths) in [
            (&mut config.read, "--read", &self.read),
            (&mut config.write, "--write", &self.write),
            (&mut config.components, "--component", &self.components),
        ] {
            list.extend(paths.iter().map(|path| from_flag(flag, path.clone())));
        }
        Ok(())
    }
}

fn from_flag<T>(flag: &str, value: T) -> Sourced<T> {
    Sourced {
        value,
        source: Source::flag(flag),
    }
}

fn unreadable(file: &Path, what: impl Into<String>) -> ConfigError {
    ConfigError {
        file: file.to_owned(),
        line: 0,
        what: what.into(),
    }
}
