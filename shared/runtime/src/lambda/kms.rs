//! Data keys wrapped by a key that never leaves AWS KMS. The tenant is the encryption context: KMS itself refuses to unwrap
//! one tenant's key as another's, and its log names the tenant.

use std::sync::OnceLock;

use async_trait::async_trait;
use aws_sdk_kms::Client;
use aws_sdk_kms::error::{DisplayErrorContext, SdkError};
use aws_sdk_kms::operation::decrypt::DecryptError;
use aws_sdk_kms::primitives::Blob;
use aws_types::SdkConfig;
use countersign_core::id::TenantId;
use countersign_core::secret::Secret;
use countersign_store::vault::{DataKey, KeyWrap, WrapError};

const CONTEXT: &str = "tenant";

/// The key of that id, alias or ARN.
pub(super) struct KmsWrap {
    surroundings: SdkConfig,
    /// Made at its first use: most invocations of most functions have none.
    client: OnceLock<Client>,
    key: String,
}

impl KmsWrap {
    pub(super) const fn new(surroundings: SdkConfig, key: String) -> Self {
        Self { surroundings, client: OnceLock::new(), key }
    }

    fn client(&self) -> &Client {
        self.client.get_or_init(|| Client::new(&self.surroundings))
    }
}

#[async_trait]
impl KeyWrap for KmsWrap {
    async fn wrap(&self, tenant: &TenantId, key: &DataKey) -> Result<Vec<u8>, WrapError> {
        let call = self
            .client()
            .encrypt()
            .key_id(&self.key)
            .plaintext(Blob::new(key.expose().to_vec()))
            .encryption_context(CONTEXT, tenant.as_str());
        let answer = call.send().await;
        let answer =
            answer.map_err(|error| WrapError::Unavailable(DisplayErrorContext(error).to_string()))?;
        answer.ciphertext_blob.map(Blob::into_inner).ok_or_else(|| WrapError::Unavailable("no answer".into()))
    }

    async fn unwrap(&self, tenant: &TenantId, wrapped: &[u8]) -> Result<DataKey, WrapError> {
        let call = self
            .client()
            .decrypt()
            .key_id(&self.key)
            .ciphertext_blob(Blob::new(wrapped))
            .encryption_context(CONTEXT, tenant.as_str());
        let answer = call.send().await.map_err(|error| {
            let is_foreign = matches!(&error, SdkError::ServiceError(service) if matches!(service.err(),
                DecryptError::InvalidCiphertextException(_) | DecryptError::IncorrectKeyException(_)));
            if is_foreign {
                WrapError::Foreign
            } else {
                WrapError::Unavailable(DisplayErrorContext(error).to_string())
            }
        })?;
        let plain = answer.plaintext.map(Blob::into_inner).unwrap_or_default();
        plain.try_into().map(Secret::new).map_err(|_| WrapError::Foreign)
    }
}
