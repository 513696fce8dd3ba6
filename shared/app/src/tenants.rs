//! Tenants and their first keys.

use countersign_core::credential::{ApiKey, Scope};
use countersign_core::id::{Principal, TenantId};
use countersign_core::policy::Policy;
use countersign_core::quota::Quota;

use crate::App;
use crate::authority::{KEY_HASH_LABEL, Operator};
use crate::keys::{Bounds, KeyRecord};
use crate::ports::StoreError;
use crate::records::{PolicyVersion, Tenant};

/// Why a tenant is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManageError {
    /// There is a tenant of that name.
    #[error("there is a tenant of that name already")]
    Exists,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Makes a tenant with its first key, which has every scope and is shown once.
    ///
    /// # Errors
    /// [`ManageError::Exists`] where the id is taken.
    pub async fn create_tenant(
        &self,
        _operator: Operator,
        id: TenantId,
        policy: Policy,
    ) -> Result<(Tenant, ApiKey), ManageError> {
        let key = ApiKey::mint(id.clone(), self.entropy.bits130(), self.entropy.bits130());
        self.create_tenant_with(id, policy, &key).await.map(|tenant| (tenant, key))
    }

    /// Makes a tenant with a key that exists already, as the local binary does at its first start.
    ///
    /// # Errors
    /// [`ManageError::Exists`] where the id is taken.
    pub async fn create_tenant_with(
        &self,
        id: TenantId,
        policy: Policy,
        key: &ApiKey,
    ) -> Result<Tenant, ManageError> {
        let now = self.clock.now();
        let tenant = Tenant {
            name: id.to_string(),
            id,
            created_at: now,
            suspended: false,
            deleting: false,
            quota: Quota::default(),
            policy: PolicyVersion { policy, version: 1, updated_at: now },
            routes: vec![],
        };
        let record = KeyRecord {
            id: key.id,
            name: "first key".into(),
            principal: Principal::api_key(key.id),
            people: vec![],
            scopes: Scope::ALL.to_vec(),
            bounds: Bounds::default(),
            hash: self.keys.keyed_hash(KEY_HASH_LABEL, key.secret_bytes()),
            previous: None,
            created_at: tenant.created_at,
            last_used_at: None,
        };
        let made = self.store.tenant(&tenant.id).create_tenant(&tenant, &record).await?;
        if made { Ok(tenant) } else { Err(ManageError::Exists) }
    }
}
