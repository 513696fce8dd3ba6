//! Who is calling, and what they may do. A value of one of these types was checked; nothing else makes one.

use countersign_core::ask::Content;
use countersign_core::assurance::Assurance;
use countersign_core::credential::{ApiKey, OperatorKey, Scope};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{
    ApproverId, AskTokenId, ElicitationId, Principal, Reference, RequestId, SessionId, TenantId,
};
use countersign_core::quota::Bucket;
use countersign_core::seal::{AskToken, PollHandle};
use countersign_core::secret::Secret;
use countersign_core::session::Session;
use countersign_core::state::Method;

use crate::App;
use crate::keys::{Bounds, KeyRecord};
use crate::ports::StoreError;
use crate::records::{Approver, Nonce, Tenant, Wanted};

/// Label of the keyed hash that is stored in place of an API key's secret.
pub const KEY_HASH_LABEL: &str = "countersign api key";

/// Why a caller is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No credential, or none that is good here.
    #[error("the credential is missing, wrong, expired or revoked")]
    Unauthenticated,
    /// A good credential that lacks a scope.
    #[error("the key lacks the scope {0}")]
    Forbidden(Scope),
    /// A token that is good, of somebody who is no approver here.
    #[error("the token's subject is no approver of the tenant")]
    NotAnApprover,
    /// The keys of a token's issuer cannot be had.
    #[error("the keys of the token's issuer cannot be had")]
    KeysUnavailable,
    /// The credential could not be looked up.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a person has proven to be an approver.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The authority that vouches for them, and whom it calls them.
    pub principal: Principal,
    /// What they may do.
    pub scopes: Vec<Scope>,
    /// How sure we are of them.
    pub assurance: Assurance,
    /// How their decisions reach us.
    pub method: Method,
}

/// A verified caller of the native API.
#[derive(Debug, Clone)]
pub struct Caller {
    tenant: TenantId,
    principal: Principal,
    name: String,
    scopes: Vec<Scope>,
    approver: Option<ApproverId>,
    people: Vec<ApproverId>,
    assurance: Assurance,
    method: Method,
    bounds: Bounds,
}

impl Caller {
    fn of(tenant: &TenantId, record: KeyRecord) -> Self {
        Self {
            tenant: tenant.clone(),
            principal: record.principal,
            name: record.name,
            scopes: record.scopes,
            approver: None,
            people: record.people,
            assurance: Assurance::Tap,
            method: Method::Api,
            bounds: record.bounds,
        }
    }

    /// The caller that `approver` of `tenant` is: for whoever has just checked their proof.
    pub fn proven(tenant: TenantId, approver: &Approver, proof: Proof) -> Self {
        Self {
            tenant,
            principal: proof.principal,
            name: approver.name.clone(),
            scopes: proof.scopes,
            approver: Some(approver.id),
            people: vec![approver.id],
            assurance: proof.assurance,
            method: proof.method,
            bounds: Bounds::default(),
        }
    }

    /// A caller whom an issuer of the tenant's own vouches for, and who is no approver.
    pub(crate) fn named(tenant: TenantId, name: String, proof: Proof) -> Self {
        Self {
            tenant,
            principal: proof.principal,
            name,
            scopes: proof.scopes,
            approver: None,
            people: vec![],
            assurance: proof.assurance,
            method: proof.method,
            bounds: Bounds::default(),
        }
    }

    /// Whose credential it is.
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Whom the credential stands for.
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// What people call the caller.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The approver that the caller is; `None` for a program that decides by its scope.
    pub const fn approver(&self) -> Option<ApproverId> {
        self.approver
    }

    /// The approvers behind the credential: the one whom it proves, or who made or rotated the key.
    pub fn people(&self) -> &[ApproverId] {
        &self.people
    }

    /// Whether the question is this caller's own, by its principal or by a person behind both (PROTOCOL.md section 0).
    pub fn is_asker_of(&self, elicitation: &Elicitation) -> bool {
        elicitation.is_own(&self.principal) || self.people.iter().any(|one| elicitation.people.contains(one))
    }

    /// How sure we are of the person behind a decision of this caller.
    pub const fn assurance(&self) -> Assurance {
        self.assurance
    }

    /// How a decision of this caller reaches us.
    pub const fn method(&self) -> Method {
        self.method
    }

    /// What bounds it beside its scopes.
    pub const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Whether the key has `scope`.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Fails without `scope`.
    pub fn require(&self, scope: Scope) -> Result<(), AuthError> {
        if self.has(scope) { Ok(()) } else { Err(AuthError::Forbidden(scope)) }
    }

