//! Learn: what became of a question. Never an error for a question that exists.

use std::future::Future;
use std::time::Duration;

use countersign_core::credential::Scope;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, Front, Principal, Reference, RequestId, TenantId};
use countersign_core::limits::{HOLD_STEP, WAIT_MAX};
use countersign_core::seal::{AskToken, PollHandle};
use countersign_core::state::State;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Caller;
use crate::ports::StoreError;

/// What a poll's one write, the lease or the hold, may take of the time that its read may.
const WRITE_SHARE: u32 = 5;

/// What a poll learns.
#[derive(Debug, Clone)]
pub enum Poll {
    /// The question, and where it stands now.
    Known {
        /// The question.
        elicitation: Box<Elicitation>,
        /// Where it stands.
        state: State,
    },
    /// It exists, as far as we know, but cannot be read: pending is the answer that releases nothing.
    Unread {
        /// The asker's own id, where the poll named it.
        request_id: Option<RequestId>,
    },
    /// It existed, its row cannot be had, and its sealed deadline has passed.
    UnreadExpired {
        /// The deadline.
        expires_at: Timestamp,
    },
    /// There is no such question for this asker.
    Unknown,
}

impl App {
    /// Polls on a fallback route. `id` is a poll handle of ours or the asker's own request-id.
    pub async fn poll(&self, token: &AskToken, id: &str) -> Poll {
        let trimmed = id.trim_end_matches('/').trim_end_matches(".json");
        match self.poll_exactly(token, id).await {
            Poll::Unknown if trimmed != id => self.poll_exactly(token, trimmed).await,
            learned => learned,
        }
    }

    async fn poll_exactly(&self, token: &AskToken, id: &str) -> Poll {
        if id.starts_with(PollHandle::PREFIX) {
            let ours = PollHandle::open(id, &self.keys)
                .filter(|handle| handle.tenant == token.tenant && handle.session == Some(token.session));
            return match ours {
                Some(handle) => self.poll_handle(&handle).await,
                None => Poll::Unknown,
            };
        }
        let Ok(request_id) = id.parse::<RequestId>() else { return Poll::Unknown };
        let principal = Principal::session(token.session);
        let session = Some(token.session);
        let derived =
            ElicitationId::derive(Front::Fallback, &token.tenant, &principal, session, request_id.as_str());
        match self.read_limited(&token.tenant, derived).await {
            Ok(Some(found)) => self.learn(&token.tenant, found).await,
            Ok(None) => Poll::Unknown,
            Err(error) => {
                tracing::warn!(tenant.id = %token.tenant, "poll answered pending unread: {error}");
                Poll::Unread { request_id: Some(request_id) }
            }
        }
    }

    /// Polls by a handle that opened: always an answer.
    pub async fn poll_handle(&self, handle: &PollHandle) -> Poll {
        let unread = || {
            if self.clock.now() < handle.expires_at {
                Poll::Unread { request_id: None }
            } else {
                Poll::UnreadExpired { expires_at: handle.expires_at }
            }
        };
        match self.read_limited(&handle.tenant, handle.elicitation).await {
            Ok(Some(found)) => self.learn(&handle.tenant, found).await,
            Ok(None) => {
                tracing::error!(tenant.id = %handle.tenant, "the row behind a sealed handle is missing");
                unread()
            }
            Err(error) => {
                tracing::warn!(tenant.id = %handle.tenant, "poll answered without a read: {error}");
                match error {
                    StoreError::Corrupt(_) => unread(),
                    StoreError::Unavailable(_) => Poll::Unread { request_id: None },
                }
            }
        }
    }

    /// Polls on the bare fallback route, where an API key asks: its own questions by handle or request-id.
    ///
    /// # Errors
    /// [`StoreError`] where a request-id cannot be looked up.
    pub async fn poll_own(&self, caller: &Caller, id: &str) -> Result<Poll, StoreError> {
        if let Some(handle) = PollHandle::open(id, &self.keys) {
            if handle.tenant != *caller.tenant() {
                return Ok(Poll::Unknown);
            }
            return Ok(match self.poll_handle(&handle).await {
                Poll::Known { elicitation, .. } if !caller.may_read(&elicitation) => Poll::Unknown,
                learned => learned,
            });
        }
        let store = self.store.tenant(caller.tenant());
        let ids = match (id.parse::<ElicitationId>(), id.parse::<RequestId>()) {
            (Ok(id), _) => vec![id],
            (Err(_), Ok(request_id)) => store.by_request_id(&request_id).await?,
            (Err(_), Err(_)) => vec![],
        };
        for id in ids {
            let found = store.elicitation(id).await?;
            if let Some(found) = found.filter(|found| caller.may_read(found)) {
                return Ok(self.learn(caller.tenant(), found).await);
            }
        }
        Ok(Poll::Unknown)
    }

    /// The id that `text`, an id or a reference, stands for. Says nothing of who may see it.
    ///
    /// # Errors
    /// [`StoreError`] where a reference cannot be looked up.
    pub async fn find(&self, caller: &Caller, text: &str) -> Result<Option<ElicitationId>, StoreError> {
        match (text.parse(), text.parse::<Reference>()) {
            (Ok(id), _) => Ok(Some(id)),
            (Err(_), Ok(reference)) => self.store.tenant(caller.tenant()).by_reference(&reference).await,
            (Err(_), Err(_)) => Ok(None),
        }
    }

