//! How much waits for an answer at once, in a tenant and with each of its people (RELIABILITY.md row 10). These are bounds
//! on attention, not promises: they count on indexes that lag, and what cannot be counted refuses nobody.

use countersign_core::ask::Ask;
use countersign_core::id::{ApproverId, ElicitationId, TenantId};
use countersign_core::limits::MAX_OPEN_PER_TENANT_MAX;
use countersign_core::quota::OverQuota;
use countersign_core::time::Timestamp;
use futures_util::future::join_all;

use crate::App;
use crate::audience;
use crate::authority::Admission;
use crate::create::{CreateError, rule};
use crate::ports::StoreError;
use crate::records::{Rows, Wanted};

/// Questions that are looked at to see which have ended: one read's worth.
const LOOKED_AT: usize = 100;
/// Approvers whose questions are counted at once.
const AT_ONCE: usize = 8;

impl App {
    /// Rows, and beside them the tenant's open questions as its list shows them.
    pub(crate) async fn read_with_open(
        &self,
        tenant: &TenantId,
        wanted: &Wanted,
    ) -> Result<(Rows, Vec<ElicitationId>), StoreError> {
        let store = self.store.tenant(tenant);
        let both =
            async { futures_util::join!(store.read(wanted), store.open_questions(MAX_OPEN_PER_TENANT_MAX)) };
        let (rows, open) = Box::pin(both).await;
        Ok((rows?, or_none(tenant, open)))
    }

    /// Refuses where as much waits as may, in the tenant or with everybody who could answer.
    pub(crate) async fn full(
        &self,
        admission: &Admission,
        ask: &Ask,
        now: Timestamp,
    ) -> Result<(), CreateError> {
        let (tenant, open) = (&admission.tenant, &admission.open);
        let limit = tenant.quota.max_open;
        if open.len() >= limit && self.waiting(&tenant.id, open, now).await >= limit {
            return Err(CreateError::OverQuota(OverQuota::Open));
        }
        let limit = tenant.policy.policy.max_open_per_approver;
        // Nobody has more to answer than the whole tenant.
        if open.len() < limit {
            return Ok(());
        }
        let eligible = audience::eligible(tenant, ask.tier, &rule(admission, ask));
        for some in eligible.chunks(AT_ONCE) {
            let counts = some.iter().map(|route| self.waits_for(&tenant.id, route.approver, now));
            if join_all(counts).await.into_iter().any(|count| count < limit) {
                return Ok(());
            }
        }
        if eligible.is_empty() { Ok(()) } else { Err(CreateError::ApproversFull { limit }) }
    }

    /// How many of the questions that were routed to an approver wait, as far as they are looked at.
    async fn waits_for(&self, tenant: &TenantId, approver: ApproverId, now: Timestamp) -> usize {
        let routed = self.store.tenant(tenant).routed(approver, Some(now), LOOKED_AT).await;
        self.waiting(tenant, &or_none(tenant, routed), now).await
    }

    /// How many of `ids` wait, where the first hundred are looked at and the others are taken to: what is past its
    /// deadline stands in the list until the sweep has stored its end.
    async fn waiting(&self, tenant: &TenantId, ids: &[ElicitationId], now: Timestamp) -> usize {
        if ids.is_empty() {
            return 0;
        }
        let (looked_at, others) = ids.split_at(ids.len().min(LOOKED_AT));
        let wanted = Wanted { more: looked_at.to_vec(), ..Wanted::default() };
        match self.store.tenant(tenant).read(&wanted).await {
            Ok(rows) => {
                let waits = rows.more.iter().filter(|one| !one.state_at(now).is_terminal());
                waits.count() + others.len()
            }
            Err(error) => {
                not_counted(tenant, &error);
                0
            }
        }
    }
}

fn or_none(tenant: &TenantId, found: Result<Vec<ElicitationId>, StoreError>) -> Vec<ElicitationId> {
    found.unwrap_or_else(|error| {
        not_counted(tenant, &error);
        vec![]
    })
}

fn not_counted(tenant: &TenantId, error: &StoreError) {
    tracing::warn!(tenant.id = %tenant, "open questions were not counted: {error}");
}
