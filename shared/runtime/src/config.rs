//! Configuration: read from the environment once, parsed into types at that moment.

mod url;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use countersign_app::Settings;
use countersign_core::deadline::{ConfiguredExpiry, configured_expiry};
use countersign_core::limits::{EXPIRY_DEFAULT, POLL_STORE_LIMIT, REQUEST_LIMIT};
use countersign_core::secret::Secret;

use crate::logging::check_filter;
use crate::variables::{
    BASE_URL, DYNAMODB_ENDPOINT, EXPIRATION_MINUTES, KMS_KEY, LOG, MAIL_FROM, POLL_BASE_URL, RETENTION_DAYS,
    SECRETS, SMTP_URL, TABLE, VARIABLES,
};

/// Characters of a KMS key's id, alias or ARN.
const KMS_KEY_CHARS: usize = 2_048;
const RETENTION: RangeInclusive<u64> = 1..=3650;
const NO_ADDRESS: &str = "it must be a mail address, such as countersign@example.com";
const TABLE_NAME_CHARS: RangeInclusive<usize> = 3..=255;

/// What a deployment configures.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where askers and people reach us, without a trailing slash.
    pub base_url: Option<String>,
    /// Where fallback askers poll, without a trailing slash.
    pub poll_base_url: Option<String>,
    /// The DynamoDB table.
    pub table: String,
    /// Another DynamoDB than that of AWS.
    pub dynamodb_endpoint: Option<String>,
    /// The wait of a question for which nobody named one.
    pub default_ttl: Duration,
    /// How long rows outlive their deadline.
    pub retention: Duration,
    /// Where a Lambda function finds its keys.
    pub secrets: Option<SecretsAt>,
    /// The mail server, as text: whoever sends mail reads it, so that nobody else links what sends mail.
    pub smtp_url: Option<Secret<String>>,
    /// The KMS key that wraps data keys.
    pub kms_key: Option<String>,
    /// The address that mail comes from, as text.
    pub mail_from: String,
    /// What is logged.
    pub log: String,
    /// What was odd and ignored, to be logged once logging is on.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`BadConfig`], with all that is wrong.
    pub fn from_env() -> Result<Self, BadConfig> {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        Self::parse(|name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))
    }

    /// The configuration in the variables that `lookup` knows. A blank one counts as unset.
    ///
    /// # Errors
    /// [`BadConfig`], with all that is wrong.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, BadConfig> {
        let mut values = Values { lookup, bad: vec![] };
        let (default_ttl, warnings) = expiry(values.text(EXPIRATION_MINUTES).as_deref().unwrap_or_default());
        let config = Self {
            base_url: values.optional(BASE_URL, url::base),
            poll_base_url: values.optional(POLL_BASE_URL, url::base),
            table: values.or_default(TABLE, table_name),
            dynamodb_endpoint: values.optional(DYNAMODB_ENDPOINT, url::base),
            default_ttl,
            retention: values.or_default(RETENTION_DAYS, days),
            secrets: values.optional(SECRETS, secrets),
            kms_key: values.optional(KMS_KEY, kms_key),
            smtp_url: values.optional(SMTP_URL, smtp_url),
            mail_from: values.or_default(MAIL_FROM, mail_from),
            log: values.or_default(LOG, check_filter),
            warnings,
        };
        if values.bad.is_empty() { Ok(config) } else { Err(BadConfig(values.bad)) }
    }

    /// What the use-cases are told. `own` is the base URL where none is configured.
    pub fn settings(&self, own: &str, hold_native_reads: bool) -> Settings {
        let base_url = self.base_url.clone().unwrap_or_else(|| own.to_owned());
        Settings {
            poll_base_url: self.poll_base_url.clone().unwrap_or_else(|| base_url.clone()),
            page_url: page_url(&base_url),
            base_url,
            default_ttl: self.default_ttl,
            retention: self.retention,
            hold_native_reads,
            plain_targets: false,
            request_limit: REQUEST_LIMIT,
            poll_store_limit: POLL_STORE_LIMIT,
        }
    }
}

/// Where a Lambda function finds its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretsAt {
    /// In a file of the machine.
    File(PathBuf),
    /// In AWS Secrets Manager, under this name or ARN.
    SecretsManager(String),
}

