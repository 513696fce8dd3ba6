//! Tell a tenant's own systems what became of its questions: rows first, then one attempt at a time (PROTOCOL.md
//! section 2.6).
//!
//! Whatever ends a question leaves it due once more in the very write that ends it, so no event is lost with a process:
//! the trigger makes it prompt, the sweep makes it certain.

use std::time::Duration;

use async_trait::async_trait;
use countersign_core::delivery::DeliveryStatus;
use countersign_core::elicitation::Elicitation;
use countersign_core::endpoint::{EndpointId, EventKind};
use countersign_core::event::{EventDelivery, EventKey, bit, happened, next_event_attempt};
use countersign_core::id::{ElicitationId, TenantId};
use countersign_core::signature::SigningSecret;
use countersign_core::state::State;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Caller;
use crate::endpoints::{Endpoint, EndpointError};
use crate::ports::StoreError;
use crate::records::{AttemptEnd, Wanted};

/// An attempt that was begun and never ended is taken over after this.
const ATTEMPT_LEASE: Duration = Duration::from_mins(1);
/// An endpoint that has taken nothing for this long is told nothing more.
const FAILING_MAX: Duration = Duration::from_hours(5 * 24);

/// An event on its way to an endpoint.
#[derive(Debug, Clone)]
pub struct Event {
    /// What happened.
    pub what: What,
    /// When.
    pub happened_at: Timestamp,
    /// The same for each attempt.
    pub id: String,
}

/// What an endpoint is told.
#[derive(Debug, Clone)]
pub enum What {
    /// Something happened to a question, which stands so now.
    Question(EventKind, Box<Elicitation>),
    /// Nothing: somebody tries whether it arrives.
    Test,
}

/// What is noted on a question of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldOf {
    /// Those that were planned, each a bit ([`bit`]).
    pub bits: u32,
    /// Somebody wants to hear of it once the asker has read the end.
    pub is_awaited: bool,
}

/// What came of trying an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What it answered.
    pub reply: HookReply,
    /// How long that took.
    pub took: Duration,
}

/// What an endpoint answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookReply {
    /// It answered.
    Answered {
        /// The status.
        status: u16,
        /// What it asks for with `Retry-After`, in seconds.
        retry_after: Option<Duration>,
    },
    /// It could not be called, or did not answer.
    Unreachable(String),
}

/// The way to a tenant's own systems.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Makes one attempt, signed with each of `secrets`.
    async fn post(&self, url: &str, secrets: &[SigningSecret], event: &Event, now: Timestamp) -> HookReply;
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventEnd {
    /// How it ended.
    pub end: AttemptEnd,
    /// The endpoint did not answer at all.
    pub is_unreachable: bool,
}

impl App {
    /// Plans what has happened to a question and makes the first attempts.
    ///
    /// # Errors
    /// [`StoreError`]; the sweep takes over from the rows.
    pub async fn tell(&self, tenant: &TenantId, id: ElicitationId) -> Result<(), StoreError> {
        let store = self.store.tenant(tenant);
        let Some(question) = store.elicitation(id).await? else { return Ok(()) };
        if !self.plan_events(tenant, &question).await? {
            return Ok(());
        }
        let mut events = store.events(id).await?;
        events.sort_by_key(|one| (one.key.endpoint, one.happened_at));
        // Side by side for endpoints that do not wait for each other, in order for each.
        let by_endpoint = events.chunk_by(|one, other| one.key.endpoint == other.key.endpoint);
        let attempts = by_endpoint.map(|events| self.deliver_in_order(tenant, events));
        futures_util::future::try_join_all(attempts).await.map(drop)
    }

    async fn deliver_in_order(&self, tenant: &TenantId, events: &[EventDelivery]) -> Result<(), StoreError> {
        for event in events {
            self.deliver_event(tenant, event.key).await?;
        }
        Ok(())
    }

    /// Makes prompt what endpoints hear of a read.
    pub(crate) fn told_soon(&self, tenant: &TenantId, question: &Elicitation) {
        if question.evidence.is_awaited {
            self.trigger.stored(tenant, question.id);
        }
    }

