//! What can be typed about installed components.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to install.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Component files, directories of them, or oci://HOST/REPOSITORY:TAG, with @sha256:… to pin the manifest
    #[arg(value_name = "SOURCE", conflicts_with = "frozen")]
    pub(crate) sources: Vec<String>,
    /// Install without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// What settings grant to the tool holds for its new bytes too
    #[arg(long)]
    pub(crate) keep_grants: bool,
    /// The publisher in the name of what no known key signed (default: local, oci)
    #[arg(long = "as", value_name = "PUBLISHER")]
    pub(crate) publisher: Option<String>,
    /// Take the place of an unsigned tool that came from elsewhere
    #[arg(long)]
    pub(crate) replace: bool,
    /// The digest that the component must have
    #[arg(long, value_name = "SHA256")]
    pub(crate) digest: Option<String>,
    /// Install exactly what a lock file pins, from the store or from where it says
    #[arg(long)]
    pub(crate) frozen: bool,
    /// The lock file of --frozen (default: the store's own)
    #[arg(long, value_name = "FILE", requires = "frozen")]
    pub(crate) lock: Option<PathBuf>,
    /// Ask no registry
    #[arg(long)]
    pub(crate) offline: bool,
    /// Speak plain HTTP to this registry on a loopback address (HOST:PORT)
    #[arg(long, value_name = "HOST")]
    pub(crate) plain_http: Vec<String>,
}

/// Publishers' keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a publisher's public key known: what it signs is named after it
    Add {
        /// The publisher's name, as tools of its will be called: NAME__Tool
        name: String,
        /// 'ed25519:BASE64', 'p256:BASE64', or a PEM file such as cosign.pub
        key: String,
    },
    /// List the keys that are known
    List,
    /// Forget a key; what it signed stays installed
    Remove {
        /// The publisher's name
        name: String,
    },
    /// Make a key pair for signing: the private key goes to a file, the public one is printed
    New {
        /// The file, which must not be there yet
        file: PathBuf,
    },
    /// Sign a component: writes COMPONENT.sig
    Sign {
        /// The component
        component: PathBuf,
        /// The file with the private key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
}
