//! Ask: store a question with its session's block, once, however often the request comes.

use std::time::Duration;

use countersign_core::ask::{Ask, RetryKey};
use countersign_core::assurance::Assurance;
use countersign_core::audience::Audience;
use countersign_core::deadline::Deadlines;
use countersign_core::declines::Mute;
use countersign_core::elicitation::{Asker, Elicitation, Evidence};
use countersign_core::id::{ElicitationId, Front, RequestId, SessionName};
use countersign_core::json::Sha256;
use countersign_core::limits::{CREATE_RETRY_BUDGET, EXPIRY_MAX, PLAN_BACKSTOP, POLL_INTERVAL_DEFAULT};
use countersign_core::quota::OverQuota;
use countersign_core::retry::Budget;
use countersign_core::seal::PollHandle;
use countersign_core::session::Session;
use countersign_core::state::State;
use countersign_core::time::Timestamp;

use crate::App;
use crate::audience::{self, AudienceError};
use crate::authority::{Admission, Caller};
use crate::keys::together;
use crate::ports::StoreError;
use crate::records::{Block, CreateOutcome, NewElicitation, Route, SessionOutcome};

/// Rounds of one create: a reference may be taken, a session may move on. Far above what contention needs.
const ROUNDS: u32 = 16;

/// Why a question is not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The ask token was revoked, or its session archived, meanwhile.
    #[error("the ask token is revoked, expired or of an archived session")]
    Unauthenticated,
    /// The key's session is archived.
    #[error("the session is archived")]
    SessionArchived,
    /// There is no such session for this key.
    #[error("there is no such session")]
    UnknownSession,
    /// The key may not ask that: its tier ceiling, or its servers.
    #[error("the key may not ask for that tier or server")]
    BeyondKey,
    /// The same request-id or Idempotency-Key came with another body.
    #[error("the same id was used before with another body")]
    Reused,
    /// The tenant may not ask.
    #[error("the tenant is suspended")]
    TenantSuspended,
    /// The audience that the asker names is not taken.
    #[error(transparent)]
    Audience(#[from] AudienceError),
    /// People said no, and are not asked again yet.
    #[error("people said no, and are not asked again yet")]
    Muted(Mute),
    /// The session waits on enough already.
    #[error("{limit} questions are open in this session already")]
    TooManyOpen {
        /// How many are allowed.
        limit: usize,
    },
    /// Everybody who could answer has enough to answer already.
    #[error("everybody who could answer has {limit} open questions already")]
    ApproversFull {
        /// How many are allowed.
        limit: usize,
    },
    /// The tenant asks faster, or keeps more, than its quota allows.
    #[error("the tenant's quota is used up")]
    OverQuota(OverQuota),
    /// Nobody could ever be asked.
    #[error("there is nobody to ask")]
    NoRoute,
    /// Nobody can be reached, and the asker wanted to be told.
    #[error("nobody can be reached")]
    Unreachable,
    /// What it supersedes is not this asker's.
    #[error("there is no such question to supersede")]
    UnknownSuperseded,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A stored question, and whom it can reach.
#[derive(Debug, Clone)]
pub struct Created {
    /// The question as stored: by this call, or by an earlier one with the same key and body.
    pub elicitation: Elicitation,
    /// Who may answer at present, each with the channels on which they may be told.
    pub routes: Vec<Route>,
}

impl App {
    /// Stores a question. The stored row, not this call, drives every notice.
    ///
    /// # Errors
    /// See [`CreateError`]. A repeated create with the same body is no error, even where a new one would be
    /// refused.
    pub async fn create(
        &self,
        mut admission: Admission,
        front: Front,
        ask: Ask,
    ) -> Result<Created, CreateError> {
        let bounds = admission.caller.as_ref().map(Caller::bounds);
        if bounds.is_some_and(|bounds| !bounds.admit(ask.tier, ask.server.as_deref())) {
            return Err(CreateError::BeyondKey);
        }
        let now = self.clock.now();
        let budget = Budget { started: now, total: CREATE_RETRY_BUDGET };
        let id = self.elicitation_id(&admission, front, &ask);
        self.check_superseded(&admission, &ask).await?;
        let shown = ask.shown_sha256();
        let full = self.full(&admission, &ask, now).await;
        let mut is_charged = false;
        for _ in 0..ROUNDS {
            let refusal = refuse(&admission, &ask, shown, now, self.kept_at_most(&admission));
            let refusal = refusal.and_then(|()| full.clone());
            if let Err(refusal) = refusal {
                return self.earlier(&admission, id, &ask).await?.ok_or(refusal);
            }
            let new = self.compose(&admission, front, &ask, (id, shown), now);
            let store = self.store.tenant(admission.tenant());
            let outcome = if is_charged {
                store.create(&new, budget).await
            } else {
                is_charged = true;
                futures_util::join!(store.create(&new, budget), self.charge(&admission, now)).0
            };
            match outcome? {
                CreateOutcome::Stored => return self.finish(&admission, &ask, new.elicitation).await,
                CreateOutcome::Exists(found) => {
                    self.refund(&admission, now).await;
                    return self.replay(&admission, &ask, *found).await;
                }
                CreateOutcome::SessionRefused(current) => admission.session = current.map(|one| *one),
                CreateOutcome::ReferenceTaken => {}
            }
            if admission.session.is_none() && new.block.is_some() {
                let by_token = admission.token.is_some();
                return Err(if by_token {
                    CreateError::Unauthenticated
                } else {
                    CreateError::UnknownSession
                });
            }
        }
        Err(StoreError::Unavailable("too much contention on the session".into()).into())
    }

    /// Counts a question against the tenant's quota. That it is not counted is a small overshoot, and no reason to refuse.
    async fn charge(&self, admission: &Admission, now: Timestamp) {
        let (bucket, tenant) = (&admission.bucket, &admission.tenant);
        let rebase = bucket.is_overfull(&tenant.quota, now);
        let forgotten = bucket.forgotten(now, self.kept_at_most(admission));
        if let Err(error) = self.store.tenant(&tenant.id).charge(bucket, rebase, &forgotten, now).await {
            tracing::debug!(tenant.id = %tenant.id, "a question was not counted: {error}");
        }
    }

    async fn refund(&self, admission: &Admission, now: Timestamp) {
        if let Err(error) = self.store.tenant(admission.tenant()).refund(now).await {
            tracing::debug!(tenant.id = %admission.tenant(), "a repeat was counted: {error}");
        }
    }

    fn kept_at_most(&self, admission: &Admission) -> Duration {
        let of_tenant = admission.tenant.policy.policy.retention;
        EXPIRY_MAX + of_tenant.unwrap_or(self.settings.retention)
    }

    /// The session that a key names on the fallback routes, made if there is none.
    ///
    /// # Errors
    /// [`CreateError::UnknownSession`] where the name is another principal's.
    pub async fn ensure_session(
        &self,
        mut admission: Admission,
        name: SessionName,
    ) -> Result<Admission, CreateError> {
        if admission.session.is_none() {
            let session =
                self.new_session(admission.tenant(), name, admission.principal.clone(), admission.people());
            let outcome = self.store.tenant(admission.tenant()).create_session(&session, None).await?;
            let session = match outcome {
                SessionOutcome::Exists(found) => *found,
                SessionOutcome::Stored | SessionOutcome::Repeated(_) | SessionOutcome::Reused => session,
            };
            let may = admission.caller.as_ref().is_some_and(|caller| caller.may_drive(&session));
            admission.session = Some(session).filter(|_| may);
        }
        if admission.session.is_some() { Ok(admission) } else { Err(CreateError::UnknownSession) }
    }

    fn elicitation_id(&self, admission: &Admission, front: Front, ask: &Ask) -> ElicitationId {
        let key = match &ask.retry_key {
            RetryKey::Request(id) => id.as_str(),
            RetryKey::Idempotency(key) => key.as_str(),
            RetryKey::None => return ElicitationId::new(self.entropy.bits130()),
        };
        let session = match front {
            Front::Fallback => admission.session.as_ref().map(|session| session.id),
            Front::Native => None, // the key's scope is principal + route: the body names the session
        };
        ElicitationId::derive(front, admission.tenant(), &admission.principal, session, key)
    }

    fn compose(
        &self,
        admission: &Admission,
        front: Front,
        ask: &Ask,
        (id, shown): (ElicitationId, Sha256),
        now: Timestamp,
    ) -> NewElicitation {
        let policy = &admission.tenant.policy;
        let session = admission.session.as_ref();
        let default = default_ttl(admission, self.settings.default_ttl);
        let asked = ask.expiry.asked(now);
        let deadlines = match front {
            Front::Fallback => Deadlines::fallback(now, asked, default),
            Front::Native => Deadlines::native(now, asked, default),
        };
        let handle = PollHandle {
            tenant: admission.tenant().clone(),
            session: session.map(|one| one.id),
            elicitation: id,
            expires_at: deadlines.expires_at,
        };
        let elicitation = Elicitation {
            id,
            reference: self.entropy.reference(),
            front,
            request_id: request_id(ask),
            poll_handle: matches!(front, Front::Fallback).then(|| handle.seal(&self.keys)),
            session: session.map(|one| one.id),
            principal: admission.principal.clone(),
            session_owner: session.map(|one| one.owner.clone()),
            people: together(admission.people(), session.map_or(&[], |one| &*one.people)),
            server: ask.server.clone(),
            tool: ask.tool.clone(),
            tier: ask.tier,
            title: ask.title.clone(),
            policy_version: policy.version,
            audience: rule(admission, ask),
            assurance: policy.policy.tier(ask.tier).assurance,
            match_code: self.match_code(policy.policy.tier(ask.tier).assurance),
            request_sha256: ask.request_sha256,
            shown_sha256: shown,
            created_at: now,
            deadlines,
            evidence: Evidence::default(),
            asker: Asker {
                poll_interval: ask.poll_interval.unwrap_or(POLL_INTERVAL_DEFAULT),
                has_callback: false,
                last_polled_at: None,
                collected_at: None,
            },
            stored: State::Pending,
        };
        NewElicitation {
            block: session.map(|one| block(admission, one, now)),
            content: ask.content.clone(),
            plan_by: now.plus(PLAN_BACKSTOP),
            keep_until: elicitation
                .deadlines
                .expires_at
                .plus(policy.policy.retention.unwrap_or(self.settings.retention)),
            elicitation,
        }
    }

    /// Two digits for whoever must prove to have seen the asking side.
    fn match_code(&self, assurance: Assurance) -> Option<String> {
        (assurance == Assurance::Code).then(|| format!("{:02}", self.entropy.bits64() % 100))
    }

    /// What follows the row. Each part may be done twice.
    async fn finish(
        &self,
        admission: &Admission,
        ask: &Ask,
        stored: Elicitation,
    ) -> Result<Created, CreateError> {
        self.trigger.stored(admission.tenant(), stored.id);
        if let Some(old) = ask.supersedes {
            self.withdraw_quietly(admission.tenant(), old).await;
        }
        let routes = audience::eligible(&admission.tenant, stored.tier, &stored.audience);
        Ok(Created { elicitation: stored, routes })
    }

    /// The answer of an earlier create with this key, if there was one.
    async fn earlier(
        &self,
        admission: &Admission,
        id: ElicitationId,
        ask: &Ask,
    ) -> Result<Option<Created>, CreateError> {
        let found = self.store.tenant(admission.tenant()).elicitation(id).await?;
        match found {
            Some(found) => self.replay(admission, ask, found).await.map(Some),
            None => Ok(None),
        }
    }

    /// Finishes an earlier create once more: it may have died, or lost its answer, right after the row was stored.
    async fn replay(
        &self,
        admission: &Admission,
        ask: &Ask,
        found: Elicitation,
    ) -> Result<Created, CreateError> {
        if found.request_sha256 != ask.request_sha256 {
            return Err(CreateError::Reused);
        }
        self.finish(admission, ask, found).await
    }

    async fn check_superseded(&self, admission: &Admission, ask: &Ask) -> Result<(), CreateError> {
        let Some(old) = ask.supersedes else { return Ok(()) };
        let found = self.store.tenant(admission.tenant()).elicitation(old).await?;
        let own = found.is_some_and(|found| found.is_own(&admission.principal));
        if own { Ok(()) } else { Err(CreateError::UnknownSuperseded) }
    }
}

/// The refusals that depend on what was read, in the order of PROTOCOL.md section 0.
fn refuse(
    admission: &Admission,
    ask: &Ask,
    shown: Sha256,
    now: Timestamp,
    kept_at_most: Duration,
) -> Result<(), CreateError> {
    let tenant = &admission.tenant;
    if let Some(session) = &admission.session {
        let admits = admission.token.is_none_or(|token| session.admits(token, now));
        if !admits {
            return Err(CreateError::Unauthenticated);
        }
        if session.archived_at.is_some() {
            return Err(CreateError::SessionArchived);
        }
    }
    if tenant.suspended {
        return Err(CreateError::TenantSuspended);
    }
    audience::check(tenant, ask.audience.as_deref())?;
    if let Some(session) = &admission.session {
        let policy = &tenant.policy.policy;
        if let Some(mute) = session.declines.mutes(shown, now, &policy.cool_down) {
            return Err(CreateError::Muted(mute));
        }
        let limit = policy.max_open_per_session;
        if session.open_at(now).len() >= limit {
            return Err(CreateError::TooManyOpen { limit });
        }
    }
    if let Some(over) = admission.bucket.refuses(&tenant.quota, now, kept_at_most) {
        return Err(CreateError::OverQuota(over));
    }
    let eligible = audience::eligible(tenant, ask.tier, &rule(admission, ask));
    if eligible.is_empty() && !tenant.policy.policy.pull {
        return Err(CreateError::NoRoute);
    }
    let reachable = eligible.iter().any(|route| !route.channels.is_empty());
    if ask.require_reachable && !reachable { Err(CreateError::Unreachable) } else { Ok(()) }
}

pub(crate) fn rule(admission: &Admission, ask: &Ask) -> Audience {
    let of_session = admission.session.as_ref().and_then(|session| session.audience.as_deref());
    audience::rule(&admission.tenant, ask.tier, of_session, ask.audience.as_deref())
}

fn default_ttl(admission: &Admission, deployment: Duration) -> Duration {
    let session = admission.session.as_ref().and_then(|session| session.default_ttl);
    session.or(admission.tenant.policy.policy.default_ttl).unwrap_or(deployment)
}

fn block(admission: &Admission, session: &Session, now: Timestamp) -> Block {
    Block {
        session: session.id,
        token: admission.token,
        max_open: admission.tenant.policy.policy.max_open_per_session,
        overdue: session.overdue_at(now),
        answers: session.declines.answers,
        restart_declines: session.declines.is_over(now),
        forget: session.declines.forgettable(now),
    }
}

fn request_id(ask: &Ask) -> Option<RequestId> {
    match &ask.retry_key {
        RetryKey::Request(id) => Some(id.clone()),
        RetryKey::Idempotency(_) | RetryKey::None => None,
    }
}
