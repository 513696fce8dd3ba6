//! The secrets of one data folder: made at its first start, before anything else, and the same ever after.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_app::ports::Entropy;
use countersign_core::credential::{ApiKey, OperatorKey};
use countersign_core::id::TenantId;
use countersign_core::seal::{KeyRing, SealKey};
use serde::{Deserialize, Serialize};

use crate::error::StartError;
use crate::files::{make_private, write_private};

/// Their file in the data folder.
pub(crate) const FILE: &str = "credentials.json";

const VERSION: u32 = 1;
const FIRST_SEAL_KEY: &str = "local1";

/// The file's content. No `Debug`: it is all secrets.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    operator_key: String,
    api_key: String,
    /// The first one seals, all of them open.
    seal_keys: Vec<KeptSealKey>,
    /// The ask token of the demo session, once there is one.
    ask_token: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct KeptSealKey {
    id: String,
    secret_base64: String,
}

/// All secrets of this server.
pub(crate) struct Credentials {
    /// Makes tenants.
    pub(crate) operator: OperatorKey,
    /// The demo tenant's first key.
    pub(crate) api_key: ApiKey,
    /// What seals handles and tokens.
    pub(crate) keys: KeyRing,
    kept: Kept,
    file: Option<PathBuf>,
}

impl Credentials {
    /// Secrets that live as long as this process.
    pub(crate) fn in_memory(tenant: TenantId, entropy: &(dyn Entropy + 'static)) -> Result<Self, StartError> {
        Self::of(mint(tenant, entropy), None)
    }

    /// The secrets of `folder`, which this process has to itself; made and written if there are none.
    pub(crate) fn open(
        folder: &Path,
        tenant: TenantId,
        entropy: &(dyn Entropy + 'static),
    ) -> Result<Self, StartError> {
        let file = folder.join(FILE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let made = Self::of(mint(tenant, entropy), Some(file))?;
                made.write()?;
                return Ok(made);
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => return Err(bad(&file, "it is no text")),
            Err(error) => return Err(StartError::CredentialsFile { file, error }),
        };
        match make_private(&file) {
            Ok(false) => {}
            Ok(true) => tracing::warn!("{FILE} could be read by others; it is its owner's alone now"),
            Err(error) => return Err(StartError::CredentialsFile { file, error }),
        }
        let kept: Kept = serde_json::from_str(&text).map_err(|error| {
            // Its own text repeats what it found.
            let (line, column) = (error.line(), error.column());
            bad(&file, format!("it is damaged at line {line}, column {column}"))
        })?;
        Self::of(kept, Some(file))
    }

    /// The ask token of the demo session, once there is one.
    pub(crate) fn ask_token(&self) -> Option<&str> {
        self.kept.ask_token.as_deref()
    }

    /// Keeps an ask token for the next starts.
    pub(crate) fn keep_ask_token(&mut self, token: String) -> Result<(), StartError> {
        self.kept.ask_token = Some(token);
        self.write()
    }

    fn write(&self) -> Result<(), StartError> {
        let Some(file) = &self.file else { return Ok(()) };
        let write = || {
            let mut text = serde_json::to_vec_pretty(&self.kept)?;
            text.push(b'\n');
            write_private(file, &text)
        };
        write().map_err(|error| StartError::CredentialsFile { file: file.clone(), error })
    }

    fn of(kept: Kept, file: Option<PathBuf>) -> Result<Self, StartError> {
        let named = file.clone().unwrap_or_default();
        if kept.version != VERSION {
            return Err(bad(&named, format!("version {} is of another countersign", kept.version)));
        }
        let operator = kept.operator_key.parse().map_err(|_| bad(&named, "the operator key is damaged"))?;
        let api_key = kept.api_key.parse().map_err(|_| bad(&named, "the API key is damaged"))?;
        let keys = ring(&kept.seal_keys).ok_or_else(|| bad(&named, "a seal key is missing or damaged"))?;
        Ok(Self { operator, api_key, keys, kept, file })
    }
}

fn mint(tenant: TenantId, entropy: &(dyn Entropy + 'static)) -> Kept {
    let mut secret = [0; 32];
    entropy.fill(&mut secret);
    Kept {
        version: VERSION,
        operator_key: OperatorKey::mint(entropy.bits130()).reveal(),
        api_key: ApiKey::mint(tenant, entropy.bits130(), entropy.bits130()).reveal(),
        seal_keys: vec![KeptSealKey { id: FIRST_SEAL_KEY.into(), secret_base64: STANDARD.encode(secret) }],
        ask_token: None,
    }
}

fn ring(kept: &[KeptSealKey]) -> Option<KeyRing> {
    let read = |one: &KeptSealKey| {
        let secret = STANDARD.decode(&one.secret_base64).ok()?;
        SealKey::new(&one.id, secret.try_into().ok()?)
    };
    let mut keys = kept.iter().map(read).collect::<Option<Vec<_>>>()?.into_iter();
    Some(KeyRing::new(keys.next()?, keys.collect()))
}

fn bad(file: &Path, why: impl Into<String>) -> StartError {
    StartError::BadCredentials { file: file.to_owned(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use countersign_testkit::entropy::SeededEntropy;

    use super::*;

    fn open(folder: &Path, seed: u64) -> Result<Credentials, StartError> {
        Credentials::open(folder, "demo".parse().unwrap(), &SeededEntropy::new(seed))
    }

    #[test]
    fn what_is_made_once_is_read_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = open(folder.path(), 1).unwrap();
        assert_eq!(first.ask_token(), None);
        let hash = first.keys.keyed_hash("test", b"secret");
        first.keep_ask_token("cst_x".into()).unwrap();
        let again = open(folder.path(), 2).unwrap();
        assert_eq!(again.api_key.reveal(), first.api_key.reveal());
        assert!(again.operator.matches(&first.operator));
        assert!(again.keys.hash_matches("test", b"secret", &hash));
        assert_eq!(again.ask_token(), Some("cst_x"));
    }

    #[test]
    fn the_file_is_its_owners_alone_even_after_a_careless_copy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        open(folder.path(), 1).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        open(folder.path(), 1).unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_half_written_file_of_a_killed_start_is_no_trouble() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".credentials.json.tmp"), "{\"vers").unwrap();
        assert!(open(folder.path(), 1).is_ok());
    }

    #[test]
    fn in_memory_nothing_is_written() {
        let mut made = Credentials::in_memory("demo".parse().unwrap(), &SeededEntropy::new(1)).unwrap();
        made.keep_ask_token("cst_x".into()).unwrap();
        assert_eq!(made.ask_token(), Some("cst_x"));
    }

    #[track_caller]
    fn check_damaged(edit: impl Fn(&str) -> String, word: &str) {
        let folder = tempfile::tempdir().unwrap();
        let good = open(folder.path(), 1).unwrap();
        let file = folder.path().join(FILE);
        let damaged = edit(&fs::read_to_string(&file).unwrap());
        fs::write(&file, &damaged).unwrap();
        let error = open(folder.path(), 2).err().unwrap();
        assert!(matches!(error, StartError::BadCredentials { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        for secret in [&good.kept.operator_key, &good.kept.api_key, &good.kept.seal_keys[0].secret_base64] {
            assert!(!error.to_string().contains(secret.as_str()), "{error}");
        }
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            damaged,
            "what is damaged is left for its owner to repair"
        );
    }

    #[test]
    fn a_damaged_file_is_named_and_never_replaced_or_quoted() {
        check_damaged(|text| text[..text.len() / 2].to_owned(), "damaged at line");
        check_damaged(|_| String::new(), "damaged at line 1");
        check_damaged(|text| text.replace("\"version\": 1", "\"version\": 2"), "another countersign");
        check_damaged(|text| text.replace("csk_", "csk-"), "API key");
        check_damaged(|text| text.replace("csop_", "csop-"), "operator key");
        check_damaged(|text| text.replace("local1", "local.1"), "seal key");
        // A type error quotes the value in serde's own words.
        check_damaged(
            |text| text.replace("\"seal_keys\": [", "\"seal_keys\": \"csk_\", \"x\": ["),
            "damaged at line",
        );
    }
}
