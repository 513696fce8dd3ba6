//! The keys of a deployment, from one JSON document:
//!
//! ```json
//! {
//!   "version": 1,
//!   "operator_key": "csop_…",
//!   "seal_keys": [{"id": "k2", "secret_base64": "…32 bytes…"}, {"id": "k1", "secret_base64": "…"}]
//! }
//! ```
//!
//! The first seal key is the active one, which seals; the others are previous ones, which still open. Other members are
//! ignored, so that the `credentials.json` of a local server is such a document.

use std::fmt;

use aws_types::SdkConfig;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::credential::OperatorKey;
use countersign_core::seal::{KeyRing, SealKey};
use serde::Deserialize;

use crate::config::SecretsAt;

const VERSION: u32 = 1;

/// The keys.
pub(super) struct Secrets {
    /// What seals handles and tokens.
    pub(super) keys: KeyRing,
    /// Makes tenants.
    pub(super) operator: OperatorKey,
}

/// Why the keys cannot be had: where they were looked for, and what is wrong; nothing of their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSecrets {
    place: String,
    why: String,
}

impl fmt::Display for BadSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use the keys in {}: {}", self.place, self.why)
    }
}

impl std::error::Error for BadSecrets {}

/// No `Debug`: it is all secrets.
#[derive(Deserialize)]
struct Document {
    version: u32,
    operator_key: String,
    seal_keys: Vec<KeptSealKey>,
}

#[derive(Deserialize)]
struct KeptSealKey {
    id: String,
    secret_base64: String,
}

/// The keys at `at`.
pub(super) async fn read(at: &SecretsAt, surroundings: &SdkConfig) -> Result<Secrets, BadSecrets> {
    let (place, text) = match at {
        SecretsAt::File(path) => {
            (path.display().to_string(), std::fs::read_to_string(path).map_err(|error| error.to_string()))
        }
        SecretsAt::SecretsManager(id) => {
            (format!("Secrets Manager's {id}"), secret_string(surroundings, id).await)
        }
    };
    text.and_then(|text| parse(&text)).map_err(|why| BadSecrets { place, why })
}

async fn secret_string(surroundings: &SdkConfig, id: &str) -> Result<String, String> {
    use aws_sdk_secretsmanager::error::DisplayErrorContext;
    let client = aws_sdk_secretsmanager::Client::new(surroundings);
    let answer = client.get_secret_value().secret_id(id).send().await;
    let answer = answer.map_err(|error| DisplayErrorContext(error).to_string())?;
    answer.secret_string.ok_or_else(|| "it is not text".into())
}

fn parse(text: &str) -> Result<Secrets, String> {
    // Serde's own text repeats what it found.
    let damaged = |error: serde_json::Error| {
        format!("it is damaged at line {}, column {}", error.line(), error.column())
    };
    let document: Document = serde_json::from_str(text).map_err(damaged)?;
    if document.version != VERSION {
        return Err(format!("version {} is of another countersign", document.version));
    }
    let operator = document.operator_key.parse().map_err(|_| "the operator key is damaged")?;
    let keys = ring(&document.seal_keys).ok_or("a seal key is missing or damaged")?;
    Ok(Secrets { keys, operator })
}

fn ring(kept: &[KeptSealKey]) -> Option<KeyRing> {
    let read = |one: &KeptSealKey| {
        let secret = STANDARD.decode(&one.secret_base64).ok()?;
        SealKey::new(&one.id, secret.try_into().ok()?)
    };
    let mut keys = kept.iter().map(read).collect::<Option<Vec<_>>>()?.into_iter();
    Some(KeyRing::new(keys.next()?, keys.collect()))
}

#[cfg(test)]
mod tests {
    use countersign_core::id::Bits130;

    use super::*;

    fn document() -> String {
        let operator = OperatorKey::mint(Bits130::from_bytes([8; 17])).reveal();
        let key = |id: &str, byte: u8| {
            format!(r#"{{"id": "{id}", "secret_base64": "{}"}}"#, STANDARD.encode([byte; 32]))
        };
        let (active, previous) = (key("k2", 2), key("k1", 1));
        format!(
            r#"{{"version": 1, "operator_key": "{operator}", "api_key": "of a local server", "seal_keys": [{active}, {previous}]}}"#
        )
    }

    async fn read_file(text: &str) -> Result<Secrets, BadSecrets> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        std::fs::write(&path, text).unwrap();
        read(&SecretsAt::File(path), &SdkConfig::builder().build()).await
    }

    #[tokio::test]
    async fn the_first_key_seals_and_the_others_open() {
        let secrets = read_file(&document()).await.unwrap();
        let old = KeyRing::new(SealKey::new("k1", [1; 32]).unwrap(), vec![]);
        let hash = old.keyed_hash("test", b"secret");
        assert!(secrets.keys.hash_matches("test", b"secret", &hash));
        assert_eq!(secrets.keys.keyed_hash("test", b"secret").key_id, "k2");
        assert!(secrets.operator.matches(&OperatorKey::mint(Bits130::from_bytes([8; 17]))));
    }

    #[track_caller]
    fn check_damaged(edit: impl Fn(&str) -> String, word: &str) {
        let error = parse(&edit(&document())).err().unwrap();
        assert!(error.contains(word), "{error}");
        assert!(!error.contains("csop") && !error.contains(&STANDARD.encode([1; 32])), "{error}");
    }

    #[test]
    fn what_is_damaged_is_told_and_never_quoted() {
        check_damaged(|text| text[..text.len() / 2].to_owned(), "damaged at line 1");
        check_damaged(|text| text.replace("\"version\": 1", "\"version\": 2"), "another countersign");
        check_damaged(|text| text.replace("csop_", "csop-"), "operator key");
        check_damaged(|text| text.replace("\"k1\"", "\"k.1\""), "seal key");
        check_damaged(|text| text.replace("AQEB", "AQ"), "seal key");
        check_damaged(|text| text.replace("[{", "\"csop_\", \"x\": [{"), "damaged at line 1");
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_is_named() {
        let at = SecretsAt::File("/nowhere/keys.json".into());
        let error = read(&at, &SdkConfig::builder().build()).await.err().unwrap();
        assert!(error.to_string().contains("/nowhere/keys.json: No such file"), "{error}");
    }
}
