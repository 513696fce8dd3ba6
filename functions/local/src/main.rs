//! `countersign`: the whole server on one machine, with an embedded database.

mod banner;
mod cli;
mod credentials;
mod dev;
mod error;
mod files;
mod folder;
mod listen;
mod mail;
mod person;
mod queue;
mod ready;
mod remote;
mod seed;
mod serve;
mod shell;

use std::process::ExitCode;

use clap::Parser as _;
use countersign_runtime::{Config, LogFormat, start_logging};

use cli::{Action, Cli, ServeArgs};
use error::StartError;

#[tokio::main]
async fn main() -> ExitCode {
    let args = match Cli::parse().into_action() {
        Action::Serve(args) => args,
        Action::Tenant(args) => return remote::tenant(args).await,
        Action::Key(args) => return remote::key(args).await,
        Action::Approver(args) => return remote::approver(args).await,
        Action::SignIn(args) => return person::sign_in(args).await,
        Action::Inbox(args) => return person::inbox(args).await,
        Action::Decide(args) => return person::decide(args).await,
    };
    match start(&args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("countersign: {error}");
            error.exit_code()
        }
    }
}

async fn start(args: &ServeArgs) -> Result<(), StartError> {
    let config = Config::from_env()?;
    start_logging(&config, LogFormat::of_stderr());
    serve::serve(args, &config).await
}
