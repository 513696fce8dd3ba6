//! Log lines: for eyes on a terminal, as JSON elsewhere, always to standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{Directive, LevelFilter};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::Config;

/// Foreign code that at finer levels logs requests whole: with paths, which hold tokens, and with what was asked.
const NEVER_FINER_THAN_INFO: [&str; 11] = [
    "aws_runtime",
    "aws_sdk_dynamodb",
    "aws_sdk_kms",
    "aws_sdk_secretsmanager",
    "aws_smithy_runtime",
    "axum",
    "hyper",
    "hyper_util",
    "lambda_http",
    "lambda_runtime",
    "lambda_runtime_api_client",
];

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For a person.
    Human,
    /// One JSON object.
    Json,
}

impl LogFormat {
    /// For a person where standard error is a terminal, JSON elsewhere.
    pub fn of_stderr() -> Self {
        if io::stderr().is_terminal() { Self::Human } else { Self::Json }
    }
}

/// Starts logging, and logs what was odd about the configuration. Once per process.
///
/// # Panics
/// On a second call.
pub fn start_logging(config: &Config, format: LogFormat) {
    let lines = tracing_subscriber::fmt().with_env_filter(filter(&config.log)).with_writer(io::stderr);
    match format {
        LogFormat::Human => lines.finish().init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().init(),
    }
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
}

/// Whether `text` is a filter.
pub(crate) fn check_filter(text: &str) -> Result<String, String> {
    EnvFilter::builder().parse(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn filter(text: &str) -> EnvFilter {
    let default = LevelFilter::WARN.into();
    let filter = EnvFilter::builder().with_default_directive(default).parse_lossy(text);
    let quiet = |target: &str| format!("{target}=info").parse::<Directive>().ok();
    // It reports, as an error, that an engine in this process has no connection to close.
    let filter = match "aws_smithy_runtime::client::http::connection_poisoning=off".parse() {
        Ok(off) => filter.add_directive(off),
        Err(_) => filter,
    };
    NEVER_FINER_THAN_INFO.into_iter().filter_map(quiet).fold(filter, EnvFilter::add_directive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_filter_lets_foreign_code_log_whole_requests() {
        for text in ["trace", "hyper=trace", "trace,axum=trace,aws_smithy_runtime=debug"] {
            let shown = filter(text).to_string();
            for target in NEVER_FINER_THAN_INFO {
                assert!(shown.contains(&format!("{target}=info")), "{shown}");
                assert!(!shown.contains(&format!("{target}=trace")), "{shown}");
            }
        }
    }

    #[test]
    fn a_filter_is_checked() {
        assert!(check_filter("warn,countersign=info").is_ok());
        assert!(check_filter("countersign=loud").is_err());
    }
}
