//! The tenant's policy: one document, each change of it a version.

use countersign_core::policy::Policy;

use crate::App;
use crate::authority::Caller;
use crate::ports::StoreError;
use crate::records::{PolicyVersion, Wanted};

/// Rounds of a change that names no version: each reads again after somebody else was faster.
const ROUNDS: u32 = 8;

/// Why a policy is not read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no such version.
    #[error("there is no such version of the policy")]
    Unknown,
    /// Another version is in force than the caller had read.
    #[error("version {in_force} of the policy is in force")]
    Changed {
        /// The one that is.
        in_force: u64,
    },
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// The policy in force, or the version of that number.
    ///
    /// # Errors
    /// See [`PolicyError`].
    pub async fn policy(&self, caller: &Caller, version: Option<u64>) -> Result<PolicyVersion, PolicyError> {
        let store = self.store.tenant(caller.tenant());
        let found = if let Some(version) = version {
            store.policy(version).await?
        } else {
            let wanted = Wanted { tenant: true, ..Wanted::default() };
            store.read(&wanted).await?.tenant.map(|tenant| tenant.policy)
        };
        found.ok_or(PolicyError::Unknown)
    }

    /// Puts `policy` in force, as the next version; what is in force already stays that version. With `seen`, only if
    /// that version is in force.
    ///
    /// # Errors
    /// See [`PolicyError`].
    pub async fn put_policy(
        &self,
        caller: &Caller,
        policy: &Policy,
        seen: Option<u64>,
    ) -> Result<PolicyVersion, PolicyError> {
        for _ in 0..ROUNDS {
            let current = self.policy(caller, None).await?;
            if seen.is_some_and(|seen| seen != current.version) {
                return Err(PolicyError::Changed { in_force: current.version });
            }
            if current.policy == *policy {
                return Ok(current);
            }
            let version = current.version + 1;
            let next = PolicyVersion { policy: policy.clone(), version, updated_at: self.clock.now() };
            if self.store.tenant(caller.tenant()).put_policy(&next).await? {
                return Ok(next);
            }
        }
        Err(StoreError::Unavailable("the policy kept changing".into()).into())
    }
}