    /// Whether the question may be read: `read` sees all, `ask` its own.
    pub fn may_read(&self, elicitation: &Elicitation) -> bool {
        self.has(Scope::Read) || (self.has(Scope::Ask) && elicitation.is_own(&self.principal))
    }

    /// Whether the session may be read or driven: `manage` all, `ask` its own.
    pub fn may_drive(&self, session: &Session) -> bool {
        self.has(Scope::Manage) || (self.has(Scope::Ask) && session.owner == self.principal)
    }
}

/// The verified operator of the deployment.
#[derive(Debug, Clone, Copy)]
pub struct Operator(());

impl Operator {
    /// The operator, if `presented` is the deployment's key.
    ///
    /// # Errors
    /// [`AuthError::Unauthenticated`] for any other key.
    pub fn verify(expected: &OperatorKey, presented: &OperatorKey) -> Result<Self, AuthError> {
        if expected.matches(presented) { Ok(Self(())) } else { Err(AuthError::Unauthenticated) }
    }
}

/// What a request to the native API presents; nothing of it is verified.
#[derive(Debug, Clone)]
pub enum Bearer {
    /// An API key.
    Key(ApiKey),
    /// A token of the tenant's own issuer.
    Token(Secret<String>),
}

/// Leave to ask, with what the create needs to know: read once, checked again in the write.
#[derive(Debug, Clone)]
pub struct Admission {
    pub(crate) tenant: Tenant,
    pub(crate) principal: Principal,
    pub(crate) session: Option<Session>,
    pub(crate) token: Option<AskTokenId>,
    /// Where a key asks: the caller behind it.
    pub(crate) caller: Option<Caller>,
    /// What the tenant has asked before.
    pub(crate) bucket: Bucket,
    /// Its open questions, oldest first, as its list shows them.
    pub(crate) open: Vec<ElicitationId>,
}

impl Admission {
    /// The tenant's id.
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant.id
    }

    /// The approvers behind the key or token that asks.
    pub(crate) fn people(&self) -> &[ApproverId] {
        self.caller.as_ref().map_or(&[], Caller::people)
    }

    /// The session that is asked in.
    pub const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Whether `text`, an id or a name, names the session that is asked in.
    pub fn names_its_session(&self, text: &str) -> bool {
        self.session.as_ref().is_some_and(|own| own.id.to_string() == text || own.name.as_str() == text)
    }
}

/// What a decision names its question by.
#[derive(Debug, Clone)]
pub enum Target {
    /// Its id.
    Id(ElicitationId),
    /// The code that both sides see.
    Reference(Reference),
    /// The asker's own id, where only one question of the tenant has it.
    Request(RequestId),
    /// Nothing that can exist.
    Nothing,
}

/// Leave to decide, with the question as read: checked again in the write.
#[derive(Debug, Clone)]
pub struct Deciding {
    pub(crate) caller: Caller,
    pub(crate) tenant: Tenant,
    /// The approver that the caller is, as their row was read.
    pub(crate) approver: Option<Approver>,
    pub(crate) question: Option<(Elicitation, Content)>,
    /// What the decision spends.
    pub(crate) once: Option<Nonce>,
    /// The caller has shown who they are, and not only a device that is remembered.
    pub(crate) is_fresh: bool,
}

impl Deciding {
    /// Whether the question exists for this caller.
    pub const fn found(&self) -> bool {
        self.question.is_some()
    }
}

impl App {
    /// The caller behind an API key.
    ///
    /// # Errors
    /// [`AuthError::Unauthenticated`] for a key that is unknown, revoked, expired or of another secret.
    pub async fn authenticate(&self, key: &ApiKey) -> Result<Caller, AuthError> {
        let wanted = Wanted { tenant: true, key: Some(key.id), ..Wanted::default() };
        let rows = self.store.tenant(&key.tenant).read(&wanted).await?;
        live(rows.tenant)?;
        self.verified(key, rows.key).await
    }

    /// The caller behind whatever a request presents.
    ///
    /// # Errors
    /// As [`App::authenticate`] and [`App::authenticate_token`].
    pub async fn authenticate_bearer(&self, bearer: &Bearer) -> Result<Caller, AuthError> {
        match bearer {
            Bearer::Key(key) => self.authenticate(key).await,
            Bearer::Token(token) => self.authenticate_token(token.expose()).await,
        }
    }

