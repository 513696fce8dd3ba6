//! The ways in which a sweep reaches people.

use std::sync::Arc;

use countersign_app::ports::Channel;
use countersign_channels::{Mailbox, SEND_LIMIT, Smtp};
use countersign_runtime::{BadConfig, Config};

/// The mail server of `config`; none where it names none, and then notices wait.
pub(crate) fn channels(config: &Config) -> Result<Vec<Arc<dyn Channel>>, BadConfig> {
    let from: Mailbox = config.mail_from.parse().map_err(|_| BadConfig::mail_from())?;
    let Some(url) = &config.smtp_url else { return Ok(vec![]) };
    let smtp = Smtp::new(url.expose(), from, SEND_LIMIT).map_err(|error| BadConfig::smtp_url(&error))?;
    Ok(vec![Arc::new(smtp)])
}
