//! What the use-cases need from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::delivery::{ChannelKind, Delivery, DeliveryKey};
use countersign_core::elicitation::{Elicitation, Tier};
use countersign_core::endpoint::EndpointId;
use countersign_core::event::{EventDelivery, EventKey};
use countersign_core::id::{
    ApiKeyId, ApproverId, AskTokenId, Bits130, CodeId, ElicitationId, HumanSessionId, IssuerId, Reference,
    RequestId, SessionId, TenantId,
};
use countersign_core::json::Sha256;
use countersign_core::quota::{Bucket, Quota};
use countersign_core::retry::Budget;
use countersign_core::seal::KeyedHash;
use countersign_core::session::{LostElicitation, Session, TokenFacts};
use countersign_core::time::Timestamp;

use crate::codes::CodeNotice;
use crate::endpoints::{Endpoint, EndpointOutcome};
use crate::events::ToldOf;
use crate::humans::{HumanRow, HumanRows, MailedCode, SignIn};
use crate::inbox::Question;
use crate::issuers::Registration;
use crate::keys::{KeyOutcome, KeyRecord};
use crate::passkeys::Passkey;
use crate::records::{
    Approver, ApproverChange, ApproverOutcome, AttemptEnd, CreateOutcome, DuePage, ExternalKind, Idempotency,
    NewElicitation, Nonce, Planned, PolicyVersion, Purged, Rows, SessionOutcome, Settled, Settlement, Tenant,
    Wanted,
};

/// What time it is, and waiting.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The present.
    fn now(&self) -> Timestamp;

    /// Returns when `span` has passed.
    async fn sleep(&self, span: Duration);
}

/// Unpredictable bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

impl dyn Entropy {
    /// 130 random bits.
    pub fn bits130(&self) -> Bits130 {
        let mut bytes = [0; Bits130::BYTES];
        self.fill(&mut bytes);
        Bits130::from_bytes(bytes)
    }

    /// 64 random bits.
    pub fn bits64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    /// A random reference.
    pub fn reference(&self) -> Reference {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Reference::from_random(bytes)
    }
}

/// Says that the process is about to end, so that held reads let go.
#[derive(Debug, Clone, Default)]
pub struct Stopping(Arc<AtomicBool>);

impl Stopping {
    /// Says so.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was said.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes notifying prompt. The stored record drives the notice, and the `due` index backs this up: an
/// implementation may lose a call.
pub trait Trigger: Send + Sync {
    /// An elicitation has been committed.
    fn stored(&self, tenant: &TenantId, elicitation: ElicitationId);

    /// A code waits to be mailed.
    fn code_wanted(&self, tenant: &TenantId, code: CodeId);
}

/// What a person is told; never an argument, a title or a name from the asking side.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The tenant's name, for people.
    pub tenant: String,
    /// The code that both sides see.
    pub reference: Reference,
    /// How much damage the act can do.
    pub tier: Tier,
    /// The last moment to decide.
    pub decide_by: Timestamp,
    /// Where the question is, for a person.
    pub link: String,
    /// To whom.
    pub to: Approver,
    /// The same for each attempt of one delivery.
    pub id: String,
}

/// Why a channel did not take a notice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Another attempt may succeed.
    #[error("not now: {0}")]
    Retry(String),
    /// No attempt will succeed.
    #[error("refused: {0}")]
    Refused(String),
}

/// One way to reach a person. An implementation bounds its own time.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Which way.
    fn kind(&self) -> ChannelKind;

    /// Makes one attempt; `Ok` is the provider's word that it took the notice.
    async fn send(&self, notice: &Notice) -> Result<(), SendError>;

    /// Sends a code to its approver. Only mail carries codes.
    async fn send_code(&self, _: &CodeNotice) -> Result<(), SendError> {
        Err(SendError::Refused("this channel carries no codes".into()))
    }
}

/// Why the store did not do as asked. Throttles and conflicts were retried already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It did not answer in time, or not usefully; a write may have been applied.
    #[error("store unavailable: {0}")]
    Unavailable(String),
    /// A row says something that no code of ours writes.
    #[error("corrupt row: {0}")]
    Corrupt(String),
}

/// The store as a whole. It has no item methods: those need a tenant.
#[async_trait]
pub trait Store: Send + Sync {
    /// The rows of one tenant.
    fn tenant(&self, tenant: &TenantId) -> Box<dyn TenantStore>;

