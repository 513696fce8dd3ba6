//! What passes between the use-cases and the store.

use countersign_core::ask::Content;
use countersign_core::delivery::{ChannelKind, Delivery, DeliveryKey};
use countersign_core::elicitation::Elicitation;
use countersign_core::endpoint::EndpointId;
use countersign_core::event::EventKey;
use countersign_core::id::{
    ApiKeyId, ApproverId, AskTokenId, CodeId, ElicitationId, GroupName, HumanSessionId, IssuerId, SessionId,
    TenantId,
};
use countersign_core::json::Sha256;
use countersign_core::policy::Policy;
use countersign_core::quota::{Bucket, Quota};
use countersign_core::session::Session;
use countersign_core::state::{Decision, ExpiryCause};
use countersign_core::time::Timestamp;

use crate::endpoints::Endpoint;
use crate::humans::HumanSession;
use crate::issuers::Registration;
use crate::keys::KeyRecord;
use crate::ports::SessionLoss;

/// A tenant, with what a create needs to know of its people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name, for people.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// It may not ask.
    pub suspended: bool,
    /// It is being deleted: none of its credentials is good any more.
    pub deleting: bool,
    /// What it may ask.
    pub quota: Quota,
    /// What it has decided for all its questions.
    pub policy: PolicyVersion,
    /// Its approvers, and how each can be reached.
    pub routes: Vec<Route>,
}

/// A policy as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyVersion {
    /// What it says.
    pub policy: Policy,
    /// Its number; the first is 1.
    pub version: u64,
    /// Since when.
    pub updated_at: Timestamp,
}

/// An approver, as far as a create needs to know of them. Kept on the tenant's row, in step with the approver's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Who.
    pub approver: ApproverId,
    /// How they can be told.
    pub channels: Vec<ChannelKind>,
    /// What they belong to.
    pub groups: Vec<GroupName>,
}

/// A human who may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver {
    /// Their id.
    pub id: ApproverId,
    /// What people call them.
    pub name: String,
    /// Their mail address.
    pub email: Option<String>,
    /// What they belong to, in order and each once.
    pub groups: Vec<GroupName>,
    /// Who they are elsewhere.
    pub external_ids: ExternalIds,
    /// When they were added.
    pub created_at: Timestamp,
    /// Grows with each write: a change made on a read is conditional on it.
    pub revision: u64,
}

/// Who an approver is elsewhere. Each id is one approver's in a tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalIds {
    /// Their Slack user id.
    pub slack: Option<String>,
    /// Their Telegram user id.
    pub telegram: Option<String>,
    /// The `sub` of their JWTs.
    pub sub: Option<String>,
}

/// What an approver can be found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalKind {
    /// A Slack user id.
    Slack,
    /// A Telegram user id.
    Telegram,
    /// The `sub` of a JWT.
    Sub,
    /// A mail address, which several approvers may share: then it finds nobody.
    Mail,
}

impl ExternalKind {
    /// The word on the wire and in keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Slack => "slack",
            Self::Telegram => "telegram",
            Self::Sub => "sub",
            Self::Mail => "mail",
        }
    }
}

impl Approver {
    /// What they can be found by.
    pub fn found_by(&self) -> Vec<(ExternalKind, &str)> {
        let ids = &self.external_ids;
        let all = [
            (ExternalKind::Slack, &ids.slack),
            (ExternalKind::Telegram, &ids.telegram),
            (ExternalKind::Sub, &ids.sub),
            (ExternalKind::Mail, &self.email),
        ];
        all.into_iter().filter_map(|(kind, id)| Some((kind, id.as_deref()?))).collect()
    }

    /// The channels that can reach them.
    pub fn channels(&self) -> Vec<ChannelKind> {
        self.email.iter().map(|_| ChannelKind::Email).collect()
    }
}

/// Rows to read together.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The tenant itself.
    pub tenant: bool,
    /// An API key.
    pub key: Option<ApiKeyId>,
    /// A session.
    pub session: Option<SessionId>,
    /// A question.
    pub elicitation: Option<ElicitationId>,
    /// The content of that question.
    pub content: bool,
    /// More questions.
    pub more: Vec<ElicitationId>,
    /// An approver.
    pub approver: Option<ApproverId>,
    /// A delivery.
    pub delivery: Option<DeliveryKey>,
    /// An endpoint.
    pub endpoint: Option<EndpointId>,
    /// Something that is good once.
    pub nonce: Option<Sha256>,
    /// An issuer.
    pub issuer: Option<IssuerId>,
    /// What the tenant has asked.
    pub bucket: bool,
    /// A person's session.
    pub human: Option<(ApproverId, HumanSessionId)>,
}

/// Rows that were read together.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The tenant itself.
    pub tenant: Option<Tenant>,
    /// The API key.
    pub key: Option<KeyRecord>,
    /// The session.
    pub session: Option<Session>,
    /// The question.
    pub elicitation: Option<Elicitation>,
    /// Its content.
    pub content: Option<Content>,
    /// More questions, in no order.
    pub more: Vec<Elicitation>,
    /// The approver.
    pub approver: Option<Approver>,
    /// The delivery.
    pub delivery: Option<Delivery>,
    /// The endpoint.
    pub endpoint: Option<Endpoint>,
    /// Whether what is good once was used.
    pub nonce: bool,
    /// The issuer.
    pub issuer: Option<Registration>,
    /// What the tenant has asked.
    pub bucket: Bucket,
    /// The person's session.
    pub human: Option<HumanSession>,
}

