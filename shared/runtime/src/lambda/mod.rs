//! The start of a Lambda function: everything that its `main` hands to a router or a use-case.
//!
//! Environment, clients and secrets are read once, in the init phase. The trigger does nothing here: on AWS the table's
//! stream makes notifying prompt, and the sweep backs it up.

mod kms;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use countersign_app::App;
use countersign_app::ports::{Channel, Entropy, Trigger};
use countersign_core::id::{CodeId, ElicitationId, TenantId};
use countersign_http::Http;
use countersign_outbound::Reach;
use countersign_store::dynamo::DynamoTable;
use countersign_store::vault::{KeyWrap, RingWrap};

use crate::aws::{dynamodb_of, surroundings};
use crate::clock::SystemClock;
use crate::compose::{Parts, compose};
use crate::config::{BadConfig, Config};
use crate::entropy::OsEntropy;
use crate::hooks::GuardedHooks;
use crate::jwks::GuardedJwks;
use crate::logging::{LogFormat, start_logging};
use crate::variables::{BASE_URL, SECRETS};

use kms::KmsWrap;
pub use secrets::BadSecrets;
use secrets::Secrets;

/// How long the start waits for the store. Without an answer it goes on: the first request then opens the connection.
const WARM_LIMIT: Duration = Duration::from_secs(2);

/// Why a function does not start. No text of it holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// An environment variable cannot be used.
    #[error(transparent)]
    Config(#[from] BadConfig),
    /// A variable that the local binary does without.
    #[error("{0} is not set: a Lambda function cannot do without it")]
    Missing(&'static str),
    /// The keys cannot be had.
    #[error(transparent)]
    Secrets(#[from] BadSecrets),
}

/// What the HTTP functions run on. They send nothing, so they link no channel.
///
/// # Errors
/// [`BootError`]; an unreachable store is none.
pub async fn boot() -> Result<Http, BootError> {
    start(|_| Ok(vec![])).await
}

/// What a function runs on that sends notices, through the channels that `channels` makes of the configuration.
///
/// # Errors
/// [`BootError`]; an unreachable store is none.
pub async fn boot_sending(
    channels: impl FnOnce(&Config) -> Result<Vec<Arc<dyn Channel>>, BadConfig>,
) -> Result<App, BootError> {
    start(channels).await.map(|http| http.app)
}

async fn start(
    channels: impl FnOnce(&Config) -> Result<Vec<Arc<dyn Channel>>, BadConfig>,
) -> Result<Http, BootError> {
    let read = Config::from_env();
    // What cannot be read is logged as by default.
    start_logging(read.as_ref().unwrap_or(&Config::parse(|_| None)?), LogFormat::Json);
    let assembled = match read {
        Ok(config) => assemble(&config, channels).await,
        Err(error) => Err(error.into()),
    };
    let http = assembled.inspect_err(|error| tracing::error!("no start: {error}"))?;
    warm(&http.app).await;
    Ok(http)
}

async fn assemble(
    config: &Config,
    channels: impl FnOnce(&Config) -> Result<Vec<Arc<dyn Channel>>, BadConfig>,
) -> Result<Http, BootError> {
    let own = config.base_url.as_deref().ok_or(BootError::Missing(BASE_URL))?;
    let at = config.secrets.as_ref().ok_or(BootError::Missing(SECRETS))?;
    #[expect(clippy::disallowed_methods, reason = "read once, at the start")]
    let surroundings = surroundings(|name| std::env::var(name).ok());
    let Secrets { keys, operator } = secrets::read(at, &surroundings).await?;
    let table = DynamoTable::new(dynamodb_of(&surroundings, config), &config.table);
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let wrap: Arc<dyn KeyWrap> = match &config.kms_key {
        Some(key) => Arc::new(KmsWrap::new(surroundings, key.clone())),
        None => Arc::new(RingWrap::new(&keys, Arc::clone(&entropy))),
    };
    let app = compose(Parts {
        table: Arc::new(table),
        clock: Arc::new(SystemClock),
        entropy,
        keys,
        wrap,
        jwks: Arc::new(GuardedJwks::new(Reach::Public)),
        hooks: Arc::new(GuardedHooks::new(Reach::Public)),
        trigger: Arc::new(Stream),
        channels: channels(config)?,
        settings: config.settings(own, false),
    });
    Ok(Http { app, operator: Arc::new(operator) })
}

/// Opens the connection to the store while nobody waits.
async fn warm(app: &App) {
    match tokio::time::timeout(WARM_LIMIT, app.store.ready()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!("the store does not answer yet: {error}"),
        Err(_) => tracing::warn!("the store did not answer within {WARM_LIMIT:?}"),
    }
}

/// The table's stream sees every commit by itself.
struct Stream;

impl Trigger for Stream {
    fn stored(&self, _: &TenantId, _: ElicitationId) {}

    fn code_wanted(&self, _: &TenantId, _: CodeId) {}
}
