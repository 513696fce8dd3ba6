//! Tell people: plan who is told from the stored record, then one attempt at a time, evidence recorded.

use std::time::Duration;

use countersign_core::ask::Content;
use countersign_core::delivery::{Delivery, DeliveryKey, DeliveryStatus, NoticeKind};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, TenantId};
use countersign_core::policy::TierPolicy;
use countersign_core::retry::next_delivery;
use countersign_core::text::mask_address;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Caller;
use crate::ports::{Notice, SendError, StoreError};
use crate::records::{Approver, AttemptEnd, Planned, Rows, Tenant, Wanted};

/// An attempt that was begun and never ended is taken over after this.
const ATTEMPT_LEASE: Duration = Duration::from_mins(1);
/// Deliveries of one question: one transaction holds them all.
const MAX_DELIVERIES: usize = 50;

/// What became of planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOutcome {
    /// Planned now, this many deliveries.
    Planned(usize),
    /// Planned before, or over.
    Nothing,
}

/// A question as people see it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// What they are asked.
    pub content: Option<Content>,
    /// How they were told, and where, masked.
    pub deliveries: Vec<(Delivery, String)>,
}

impl App {
    /// Decides who is told of a question. Stored once, however often it is called.
    ///
    /// # Errors
    /// [`StoreError`]; calling again is safe.
    pub async fn plan(&self, tenant: &TenantId, id: ElicitationId) -> Result<PlanOutcome, StoreError> {
        let store = self.store.tenant(tenant);
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        let (found, approvers, rows) =
            futures_util::try_join!(store.elicitation(id), store.approvers(), store.read(&wanted))?;
        let now = self.clock.now();
        let open = found.filter(|one| one.evidence.planned_at.is_none() && !one.state_at(now).is_terminal());
        let Some((found, of)) = open.zip(rows.tenant) else { return Ok(PlanOutcome::Nothing) };
        // Who belongs and which channels are allowed is looked at now, not as it was when the question was asked.
        let policy = &of.policy.policy;
        let meant: Vec<_> =
            approvers.iter().filter(|one| found.audience.admits(one.id, &one.groups)).collect();
        let routed = meant.iter().map(|one| one.id).collect();
        let mut deliveries: Vec<_> =
            meant.iter().flat_map(|one| keys(id, one, policy.tier(found.tier))).collect();
        deliveries.truncate(MAX_DELIVERIES);
        let count = deliveries.len();
        let retention = policy.retention.unwrap_or(self.settings.retention);
        let keep_until = found.deadlines.expires_at.plus(retention);
        let planned =
            Planned { at: now, deliveries, routed, attempt_by: now.plus(ATTEMPT_LEASE), keep_until };
        let stored = store.plan(&found, &planned).await?;
        Ok(if stored { PlanOutcome::Planned(count) } else { PlanOutcome::Nothing })
    }

    /// Plans a question and makes the first attempt of each of its deliveries.
    ///
    /// # Errors
    /// [`StoreError`]; the sweep takes over from the rows.
    pub async fn notify(&self, tenant: &TenantId, id: ElicitationId) -> Result<(), StoreError> {
        if let PlanOutcome::Planned(_) = self.plan(tenant, id).await? {
            for delivery in self.store.tenant(tenant).deliveries(id).await? {
                self.deliver(tenant, delivery.key).await?;
            }
        }
        Box::pin(self.tell(tenant, id)).await
    }

