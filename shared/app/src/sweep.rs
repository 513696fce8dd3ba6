//! Once a minute: do what has become due. Cost follows what is due, not what is stored; two sweeps at once do no
//! harm; one bad row never stops the rest.

use std::collections::HashSet;

use countersign_core::elicitation::Elicitation;
use countersign_core::event::EventKey;
use countersign_core::id::{Bits130, ElicitationId, TenantId};
use countersign_core::limits::{RESPOND_RETRY_BUDGET, SUMMARY_CHARS};
use countersign_core::retry::Budget;
use countersign_core::session::{LostElicitation, LostReason};
use countersign_core::state::State;
use countersign_core::text::summary;
use countersign_core::time::Timestamp;

use crate::App;
use crate::notify::PlanOutcome;
use crate::ports::{SessionLoss, StoreError};
use crate::records::{AttemptEnd, Due, Settled, Settlement, Wanted};

/// Shards of the `due` index.
pub const DUE_SHARDS: u8 = 8;
/// How often one expiry reads a session that keeps moving.
const SESSION_ROUNDS: u32 = 8;

/// What one sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Entries that were due.
    pub due: usize,
    /// Questions that were stored as expired.
    pub expired: usize,
    /// Questions that were planned.
    pub planned: usize,
    /// Notices that a channel took.
    pub sent: usize,
    /// Notices that are to be tried again.
    pub postponed: usize,
    /// Notices that were given up.
    pub failed: usize,
    /// Rows of deleted tenants that are gone.
    pub purged: usize,
    /// Entries that are left as they were, for the next sweep.
    pub troubled: usize,
}

/// Endpoints that did not answer in this sweep.
type Dead = HashSet<(TenantId, Bits130)>;

enum Done {
    Expired,
    Planned,
    Delivered(AttemptEnd),
    Nothing,
}

impl App {
    /// Does all that is due now.
    ///
    /// # Errors
    /// [`StoreError`] only where the index itself cannot be read; trouble with one entry is counted.
    pub async fn sweep(&self) -> Result<SweepReport, StoreError> {
        let (mut report, mut dead) = (SweepReport::default(), Dead::default());
        let now = self.clock.now();
        for shard in 0..DUE_SHARDS {
            let mut after = None;
            loop {
                let page = self.store.due(shard, now, after).await?;
                for due in page.entries {
                    report.due += 1;
                    Box::pin(self.handle(due, &mut report, &mut dead)).await;
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        report.purged = self.purge().await?;
        Ok(report)
    }

    async fn handle(&self, due: Due, report: &mut SweepReport, dead: &mut Dead) {
        let done = match &due {
            Due::Elicitation(tenant, id) => self.due_elicitation(tenant, *id).await,
            Due::Delivery(tenant, key) => {
                self.deliver(tenant, *key).await.map(|end| end.map_or(Done::Nothing, Done::Delivered))
            }
            Due::Event(tenant, key) => self.due_event(tenant, *key, dead).await,
            Due::Code(tenant, id) => self.mail_code(tenant, *id).await.map(|()| Done::Nothing),
            Due::Unreadable(key) => Err(StoreError::Corrupt(format!("due entry {key}"))),
        };
        match done {
            Ok(Done::Expired) => report.expired += 1,
            Ok(Done::Planned) => report.planned += 1,
            Ok(Done::Delivered(AttemptEnd::Sent)) => report.sent += 1,
            Ok(Done::Delivered(AttemptEnd::Again(_))) => report.postponed += 1,
            Ok(Done::Delivered(AttemptEnd::Failed)) => report.failed += 1,
            Ok(Done::Delivered(AttemptEnd::Dropped) | Done::Nothing) => {}
            Err(error) => {
                report.troubled += 1;
                tracing::error!("a due entry is left for the next sweep: {error}");
            }
        }
    }

    async fn due_elicitation(&self, tenant: &TenantId, id: ElicitationId) -> Result<Done, StoreError> {
        let store = self.store.tenant(tenant);
        let Some(found) = store.elicitation(id).await? else { return Ok(Done::Nothing) };
        let now = self.clock.now();
        if found.stored.is_terminal() {
            self.tell(tenant, id).await?;
            return Ok(Done::Nothing);
        }
        if now >= found.deadlines.expires_at {
            return self.expire(tenant, found, now).await;
        }
        if found.evidence.planned_at.is_some() {
            return Ok(Done::Nothing); // a stale index entry: it is armed for its expiry already
        }
        match self.plan(tenant, id).await? {
            PlanOutcome::Nothing => Ok(Done::Nothing),
            PlanOutcome::Planned(_) => {
                for delivery in store.deliveries(id).await? {
                    self.deliver(tenant, delivery.key).await?;
                }
                Ok(Done::Planned)
            }
        }
    }

    /// An endpoint that did not answer is not called again in this sweep: others wait for theirs.
    async fn due_event(&self, tenant: &TenantId, key: EventKey, dead: &mut Dead) -> Result<Done, StoreError> {
        let endpoint = (tenant.clone(), key.endpoint);
        if dead.contains(&endpoint) {
            return Ok(Done::Nothing);
        }
        let Some(done) = self.deliver_event(tenant, key).await? else { return Ok(Done::Nothing) };
        if done.is_unreachable {
            dead.insert(endpoint);
        }
        Ok(Done::Delivered(done.end))
    }

    /// Stores that a question has expired, and what its session lost by it.
    async fn expire(
        &self,
        tenant: &TenantId,
        found: Elicitation,
        now: Timestamp,
    ) -> Result<Done, StoreError> {
        let store = self.store.tenant(tenant);
        let mut found = found;
        for _ in 0..SESSION_ROUNDS {
            let session = self.loss(tenant, &found, now).await?;
            let settlement = Settlement::Expired { cause: found.expiry_cause(), now, session };
            let budget = Budget { started: now, total: RESPOND_RETRY_BUDGET };
            match store.settle(&found, &settlement, budget).await? {
                Settled::Won => {
                    self.trigger.stored(tenant, found.id);
                    return Ok(Done::Expired);
                }
                Settled::Lost { current } if current.stored == State::Pending => found = *current,
                Settled::Lost { .. } | Settled::Missing => return Ok(Done::Nothing),
                Settled::SessionMoved | Settled::Spent | Settled::NotEligible => {}
            }
        }
        Err(StoreError::Unavailable("the session kept moving".into()))
    }

    async fn loss(
        &self,
        tenant: &TenantId,
        found: &Elicitation,
        now: Timestamp,
    ) -> Result<Option<SessionLoss>, StoreError> {
        let Some(session) = found.session else { return Ok(None) };
        let wanted = Wanted {
            session: Some(session),
            elicitation: Some(found.id),
            content: true,
            ..Wanted::default()
        };
        let rows = self.store.tenant(tenant).read(&wanted).await?;
        let Some(session) = rows.session else { return Ok(None) };
        let message = rows.content.map(|content| content.message).unwrap_or_default();
        let notice = LostElicitation {
            reason: LostReason::Expired,
            elicitation: found.id,
            at: found.deadlines.expires_at,
            summary: summary(found.tool.as_deref(), &message, SUMMARY_CHARS),
        };
        let lost = session.loses_by_expiry_of(found.id, now).then_some(notice);
        Ok(Some(SessionLoss { revision: session.revision, lost }))
    }
}
