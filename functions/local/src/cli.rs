//! The command line.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use countersign_runtime::help_list;

use crate::person::{DecideArgs, InboxArgs, SignInArgs};
use crate::remote::{ApproverArgs, KeyArgs, TenantArgs};

/// Columns of the help text: what every terminal has.
const HELP_WIDTH: usize = 80;

const ABOUT: &str = "Asks a person before an agent acts";

const LONG_ABOUT: &str = "\
Asks a person before an agent acts.

Runs the whole server on this machine: it listens on 127.0.0.1 only, keeps
everything in one folder, and makes what it needs at the first start.";

/// The command line as a whole.
#[derive(Debug, Parser)]
#[command(
    name = "countersign",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = after_help(),
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server; the same as no command
    #[command(after_help = after_help())]
    Serve(ServeArgs),
    /// Make, list and suspend tenants, by the operator's key
    Tenant(TenantArgs),
    /// Make, list and revoke the API keys of a tenant
    Key(KeyArgs),
    /// Add and list the humans who may answer
    Approver(ApproverArgs),
    /// Sign in as an approver, by a mailed code
    #[command(name = "signin")]
    SignIn(SignInArgs),
    /// List the questions that wait for you
    Inbox(InboxArgs),
    /// Read a question and answer it
    Decide(DecideArgs),
}

/// What is to be done.
pub(crate) enum Action {
    Serve(ServeArgs),
    Tenant(TenantArgs),
    Key(KeyArgs),
    Approver(ApproverArgs),
    SignIn(SignInArgs),
    Inbox(InboxArgs),
    Decide(DecideArgs),
}

impl Cli {
    /// What is to be done; without a command, serving.
    pub(crate) fn into_action(self) -> Action {
        match self.command {
            Some(Command::Serve(args)) => Action::Serve(args),
            Some(Command::Tenant(args)) => Action::Tenant(args),
            Some(Command::Key(args)) => Action::Key(args),
            Some(Command::Approver(args)) => Action::Approver(args),
            Some(Command::SignIn(args)) => Action::SignIn(args),
            Some(Command::Inbox(args)) => Action::Inbox(args),
            Some(Command::Decide(args)) => Action::Decide(args),
            None => Action::Serve(self.serve),
        }
    }
}

/// How the server is to run.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    /// Port on 127.0.0.1; 0 takes any free one
    #[arg(long, default_value_t = 8787)]
    pub(crate) port: u16,

    /// Folder for database, keys and outbox; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "./.countersign")]
    pub(crate) data: PathBuf,

    /// Keep everything in memory and forget it at the end; DIR is not touched
    #[arg(long)]
    pub(crate) memory: bool,

    /// Write address and keys to PATH as JSON, once the server answers
    #[arg(long, value_name = "PATH")]
    pub(crate) ready_file: Option<PathBuf>,

    /// For tests: POST /dev/clock, /dev/tick and /dev/faults, GET /dev/outbox
    #[arg(long)]
    pub(crate) dev_hooks: bool,
}

impl ServeArgs {
    /// The data folder, unless all is to be in memory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        (!self.memory).then_some(self.data.as_path())
    }
}

fn after_help() -> String {
    format!(
        "Environment:\n{}\n\
         Exit codes:\n  \
         0  stopped by Ctrl-C or SIGTERM\n  \
         1  something went wrong that is none of the below\n  \
         2  a flag or an environment variable cannot be used\n  \
         3  the port cannot be had\n  \
         4  another countersign uses the data folder\n  \
         5  the data folder, or what lies in it, cannot be used",
        help_list(HELP_WIDTH)
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(args: &[&str]) -> Result<ServeArgs, clap::Error> {
        match Cli::try_parse_from([&["countersign"], args].concat())?.into_action() {
            Action::Serve(args) => Ok(args),
            _ => panic!("{args:?} serves nothing"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_means_serve() {
        for args in
            [&[][..], &["--port", "0"], &["--memory", "--dev-hooks", "--data", "x", "--ready-file", "y"]]
        {
            let with_command = [&["serve"], args].concat();
            assert_eq!(parse(args).unwrap(), parse(&with_command).unwrap(), "{args:?}");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_help() {
        let args = parse(&[]).unwrap();
        assert_eq!((args.port, args.folder()), (8787, Some(Path::new("./.countersign"))));
        assert!(!args.dev_hooks && !args.memory && args.ready_file.is_none());
    }

    #[test]
    fn in_memory_there_is_no_folder() {
        assert_eq!(parse(&["--memory", "--data", "x"]).unwrap().folder(), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for args in [&["--port", "70000"][..], &["--port", "x"], &["run"], &["--nonsense"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn what_manages_a_deployment_is_read() {
        for args in [
            &["tenant", "create", "acme"][..],
            &["tenant", "list", "--json", "--url", "https://ask.example.com"],
            &["tenant", "suspend", "acme"],
            &["key", "create", "--name", "mail agent", "--scopes", "ask,read", "--expires-in-days", "30"],
            &["key", "revoke", "key_1"],
            &["approver", "add", "--name", "Mara", "--email", "mara@example.com", "--group", "finance"],
            &["approver", "list", "--data", "x"],
        ] {
            assert!(Cli::try_parse_from([&["countersign"], args].concat()).is_ok(), "{args:?}");
        }
        for args in [
            &["tenant"][..],
            &["key", "create", "--name", "x"],
            &["key", "create", "--name", "x", "--scopes", "root"],
        ] {
            assert!(Cli::try_parse_from([&["countersign"], args].concat()).is_err(), "{args:?}");
        }
    }

    #[test]
    fn help_lists_the_environment_and_fits_a_terminal() {
        for name in ["countersign", "serve"] {
            let mut command = Cli::command();
            let found =
                if name == "serve" { command.find_subcommand_mut(name).unwrap() } else { &mut command };
            let help = found.render_long_help().to_string();
            assert!(help.lines().all(|line| line.len() <= HELP_WIDTH), "{help}");
            assert!(help.contains("COUNTERSIGN_BASE_URL") && help.contains("ELICITATION_EXPIRATION_MINUTES"));
            assert!(help.contains("--ready-file") && help.contains("Exit codes"), "{help}");
        }
    }
}