    /// Reads a question on the native API; with `wait`, holds the read until it has ended or `wait` is over.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read. `Ok(None)` where this caller has no such question.
    pub async fn view(
        &self,
        caller: &Caller,
        id: ElicitationId,
        wait: Duration,
    ) -> Result<Option<(Elicitation, State)>, StoreError> {
        let found = self.store.tenant(caller.tenant()).elicitation(id).await?;
        let Some(found) = found.filter(|found| caller.may_read(found)) else { return Ok(None) };
        let now = self.clock.now();
        let asks = reads_as_asker(caller, &found, wait);
        let wait = if self.settings.hold_native_reads { wait.min(WAIT_MAX) } else { Duration::ZERO };
        let state = found.state_at(now);
        if state.is_terminal() || wait.is_zero() {
            if asks {
                self.note_read(caller.tenant(), &found, &state, now).await;
            }
            return Ok(Some((found, state)));
        }
        Ok(Some(self.hold(caller.tenant(), found, now.plus(wait), now, asks).await))
    }

    /// Notes that the asker knows the outcome, where it learned it otherwise than by reading. `Ok(None)` where this
    /// caller has no such question; one that is pending stays as it is.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be noted.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        id: ElicitationId,
    ) -> Result<Option<(Elicitation, State)>, StoreError> {
        let store = self.store.tenant(caller.tenant());
        let found = store.elicitation(id).await?;
        let Some(mut found) = found.filter(|found| found.is_own(caller.principal())) else { return Ok(None) };
        let now = self.clock.now();
        let state = found.state_at(now);
        if state.is_terminal() && found.asker.collected_at.is_none() {
            store.collected(&found, now).await?;
            self.told_soon(caller.tenant(), &found);
            found.asker.collected_at = Some(now);
        }
        Ok(Some((found, state)))
    }

    /// What a fallback poll makes of a question that was read.
    async fn learn(&self, tenant: &TenantId, found: Elicitation) -> Poll {
        let now = self.clock.now();
        let state = found.state_at(now);
        let (elicitation, state) = if !state.is_terminal() && found.deadlines.is_last_call(now) {
            let until = found.deadlines.asker_deadline;
            self.hold(tenant, found, until, now, true).await
        } else {
            self.note_read(tenant, &found, &state, now).await;
            (found, state)
        };
        Poll::Known { elicitation: Box::new(elicitation), state }
    }

    /// Re-reads until the question has ended or `until` has passed. One read of a question is held at a time;
    /// any other is answered at once.
    async fn hold(
        &self,
        tenant: &TenantId,
        mut found: Elicitation,
        until: Timestamp,
        now: Timestamp,
        asks: bool,
    ) -> (Elicitation, State) {
        let store = self.store.tenant(tenant);
        let claim = limited(self.write_limit(), store.claim_hold(found.id, until, now)).await;
        let mut state = found.state_at(self.clock.now());
        if !claim.unwrap_or(false) {
            return (found, state);
        }
        // Counted in what was waited, not in what the clock says: a clock that steps back must not prolong a hold.
        let mut left = until.since(now);
        loop {
            let now = self.clock.now();
            if state.is_terminal() || now >= until || left.is_zero() || self.stopping.is_set() {
                if asks && state.is_terminal() {
                    self.note_read(tenant, &found, &state, now).await;
                }
                return (found, state);
            }
            let step = HOLD_STEP.min(until.since(now)).min(left);
            self.clock.sleep(step).await;
            left -= step;
            if let Ok(Some(read)) = self.read_limited(tenant, found.id).await {
                found = read;
            }
            state = found.state_at(self.clock.now());
        }
    }

    /// Notes that the asker read: its lease while pending, the collection once ended. Lost on any trouble.
    async fn note_read(&self, tenant: &TenantId, found: &Elicitation, state: &State, now: Timestamp) {
        let store = self.store.tenant(tenant);
        let noted = if state.is_terminal() {
            if found.asker.collected_at.is_some() {
                return;
            }
            let noted = limited(self.write_limit(), store.collected(found, now)).await;
            self.told_soon(tenant, found);
            noted
        } else {
            if !found.lease_is_due(now) {
                return;
            }
            limited(self.write_limit(), store.renew_lease(found.id, now)).await
        };
        if let Err(error) = noted {
            tracing::debug!(tenant.id = %tenant, "a read was not noted: {error}");
        }
    }

    fn write_limit(&self) -> Duration {
        self.settings.poll_store_limit / WRITE_SHARE
    }

    async fn read_limited(
        &self,
        tenant: &TenantId,
        id: ElicitationId,
    ) -> Result<Option<Elicitation>, StoreError> {
        let store = self.store.tenant(tenant);
        limited(self.settings.poll_store_limit, store.elicitation(id)).await
    }
}

/// Whether a native read is the asker's. A person who looks before deciding, or an operator, is not the asker: their
/// reads must not keep its lease alive or pass for its collection. Fallback questions are the fallback routes'.
fn reads_as_asker(caller: &Caller, found: &Elicitation, wait: Duration) -> bool {
    let waits = !wait.is_zero() || !caller.has(Scope::Read);
    found.front == Front::Native && found.principal == *caller.principal() && waits
}

async fn limited<T>(
    limit: Duration,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = |_| Err(StoreError::Unavailable("no answer within the poll's limit".into()));
    tokio::time::timeout(limit, call).await.unwrap_or_else(late)
}
