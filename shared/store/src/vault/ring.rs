//! Data keys wrapped under keys that are derived from the deployment's seal keys: what a deployment without a key service
//! does, as the local server.

use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::aead::NONCE_LEN;
use countersign_app::ports::Entropy;
use countersign_core::id::TenantId;
use countersign_core::seal::KeyRing;
use countersign_core::secret::Secret;

use super::{DataKey, KeyWrap, WrapError, decrypt, encrypt};

/// What separates the derived keys from all else that is done with the ring.
const LABEL: &str = "countersign data keys";

/// Wraps under the first key, unwraps under any. A wrapped key is `length of the key's name ‖ name ‖ nonce ‖ ciphertext`.
pub struct RingWrap {
    keys: Vec<(String, DataKey)>,
    entropy: Arc<dyn Entropy>,
}

impl RingWrap {
    /// Wraps under keys derived from `ring`.
    pub fn new(ring: &KeyRing, entropy: Arc<dyn Entropy>) -> Self {
        Self { keys: ring.derived(LABEL), entropy }
    }

    fn unwrapped(&self, tenant: &TenantId, wrapped: &[u8]) -> Option<DataKey> {
        let (length, rest) = wrapped.split_first()?;
        let (id, rest) = rest.split_at_checked(usize::from(*length))?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        let (_, key) = self.keys.iter().find(|(name, _)| name.as_bytes() == id)?;
        let plain = decrypt(key, *nonce, tenant.as_str().as_bytes(), sealed)?;
        plain.try_into().ok().map(Secret::new)
    }
}

#[async_trait]
impl KeyWrap for RingWrap {
    async fn wrap(&self, tenant: &TenantId, key: &DataKey) -> Result<Vec<u8>, WrapError> {
        let [(id, active), ..] = self.keys.as_slice() else { return Err(WrapError::Foreign) };
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill(&mut nonce);
        let mut sealed = key.expose().to_vec();
        encrypt(active, nonce, tenant.as_str().as_bytes(), &mut sealed);
        let mut wrapped = vec![u8::try_from(id.len()).map_err(|_| WrapError::Foreign)?];
        wrapped.extend_from_slice(id.as_bytes());
        wrapped.extend_from_slice(&nonce);
        wrapped.append(&mut sealed);
        Ok(wrapped)
    }

    async fn unwrap(&self, tenant: &TenantId, wrapped: &[u8]) -> Result<DataKey, WrapError> {
        self.unwrapped(tenant, wrapped).ok_or(WrapError::Foreign)
    }
}
