//! Encryption of what only people and their gateways may know: answers, and the secrets that are used rather than
//! compared (DESIGN.md section 4).
//!
//! Each tenant has a data key, which lies in its own row, wrapped. A sealed value carries that wrapped key with it,
//! so that a poll reads one row and no more:
//!
//! ```text
//! version 1 ‖ length of the wrapped key (2 bytes) ‖ wrapped key ‖ nonce (12 bytes) ‖ AES-256-GCM ciphertext and tag
//! ```
//! What is authenticated with it names purpose, tenant and row: a value that was moved does not open. Nonces are random;
//! a data key would have to seal 2³² values before their chance to repeat mattered (NIST SP 800-38D section 8.3).

mod ring;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use countersign_app::ports::{Entropy, StoreError};
use countersign_core::id::TenantId;
use countersign_core::secret::Secret;

pub use ring::RingWrap;

const VERSION: u8 = 1;
const KEY_BYTES: usize = 32;
/// Unwrapped keys that a process remembers: each saves a call of the key service.
const REMEMBERED: usize = 1_000;

/// A data key in the open.
pub type DataKey = Secret<[u8; KEY_BYTES]>;

/// A data key could not be wrapped or unwrapped. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrapError {
    /// The key service does not answer, or not now.
    #[error("key service unavailable: {0}")]
    Unavailable(String),
    /// It is not what this deployment wrapped for this tenant.
    #[error("not a data key of this tenant")]
    Foreign,
}

/// What wraps data keys: a key that never leaves its service, or one in a file.
#[async_trait]
pub trait KeyWrap: Send + Sync {
    /// The data key as it may be stored.
    async fn wrap(&self, tenant: &TenantId, key: &DataKey) -> Result<Vec<u8>, WrapError>;

    /// The data key that was wrapped for the tenant.
    async fn unwrap(&self, tenant: &TenantId, wrapped: &[u8]) -> Result<DataKey, WrapError>;
}

/// What a sealed value is: a value of one kind does not open as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The answer to a question.
    Answer,
    /// The decider's words.
    Reason,
    /// A secret that both sides of a webhook share.
    SigningSecret,
    /// A secret that an issuer signs tokens with.
    TokenSecret,
}

impl Purpose {
    const fn word(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Reason => "reason",
            Self::SigningSecret => "signing secret",
            Self::TokenSecret => "token secret",
        }
    }
}

/// Seals and opens values under the tenants' data keys.
pub struct Vault {
    wrap: Arc<dyn KeyWrap>,
    entropy: Arc<dyn Entropy>,
    /// By tenant and wrapped key.
    opened: Mutex<HashMap<(TenantId, Vec<u8>), DataKey>>,
    /// The wrapped key in each tenant's row, as last read: a key is never replaced there.
    known: Mutex<HashMap<TenantId, Vec<u8>>>,
}

impl Vault {
    /// A vault whose data keys are wrapped by `wrap`.
    pub fn new(wrap: Arc<dyn KeyWrap>, entropy: Arc<dyn Entropy>) -> Self {
        Self { wrap, entropy, opened: Mutex::default(), known: Mutex::default() }
    }

    /// A new data key for `tenant`, wrapped.
    pub(crate) async fn new_data_key(&self, tenant: &TenantId) -> Result<Vec<u8>, StoreError> {
        let mut bytes = [0; KEY_BYTES];
        self.entropy.fill(&mut bytes);
        let key = Secret::new(bytes);
        let wrapped = self.wrap.wrap(tenant, &key).await.map_err(trouble)?;
        self.remember(tenant, &wrapped, key);
        Ok(wrapped)
    }