    /// The tenant that a bearer says it is of.
    pub fn tenant_of(&self, bearer: &Bearer) -> Option<TenantId> {
        match bearer {
            Bearer::Key(key) => Some(key.tenant.clone()),
            Bearer::Token(token) => self.tenant_of_token(token.expose()),
        }
    }

    /// Leave to create by whatever a request presents, as [`App::admit_key`].
    ///
    /// # Errors
    /// As [`App::authenticate_bearer`], and [`AuthError::Forbidden`] without the scope `ask`.
    pub async fn admit_bearer(
        &self,
        bearer: &Bearer,
        session: Option<SessionId>,
    ) -> Result<Admission, AuthError> {
        let caller = match bearer {
            Bearer::Key(key) => return self.admit_key(key, session).await,
            Bearer::Token(token) => self.authenticate_token(token.expose()).await?,
        };
        caller.require(Scope::Ask)?;
        let wanted = Wanted { tenant: true, bucket: true, session, ..Wanted::default() };
        let (rows, open) = self.read_with_open(caller.tenant(), &wanted).await?;
        let tenant = live(rows.tenant)?;
        let session = rows.session.filter(|one| caller.may_drive(one));
        let principal = caller.principal.clone();
        let bucket = rows.bucket;
        Ok(Admission { tenant, principal, session, token: None, caller: Some(caller), bucket, open })
    }

    /// Leave to decide by whatever a request presents, and the question itself. A token decides as the approver that its
    /// `sub` is, and as nobody else.
    ///
    /// # Errors
    /// As [`App::admit_decider`], and [`AuthError::NotAnApprover`].
    pub async fn admit_deciding(&self, bearer: &Bearer, target: &Target) -> Result<Deciding, AuthError> {
        let caller = match bearer {
            Bearer::Key(key) => return self.admit_decider(key, target).await,
            Bearer::Token(token) => self.authenticate_token(token.expose()).await?,
        };
        caller.require(Scope::Decide)?;
        if caller.approver().is_none() {
            return Err(AuthError::NotAnApprover);
        }
        self.admit_verified(caller, target).await
    }

    /// The ask token that `text` is. Says nothing of revocation.
    pub fn open_ask_token(&self, text: &str) -> Option<AskToken> {
        AskToken::open(text, &self.keys)
    }

    /// Leave to create by ask token: listed, not expired, its session not archived.
    ///
    /// # Errors
    /// [`AuthError::Unauthenticated`] otherwise.
    pub async fn admit_token(&self, token: &AskToken) -> Result<Admission, AuthError> {
        let now = self.clock.now();
        let wanted = Wanted { tenant: true, bucket: true, session: Some(token.session), ..Wanted::default() };
        let (rows, open) = self.read_with_open(&token.tenant, &wanted).await?;
        let tenant = live(rows.tenant)?;
        let session = rows.session.filter(|one| one.admits(token.id, now) && now < token.expires_at);
        let session = session.ok_or(AuthError::Unauthenticated)?;
        let principal = Principal::session(session.id);
        let bucket = rows.bucket;
        Ok(Admission {
            tenant,
            principal,
            session: Some(session),
            token: Some(token.id),
            caller: None,
            bucket,
            open,
        })
    }

    /// Leave to create by API key with the scope `ask`, in `session` if that is one that the key may drive.
    ///
    /// # Errors
    /// As [`App::authenticate`], and [`AuthError::Forbidden`] without the scope.
    pub async fn admit_key(&self, key: &ApiKey, session: Option<SessionId>) -> Result<Admission, AuthError> {
        let wanted = Wanted { tenant: true, bucket: true, key: Some(key.id), session, ..Wanted::default() };
        let (rows, open) = self.read_with_open(&key.tenant, &wanted).await?;
        let caller = self.verified(key, rows.key).await?;
        caller.require(Scope::Ask)?;
        let tenant = live(rows.tenant)?;
        let session = rows.session.filter(|one| caller.may_drive(one));
        let principal = caller.principal.clone();
        let bucket = rows.bucket;
        Ok(Admission { tenant, principal, session, token: None, caller: Some(caller), bucket, open })
    }

