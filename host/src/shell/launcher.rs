//! The embedded launcher, as a file that can be executed: in memory and sealed, or private on disk where the system does not run
//! programs from memory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, memfd_create};
use rustix::io::Errno;
use tokio::process::{Child, Command};

/// The program, built with this crate.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolgate-launcher"));

/// How often a file that was just written is tried again.
const BUSY: u32 = 50;

/// Where the program is; one for each shell.
#[derive(Debug)]
pub(super) struct Launcher {
    /// Where a file goes if it must.
    folder: PathBuf,
    memory: OnceLock<OwnedFd>,
    file: OnceLock<PathBuf>,
}

impl Launcher {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self {
            folder: folder.map_or_else(std::env::temp_dir, Path::to_owned),
            memory: OnceLock::new(),
            file: OnceLock::new(),
        }
    }

    /// Starts it with its socket and the command's output. Nothing is set up between fork and exec, so the system starts it
    /// without copying this process.
    pub(super) fn start(
        &self,
        socket: &OwnedFd,
        output: &OwnedFd,
        errors: &OwnedFd,
    ) -> io::Result<Child> {
        let start = |path: &Path| -> io::Result<Child> {
            #[expect(
                clippy::disallowed_methods,
                reason = "the one place that starts commands; it starts only the embedded launcher"
            )]
            let mut command = Command::new(path);
            command
                .arg0("toolgate-shell")
                .env_clear()
                .stdin(Stdio::from(socket.try_clone()?))
                .stdout(Stdio::from(output.try_clone()?))
                .stderr(Stdio::from(errors.try_clone()?))
                .spawn()
        };
        if self.file.get().is_none() {
            match self.in_memory().and_then(|path| start(&path)) {
                Err(error) if is_forbidden(&error) => {
                    tracing::debug!("programs cannot be run from memory here: {error}");
                }
                started => return started,
            }
        }
        let path = self.on_disk()?;
        for _ in 0..BUSY {
            match start(path) {
                // Another thread that starts a program at this moment still has the file open for writing, which ends soon.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                started => return started,
            }
        }
        start(path)
    }

    fn in_memory(&self) -> io::Result<PathBuf> {
        let memory = match self.memory.get() {
            Some(memory) => memory,
            None => {
                let made = sealed()?;
                self.memory.get_or_init(|| made)
            }
        };
        Ok(format!("/proc/self/fd/{}", memory.as_raw_fd()).into())
    }

    fn on_disk(&self) -> io::Result<&Path> {
        if let Some(path) = self.file.get() {
            return Ok(path);
        }
        let name = format!("toolgate-{}", uuid::Uuid::new_v4().simple());
        let folder = self.folder.join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let path = folder.join("launcher");
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o500)
            .open(&path)?;
        file.write_all(PROGRAM)?;
        Ok(self.file.get_or_init(|| path))
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        if let Some(folder) = self.file.get().and_then(|path| path.parent())
            && let Err(error) = std::fs::remove_dir_all(folder)
        {
            tracing::debug!("{} stays: {error}", folder.display());
        }
    }
}

/// The system does not run programs from memory, or there is no `/proc`.
fn is_forbidden(error: &io::Error) -> bool {
    let forbidden = [Errno::ACCESS, Errno::PERM, Errno::NOSYS, Errno::NOENT];
    Errno::from_io_error(error).is_some_and(|errno| forbidden.contains(&errno))
}

/// The program in memory, which nobody can change any more.
fn sealed() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = match memfd_create("toolgate-launcher", flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 do not know that a file in memory may be marked as a program.
        Err(Errno::INVAL) => memfd_create("toolgate-launcher", flags)?,
        memory => memory?,
    };
    let mut file = File::from(memory);
    file.write_all(PROGRAM)?;
    let memory = OwnedFd::from(file);
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&memory, seals)?;
    Ok(memory)
}
