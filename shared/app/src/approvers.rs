//! Approvers: the people who may answer, and what they are found by.

use countersign_core::id::{ApproverId, GroupName, TenantId};

use crate::App;
use crate::authority::Caller;
use crate::idempotency::RequestKey;
use crate::ports::StoreError;
use crate::records::{Approver, ApproverChange, ApproverOutcome, ExternalIds, ExternalKind, Wanted};

/// Rounds of one change: each reads the row again after somebody else was faster.
const ROUNDS: u32 = 8;

/// Why an approver is not made, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApproverError {
    /// There is no such approver.
    #[error("there is no such approver")]
    Unknown,
    /// The same Idempotency-Key came with another body.
    #[error("the Idempotency-Key was used before with another body")]
    Reused,
    /// An external id is another approver's.
    #[error("the external id is another approver's")]
    ExternalIdTaken(ExternalKind),
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a new approver is to be.
#[derive(Debug, Clone, Default)]
pub struct NewApprover {
    /// What people call them.
    pub name: String,
    /// Their mail address.
    pub email: Option<String>,
    /// What they belong to.
    pub groups: Vec<GroupName>,
    /// Who they are elsewhere.
    pub external_ids: ExternalIds,
}

/// A new value of a field: `None` leaves it, `Some(None)` clears it.
pub type Patched = Option<Option<String>>;

/// What is to change of an approver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApproverPatch {
    /// What people call them.
    pub name: Option<String>,
    /// Their mail address.
    pub email: Patched,
    /// All that they belong to.
    pub groups: Option<Vec<GroupName>>,
    /// Their Slack user id.
    pub slack: Patched,
    /// Their Telegram user id.
    pub telegram: Patched,
    /// The `sub` of their JWTs.
    pub sub: Patched,
}

impl ApproverPatch {
    fn apply(&self, before: &Approver) -> Approver {
        let changed =
            |patch: &Patched, value: &Option<String>| patch.clone().unwrap_or_else(|| value.clone());
        let ids = &before.external_ids;
        Approver {
            id: before.id,
            name: self.name.clone().unwrap_or_else(|| before.name.clone()),
            email: changed(&self.email, &before.email),
            groups: self.groups.clone().map_or_else(|| before.groups.clone(), in_order),
            external_ids: ExternalIds {
                slack: changed(&self.slack, &ids.slack),
                telegram: changed(&self.telegram, &ids.telegram),
                sub: changed(&self.sub, &ids.sub),
            },
            created_at: before.created_at,
            revision: before.revision,
        }
    }
}

impl App {
    /// Adds an approver, who may be asked from then on; with an Idempotency-Key once for each key and body.
    ///
    /// # Errors
    /// See [`ApproverError`].
    pub async fn add_approver(
        &self,
        caller: &Caller,
        new: NewApprover,
        request: Option<&RequestKey>,
    ) -> Result<Approver, ApproverError> {
        let key = request.map(|request| self.idempotency(caller, "POST /v1/approvers", request));
        let approver = self.new_approver(new);
        let store = self.store.tenant(caller.tenant());
        match store.create_approver(&approver, key.as_ref()).await? {
            ApproverOutcome::Stored => Ok(approver),
            ApproverOutcome::Reused => Err(ApproverError::Reused),
            ApproverOutcome::Taken(kind) => Err(ApproverError::ExternalIdTaken(kind)),
            ApproverOutcome::Repeated(id) => self.approver(caller, id).await,
        }
    }

    /// Adds an approver with a mail address to a tenant of the local binary's own.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_approver_to(
        &self,
        tenant: &TenantId,
        name: String,
        email: Option<String>,
    ) -> Result<Approver, StoreError> {
        let approver = self.new_approver(NewApprover { name, email, ..NewApprover::default() });
        self.store.tenant(tenant).create_approver(&approver, None).await?;
        Ok(approver)
    }

    fn new_approver(&self, new: NewApprover) -> Approver {
        Approver {
            id: ApproverId::new(self.entropy.bits130()),
            name: new.name,
            email: new.email,
            groups: in_order(new.groups),
            external_ids: new.external_ids,
            created_at: self.clock.now(),
            revision: 1,
        }
    }

    /// The caller's approvers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn approvers(&self, caller: &Caller) -> Result<Vec<Approver>, StoreError> {
        self.store.tenant(caller.tenant()).approvers().await
    }

    /// One of the caller's approvers.
    ///
    /// # Errors
    /// [`ApproverError::Unknown`] for one of another tenant, as for one that never was.
    pub async fn approver(&self, caller: &Caller, id: ApproverId) -> Result<Approver, ApproverError> {
        let wanted = Wanted { approver: Some(id), ..Wanted::default() };
        let found = self.store.tenant(caller.tenant()).read(&wanted).await?.approver;
        found.ok_or(ApproverError::Unknown)
    }

    /// Changes an approver. What they may answer follows at once: membership is looked at inside each decision's write.
    ///
    /// # Errors
    /// See [`ApproverError`].
    pub async fn change_approver(
        &self,
        caller: &Caller,
        id: ApproverId,
        patch: &ApproverPatch,
    ) -> Result<Approver, ApproverError> {
        let store = self.store.tenant(caller.tenant());
        for _ in 0..ROUNDS {
            let before = self.approver(caller, id).await?;
            let after = patch.apply(&before);
            if after == before {
                return Ok(before);
            }
            let after = Approver { revision: before.revision + 1, ..after };
            match store.replace_approver(&before, &after).await? {
                ApproverChange::Stored => return Ok(after),
                ApproverChange::Taken(kind) => return Err(ApproverError::ExternalIdTaken(kind)),
                ApproverChange::Moved => {}
            }
        }
        Err(contended())
    }

    /// Removes an approver: they are asked no more, and decide nothing from now on.
    ///
    /// # Errors
    /// See [`ApproverError`].
    pub async fn remove_approver(&self, caller: &Caller, id: ApproverId) -> Result<(), ApproverError> {
        let store = self.store.tenant(caller.tenant());
        for _ in 0..ROUNDS {
            let found = self.approver(caller, id).await?;
            if store.remove_approver(&found).await? == ApproverChange::Stored {
                return Ok(());
            }
        }
        Err(contended())
    }
}

fn contended() -> ApproverError {
    StoreError::Unavailable("the approver kept changing".into()).into()
}

fn in_order(mut groups: Vec<GroupName>) -> Vec<GroupName> {
    groups.sort();
    groups.dedup();
    groups
}