    /// Leave to decide by API key with the scope `decide`, and the question itself, in one or two reads.
    ///
    /// # Errors
    /// As [`App::authenticate`], and [`AuthError::Forbidden`] without the scope.
    pub async fn admit_decider(&self, key: &ApiKey, target: &Target) -> Result<Deciding, AuthError> {
        let store = self.store.tenant(&key.tenant);
        let by_id = match target {
            Target::Id(id) => Some(*id),
            Target::Reference(_) | Target::Request(_) | Target::Nothing => None,
        };
        let wanted = Wanted {
            tenant: true,
            key: Some(key.id),
            elicitation: by_id,
            content: true,
            ..Wanted::default()
        };
        let (rows, named) =
            futures_util::try_join!(store.read(&wanted), self.named_question(&key.tenant, target))?;
        let caller = self.verified(key, rows.key).await?;
        caller.require(Scope::Decide)?;
        let tenant = live(rows.tenant)?;
        let question = rows.elicitation.zip(rows.content).or(named);
        Ok(Deciding { caller, tenant, approver: None, question, once: None, is_fresh: true })
    }

    /// The same for a caller who is verified already, such as an approver: their row is read with the question.
    ///
    /// # Errors
    /// [`AuthError::Forbidden`] without the scope `decide`.
    pub async fn admit_verified(&self, caller: Caller, target: &Target) -> Result<Deciding, AuthError> {
        caller.require(Scope::Decide)?;
        let store = self.store.tenant(caller.tenant());
        let wanted = Wanted { tenant: true, approver: caller.approver(), ..Wanted::default() };
        let (rows, question) =
            futures_util::try_join!(store.read(&wanted), self.question(caller.tenant(), target))?;
        let tenant = live(rows.tenant)?;
        Ok(Deciding { caller, tenant, approver: rows.approver, question, once: None, is_fresh: true })
    }

    /// The question that a target names, with its content.
    pub(crate) async fn question(
        &self,
        tenant: &TenantId,
        target: &Target,
    ) -> Result<Option<(Elicitation, Content)>, StoreError> {
        match target {
            Target::Id(id) => self.question_of(tenant, *id).await,
            Target::Reference(_) | Target::Request(_) | Target::Nothing => {
                self.named_question(tenant, target).await
            }
        }
    }

    /// The question that a reference or a request-id names, if it names one alone.
    async fn named_question(
        &self,
        tenant: &TenantId,
        target: &Target,
    ) -> Result<Option<(Elicitation, Content)>, StoreError> {
        let store = self.store.tenant(tenant);
        let ids = match target {
            Target::Id(_) | Target::Nothing => vec![],
            Target::Reference(reference) => store.by_reference(reference).await?.into_iter().collect(),
            Target::Request(request_id) => {
                let mut ids = store.by_request_id(request_id).await?;
                if let (true, Ok(reference)) = (ids.is_empty(), request_id.as_str().parse()) {
                    ids.extend(store.by_reference(&reference).await?); // what a person reads in the mail
                }
                ids
            }
        };
        match ids.as_slice() {
            [id] => self.question_of(tenant, *id).await,
            _ => Ok(None),
        }
    }

    async fn question_of(
        &self,
        tenant: &TenantId,
        id: ElicitationId,
    ) -> Result<Option<(Elicitation, Content)>, StoreError> {
        let wanted = Wanted { elicitation: Some(id), content: true, ..Wanted::default() };
        let rows = self.store.tenant(tenant).read(&wanted).await?;
        Ok(rows.elicitation.zip(rows.content))
    }

    /// What `text` in a path names: an elicitation id, a poll handle of ours, or a request-id.
    pub fn target(&self, text: &str) -> Target {
        let handle = || PollHandle::open(text, &self.keys).map(|handle| Target::Id(handle.elicitation));
        let id = text.parse().map(Target::Id).ok();
        let request = || text.parse().map(Target::Request).ok();
        id.or_else(handle).or_else(request).unwrap_or(Target::Nothing)
    }

    async fn verified(&self, key: &ApiKey, record: Option<KeyRecord>) -> Result<Caller, AuthError> {
        let record = record.ok_or(AuthError::Unauthenticated)?;
        let now = self.clock.now();
        let is_live = record.bounds.expires_at.is_none_or(|until| now < until);
        if !(self.is_genuine(key, &record, now) && is_live) {
            return Err(AuthError::Unauthenticated);
        }
        self.note_use(key, &record, now).await;
        Ok(Caller::of(&key.tenant, record))
    }
}

/// The tenant, unless it is gone or about to be: from then on none of its credentials is good.
pub(crate) fn live(tenant: Option<Tenant>) -> Result<Tenant, AuthError> {
    tenant.filter(|one| !one.deleting).ok_or(AuthError::Unauthenticated)
}
