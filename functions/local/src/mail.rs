//! Where mail goes: to the outbox on this machine, or to a mail server if one is configured.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_app::ports::{Channel, Clock};
use countersign_channels::{Mailbox, Outbox, OutboxMessage, SEND_LIMIT, Smtp};
use countersign_runtime::{BadConfig, Config};

use crate::banner::say;

/// What is configured of mail, read.
pub(crate) struct MailSettings {
    from: Mailbox,
    smtp: Option<Arc<Smtp>>,
}

impl MailSettings {
    /// The settings of `config`.
    pub(crate) fn of(config: &Config) -> Result<Self, BadConfig> {
        let from: Mailbox = config.mail_from.parse().map_err(|_| BadConfig::mail_from())?;
        let smtp = |url: &str| Smtp::new(url, from.clone(), SEND_LIMIT).map(Arc::new);
        let smtp = config.smtp_url.as_ref().map(|url| smtp(url.expose())).transpose();
        Ok(Self { smtp: smtp.map_err(|error| BadConfig::smtp_url(&error))?, from })
    }
}

/// The one channel of the local server.
#[derive(Clone)]
pub(crate) enum Mail {
    /// Stays on this machine.
    Outbox(Arc<Outbox>),
    /// Leaves it.
    Smtp(Arc<Smtp>),
}

impl Mail {
    /// The mail server of `settings` if they name one, else an outbox, in `folder` if there is one.
    pub(crate) fn of(settings: MailSettings, clock: Arc<dyn Clock>, folder: Option<PathBuf>) -> Self {
        if let Some(smtp) = settings.smtp {
            return Self::Smtp(smtp);
        }
        let outbox = Outbox::new(clock, settings.from);
        let outbox = outbox.on_mail(Box::new(|message| say(&line(message))));
        Self::Outbox(Arc::new(match folder {
            Some(folder) => outbox.in_directory(folder),
            None => outbox,
        }))
    }

    /// The channel for the use-cases.
    pub(crate) fn channel(&self) -> Arc<dyn Channel> {
        match self {
            Self::Outbox(outbox) => Arc::clone(outbox) as _,
            Self::Smtp(smtp) => Arc::clone(smtp) as _,
        }
    }

    /// What would have been sent; nothing where it was sent.
    pub(crate) fn kept(&self) -> Vec<OutboxMessage> {
        match self {
            Self::Outbox(outbox) => outbox.messages(),
            Self::Smtp(_) => vec![],
        }
    }
}

/// A mail for the terminal.
fn line(message: &OutboxMessage) -> String {
    let what = message.link.as_deref().or(message.code.as_deref()).unwrap_or_default();
    format!("mail to {}: {}  {what}", message.to, message.subject)
}
