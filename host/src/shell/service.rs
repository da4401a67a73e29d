//! A program that talks through its input and output for as long as somebody wants: no shell reads its words, its tree is
//! held as that of any command, and its stderr is kept as theirs is. What it prints on stdout belongs to whom it talks with.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use tokio::net::unix::pipe::{Receiver, Sender};

use super::command::{CouldNotStart, Network};
use super::running::Running;
use super::streams::pipe;
use super::wire::Step;

/// A program with its words.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program, an absolute path.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it begins, inside of what its sandbox reads; the first writable root by default.
    pub cwd: Option<PathBuf>,
    /// What it may dial.
    pub network: Network,
    /// Variables of the host that it sees besides the ordinary ones, also those that no command may see.
    pub pass: Vec<String>,
    /// Variables that it sees, with their values.
    pub set: Vec<(String, String)>,
}

/// A program that runs. Dropping it ends its whole tree.
#[derive(Debug)]
pub struct Service {
    /// What it reads. Closing it asks most programs to end.
    pub input: Sender,
    /// What it prints.
    pub output: Receiver,
    /// The program itself.
    pub running: Running,
}

/// The host's ends of the pipes.
#[derive(Debug)]
pub(super) struct Ours {
    input: Sender,
    output: Receiver,
}

/// The program's ends of the pipes.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) input: OwnedFd,
    /// None where the output is read as that of any command.
    pub(super) output: Option<OwnedFd>,
}

impl Ours {
    pub(super) fn of(self, running: Running) -> Service {
        Service {
            input: self.input,
            output: self.output,
            running,
        }
    }
}

/// The pipes of a program.
pub(super) fn pipes() -> Result<(Ours, Ends), CouldNotStart> {
    let open = || -> io::Result<(Ours, Ends)> {
        let (input, input_end) = pipe()?;
        let (output_end, output) = pipe()?;
        let ours = Ours {
            input: Sender::from_owned_fd(input_end)?,
            output: Receiver::from_owned_fd(output_end)?,
        };
        let output = Some(output);
        Ok((ours, Ends { input, output }))
    };
    open().map_err(|error| {
        let hint = format!("there is no pipe to talk with the program through: {error}");
        CouldNotStart::system(Step::Control, &error, hint)
    })
}