/// A variable whose value cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue {
    /// The variable.
    pub name: &'static str,
    /// What is wrong. It repeats no value, which may be a secret.
    pub why: String,
}

/// All variables whose values cannot be used; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadConfig(pub Vec<BadValue>);

impl BadConfig {
    /// A mail server that the mail code cannot use, for the reason `why`.
    pub fn smtp_url(why: &impl fmt::Display) -> Self {
        Self(vec![BadValue { name: SMTP_URL, why: why.to_string() }])
    }

    /// A sender that is no address to the mail code.
    pub fn mail_from() -> Self {
        Self(vec![BadValue { name: MAIL_FROM, why: NO_ADDRESS.into() }])
    }
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, BadValue { name, why }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{name} cannot be used: {why}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BadConfig {}

struct Values<L> {
    lookup: L,
    bad: Vec<BadValue>,
}

impl<L: Fn(&str) -> Option<String>> Values<L> {
    fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn optional<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        match read(&self.text(name)?) {
            Ok(value) => Some(value),
            Err(why) => {
                self.bad.push(BadValue { name, why });
                None
            }
        }
    }

    fn or_default<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> T {
        self.optional(name, &read).unwrap_or_else(|| {
            let default = VARIABLES.iter().find(|one| one.name == name).and_then(|one| one.default);
            #[expect(clippy::expect_used, reason = "the table is ours, and a test reads every default of it")]
            read(default.unwrap_or_default()).expect("a good default")
        })
    }
}

fn expiry(text: &str) -> (Duration, Vec<String>) {
    match configured_expiry(text) {
        ConfiguredExpiry::Unset => (EXPIRY_DEFAULT, vec![]),
        ConfiguredExpiry::Wait(wait) => (wait, vec![]),
        ConfiguredExpiry::Ignored => {
            let minutes = EXPIRY_DEFAULT.as_secs() / 60;
            let warning = format!(
                "{EXPIRATION_MINUTES} is ignored, it is not a positive whole number; {minutes} minutes are used"
            );
            (EXPIRY_DEFAULT, vec![warning])
        }
    }
}

fn days(text: &str) -> Result<Duration, String> {
    let days = text.parse().ok().filter(|days| RETENTION.contains(days));
    let bounds =
        || format!("it must be a whole number of days from {} to {}", RETENTION.start(), RETENTION.end());
    days.map(|days: u64| Duration::from_hours(days * 24)).ok_or_else(bounds)
}

fn table_name(text: &str) -> Result<String, String> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if TABLE_NAME_CHARS.contains(&text.len()) && text.bytes().all(known) {
        Ok(text.to_owned())
    } else {
        Err("a table's name has 3 to 255 characters of A-Z, a-z, 0-9, '_', '.' and '-'".into())
    }
}

/// The look of an address; whoever sends mail reads it closely.
fn mail_from(text: &str) -> Result<String, String> {
    let halves = text.rsplit_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty());
    if halves.is_some() && !text.contains(char::is_control) {
        Ok(text.into())
    } else {
        Err(NO_ADDRESS.into())
    }
}

/// The look of a mail server's URL; whoever sends mail reads it closely.
fn smtp_url(text: &str) -> Result<Secret<String>, String> {
    if text.starts_with("smtp://") || text.starts_with("smtps://") {
        Ok(Secret::new(text.to_owned()))
    } else {
        Err("start it with smtp:// or smtps://".into())
    }
}

fn kms_key(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_graphic();
    if text.len() <= KMS_KEY_CHARS && text.bytes().all(plain) {
        Ok(text.into())
    } else {
        Err("it must be the id, alias or ARN of a KMS key".into())
    }
}

fn secrets(text: &str) -> Result<SecretsAt, String> {
    match text.split_once(':') {
        Some(("file", path)) if path.starts_with('/') => Ok(SecretsAt::File(path.into())),
        Some(("secretsmanager", id)) if !id.is_empty() => Ok(SecretsAt::SecretsManager(id.to_owned())),
        _ => Err("it must be secretsmanager:NAME-OR-ARN or file:/PATH".into()),
    }
}

/// Where people's pages are: on loopback by name, because a passkey belongs to a name.
fn page_url(base_url: &str) -> String {
    base_url.replacen("http://127.0.0.1:", "http://localhost:", 1)
}

#[cfg(test)]
mod tests;
