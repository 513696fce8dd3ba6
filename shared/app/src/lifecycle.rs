//! A tenant's life, by the operator: listed, suspended, resumed, deleted in two steps, purged by the sweep.

use std::time::Duration;

use countersign_core::id::TenantId;
use countersign_core::quota::Quota;
use countersign_core::seal::Confirmation;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Operator;
use crate::ports::StoreError;
use crate::records::{Purged, Tenant, Wanted};

/// How long the code for a deletion is good.
const CONFIRM_WITHIN: Duration = Duration::from_mins(10);
/// Pages that one sweep purges of one tenant; the next sweep goes on from there.
const PAGES_PER_SWEEP: usize = 40;
/// A sweep begins no other page after this.
const PURGE_LIMIT: Duration = Duration::from_secs(15);

/// What is wanted of a tenant's deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// Nothing is changed: this code, sent back in time, deletes.
    ToConfirm {
        /// The code.
        code: String,
        /// Until when it is good.
        until: Timestamp,
    },
    /// It has begun. No credential of the tenant is good any more, and its rows go with the next sweeps.
    Begun,
}

/// Why a tenant does not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleError {
    /// There is no such tenant.
    #[error("there is no such tenant")]
    Unknown,
    /// It is being deleted: there is no way back.
    #[error("the tenant is being deleted")]
    Deleting,
    /// The code is of another tenant, or too old.
    #[error("the code is wrong, or older than {} minutes", CONFIRM_WITHIN.as_secs() / 60)]
    WrongCode,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// All tenants, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn tenants(&self, _operator: Operator) -> Result<Vec<Tenant>, StoreError> {
        let mut found = Vec::new();
        for id in self.store.tenants().await? {
            let wanted = Wanted { tenant: true, ..Wanted::default() };
            found.extend(self.store.tenant(&id).read(&wanted).await?.tenant);
        }
        Ok(found)
    }

    /// One tenant.
    ///
    /// # Errors
    /// [`LifecycleError::Unknown`].
    pub async fn tenant(&self, _operator: Operator, id: &TenantId) -> Result<Tenant, LifecycleError> {
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        self.store.tenant(id).read(&wanted).await?.tenant.ok_or(LifecycleError::Unknown)
    }

    /// Lets a tenant ask, or not. What it asked stays: it can be answered, polled and withdrawn.
    ///
    /// # Errors
    /// See [`LifecycleError`].
    pub async fn set_suspended(
        &self,
        operator: Operator,
        id: &TenantId,
        suspended: bool,
    ) -> Result<Tenant, LifecycleError> {
        let found = self.tenant(operator, id).await?;
        if found.deleting {
            return Err(LifecycleError::Deleting);
        }
        self.store.tenant(id).set_suspended(suspended).await?;
        Ok(Tenant { suspended, ..found })
    }

    /// Sets what a tenant may ask.
    ///
    /// # Errors
    /// See [`LifecycleError`].
    pub async fn set_quota(
        &self,
        operator: Operator,
        id: &TenantId,
        change: impl FnOnce(Quota) -> Quota,
    ) -> Result<Tenant, LifecycleError> {
        let found = self.tenant(operator, id).await?;
        if found.deleting {
            return Err(LifecycleError::Deleting);
        }
        let quota = change(found.quota);
        self.store.tenant(id).set_quota(&quota).await?;
        Ok(Tenant { quota, ..found })
    }

    /// The first step of a deletion without `code`, the second with it. A repeat of the second is no error.
    ///
    /// # Errors
    /// See [`LifecycleError`].
    pub async fn delete_tenant(
        &self,
        operator: Operator,
        id: &TenantId,
        code: Option<&str>,
    ) -> Result<Deletion, LifecycleError> {
        let found = self.tenant(operator, id).await?;
        if found.deleting {
            return Ok(Deletion::Begun);
        }
        let now = self.clock.now();
        let what = format!("delete tenant {id} of {}", found.created_at);
        let Some(code) = code else {
            let until = now.plus(CONFIRM_WITHIN);
            return Ok(Deletion::ToConfirm { code: Confirmation::seal(&what, until, &self.keys), until });
        };
        if !Confirmation::is_good(&what, code, &self.keys, now) {
            return Err(LifecycleError::WrongCode);
        }
        self.store.tenant(id).begin_deletion(now).await?;
        Ok(Deletion::Begun)
    }

    /// Removes rows of tenants that are being deleted, for as long as a sweep may take; counts them.
    ///
    /// # Errors
    /// [`StoreError`] where the tenants cannot be listed; trouble with one of them leaves it for the next sweep.
    pub(crate) async fn purge(&self) -> Result<usize, StoreError> {
        let began = self.clock.now();
        let mut rows = 0;
        for tenant in self.store.deleted_tenants().await? {
            for _ in 0..PAGES_PER_SWEEP {
                if self.clock.now().since(began) >= PURGE_LIMIT {
                    return Ok(rows);
                }
                match self.store.tenant(&tenant).purge_page().await {
                    Ok(Purged::Page(count)) => rows += count,
                    Ok(Purged::All) => {
                        tracing::info!(tenant.id = %tenant, "a deleted tenant is purged");
                        break;
                    }
                    Err(error) => {
                        tracing::error!(tenant.id = %tenant, "a purge is left for the next sweep: {error}");
                        break;
                    }
                }
            }
        }
        Ok(rows)
    }
}