    /// Stores who is told of what has happened and was not planned. Whether there is anybody.
    async fn plan_events(&self, tenant: &TenantId, question: &Elicitation) -> Result<bool, StoreError> {
        let store = self.store.tenant(tenant);
        let told = question.evidence.told;
        let is_new = |(kind, _): &(EventKind, Timestamp)| told & bit(*kind) == 0;
        let fresh: Vec<_> = happened(question).into_iter().filter(is_new).collect();
        let is_over = question.stored != State::Pending;
        if fresh.is_empty() {
            if is_over {
                store.drop_due(question.id).await?;
            }
            return Ok(false);
        }
        let now = self.clock.now();
        let endpoints = store.endpoints().await?;
        let rows: Vec<_> =
            endpoints.iter().flat_map(|endpoint| rows_for(endpoint, question.id, &fresh, now)).collect();
        if rows.is_empty() && !is_over {
            return Ok(false);
        }
        let retention = if rows.is_empty() { self.settings.retention } else { self.kept_for(tenant).await? };
        let keep_until = question.deadlines.expires_at.max(now).plus(retention);
        let told = ToldOf {
            bits: fresh.iter().fold(told, |told, (kind, _)| told | bit(*kind)),
            is_awaited: endpoints.iter().any(|one| takes(one, EventKind::ElicitationCollected)),
        };
        let stored = store.plan_events(question, told, &rows, keep_until).await?;
        Ok(stored && !rows.is_empty())
    }

    /// How long a tenant keeps what is over.
    async fn kept_for(&self, tenant: &TenantId) -> Result<Duration, StoreError> {
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        let of = self.store.tenant(tenant).read(&wanted).await?.tenant;
        Ok(of.and_then(|of| of.policy.policy.retention).unwrap_or(self.settings.retention))
    }

    /// Makes one attempt of an event, if one is due.
    ///
    /// # Errors
    /// [`StoreError`]; the attempt may have been made, and is then made again after its lease.
    pub async fn deliver_event(
        &self,
        tenant: &TenantId,
        key: EventKey,
    ) -> Result<Option<EventEnd>, StoreError> {
        let store = self.store.tenant(tenant);
        let id = EndpointId { tenant: tenant.clone(), bits: key.endpoint };
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        let (event, endpoint, question, rows) = futures_util::try_join!(
            store.event(key),
            store.endpoint(&id),
            store.elicitation(key.elicitation),
            store.read(&wanted)
        )?;
        let now = self.clock.now();
        let Some(event) = event.filter(|one| is_due(one, now)) else { return Ok(None) };
        let is_there = rows.tenant.is_some_and(|one| !one.deleting);
        let takes = endpoint.filter(|one| is_there && !one.disabled && one.events.contains(&key.kind));
        let (Some(endpoint), Some(question)) = (takes, question) else {
            store.end_event(&event, AttemptEnd::Dropped, now).await?;
            return Ok(Some(EventEnd { end: AttemptEnd::Dropped, is_unreachable: false }));
        };
        if !store.begin_event(&event, now.plus(ATTEMPT_LEASE), now).await? {
            return Ok(None);
        }
        let reply = self.post(&endpoint, &event, question, now).await;
        let now = self.clock.now();
        let end = self.end_of_event(&reply, &event, now);
        let begun = EventDelivery { attempts: event.attempts + 1, ..event };
        store.end_event(&begun, end, now).await?;
        self.judge(endpoint, &reply, now).await?;
        Ok(Some(EventEnd { end, is_unreachable: matches!(reply, HookReply::Unreachable(_)) }))
    }

    async fn post(
        &self,
        endpoint: &Endpoint,
        event: &EventDelivery,
        question: Elicitation,
        now: Timestamp,
    ) -> HookReply {
        let EventKey { elicitation, kind, endpoint: bits } = event.key;
        let id = format!("msg_{elicitation}.{}.{bits}", kind.word());
        let what = What::Question(kind, Box::new(question));
        let reply = self.send_to(endpoint, &Event { what, happened_at: event.happened_at, id }, now).await;
        if !matches!(reply, HookReply::Answered { status: 200..=299, .. }) {
            tracing::warn!(
                tenant.id = %endpoint.id.tenant, endpoint.id = %endpoint.id, event.kind = kind.word(),
                "an event was not taken: {reply:?}"
            );
        }
        reply
    }

