//! Tenants, their first key and their approvers, as far as asking and answering needs them.

use countersign_core::credential::{ApiKey, Scope};
use countersign_core::id::{ApproverId, Principal, TenantId};
use countersign_core::limits::MAX_OPEN_PER_SESSION;

use crate::App;
use crate::authority::{Caller, KEY_HASH_LABEL, Operator};
use crate::idempotency::RequestKey;
use crate::keys::{Bounds, KeyRecord};
use crate::ports::StoreError;
use crate::records::{Approver, ApproverOutcome, Tenant, Wanted};

/// Why a tenant or an approver is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManageError {
    /// There is a tenant of that name.
    #[error("there is a tenant of that name already")]
    Exists,
    /// The same Idempotency-Key came with another body.
    #[error("the Idempotency-Key was used before with another body")]
    Reused,
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
        self_approval: bool,
    ) -> Result<(Tenant, ApiKey), ManageError> {
        let key = ApiKey::mint(id.clone(), self.entropy.bits130(), self.entropy.bits130());
        self.create_tenant_with(id, self_approval, &key).await.map(|tenant| (tenant, key))
    }

    /// Makes a tenant with a key that exists already, as the local binary does at its first start.
    ///
    /// # Errors
    /// [`ManageError::Exists`] where the id is taken.
    pub async fn create_tenant_with(
        &self,
        id: TenantId,
        self_approval: bool,
        key: &ApiKey,
    ) -> Result<Tenant, ManageError> {
        let tenant = Tenant {
            name: id.to_string(),
            id,
            created_at: self.clock.now(),
            suspended: false,
            deleting: false,
            self_approval,
            default_ttl: None,
            max_open: MAX_OPEN_PER_SESSION,
            routes: vec![],
        };
        let record = KeyRecord {
            id: key.id,
            name: "first key".into(),
            principal: Principal::api_key(key.id),
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

    /// Adds an approver, who is a route from then on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_approver(
        &self,
        caller: &Caller,
        name: String,
        email: Option<String>,
    ) -> Result<Approver, StoreError> {
        self.add_approver_to(caller.tenant(), name, email).await
    }

    /// The same, once for each Idempotency-Key and body.
    ///
    /// # Errors
    /// [`ManageError::Reused`] for the same key with another body.
    pub async fn add_approver_once(
        &self,
        caller: &Caller,
        name: String,
        email: Option<String>,
        request: &RequestKey,
    ) -> Result<Approver, ManageError> {
        let approver = self.new_approver(name, email);
        let key = self.idempotency(caller, "POST /v1/approvers", request);
        let store = self.store.tenant(caller.tenant());
        match store.create_approver(&approver, Some(&key)).await? {
            ApproverOutcome::Stored => Ok(approver),
            ApproverOutcome::Reused => Err(ManageError::Reused),
            ApproverOutcome::Repeated(id) => {
                let wanted = Wanted { approver: Some(id), ..Wanted::default() };
                let found = store.read(&wanted).await?.approver;
                found.ok_or_else(|| StoreError::Corrupt("an approver that a key made is gone".into()).into())
            }
        }
    }

    /// Adds an approver to a tenant of the local binary's own.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_approver_to(
        &self,
        tenant: &TenantId,
        name: String,
        email: Option<String>,
    ) -> Result<Approver, StoreError> {
        let approver = self.new_approver(name, email);
        self.store.tenant(tenant).create_approver(&approver, None).await?;
        Ok(approver)
    }

    fn new_approver(&self, name: String, email: Option<String>) -> Approver {
        Approver { id: ApproverId::new(self.entropy.bits130()), name, email, created_at: self.clock.now() }
    }

    /// The caller's approvers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn approvers(&self, caller: &Caller) -> Result<Vec<Approver>, StoreError> {
        self.store.tenant(caller.tenant()).approvers().await
    }
}
