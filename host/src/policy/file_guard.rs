//! The file guard: which files no tool may touch, whatever it is and however it got there.
//!
//! A deny rule with a path pattern binds the file, not the tool: one on a reading tool binds all reading, one on a
//! writing tool all writing. The permission gate asks with the path of the input, the file view with the real path of
//! what it opened; both ask [`FileGuard::judge`].

use std::path::{Path, PathBuf};

use super::pattern_index::PatternIndex;
use super::{PathPattern, PatternError};
use crate::model::RuleSource;

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its bytes or names are seen.
    Read,
    /// It is made, changed, renamed or removed.
    Write,
}

impl Access {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Why a file may not be touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Deny rules.
    Rules(Vec<RuleSource>),
    /// The built-in protected set.
    Protected(String),
    /// A tree that holds no files in the ordinary sense.
    SystemTree(&'static str),
}

/// Never writable by a tool: what would run code outside of every gate, or change the gates themselves.
const PROTECTED: &[&str] = &[
    // Not only its hooks and configuration: other files in it point git to a repository elsewhere, or hold lines to run.
    "**/.git",
    "**/*.git/hooks",
    "**/*.git/config",
    "**/toolgate.toml",
    "**/.toolgate",
    "**/.bashrc",
    "**/.bash_profile",
    "**/.bash_login",
    "**/.bash_logout",
    "**/.bash_aliases",
    "**/.profile",
    "**/.zshrc",
    "**/.zshenv",
    "**/.zprofile",
    "**/.zlogin",
    "**/.zlogout",
    "**/.kshrc",
    "**/.config/fish/**",
    "**/.gitconfig",
    "**/.config/git",
    "**/.config/systemd",
    "**/.config/autostart",
    "**/.ssh",
];

/// Writable only with a human's yes, even where a rule allows it: programs run these files on their own.
const RUNS_CODE: &[&str] = &[
    // Editors and debuggers.
    "**/.vscode/**",
    "**/*.code-workspace",
    "**/.idea/**",
    "**/.devcontainer/**",
    "**/.vimrc",
    "**/.exrc",
    "**/.nvimrc",
    "**/.nvim.lua",
    "**/.gdbinit",
    "**/.lldbinit",
    // Agents.
    "**/.mcp.json",
    "**/.claude/**",
    "**/.cursor/**",
    // Shells that enter the folder.
    "**/.envrc",
    "**/.mise.toml",
    "**/mise.toml",
    "**/.mise/**",
    // Version control: a file `HEAD` makes its folder a repository, whose configuration names programs.
    "**/HEAD",
    "**/.gitmodules",
    "**/.gitattributes",
    "**/.husky/**",
    "**/.pre-commit-config.yaml",
    "**/lefthook.yml",
    // Builds on other machines.
    "**/.github/hooks/**",
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.circleci/**",
    "**/.drone.yml",
    "**/.travis.yml",
    "**/azure-pipelines.yml",
    "**/bitbucket-pipelines.yml",
    "**/Jenkinsfile",
    // Package managers and languages, before any script of the project is asked for.
    "**/.cargo/config",
    "**/.cargo/config.toml",
    "**/.npmrc",
    "**/.yarnrc",
    "**/.yarnrc.yml",
    "**/.pnpmfile.cjs",
    "**/*.pth",
    "**/sitecustomize.py",
];

/// Trees whose entries are kernel interfaces: no path below them is ever a target of a file tool.
const SYSTEM_TREES: &[&str] = &["/proc", "/sys", "/dev"];

/// See the module.
#[derive(Clone, Debug)]
pub struct FileGuard {
    read: DenySet,
    write: DenySet,
    protected: PatternIndex,
    protected_patterns: Vec<String>,
    runs_code: PatternIndex,
}

#[derive(Clone, Debug, Default)]
struct DenySet {
    index: PatternIndex,
    rules: Vec<RuleSource>,
    literals: Vec<(PathBuf, RuleSource)>,
    /// Directories of which all is denied that is below.
    below: Vec<PathBuf>,
    /// There are patterns of other shapes.
    globs: bool,
}

impl FileGuard {
    /// Compiles the deny rules for reading and for writing, and the operator's own files that join the protected set.
    ///
    /// # Errors
    /// Patterns that are too much together.
    pub fn new(
        read: &[(PathPattern, RuleSource)],
        write: &[(PathPattern, RuleSource)],
        protected: &[PathBuf],
    ) -> Result<Self, PatternError> {
        let own = protected
            .iter()
            .map(|path| globset::escape(&path.to_string_lossy()));
        let protected: Vec<String> = PROTECTED
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .chain(own)
            .collect();
        Ok(Self {
            read: DenySet::new(read)?,
            write: DenySet::new(write)?,
            protected: built_in(protected.iter().map(String::as_str))?,
            protected_patterns: protected,
            runs_code: built_in(RUNS_CODE.iter().copied())?,
        })
    }

