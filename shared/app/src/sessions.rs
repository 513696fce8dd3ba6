//! Sessions: the agent runs that questions belong to, and the tokens that ask in them.

use std::str::FromStr;
use std::time::Duration;

use countersign_core::audience::AudienceEntry;
use countersign_core::credential::Scope;
use countersign_core::declines::Declines;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ApproverId, AskTokenId, Principal, SessionId, SessionName, TenantId};
use countersign_core::limits::{ASK_TOKEN_TTL_DEFAULT, MAX_TOKENS_PER_SESSION};
use countersign_core::seal::AskToken;
use countersign_core::session::{Session, SessionStatus, TokenFacts};
use countersign_core::time::Timestamp;
use serde_json::Value;

use crate::App;
use crate::audience::{self, AudienceError};
use crate::authority::Caller;
use crate::idempotency::RequestKey;
use crate::ports::StoreError;
use crate::records::{Idempotency, SessionOutcome, Tenant, Wanted};
use crate::respond::RespondError;

/// What a new session is to be.
#[derive(Debug, Clone, Default)]
pub struct SessionWish {
    /// Its name; one is made up where it is absent.
    pub name: Option<SessionName>,
    /// A title for people.
    pub title: Option<String>,
    /// Where its conversation lives.
    pub surface: Option<Value>,
    /// The wait of its questions that name none.
    pub default_ttl: Option<Duration>,
    /// The asker's own narrowing of who is asked in it.
    pub audience: Option<Vec<AudienceEntry>>,
    /// How long its ask token creates.
    pub token_ttl: Option<Duration>,
}

/// Why a session does not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// There is no such session for this caller.
    #[error("there is no such session")]
    Unknown,
    /// The name is another principal's.
    #[error("the name is taken")]
    NameTaken,
    /// It is over.
    #[error("the session is archived")]
    Archived,
    /// The audience that it names is not taken.
    #[error(transparent)]
    Audience(#[from] AudienceError),
    /// The same Idempotency-Key came with another body.
    #[error("the Idempotency-Key was used before with another body")]
    Reused,
    /// It has as many live tokens as it may have.
    #[error("{MAX_TOKENS_PER_SESSION} ask tokens of this session are live already")]
    TooManyTokens,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A session with a token that was just made for it.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// The wait of its questions that name none.
    pub default_ttl: Duration,
    /// Whether this call made the session.
    pub is_new: bool,
    /// The token's id.
    pub token_id: AskTokenId,
    /// The token, to be shown once.
    pub token: String,
    /// When it creates no more.
    pub token_expires_at: Timestamp,
}

/// How the opening of a session ended.
#[derive(Debug, Clone)]
pub enum Opening {
    /// With a token, made now.
    Opened(Box<Opened>),
    /// The same Idempotency-Key and body opened this one before: its token was shown then, and is not again.
    Repeated(Box<SessionSeen>),
}

/// A session as its owner sees it.
#[derive(Debug, Clone)]
pub struct SessionSeen {
    /// The session.
    pub session: Session,
    /// Whether it waits.
    pub status: SessionStatus,
    /// The questions that it waits on, the most urgent first.
    pub open: Vec<Elicitation>,
    /// The present that this holds for.
    pub now: Timestamp,
}

