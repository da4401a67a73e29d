//! `[shell.limits]`: what one command may take of the machine. One list of keys makes the table of the file and the setting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep;
use super::reading::Reading;
use super::source::Sourced;

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $key:ident: $least:literal to $most:literal,)+) => {
        /// What one command may take, as far as it is set.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct ShellLimits {
            $($(#[doc = $doc])+ pub $key: Option<Sourced<u64>>,)+
        }

        impl ShellLimits {
            /// Every limit that is set, by its key.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &Sourced<u64>)> {
                [$((stringify!($key), self.$key.as_ref()),)+]
                    .into_iter()
                    .filter_map(|(key, set)| Some((key, set?)))
            }
        }

        /// What one command may take. Not in a workspace's file.
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct Limits {
            $($(#[doc = $doc])+ #[schemars(with = "Option<u64>")] $key: Option<Spanned<u64>>,)+
        }

        /// Adds what a file says.
        ///
        /// # Errors
        /// A number out of its range, or a file that may not say so.
        pub(super) fn add(
            into: &mut ShellLimits,
            reading: &Reading<'_>,
            limits: Limits,
        ) -> Result<(), ConfigError> {
            $(
                let set = limits.$key.map(|number| reading.sourced(number));
                if let Some(Sourced { value, source }) = &set
                    && !($least..=$most).contains(value)
                {
                    return Err(source.wrong(format!(
                        "'{}' of [shell.limits] is {value}, and it is from {} to {}",
                        stringify!($key), $least, $most
                    )));
                }
                keep(&mut into.$key, super::shell::operators(set, concat!("limits.", stringify!($key)))?);
            )+
            Ok(())
        }
    };
}

limits! {
    /// Processes and threads at once, 512 to 100,000: the kernel bounds a PID namespace by its highest number, of which it
    /// keeps 300 for itself. Default 1,024.
    processes: 512 to 100_000,
    /// MiB of memory, where there is a control group or a container, 16 to 1,048,576. Default 2,048.
    memory_mib: 16 to 1_048_576,
    /// MiB of the longest file that it writes, 1 to 1,048,576. Default 8,192.
    file_size_mib: 1 to 1_048_576,
    /// Open files of one process, 16 to 1,000,000. Default 4,096.
    open_files: 16 to 1_000_000,
    /// MiB of its own `/tmp`, 1 to 1,048,576. Default 512.
    tmp_mib: 1 to 1_048_576,
}