    /// May this file be touched? The one place that decides it. What denies a directory denies what is below it.
    ///
    /// # Errors
    /// The refusal, with every rule that matched.
    pub fn judge(&self, access: Access, path: &Path) -> Result<(), Refusal> {
        if let Some(tree) = SYSTEM_TREES.iter().find(|tree| holds(tree, path)) {
            return Err(Refusal::SystemTree(tree));
        }
        let denials = match access {
            Access::Read => &self.read,
            Access::Write => &self.write,
        };
        let rules = denials.matching(path);
        if !rules.is_empty() {
            return Err(Refusal::Rules(rules));
        }
        if access == Access::Read {
            return Ok(());
        }
        let protected = self.protected.matching_or_above(path).first().copied();
        match protected.and_then(|at| self.protected_patterns.get(at)) {
            Some(pattern) => Err(Refusal::Protected(pattern.clone())),
            None => Ok(()),
        }
    }

    /// Directories of which a deny rule covers all that is below.
    pub fn denied_directories(&self, access: Access) -> &[PathBuf] {
        match access {
            Access::Read => &self.read.below,
            Access::Write => &self.write.below,
        }
    }

    /// Whether there are deny rules whose files can only be found by looking at every name.
    pub fn denies_by_wildcard(&self, access: Access) -> bool {
        match access {
            Access::Read => self.read.globs,
            Access::Write => self.write.globs,
        }
    }

    /// The pattern by which programs may run this file on their own, if they may.
    pub fn runs_code(&self, path: &Path) -> Option<&'static str> {
        let matching = self.runs_code.matching(path);
        matching.first().and_then(|at| RUNS_CODE.get(*at)).copied()
    }

    /// Deny rules that name one path: the view compares them by file identity too, so that another name of the same
    /// file (a link that the rule names, a hard link) is the same file.
    pub fn denied_paths(&self, access: Access) -> &[(PathBuf, RuleSource)] {
        match access {
            Access::Read => &self.read.literals,
            Access::Write => &self.write.literals,
        }
    }
}

impl DenySet {
    fn new(patterns: &[(PathPattern, RuleSource)]) -> Result<Self, PatternError> {
        let literal = |(pattern, source): &(PathPattern, RuleSource)| {
            pattern
                .literal()
                .map(|path| (path.to_owned(), source.clone()))
        };
        Ok(Self {
            index: PatternIndex::new(patterns.iter().map(|(pattern, _)| pattern), true)?,
            rules: patterns.iter().map(|(_, source)| source.clone()).collect(),
            literals: patterns.iter().filter_map(literal).collect(),
            below: patterns
                .iter()
                .filter_map(|(pattern, _)| pattern.below().map(Path::to_owned))
                .collect(),
            globs: patterns
                .iter()
                .any(|(pattern, _)| pattern.literal().or(pattern.below()).is_none()),
        })
    }

    fn matching(&self, path: &Path) -> Vec<RuleSource> {
        let positions = self.index.matching_or_above(path);
        positions
            .into_iter()
            .filter_map(|at| self.rules.get(at))
            .cloned()
            .collect()
    }
}

