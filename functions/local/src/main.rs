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
mod queue;
mod ready;
mod seed;
mod serve;
mod shell;

use std::process::ExitCode;

use clap::Parser as _;
use countersign_runtime::{Config, LogFormat, start_logging};

use cli::{Cli, ServeArgs};
use error::StartError;

#[tokio::main]
async fn main() -> ExitCode {
    match start(&Cli::parse().into_serve()).await {
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