    /// The wrapped key of the tenant, if this process has read it.
    pub(crate) fn known(&self, tenant: &TenantId) -> Option<Vec<u8>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(tenant).cloned()
    }

    /// Remembers the wrapped key of the tenant.
    pub(crate) fn know(&self, tenant: &TenantId, wrapped: Vec<u8>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(tenant.clone(), wrapped);
    }

    /// `plain` under the data key, bound to its purpose, tenant and `row`.
    pub(crate) async fn seal(
        &self,
        tenant: &TenantId,
        wrapped: &[u8],
        (purpose, row): (Purpose, &str),
        plain: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let key = self.key(tenant, wrapped).await?;
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill(&mut nonce);
        let mut sealed = plain.to_vec();
        encrypt(&key, nonce, &bound_to(tenant, purpose, row), &mut sealed);
        let length = u16::try_from(wrapped.len()).map_err(|_| StoreError::Corrupt("data key".into()))?;
        let mut value = vec![VERSION];
        value.extend_from_slice(&length.to_be_bytes());
        value.extend_from_slice(wrapped);
        value.extend_from_slice(&nonce);
        value.append(&mut sealed);
        Ok(value)
    }

    /// What was sealed for this purpose, tenant and `row`.
    pub(crate) async fn open(
        &self,
        tenant: &TenantId,
        (purpose, row): (Purpose, &str),
        value: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let corrupt = || StoreError::Corrupt(format!("sealed {}", purpose.word()));
        let (wrapped, nonce, sealed) = parts(value).ok_or_else(corrupt)?;
        let key = self.key(tenant, wrapped).await?;
        decrypt(&key, nonce, &bound_to(tenant, purpose, row), sealed).ok_or_else(corrupt)
    }

    async fn key(&self, tenant: &TenantId, wrapped: &[u8]) -> Result<DataKey, StoreError> {
        let place = (tenant.clone(), wrapped.to_vec());
        if let Some(key) = self.opened().get(&place) {
            return Ok(key.clone());
        }
        let key = self.wrap.unwrap(tenant, wrapped).await.map_err(trouble)?;
        self.remember(tenant, wrapped, key.clone());
        Ok(key)
    }

    fn remember(&self, tenant: &TenantId, wrapped: &[u8], key: DataKey) {
        let mut opened = self.opened();
        if opened.len() >= REMEMBERED {
            opened.clear(); // what is in use comes back by itself
        }
        opened.insert((tenant.clone(), wrapped.to_vec()), key);
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<(TenantId, Vec<u8>), DataKey>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn trouble(error: WrapError) -> StoreError {
    match error {
        WrapError::Unavailable(why) => StoreError::Unavailable(why),
        WrapError::Foreign => StoreError::Corrupt(error.to_string()),
    }
}

fn bound_to(tenant: &TenantId, purpose: Purpose, row: &str) -> Vec<u8> {
    format!("countersign {}\0{tenant}\0{row}", purpose.word()).into_bytes()
}

fn parts(value: &[u8]) -> Option<(&[u8], [u8; NONCE_LEN], &[u8])> {
    let (version, rest) = value.split_first()?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (wrapped, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
    (*version == VERSION).then_some((wrapped, *nonce, sealed))
}

fn cipher(key: &DataKey) -> LessSafeKey {
    #[expect(clippy::expect_used, reason = "a key of the algorithm's own length")]
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.expose()).expect("32 bytes"))
}

fn encrypt(key: &DataKey, nonce: [u8; NONCE_LEN], bound_to: &[u8], plain: &mut Vec<u8>) {
    let nonce = Nonce::assume_unique_for_key(nonce);
    #[expect(clippy::expect_used, reason = "fails above 64 GiB only")]
    cipher(key).seal_in_place_append_tag(nonce, Aad::from(bound_to), plain).expect("a short text");
}