    async fn send_to(&self, endpoint: &Endpoint, event: &Event, now: Timestamp) -> HookReply {
        let Some(url) = endpoint.url.as_deref() else {
            return HookReply::Unreachable("the endpoint has no URL".into());
        };
        let active = endpoint.secrets.iter().filter(|one| one.is_active(now));
        let secrets: Vec<_> = active.map(|one| one.secret.clone()).collect();
        self.hooks.post(url, &secrets, event, now).await
    }

    /// Tries an endpoint once, whatever it subscribed to. Nothing is stored, and nothing is held against it.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub async fn try_endpoint(&self, caller: &Caller, id: &EndpointId) -> Result<Tried, EndpointError> {
        let endpoint = self.endpoint(caller, id).await?;
        let now = self.clock.now();
        let id = format!("msg_test_{}", self.entropy.bits130());
        let reply = self.send_to(&endpoint, &Event { what: What::Test, happened_at: now, id }, now).await;
        Ok(Tried { reply, took: self.clock.now().since(now) })
    }

    fn end_of_event(&self, reply: &HookReply, event: &EventDelivery, now: Timestamp) -> AttemptEnd {
        let retry_after = match reply {
            HookReply::Answered { status: 200..=299, .. } => return AttemptEnd::Sent,
            HookReply::Answered { status: 410, .. } => return AttemptEnd::Failed,
            HookReply::Answered { retry_after, .. } => *retry_after,
            HookReply::Unreachable(_) => None,
        };
        let again = next_event_attempt(event.attempts + 1, retry_after, self.entropy.bits64());
        again.map_or(AttemptEnd::Failed, |wait| AttemptEnd::Again(now.plus(wait)))
    }

    /// What a reply says of its endpoint: `410` ends it at once, and so do five days of nothing else than failures.
    async fn judge(&self, endpoint: Endpoint, reply: &HookReply, now: Timestamp) -> Result<(), StoreError> {
        let is_taken = matches!(reply, HookReply::Answered { status: 200..=299, .. });
        let is_gone = matches!(reply, HookReply::Answered { status: 410, .. });
        let failing_since = if is_taken { None } else { Some(endpoint.failing_since.unwrap_or(now)) };
        let is_dead = failing_since.is_some_and(|since| now.since(since) >= FAILING_MAX);
        let disabled = is_gone || is_dead;
        if failing_since == endpoint.failing_since && !disabled {
            return Ok(());
        }
        if disabled {
            tracing::warn!(endpoint.id = %endpoint.id, "an endpoint was disabled: it takes no events");
        }
        let revision = endpoint.revision + 1;
        let changed = Endpoint { disabled, failing_since, revision, ..endpoint };
        // Whoever changed it meanwhile knows better; the next reply says the same again.
        self.store.tenant(&changed.id.tenant).replace_endpoint(&changed).await.map(drop)
    }
}

fn takes(endpoint: &Endpoint, kind: EventKind) -> bool {
    !endpoint.disabled && endpoint.url.is_some() && endpoint.events.contains(&kind)
}

/// An endpoint is told of what it subscribed to, and of nothing that is older than itself.
fn rows_for<'a>(
    endpoint: &'a Endpoint,
    elicitation: ElicitationId,
    fresh: &'a [(EventKind, Timestamp)],
    now: Timestamp,
) -> impl Iterator<Item = EventDelivery> + 'a {
    let is_told =
        move |(kind, at): &&(EventKind, Timestamp)| takes(endpoint, *kind) && endpoint.created_at <= *at;
    fresh.iter().filter(is_told).map(move |(kind, at)| EventDelivery {
        key: EventKey { elicitation, kind: *kind, endpoint: endpoint.id.bits },
        status: DeliveryStatus::Queued,
        attempts: 0,
        happened_at: *at,
        at: now,
        next_attempt_at: Some(now.plus(ATTEMPT_LEASE)),
    })
}

/// Whether an attempt may begin. The first may at once; after it the wait holds off whoever comes before its end.
fn is_due(event: &EventDelivery, now: Timestamp) -> bool {
    let waits = event.attempts > 0 && event.next_attempt_at.is_some_and(|at| now < at);
    event.status == DeliveryStatus::Queued && !waits
}
