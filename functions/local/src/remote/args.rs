//! The arguments.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_core::credential::Scope;
use countersign_core::elicitation::Tier;

/// Which deployment, with which key, shown how.
#[derive(Debug, Clone, Args)]
pub(crate) struct Deployment {
    /// The deployment's base URL
    #[arg(long, env = "COUNTERSIGN_URL", default_value = "http://127.0.0.1:8787", global = true)]
    pub(crate) url: String,

    /// File that holds the key: an operator key for tenants, an API key for the rest
    ///
    /// Without it the key is the one in `COUNTERSIGN_KEY`, or for a server on this machine the one in its data folder.
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) key_file: Option<PathBuf>,

    /// The key itself; only from the environment, because command lines can be seen by others
    #[arg(long = "key-from-environment", env = "COUNTERSIGN_KEY", hide = true, hide_env_values = true)]
    pub(crate) key: Option<String>,

    /// Data folder of the server on this machine, whose keys are used where no other is given
    #[arg(long, value_name = "DIR", default_value = "./.countersign", global = true)]
    pub(crate) data: PathBuf,

    /// Print the server's own JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// `countersign tenant`
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    #[command(subcommand)]
    pub(super) command: TenantCommand,
    #[command(flatten)]
    pub(super) deployment: Deployment,
}

#[derive(Debug, Subcommand)]
pub(super) enum TenantCommand {
    /// Make a tenant; its first API key is shown once
    Create {
        /// 3 to 40 characters of a-z, 0-9 and -
        name: String,
    },
    /// List all tenants
    List,
    /// Let a tenant ask no more; what is open can still be answered and polled
    Suspend {
        /// The tenant
        name: String,
    },
    /// Let a suspended tenant ask again
    Resume {
        /// The tenant
        name: String,
    },
}

/// `countersign key`
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(super) command: KeyCommand,
    #[command(flatten)]
    pub(super) deployment: Deployment,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Make an API key, which is shown once; name it after the agent that is to have it
    Create {
        /// What people call it
        #[arg(long)]
        name: String,
        /// What it may do: ask, read, decide, manage, codec; an agent needs ask alone
        #[arg(long, value_delimiter = ',', required = true, value_parser = scope)]
        scopes: Vec<Scope>,
        /// It ends by itself after so many days
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=3_650))]
        expires_in_days: Option<u64>,
        /// The highest tier that it may ask for: read, write, commit, external
        #[arg(long, value_name = "TIER", value_parser = tier)]
        tier_ceiling: Option<Tier>,
        /// The tool servers that it may ask for; any where none is given
        #[arg(long = "server", value_name = "NAME")]
        servers: Vec<String>,
    },
    /// List the keys; never their secrets
    List,
    /// End a key at once
    Revoke {
        /// The key's id, such as key_…
        id: String,
    },
}

/// `countersign approver`
#[derive(Debug, Args)]
pub(crate) struct ApproverArgs {
    #[command(subcommand)]
    pub(super) command: ApproverCommand,
    #[command(flatten)]
    pub(super) deployment: Deployment,
}

#[derive(Debug, Subcommand)]
pub(super) enum ApproverCommand {
    /// Add a human who may answer
    Add {
        /// What people call them
        #[arg(long)]
        name: String,
        /// Their mail address, where they are told
        #[arg(long)]
        email: Option<String>,
        /// A group they belong to; may be given several times
        #[arg(long = "group", value_name = "GROUP")]
        groups: Vec<String>,
        /// Their Slack user id
        #[arg(long, value_name = "ID")]
        slack: Option<String>,
        /// Their Telegram user id
        #[arg(long, value_name = "ID")]
        telegram: Option<String>,
        /// Their subject in your own identity provider's tokens
        #[arg(long, value_name = "SUB")]
        sub: Option<String>,
    },
    /// List the approvers
    List,
}

fn scope(word: &str) -> Result<Scope, String> {
    word.parse().map_err(|_| "must be one of ask, read, decide, manage, codec".to_owned())
}

fn tier(word: &str) -> Result<Tier, String> {
    Tier::from_word(word).ok_or_else(|| "must be one of read, write, commit, external".to_owned())
}