/// Something that is good once. It is spent in the transaction of what it was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce {
    /// Hash of its namespace and itself.
    pub id: Sha256,
    /// Until when it is remembered.
    pub until: Timestamp,
}

/// What a create stores, in one transaction.
#[derive(Debug, Clone)]
pub struct NewElicitation {
    /// The question.
    pub elicitation: Elicitation,
    /// What a person is shown.
    pub content: Content,
    /// The session's part; `None` for a question without one.
    pub block: Option<Block>,
    /// When the sweep plans it if nothing else has.
    pub plan_by: Timestamp,
    /// When it may be garbage-collected.
    pub keep_until: Timestamp,
}

/// The condition on the session, and what the create does to it.
#[derive(Debug, Clone)]
pub struct Block {
    /// The session.
    pub session: SessionId,
    /// The ask token that is used, which must still be listed.
    pub token: Option<AskTokenId>,
    /// Open questions that are allowed, this one included.
    pub max_open: usize,
    /// Entries whose deadline had passed when the session was read: they do not count.
    pub overdue: Vec<ElicitationId>,
    /// Accepts and declines that were known when the session was read: one more must be looked at first.
    pub answers: u64,
    /// A mute has run out: the count begins again.
    pub restart_declines: bool,
    /// Declined contents that need not be remembered any longer.
    pub forget: Vec<Sha256>,
}

/// What makes a create of something else than a question repeatable: the key's own row, in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Hash of the principal, the route and the key.
    pub id: Sha256,
    /// Hash of the request body.
    pub request_sha256: Sha256,
    /// Until when a repeat is known.
    pub until: Timestamp,
}

/// How the create of a session ended.
#[derive(Debug, Clone)]
pub enum SessionOutcome {
    /// It is stored, now.
    Stored,
    /// One of that name was there before.
    Exists(Box<Session>),
    /// The same Idempotency-Key and body made this one before.
    Repeated(SessionId),
    /// The same Idempotency-Key came with another body.
    Reused,
}

/// How the create of an approver ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApproverOutcome {
    /// They are stored, now.
    Stored,
    /// The same Idempotency-Key and body made this one before.
    Repeated(ApproverId),
    /// The same Idempotency-Key came with another body.
    Reused,
    /// An external id is another approver's.
    Taken(ExternalKind),
}

/// How a change of an approver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApproverChange {
    /// It is stored.
    Stored,
    /// The row has moved on since it was read, or is gone: read again.
    Moved,
    /// An external id is another approver's.
    Taken(ExternalKind),
}

/// How a create ended.
#[derive(Debug, Clone)]
pub enum CreateOutcome {
    /// It is stored, now.
    Stored,
    /// A question of that id was there before.
    Exists(Box<Elicitation>),
    /// The session does not allow it; here it is as it stands.
    SessionRefused(Option<Box<Session>>),
    /// The reference is taken: choose another.
    ReferenceTaken,
}

/// How a question is to end.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// A person decided.
    Decided {
        /// What.
        decision: Decision,
        /// What the decision spends.
        once: Option<Nonce>,
    },
    /// The asking side takes it back.
    Withdrawn {
        /// When.
        at: Timestamp,
    },
    /// Time ran out.
    Expired {
        /// Why nobody answered.
        cause: ExpiryCause,
        /// The present, which must be past the deadline.
        now: Timestamp,
        /// What its session loses, if it has one.
        session: Option<SessionLoss>,
    },
}

/// How ending a question ended. Losing the race is a value: it carries the winner.
#[derive(Debug, Clone)]
pub enum Settled {
    /// This settlement is the stored one.
    Won,
    /// What the settlement was to spend is spent.
    Spent,
    /// The condition did not hold on this row.
    Lost {
        /// The question as it stands.
        current: Box<Elicitation>,
    },
    /// The session has moved on since it was read: read again.
    SessionMoved,
    /// There is no such question.
    Missing,
    /// The approver who decides is gone, or not among those who may answer.
    NotEligible,
}

/// Who is told, as planned.
#[derive(Debug, Clone)]
pub struct Planned {
    /// When.
    pub at: Timestamp,
    /// One delivery each; none means that there is nobody.
    pub deliveries: Vec<DeliveryKey>,
    /// Whose inbox it is in.
    pub routed: Vec<ApproverId>,
    /// When the sweep attempts them if nothing else has.
    pub attempt_by: Timestamp,
    /// When they may be garbage-collected.
    pub keep_until: Timestamp,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The provider took it.
    Sent,
    /// To be tried again then.
    Again(Timestamp),
    /// Given up.
    Failed,
    /// The question ended first.
    Dropped,
}

/// One thing that has become due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// A question: to be planned, or over.
    Elicitation(TenantId, ElicitationId),
    /// A delivery.
    Delivery(TenantId, DeliveryKey),
    /// An event for an endpoint.
    Event(TenantId, EventKey),
    /// A code to be mailed.
    Code(TenantId, CodeId),
    /// A key that no code of ours writes, as text.
    Unreadable(String),
}

/// What a step of a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// So many rows are gone; there may be more.
    Page(usize),
    /// Nothing is left of the tenant.
    All,
}

/// A page of what has become due.
#[derive(Debug, Clone, Default)]
pub struct DuePage {
    /// The entries.
    pub entries: Vec<Due>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}
