//! The command line: parse, ask the library, render, exit.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