impl App {
    /// Makes a session, or another token for one of the caller's that has the name already.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn open_session(&self, caller: &Caller, wish: SessionWish) -> Result<Opened, SessionError> {
        match self.open(caller, wish, None).await? {
            Opening::Opened(opened) => Ok(*opened),
            Opening::Repeated(_) => Err(StoreError::Corrupt("a repeat of no key".into()).into()),
        }
    }

    /// The same, once for each Idempotency-Key and body.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn open_session_once(
        &self,
        caller: &Caller,
        wish: SessionWish,
        request: &RequestKey,
    ) -> Result<Opening, SessionError> {
        let key = self.idempotency(caller, "POST /v1/sessions", request);
        self.open(caller, wish, Some(&key)).await
    }

    async fn open(
        &self,
        caller: &Caller,
        wish: SessionWish,
        key: Option<&Idempotency>,
    ) -> Result<Opening, SessionError> {
        let now = self.clock.now();
        self.check_audience(caller.tenant(), wish.audience.as_deref()).await?;
        let name = wish.name.unwrap_or_else(|| self.made_up_name());
        let mut session =
            self.new_session(caller.tenant(), name, caller.principal().clone(), caller.people());
        session.title = wish.title;
        session.surface = wish.surface;
        session.default_ttl = wish.default_ttl;
        session.audience = wish.audience;
        let token = self.new_token(wish.token_ttl, now);
        session.tokens.push(token);
        let store = self.store.tenant(caller.tenant());
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        let (outcome, rows) =
            futures_util::try_join!(store.create_session(&session, key), store.read(&wanted))?;
        let is_new = match outcome {
            SessionOutcome::Stored => true,
            SessionOutcome::Reused => return Err(SessionError::Reused),
            SessionOutcome::Repeated(id) => {
                return Ok(Opening::Repeated(Box::new(self.session(caller, &id.to_string()).await?)));
            }
            SessionOutcome::Exists(found) => {
                if !caller.may_drive(&found) {
                    return Err(SessionError::NameTaken);
                }
                self.keep_token(caller.tenant(), &found, &token, now).await?;
                session = *found;
                false
            }
        };
        let opened = self.opened(caller.tenant(), rows.tenant.as_ref(), session, token, is_new);
        Ok(Opening::Opened(Box::new(opened)))
    }

    /// Makes another token for a session of the caller's.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn add_token(
        &self,
        caller: &Caller,
        session: &str,
        ttl: Option<Duration>,
    ) -> Result<Opened, SessionError> {
        let now = self.clock.now();
        let (session, tenant) = self.driven(caller, session).await?;
        let token = self.new_token(ttl, now);
        self.keep_token(caller.tenant(), &session, &token, now).await?;
        Ok(self.opened(caller.tenant(), tenant.as_ref(), session, token, false))
    }

    /// Ends one token's creates, at once.
    ///
    /// # Errors
    /// See [`SessionError`]. A token that is gone already is no error.
    pub async fn revoke_token(
        &self,
        caller: &Caller,
        session: &str,
        token: AskTokenId,
    ) -> Result<(), SessionError> {
        let (session, _) = self.driven(caller, session).await?;
        if !session.tokens.iter().any(|one| one.id == token) {
            return Err(SessionError::Unknown);
        }
        Ok(self.store.tenant(caller.tenant()).remove_token(session.id, token).await?)
    }

    /// A session by id or name, with what it waits on.
    ///
    /// # Errors
    /// [`SessionError::Unknown`] for a session that this caller may not see, as for one that never was.
    pub async fn session(&self, caller: &Caller, session: &str) -> Result<SessionSeen, SessionError> {
        let (session, _) = self.found(caller, session).await?;
        let mut session = session
            .filter(|one| caller.has(Scope::Read) || caller.may_drive(one))
            .ok_or(SessionError::Unknown)?;
        let now = self.clock.now();
        let more: Vec<_> = session.open_at(now).iter().map(|one| one.elicitation).collect();
        let wanted = Wanted { more, ..Wanted::default() };
        let mut open = self.store.tenant(caller.tenant()).read(&wanted).await?.more;
        open.retain(|one| !one.state_at(now).is_terminal());
        open.sort_by_key(|one| (one.deadlines.expires_at, one.id));
        // What ended since the session was read, or is known to have expired while the clock went back, waits no more.
        session
            .open
            .retain(|entry| now >= entry.expires_at || open.iter().any(|one| one.id == entry.elicitation));
        Ok(SessionSeen { status: session.status_at(now), session, open, now })
    }

    /// Goes on after a lost question: clears the notice and what is overdue.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn resume(&self, caller: &Caller, session: &str) -> Result<SessionSeen, SessionError> {
        let (found, _) = self.driven(caller, session).await?;
        if found.archived_at.is_some() {
            return Err(SessionError::Archived);
        }
        let overdue = found.overdue_at(self.clock.now());
        self.store.tenant(caller.tenant()).resume(found.id, &overdue).await?;
        self.session(caller, session).await
    }

    /// Lets a session ask again: forgets what people have said no to in it.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn unmute(&self, caller: &Caller, session: &str) -> Result<SessionSeen, SessionError> {
        let (found, _) = self.driven(caller, session).await?;
        self.store.tenant(caller.tenant()).unmute(found.id).await?;
        self.session(caller, session).await
    }

    /// Ends a session: no more creates, and what is open is withdrawn. A repeat finishes what a first call began.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub async fn archive(&self, caller: &Caller, session: &str) -> Result<SessionSeen, SessionError> {
        let (found, _) = self.driven(caller, session).await?;
        let store = self.store.tenant(caller.tenant());
        store.archive(found.id, self.clock.now()).await?;
        // Read again: a create may have been stored between the first read and the end of creates.
        let wanted = Wanted { session: Some(found.id), ..Wanted::default() };
        let ended = store.read(&wanted).await?.session.ok_or(SessionError::Unknown)?;
        for open in ended.open_at(self.clock.now()) {
            let Some(question) = store.elicitation(open.elicitation).await? else { continue };
            // Ended meanwhile is as good as withdrawn; trouble with the store is not.
            if let Err(RespondError::Store(error)) = self.withdraw_found(caller.tenant(), question).await {
                return Err(error.into());
            }
        }
        self.session(caller, session).await
    }

    pub(crate) fn new_session(
        &self,
        tenant: &TenantId,
        name: SessionName,
        owner: Principal,
        people: &[ApproverId],
    ) -> Session {
        Session {
            id: SessionId::derive(tenant, &name),
            name,
            title: None,
            owner,
            people: people.to_vec(),
            surface: None,
            default_ttl: None,
            audience: None,
            created_at: self.clock.now(),
            archived_at: None,
            open: vec![],
            lost: None,
            tokens: vec![],
            declines: Declines::default(),
            revision: 1,
        }
    }

    async fn check_audience(
        &self,
        tenant: &TenantId,
        wanted: Option<&[AudienceEntry]>,
    ) -> Result<(), SessionError> {
        if wanted.is_none() {
            return Ok(());
        }
        let rows = self.store.tenant(tenant).read(&Wanted { tenant: true, ..Wanted::default() }).await?;
        let tenant = rows.tenant.ok_or(SessionError::Unknown)?;
        Ok(audience::check(&tenant, wanted)?)
    }

    fn new_token(&self, ttl: Option<Duration>, now: Timestamp) -> TokenFacts {
        TokenFacts {
            id: AskTokenId::new(self.entropy.bits130()),
            created_at: now,
            expires_at: now.plus(ttl.unwrap_or(ASK_TOKEN_TTL_DEFAULT)),
            last_used_at: None,
        }
    }

    async fn keep_token(
        &self,
        tenant: &TenantId,
        session: &Session,
        token: &TokenFacts,
        now: Timestamp,
    ) -> Result<(), SessionError> {
        if session.archived_at.is_some() {
            return Err(SessionError::Archived);
        }
        let (live, expired): (Vec<&TokenFacts>, Vec<&TokenFacts>) =
            session.tokens.iter().partition(|one| now < one.expires_at);
        if live.len() >= MAX_TOKENS_PER_SESSION {
            return Err(SessionError::TooManyTokens);
        }
        let expired: Vec<_> = expired.iter().map(|one| one.id).collect();
        let kept = self.store.tenant(tenant).add_token(session.id, token, &expired).await?;
        if kept { Ok(()) } else { Err(SessionError::Archived) }
    }

    fn opened(
        &self,
        tenant_id: &TenantId,
        tenant: Option<&Tenant>,
        session: Session,
        token: TokenFacts,
        is_new: bool,
    ) -> Opened {
        let sealed = AskToken {
            tenant: tenant_id.clone(),
            session: session.id,
            id: token.id,
            expires_at: token.expires_at,
        };
        let of_tenant = tenant.and_then(|tenant| tenant.policy.policy.default_ttl);
        Opened {
            default_ttl: session.default_ttl.or(of_tenant).unwrap_or(self.settings.default_ttl),
            session,
            is_new,
            token_id: token.id,
            token: sealed.seal(&self.keys),
            token_expires_at: token.expires_at,
        }
    }

    fn made_up_name(&self) -> SessionName {
        #[expect(clippy::expect_used, reason = "a letter, a dash and base32 symbols are a session name")]
        format!("s-{}", self.entropy.bits130()).parse().expect("a well-formed name")
    }

    async fn found(
        &self,
        caller: &Caller,
        text: &str,
    ) -> Result<(Option<Session>, Option<Tenant>), SessionError> {
        let id = session_id(caller.tenant(), text).ok_or(SessionError::Unknown)?;
        let wanted = Wanted { tenant: true, session: Some(id), ..Wanted::default() };
        let rows = self.store.tenant(caller.tenant()).read(&wanted).await?;
        Ok((rows.session, rows.tenant))
    }

    async fn driven(&self, caller: &Caller, text: &str) -> Result<(Session, Option<Tenant>), SessionError> {
        let (session, tenant) = self.found(caller, text).await?;
        let session = session.filter(|one| caller.may_drive(one)).ok_or(SessionError::Unknown)?;
        Ok((session, tenant))
    }
}

/// The session that `text`, an id or a name, means in `tenant`.
pub fn session_id(tenant: &TenantId, text: &str) -> Option<SessionId> {
    let by_name = || SessionName::from_str(text).ok().map(|name| SessionId::derive(tenant, &name));
    text.parse().ok().or_else(by_name)
}