    /// What has become due in one of the index's shards, oldest first, from after `after` on.
    async fn due(&self, shard: u8, now: Timestamp, after: Option<String>) -> Result<DuePage, StoreError>;

    /// All tenants.
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// The tenants whose rows are to go.
    async fn deleted_tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// One cheap read.
    async fn ready(&self) -> Result<(), StoreError>;
}

/// The rows of one tenant. Every key that it builds starts with that tenant.
#[async_trait]
pub trait TenantStore: Send + Sync {
    /// Any of the named rows, in one consistent read.
    async fn read(&self, wanted: &Wanted) -> Result<Rows, StoreError>;

    /// One question, consistently, in one attempt: a poll would rather be told `pending` than wait.
    async fn elicitation(&self, id: ElicitationId) -> Result<Option<Elicitation>, StoreError>;

    /// Questions that carry this request-id.
    async fn by_request_id(&self, request_id: &RequestId) -> Result<Vec<ElicitationId>, StoreError>;

    /// The question behind a reference.
    async fn by_reference(&self, reference: &Reference) -> Result<Option<ElicitationId>, StoreError>;

    /// Stores a question with its session's block, once.
    async fn create(&self, new: &NewElicitation, budget: Budget) -> Result<CreateOutcome, StoreError>;

    /// Ends a question, once; unblocks its session in the same write.
    async fn settle(
        &self,
        elicitation: &Elicitation,
        settlement: &Settlement,
        budget: Budget,
    ) -> Result<Settled, StoreError>;

    /// Notes a read while pending.
    async fn renew_lease(&self, id: ElicitationId, now: Timestamp) -> Result<(), StoreError>;

    /// Notes the first read of a terminal status.
    async fn collected(&self, question: &Elicitation, now: Timestamp) -> Result<(), StoreError>;

