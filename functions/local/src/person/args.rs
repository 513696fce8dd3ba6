//! The arguments.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// Which deployment, and where the sign-in is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The deployment's base URL; where none is given, the one you signed in to
    #[arg(long, env = "COUNTERSIGN_URL")]
    pub(super) url: Option<String>,

    /// The tenant you are an approver of; where none is given, the one you signed in to
    #[arg(long, value_name = "NAME")]
    pub(super) tenant: Option<String>,

    /// File that keeps the sign-in, for your eyes alone [default: ~/.local/state/countersign/signin.json]
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_SIGNIN")]
    pub(super) signin_file: Option<PathBuf>,

    #[arg(long = "state-home-from-environment", env = "XDG_STATE_HOME", hide = true)]
    state_home: Option<PathBuf>,
    #[arg(long = "home-from-environment", env = "HOME", hide = true)]
    home: Option<PathBuf>,
}

impl Place {
    /// The file that keeps the sign-in, if there is a place for one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let of_home = || self.home.as_ref().map(|home| home.join(".local/state"));
        let folder = || self.state_home.clone().filter(|one| one.is_absolute()).or_else(of_home);
        self.signin_file.clone().or_else(|| Some(folder()?.join("countersign/signin.json")))
    }
}

/// `countersign signin`
#[derive(Debug, Args)]
pub(crate) struct SignInArgs {
    /// Your mail address, where the code goes; asked for where none is given
    #[arg(long, value_name = "ADDRESS")]
    pub(super) email: Option<String>,
    /// Do not remember this terminal: it then forgets you after half an hour of nothing
    #[arg(long)]
    pub(super) once: bool,
    /// Sign out instead
    #[arg(long, conflicts_with_all = ["email", "once"])]
    pub(super) out: bool,
    #[command(flatten)]
    pub(super) place: Place,
}

/// `countersign inbox`
#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    /// Stay, and show what comes and what is settled
    #[arg(long, short)]
    pub(super) watch: bool,
    /// Print the server's own JSON
    #[arg(long, conflicts_with = "watch")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) place: Place,
}

/// `countersign decide`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("verdict").args(["approve", "decline", "dismiss"]))]
pub(crate) struct DecideArgs {
    /// The question's reference, such as K7Q-4MD
    pub(super) reference: String,
    /// Approve it
    #[arg(long)]
    pub(super) approve: bool,
    /// Decline it: the agent is told no
    #[arg(long)]
    pub(super) decline: bool,
    /// Dismiss it: the agent is told that you did not decide
    #[arg(long)]
    pub(super) dismiss: bool,
    /// Fill in a field of the form; a choice of several is given several times
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = pair)]
    pub(super) set: Vec<(String, String)>,
    /// Why; the agent reads it with your answer
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
    /// The two digits that the asking side shows
    #[arg(long, value_name = "DIGITS")]
    pub(super) code: Option<String>,
    #[command(flatten)]
    pub(super) place: Place,
}

impl DecideArgs {
    /// The verdict, if one is given.
    pub(super) const fn verdict(&self) -> Option<&'static str> {
        match (self.approve, self.decline, self.dismiss) {
            (true, ..) => Some("accept"),
            (_, true, _) => Some("decline"),
            (_, _, true) => Some("cancel"),
            _ => None,
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be FIELD=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