fn decrypt(key: &DataKey, nonce: [u8; NONCE_LEN], bound_to: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let plain = cipher(key).open_in_place(nonce, Aad::from(bound_to), &mut buffer).ok()?;
    Some(plain.to_vec())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

    use countersign_core::seal::{KeyRing, SealKey};

    use super::*;

    /// Counts, so that every nonce and key is another.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn ring(ids: &[&str]) -> KeyRing {
        let mut keys = ids.iter().map(|id| SealKey::new(id, [id.as_bytes()[1]; 32]).unwrap());
        KeyRing::new(keys.next().unwrap(), keys.collect())
    }

    fn vault(ids: &[&str]) -> Vault {
        let entropy: Arc<dyn Entropy> = Arc::new(Counting::default());
        Vault::new(Arc::new(RingWrap::new(&ring(ids), Arc::clone(&entropy))), entropy)
    }

    fn tenant(name: &str) -> TenantId {
        name.parse().unwrap()
    }

    const ANSWER: (Purpose, &str) = (Purpose::Answer, "el_1");

    async fn sealed(vault: &Vault, name: &str) -> Vec<u8> {
        let key = vault.new_data_key(&tenant(name)).await.unwrap();
        vault.seal(&tenant(name), &key, ANSWER, b"the answer").await.unwrap()
    }

    #[tokio::test]
    async fn what_is_sealed_opens_where_it_was_sealed_and_nowhere_else() {
        let vault = vault(&["k1"]);
        let value = sealed(&vault, "acme").await;
        assert_eq!(vault.open(&tenant("acme"), ANSWER, &value).await.unwrap(), b"the answer");
        assert!(!value.windows(6).any(|part| part == b"answer"));
        for (name, place) in
            [("acme-2", ANSWER), ("acme", (Purpose::Answer, "el_2")), ("acme", (Purpose::Reason, "el_1"))]
        {
            let error = vault.open(&tenant(name), place, &value).await.unwrap_err();
            assert!(matches!(error, StoreError::Corrupt(_)), "{name} {place:?}");
        }
    }

    #[tokio::test]
    async fn no_edited_byte_goes_unnoticed() {
        let vault = vault(&["k1"]);
        let value = sealed(&vault, "acme").await;
        for index in 0..value.len() {
            let mut edited = value.clone();
            edited[index] ^= 1;
            assert!(vault.open(&tenant("acme"), ANSWER, &edited).await.is_err(), "byte {index}");
            assert!(vault.open(&tenant("acme"), ANSWER, &value[..index]).await.is_err(), "first {index}");
        }
    }

    #[tokio::test]
    async fn an_older_wrapping_key_opens_as_long_as_it_is_kept() {
        let value = sealed(&vault(&["k1"]), "acme").await;
        assert!(vault(&["k2", "k1"]).open(&tenant("acme"), ANSWER, &value).await.is_ok());
        assert!(vault(&["k2"]).open(&tenant("acme"), ANSWER, &value).await.is_err());
    }

    /// Unwraps to one key, and counts.
    #[derive(Default)]
    struct Service {
        calls: AtomicUsize,
    }

    #[async_trait]
    impl KeyWrap for Service {
        async fn wrap(&self, _: &TenantId, _: &DataKey) -> Result<Vec<u8>, WrapError> {
            Err(WrapError::Unavailable("down".into()))
        }

        async fn unwrap(&self, _: &TenantId, _: &[u8]) -> Result<DataKey, WrapError> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            Ok(Secret::new([1; 32]))
        }
    }

    #[tokio::test]
    async fn a_key_is_unwrapped_once_and_as_many_are_kept_as_may_be() {
        let service = Arc::new(Service::default());
        let vault = Vault::new(service.clone(), Arc::new(Counting::default()));
        for _ in 0..3 {
            vault.seal(&tenant("acme"), b"one", ANSWER, b"x").await.unwrap();
        }
        assert_eq!(service.calls.load(Ordering::Relaxed), 1);
        for number in 0..2 * REMEMBERED {
            vault.seal(&tenant("acme"), &number.to_be_bytes(), ANSWER, b"x").await.unwrap();
        }
        assert!(vault.opened().len() <= REMEMBERED);
        let error = vault.new_data_key(&tenant("acme")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)));
    }
}