    /// Tries to become the one held read until `until`.
    async fn claim_hold(
        &self,
        id: ElicitationId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ids of what is pending, by time of creation, from after `after` on.
    async fn pending(
        &self,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError>;

    /// Ids of a session's questions, by time of creation, from after `after` on.
    async fn of_session(
        &self,
        session: SessionId,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError>;

    /// Stores a session unless one of that id exists, or the key made one before.
    async fn create_session(
        &self,
        session: &Session,
        idempotency: Option<&Idempotency>,
    ) -> Result<SessionOutcome, StoreError>;

    /// Adds an ask token and drops `expired` ones; `false` if the session is archived or gone.
    async fn add_token(
        &self,
        session: SessionId,
        token: &TokenFacts,
        expired: &[AskTokenId],
    ) -> Result<bool, StoreError>;

    /// Removes an ask token.
    async fn remove_token(&self, session: SessionId, token: AskTokenId) -> Result<(), StoreError>;

    /// Ends a session's creates.
    async fn archive(&self, session: SessionId, now: Timestamp) -> Result<(), StoreError>;

    /// Clears the lost notice and the block marker's `overdue` entries.
    async fn resume(&self, session: SessionId, overdue: &[ElicitationId]) -> Result<(), StoreError>;

    /// Forgets what people have said no to in a session.
    async fn unmute(&self, session: SessionId) -> Result<(), StoreError>;

    /// The tenant's approvers.
    async fn approvers(&self) -> Result<Vec<Approver>, StoreError>;

    /// Stores a tenant with its first key, once; `false` if the tenant exists.
    async fn create_tenant(&self, tenant: &Tenant, key: &KeyRecord) -> Result<bool, StoreError>;

    /// Stores an approver and makes them a route.
    async fn create_approver(
        &self,
        approver: &Approver,
        idempotency: Option<&Idempotency>,
    ) -> Result<ApproverOutcome, StoreError>;

    /// Stores an approver in the place of `before`, which is as it was read.
    async fn replace_approver(
        &self,
        before: &Approver,
        after: &Approver,
    ) -> Result<ApproverChange, StoreError>;

    /// Removes an approver, who is as they were read, with all that they can be found by.
    async fn remove_approver(&self, approver: &Approver) -> Result<ApproverChange, StoreError>;

    /// The approver who is `id` elsewhere; `None` if there is none, or more than one.
    async fn approver_by_external(
        &self,
        kind: ExternalKind,
        id: &str,
    ) -> Result<Option<Approver>, StoreError>;

    /// Stores the next version of the policy; `false` if the one before it is not in force any more.
    async fn put_policy(&self, next: &PolicyVersion) -> Result<bool, StoreError>;

    /// One version of the policy.
    async fn policy(&self, version: u64) -> Result<Option<PolicyVersion>, StoreError>;

    /// Stores who is told; `false` if somebody planned it before, or it has ended.
    async fn plan(&self, elicitation: &Elicitation, planned: &Planned) -> Result<bool, StoreError>;

    /// A question's deliveries.
    async fn deliveries(&self, id: ElicitationId) -> Result<Vec<Delivery>, StoreError>;

    /// One delivery.
    async fn delivery(&self, key: DeliveryKey) -> Result<Option<Delivery>, StoreError>;

    /// Counts an attempt before it is made; `false` if another hand was faster.
    async fn begin_attempt(
        &self,
        delivery: &Delivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Stores how an attempt ended, and folds the evidence into the question while it is pending.
    async fn end_attempt(
        &self,
        delivery: &Delivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// One API key.
    async fn key(&self, id: ApiKeyId) -> Result<Option<KeyRecord>, StoreError>;

    /// Counts a question, in one attempt; `rebase` moves the base of the count, and `forgotten` days go with it.
    async fn charge(
        &self,
        read: &Bucket,
        rebase: bool,
        forgotten: &[u64],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Takes back what a repeat was counted.
    async fn refund(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Sets what the tenant may ask.
    async fn set_quota(&self, quota: &Quota) -> Result<(), StoreError>;

    /// Lets the tenant ask, or not.
    async fn set_suspended(&self, suspended: bool) -> Result<(), StoreError>;

    /// Marks the tenant as deleted: its credentials end, and its rows are to go.
    async fn begin_deletion(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Removes a page of a deleted tenant's rows, from where the last call ended.
    async fn purge_page(&self) -> Result<Purged, StoreError>;

    /// Stores an API key, once.
    async fn create_key(
        &self,
        key: &KeyRecord,
        idempotency: Option<&Idempotency>,
    ) -> Result<KeyOutcome, StoreError>;

    /// The tenant's API keys.
    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Writes a key's two hashes where `before` is the present one; `false` where it is not, or the key is gone.
    async fn rotate_key(&self, key: &KeyRecord, before: &KeyedHash) -> Result<bool, StoreError>;

    /// Removes an API key.
    async fn remove_key(&self, id: ApiKeyId) -> Result<(), StoreError>;

    /// Notes that a key was used, in one attempt. A key that is gone stays gone.
    async fn note_key_use(&self, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError>;

    /// Registers an issuer; `false` if one that calls itself so is registered.
    async fn create_issuer(&self, issuer: &Registration) -> Result<bool, StoreError>;

    /// The tenant's issuers.
    async fn issuers(&self) -> Result<Vec<Registration>, StoreError>;

    /// Removes an issuer.
    async fn remove_issuer(&self, id: IssuerId) -> Result<(), StoreError>;

    /// Stores an endpoint, once.
    async fn create_endpoint(
        &self,
        endpoint: &Endpoint,
        idempotency: Option<&Idempotency>,
    ) -> Result<EndpointOutcome, StoreError>;

    /// Writes an endpoint over the revision before it; `false` if it has moved on, or is gone.
    async fn replace_endpoint(&self, endpoint: &Endpoint) -> Result<bool, StoreError>;

    /// One endpoint.
    async fn endpoint(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError>;

    /// The tenant's endpoints.
    async fn endpoints(&self) -> Result<Vec<Endpoint>, StoreError>;

    /// Removes an endpoint.
    async fn remove_endpoint(&self, id: &EndpointId) -> Result<(), StoreError>;

    /// The tenant's open questions as its list shows them, oldest first: one attempt, since nothing waits for it.
    async fn open_questions(&self, limit: usize) -> Result<Vec<ElicitationId>, StoreError>;

    /// The ids of questions that were routed to an approver: those whose last moment lies after `from`, soonest first; all
    /// of them, latest first, without one.
    async fn routed(
        &self,
        approver: ApproverId,
        from: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<ElicitationId>, StoreError>;

    /// These questions with their contents, in no order; those that are gone are left out.
    async fn questions(&self, ids: &[ElicitationId]) -> Result<Vec<Question>, StoreError>;

    /// Stores a code, to be mailed at once if it is somebody's.
    async fn put_code(&self, code: &MailedCode) -> Result<(), StoreError>;

    /// One code.
    async fn code(&self, id: CodeId) -> Result<Option<MailedCode>, StoreError>;

    /// Counts a try of a code; `None` where none is left, or it has ended.
    async fn try_code(
        &self,
        id: CodeId,
        tries: u32,
        now: Timestamp,
    ) -> Result<Option<MailedCode>, StoreError>;

    /// Counts a mail before it is sent; `false` if another hand was faster.
    async fn begin_code_mail(&self, code: &MailedCode, lease: Timestamp) -> Result<bool, StoreError>;

    /// Notes that nothing more is to be mailed.
    async fn end_code_mail(&self, id: CodeId) -> Result<(), StoreError>;

    /// Signs somebody in; `false` if what it spends is spent.
    async fn sign_in(&self, sign_in: &SignIn) -> Result<bool, StoreError>;

    /// An approver's sessions, devices and passkeys.
    async fn human_rows(&self, approver: ApproverId) -> Result<HumanRows, StoreError>;

    /// Stores who is told of a question's events, that they were planned, and that what has ended is due no more;
    /// `false` where another hand was faster, or more has happened.
    async fn plan_events(
        &self,
        question: &Elicitation,
        told: ToldOf,
        rows: &[EventDelivery],
        keep_until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// A question's events, for whatever endpoint.
    async fn events(&self, id: ElicitationId) -> Result<Vec<EventDelivery>, StoreError>;

    /// One event of a question's for one endpoint.
    async fn event(&self, key: EventKey) -> Result<Option<EventDelivery>, StoreError>;

    /// Counts an attempt before it is made; `false` if another hand was faster.
    async fn begin_event(
        &self,
        event: &EventDelivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Stores how an attempt ended.
    async fn end_event(
        &self,
        event: &EventDelivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Adds a passkey and spends `once`; `false` where that is spent or the passkey is there.
    async fn add_passkey(&self, passkey: &Passkey, once: Nonce) -> Result<bool, StoreError>;

    /// Notes a use; `false` where the counter there is not behind `count`, 0 aside.
    async fn use_passkey(&self, passkey: &Passkey, count: u32, now: Timestamp) -> Result<bool, StoreError>;

    /// Removes a passkey and spends `once`; `false` where that is spent.
    async fn remove_passkey(&self, passkey: &Passkey, once: Nonce) -> Result<bool, StoreError>;

    /// Removes a passkey.
    async fn forget_passkey(&self, passkey: &Passkey) -> Result<(), StoreError>;

    /// Removes a session or device of an approver's.
    async fn remove_human(&self, approver: ApproverId, what: HumanRow) -> Result<(), StoreError>;

    /// Notes that a person did something, in one attempt.
    async fn touch_human(
        &self,
        approver: ApproverId,
        id: HumanSessionId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Counts one more of `id`; `false` where that is more than `limit`. It is forgotten after `until`.
    async fn count(&self, id: Sha256, limit: u32, until: Timestamp) -> Result<bool, StoreError>;

    /// Wrong codes that an approver has typed for a question.
    async fn wrong_codes(&self, id: ElicitationId, approver: ApproverId) -> Result<u32, StoreError>;

    /// Counts a code as wrong, before it is looked at; how many that makes, `None` where there are `limit` already.
    async fn count_wrong_code(
        &self,
        id: ElicitationId,
        approver: ApproverId,
        limit: u32,
    ) -> Result<Option<u32>, StoreError>;

    /// Takes back one that was right.
    async fn forgive_code(&self, id: ElicitationId, approver: ApproverId) -> Result<(), StoreError>;

    /// A session asks nothing until then.
    async fn report_session(&self, session: SessionId, until: Timestamp) -> Result<(), StoreError>;

    /// Removes a due mark that outlived its question.
    async fn drop_due(&self, id: ElicitationId) -> Result<(), StoreError>;
}

/// What a session loses by an expiry, decided on the revision that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLoss {
    /// The session's revision; the write fails if it has moved on.
    pub revision: u64,
    /// The notice, if the session is left without a question that waits.
    pub lost: Option<LostElicitation>,
}