/// `Path::starts_with`, without taking the path apart: this is asked for every entry of a walk.
fn holds(tree: &str, path: &Path) -> bool {
    let below = path
        .as_os_str()
        .as_encoded_bytes()
        .strip_prefix(tree.as_bytes());
    below.is_some_and(|below| below.is_empty() || below.starts_with(b"/"))
}

fn built_in<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<PatternIndex, PatternError> {
    let root = Path::new("/");
    let compiled = patterns
        .map(|pattern| PathPattern::compile(pattern, root, None, true))
        .collect::<Result<Vec<_>, _>>()?;
    PatternIndex::new(&compiled, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(read: &[&str], write: &[&str]) -> FileGuard {
        let compile = |patterns: &[&str]| {
            patterns
                .iter()
                .map(|pattern| {
                    let source = RuleSource {
                        rule: (*pattern).to_owned(),
                        effect: "deny",
                        file: "test".into(),
                        line: 1,
                    };
                    let compiled =
                        PathPattern::compile(pattern, Path::new("/ws"), None, true).unwrap();
                    (compiled, source)
                })
                .collect::<Vec<_>>()
        };
        FileGuard::new(&compile(read), &compile(write), &[PathBuf::from("/cfg")]).unwrap()
    }

    #[test]
    fn denials_bind_the_file_and_what_is_below_it() {
        let guard = guard(&[".env", "secrets"], &["locked/**"]);
        let refused = |access, path: &str| guard.judge(access, Path::new(path)).is_err();
        assert!(refused(Access::Read, "/ws/.env"));
        assert!(refused(Access::Read, "/ws/.ENV"));
        assert!(refused(Access::Read, "/ws/secrets/a/b"));
        assert!(!refused(Access::Write, "/ws/.env"));
        assert!(refused(Access::Write, "/ws/locked/x"));
        assert!(!refused(Access::Read, "/ws/locked/x"));
        assert!(!refused(Access::Read, "/ws/a.txt"));
    }

    #[test]
    fn the_protected_set_is_never_writable_and_stays_readable() {
        let guard = guard(&[], &[]);
        for path in [
            "/ws/.git/hooks/pre-commit",
            "/ws/a/b/c/.git/config",
            "/ws/.git/commondir",
            "/ws/.git/rebase-merge/git-rebase-todo",
            "/ws/bare.git/hooks/post-receive",
            "/ws/.ToolGate/Config.TOML",
            "/ws/toolgate.toml",
            "/ws/sub/.git",
            "/home/u/.ssh/authorized_keys",
            "/home/u/.bashrc",
            "/cfg",
            "/cfg/x",
        ] {
            assert!(
                guard.judge(Access::Write, Path::new(path)).is_err(),
                "{path}"
            );
            assert!(guard.judge(Access::Read, Path::new(path)).is_ok(), "{path}");
        }
        for path in ["/ws/.gitignore", "/ws/git/config", "/ws/.github/CODEOWNERS"] {
            assert!(
                guard.judge(Access::Write, Path::new(path)).is_ok(),
                "{path}"
            );
        }
    }

    #[test]
    fn kernel_interfaces_are_no_files() {
        let guard = guard(&[], &[]);
        for path in ["/proc/self/environ", "/dev/zero", "/sys/kernel"] {
            assert!(
                guard.judge(Access::Read, Path::new(path)).is_err(),
                "{path}"
            );
        }
        assert!(guard.judge(Access::Read, Path::new("/process")).is_ok());
    }

    #[test]
    fn files_that_run_code_are_known() {
        let guard = guard(&[], &[]);
        for path in [
            "/ws/.vscode/tasks.json",
            "/ws/.mcp.json",
            "/ws/sub/.envrc",
            "/ws/.github/hooks/h.json",
            "/ws/evil/HEAD",
            "/ws/.vscode/a/b.json",
            "/ws/.cargo/config",
            "/ws/.venv/lib/python3/site-packages/x.pth",
        ] {
            assert!(guard.runs_code(Path::new(path)).is_some(), "{path}");
        }
        assert!(guard.runs_code(Path::new("/ws/src/main.rs")).is_none());
    }
}