    /// What people see of a question and how they were told, each delivery with its address masked.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shown(&self, caller: &Caller, id: ElicitationId) -> Result<Shown, StoreError> {
        let store = self.store.tenant(caller.tenant());
        let wanted = Wanted { elicitation: Some(id), content: true, ..Wanted::default() };
        let (rows, deliveries, approvers) =
            futures_util::try_join!(store.read(&wanted), store.deliveries(id), store.approvers())?;
        let masked = |delivery: &Delivery| {
            let approver = approvers.iter().find(|one| one.id == delivery.key.approver);
            approver.and_then(|one| one.email.as_deref()).map(mask_address).unwrap_or_default()
        };
        let deliveries = deliveries.into_iter().map(|one| {
            let target = masked(&one);
            (one, target)
        });
        Ok(Shown { content: rows.content, deliveries: deliveries.collect() })
    }

    /// Makes one attempt of a delivery, if one is due. `None` where there was nothing to do.
    ///
    /// # Errors
    /// [`StoreError`]; the attempt may have been made, and is then made again after its lease.
    pub async fn deliver(
        &self,
        tenant: &TenantId,
        key: DeliveryKey,
    ) -> Result<Option<AttemptEnd>, StoreError> {
        let store = self.store.tenant(tenant);
        let wanted = Wanted {
            tenant: true,
            elicitation: Some(key.elicitation),
            approver: Some(key.approver),
            delivery: Some(key),
            ..Wanted::default()
        };
        let Rows { tenant: of, elicitation, approver, delivery, .. } = store.read(&wanted).await?;
        let now = self.clock.now();
        let Some(delivery) = delivery.filter(|one| is_due(one, now)) else { return Ok(None) };
        let open = elicitation.filter(|one| !one.state_at(now).is_terminal());
        let of = of.filter(|tenant| !tenant.deleting);
        let (Some(question), Some(approver), Some(of)) = (open, approver, of) else {
            store.end_attempt(&delivery, AttemptEnd::Dropped, now).await?;
            return Ok(Some(AttemptEnd::Dropped));
        };
        if !store.begin_attempt(&delivery, now.plus(ATTEMPT_LEASE), now).await? {
            return Ok(None);
        }
        let sent = self.send(&of, &question, approver, &delivery).await;
        let now = self.clock.now();
        let end = self.end_of(sent, &delivery, &question, now);
        let begun = Delivery { attempts: delivery.attempts + 1, ..delivery };
        store.end_attempt(&begun, end, now).await?;
        Ok(Some(end))
    }

    async fn send(
        &self,
        tenant: &Tenant,
        question: &Elicitation,
        to: Approver,
        delivery: &Delivery,
    ) -> Result<(), SendError> {
        let channel = self.channels.iter().find(|one| one.kind() == delivery.key.channel);
        let Some(channel) = channel else {
            return Err(SendError::Retry(format!("the channel {} is not configured", delivery.key.channel)));
        };
        let notice = Notice {
            tenant: tenant.name.clone(),
            reference: question.reference.clone(),
            tier: question.tier,
            decide_by: question.deadlines.decide_by,
            link: format!("{}/d/{}/{}", self.settings.page_url, tenant.id, question.reference),
            id: format!("{}.{}.{}", question.id, delivery.key.approver, delivery.key.kind.word()),
            to,
        };
        channel.send(&notice).await
    }

    fn end_of(
        &self,
        sent: Result<(), SendError>,
        delivery: &Delivery,
        question: &Elicitation,
        now: Timestamp,
    ) -> AttemptEnd {
        let error = match sent {
            Ok(()) => return AttemptEnd::Sent,
            Err(error) => error,
        };
        tracing::warn!(
            reference = %question.reference, channel = %delivery.key.channel, attempt = delivery.attempts + 1,
            "a notice was not taken: {error}"
        );
        let again = match error {
            SendError::Refused(_) => None,
            SendError::Retry(_) => next_delivery(delivery.attempts + 1, self.entropy.bits64()),
        };
        let in_time = |wait: Duration| Some(now.plus(wait)).filter(|at| *at < question.deadlines.decide_by);
        again.and_then(in_time).map_or(AttemptEnd::Failed, AttemptEnd::Again)
    }
}

/// Whether an attempt may begin. The first may at once; after it the lease holds off whoever comes while it runs.
fn is_due(delivery: &Delivery, now: Timestamp) -> bool {
    let leased = delivery.attempts > 0 && delivery.next_attempt_at.is_some_and(|at| now < at);
    delivery.status == DeliveryStatus::Queued && !leased
}

fn keys(
    elicitation: ElicitationId,
    approver: &Approver,
    allowed: &TierPolicy,
) -> impl Iterator<Item = DeliveryKey> {
    let id = approver.id;
    let key = move |channel| DeliveryKey { elicitation, channel, approver: id, kind: NoticeKind::Asked };
    allowed.allowed(&approver.channels()).into_iter().map(key)
}
