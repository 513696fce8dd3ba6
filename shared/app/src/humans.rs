//! People who are signed in: their sessions and devices, and the use-cases around them (PROTOCOL.md section 4).
//!
//! A cookie that opens costs nothing to check; its row says whether it is still good. Codes are mailed by the sweep's
//! own path, from the stored row: whoever asks for one learns nothing from how long the answer takes.

use countersign_core::human::{CookieKind, FormToken, HumanCookie, SigninLink, SsoState, mailed_digits};
use countersign_core::id::{ApproverId, Bits130, CodeId, DeviceId, ElicitationId, HumanSessionId, TenantId};
use countersign_core::json::Sha256;
use countersign_core::limits::{
    CODE_TRIES, CODE_TTL, CODES_PER_ADDRESS, CODES_PER_SOURCE, CODES_PER_SOURCE_AND_ADDRESS, DEVICE_TTL,
    DEVICES_MAX, FORM_TTL, HUMAN_ABSOLUTE, HUMAN_IDLE, HUMAN_SEEN_STEP, NONCE_GRACE, SIGNIN_LINK_TTL,
};
use countersign_core::secret::Secret;
use countersign_core::time::Timestamp;

use crate::App;
use crate::passkeys::Passkey;
use crate::ports::StoreError;
use crate::records::{Approver, ExternalKind, Nonce, Tenant, Wanted};

/// A person who is signed in, in one browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanSession {
    /// Its id.
    pub id: HumanSessionId,
    /// Who.
    pub approver: ApproverId,
    /// Since when.
    pub created_at: Timestamp,
    /// When they last did something, as far as stored.
    pub seen_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// They have shown who they are in this very session, and not only that the device is remembered.
    pub is_fresh: bool,
    /// What the browser calls itself, in short.
    pub label: String,
}

impl HumanSession {
    /// Whether it is good at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at && now.since(self.seen_at) < HUMAN_IDLE
    }
}

/// A device that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its id.
    pub id: DeviceId,
    /// Whose it is.
    pub approver: ApproverId,
    /// Since when it is remembered.
    pub created_at: Timestamp,
    /// When it last signed somebody in.
    pub used_at: Timestamp,
    /// When it is forgotten.
    pub expires_at: Timestamp,
    /// What the browser calls itself, in short.
    pub label: String,
}

/// One code that was asked for. Its digits follow from its id: no row holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailedCode {
    /// Its id.
    pub id: CodeId,
    /// Whom it is for; `None` where the address is nobody's, or was asked for too often.
    pub approver: Option<ApproverId>,
    /// The question that it is for; `None` for signing in.
    pub elicitation: Option<ElicitationId>,
    /// The key of the ring that its digits follow from.
    pub key_id: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Tries so far.
    pub tries: u32,
    /// Mails so far.
    pub sends: u32,
    /// It has done its work.
    pub is_spent: bool,
}

/// What lies in an approver's partition of people's rows.
#[derive(Debug, Clone, Default)]
pub struct HumanRows {
    /// Sessions.
    pub sessions: Vec<HumanSession>,
    /// Devices that are remembered.
    pub devices: Vec<Device>,
    /// Passkeys.
    pub passkeys: Vec<Passkey>,
}

/// Something of an approver's that lets a browser in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HumanRow {
    /// A session.
    Session(HumanSessionId),
    /// A device.
    Device(DeviceId),
}

/// What a sign-in spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInBy {
    /// A mailed code.
    Code(CodeId),
    /// Something else that is good once.
    Once(Nonce),
    /// A remembered device, which is used again.
    Device(DeviceId),
}

/// What a sign-in writes, in one transaction.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// What it spends.
    pub by: SignInBy,
    /// The new session.
    pub session: HumanSession,
    /// The device to remember.
    pub device: Option<Device>,
    /// The session that the browser had before.
    pub replaces: Option<(ApproverId, HumanSessionId)>,
    /// Devices beyond those that are remembered at once.
    pub forgets: Vec<DeviceId>,
}

/// Who looks at a page: a session that is good, and the rows read with it.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Their tenant.
    pub tenant: Tenant,
    /// Who they are.
    pub approver: Approver,
    /// Their session.
    pub session: HumanSession,
}

/// The cookies of a browser that was signed in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// To look.
    pub view: String,
    /// To act.
    pub act: String,
    /// To sign in again; only where the device is remembered.
    pub device: Option<String>,
}

/// Where a request for a code comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The address on the network, as text.
    pub address: &'a str,
    /// The device cookie, if there is one.
    pub device: Option<&'a str>,
}

/// The browser at the other end.
#[derive(Debug, Clone, Copy)]
pub struct Browser<'a> {
    /// What it calls itself, in short.
    pub label: &'a str,
    /// The view cookie that it has, if any: a new session takes its place.
    pub before: Option<&'a str>,
}

/// Why nobody was signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// There is no such tenant.
    #[error("there is no such tenant")]
    UnknownTenant,
    /// Too many codes were asked for from there.
    #[error("too many codes were asked for")]
    TooMany,
    /// The digits are not the mailed ones.
    #[error("wrong code, {left} tries left")]
    Wrong {
        /// Tries that are left.
        left: u32,
    },
    /// The code or link is used up, too old, or none of ours.
    #[error("the code or link is good no more")]
    Over,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Asks for a code to sign in with. The answer is the same whether the address is an approver's or not.
    ///
    /// # Errors
    /// [`SignInError::UnknownTenant`], [`SignInError::TooMany`] for a source that asks for very many, and the store's.
    pub async fn request_code(
        &self,
        tenant: &TenantId,
        email: &str,
        source: Source<'_>,
    ) -> Result<CodeId, SignInError> {
        let store = self.store.tenant(tenant);
        let wanted = Wanted { tenant: true, ..Wanted::default() };
        let (rows, found) = futures_util::try_join!(
            store.read(&wanted),
            store.approver_by_external(ExternalKind::Mail, email)
        )?;
        rows.tenant.filter(|one| !one.deleting).ok_or(SignInError::UnknownTenant)?;
        let now = self.clock.now();
        if !self.within(tenant, &["source", source.address], (CODES_PER_SOURCE, CODE_TTL), now).await? {
            return Err(SignInError::TooMany);
        }
        let remembered = found.as_ref().is_some_and(|one| self.is_device_of(source.device, tenant, one.id));
        let address = email.to_lowercase();
        let pair = ["pair", source.address, &address];
        let hour = std::time::Duration::from_hours(1);
        // A source that has had its codes takes none of what the address may get from others.
        let granted = self.within(tenant, &pair, (CODES_PER_SOURCE_AND_ADDRESS, CODE_TTL), now).await?
            && self.within(tenant, &["address", &address], (CODES_PER_ADDRESS, hour), now).await?;
        let approver = found.map(|one| one.id).filter(|_| remembered || granted);
        Ok(self.new_code(tenant, approver, None, now).await?)
    }

    /// Stores a code; its mail follows from the row.
    pub(crate) async fn new_code(
        &self,
        tenant: &TenantId,
        approver: Option<ApproverId>,
        elicitation: Option<ElicitationId>,
        now: Timestamp,
    ) -> Result<CodeId, StoreError> {
        let code = MailedCode {
            id: CodeId::new(self.entropy.bits130()),
            approver,
            elicitation,
            key_id: self.keys.active_id().to_owned(),
            created_at: now,
            expires_at: now.plus(CODE_TTL),
            tries: 0,
            sends: 0,
            is_spent: false,
        };
        self.store.tenant(tenant).put_code(&code).await?;
        self.trigger.code_wanted(tenant, code.id);
        Ok(code.id)
    }

    fn is_device_of(&self, cookie: Option<&str>, tenant: &TenantId, approver: ApproverId) -> bool {
        let opened = cookie.and_then(|text| HumanCookie::open(CookieKind::Device, text, &self.keys));
        opened.is_some_and(|one| one.tenant == *tenant && one.approver == approver)
    }

    async fn within(
        &self,
        tenant: &TenantId,
        what: &[&str],
        (limit, span): (u32, std::time::Duration),
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let span_ms = i64::try_from(span.as_millis()).unwrap_or(i64::MAX).max(1);
        let window = now.millis() / span_ms;
        let id = Sha256::of_json(&serde_json::json!(["rate", what, window]));
        let until = Timestamp::from_millis((window + 1).saturating_mul(span_ms));
        self.store.tenant(tenant).count(id, limit, until).await
    }

    /// Signs in whoever types the mailed code.
    ///
    /// # Errors
    /// [`SignInError::Wrong`] and [`SignInError::Over`]; each try counts, and it counts before it is compared.
    pub async fn enter_code(
        &self,
        tenant: &TenantId,
        id: CodeId,
        typed: &str,
        remember: bool,
        browser: Browser<'_>,
    ) -> Result<SignedIn, SignInError> {
        let code = self.tried(tenant, id, typed, None).await?;
        let approver = code.approver.ok_or(SignInError::Over)?;
        self.sign_in(tenant, approver, (SignInBy::Code(id), true, remember), browser).await
    }

    /// The code, if the digits are its own: counted first, compared then.
    pub(crate) async fn tried(
        &self,
        tenant: &TenantId,
        id: CodeId,
        typed: &str,
        elicitation: Option<ElicitationId>,
    ) -> Result<MailedCode, SignInError> {
        let now = self.clock.now();
        let tried = self.store.tenant(tenant).try_code(id, CODE_TRIES, now).await?;
        let code = tried.filter(|one| one.elicitation == elicitation).ok_or(SignInError::Over)?;
        // A code of nobody's is compared too, with digits that nobody was ever told.
        let digits = mailed_digits(id, &code.key_id, &self.keys).map(Secret::new);
        let is_right = digits.is_some_and(|digits| digits.matches(typed.as_bytes()));
        if is_right && code.approver.is_some() {
            return Ok(code);
        }
        match CODE_TRIES.saturating_sub(code.tries) {
            0 => Err(SignInError::Over),
            left => Err(SignInError::Wrong { left }),
        }
    }

    /// Signs in on a remembered device, for what can be undone.
    ///
    /// # Errors
    /// [`SignInError::Over`] where the device is not remembered, or not any more.
    pub async fn sign_in_by_device(
        &self,
        tenant: &TenantId,
        cookie: &str,
        browser: Browser<'_>,
    ) -> Result<SignedIn, SignInError> {
        let device = HumanCookie::open(CookieKind::Device, cookie, &self.keys);
        let device = device.filter(|one| one.tenant == *tenant).ok_or(SignInError::Over)?;
        let by = SignInBy::Device(DeviceId::new(device.id));
        self.sign_in(tenant, device.approver, (by, false, false), browser).await
    }

    /// Signs in whoever presses the button behind a one-time link.
    ///
    /// # Errors
    /// [`SignInError::Over`] for a link that is used, too old or none of ours.
    pub async fn sign_in_by_link(
        &self,
        tenant: &TenantId,
        text: &str,
        state: Option<&str>,
        browser: Browser<'_>,
    ) -> Result<SignedIn, SignInError> {
        let link = self.signin_link(tenant, text, state).ok_or(SignInError::Over)?;
        let nonce = Nonce { id: link.spent_by(text), until: link.until.plus(NONCE_GRACE) };
        self.sign_in(tenant, link.approver, (SignInBy::Once(nonce), true, false), browser).await
    }

    /// The link that `text` is, if it has not ended and is good in a browser that holds `state`. Says nothing of whether
    /// it was used.
    pub fn signin_link(&self, tenant: &TenantId, text: &str, state: Option<&str>) -> Option<SigninLink> {
        let link = SigninLink::open(text, &self.keys)?;
        let here = state.map(SsoState::fingerprint);
        let is_here = link.once.is_none_or(|once| here == Some(once.browser));
        (is_here && link.tenant == *tenant && self.clock.now() < link.until).then_some(link)
    }

    /// A one-time link for an approver, as text: the token behind `/signin/{tenant}/link/`.
    pub fn new_signin_link(&self, tenant: &TenantId, approver: ApproverId) -> String {
        let until = self.clock.now().plus(SIGNIN_LINK_TTL);
        let nonce = self.entropy.bits64();
        SigninLink { tenant: tenant.clone(), approver, until, nonce, once: None }.seal(&self.keys)
    }

    /// Whether one-time links of this tenant can still be used: none was.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_people(&self, tenant: &TenantId, approver: ApproverId) -> Result<bool, StoreError> {
        let rows = self.store.tenant(tenant).human_rows(approver).await?;
        Ok(!rows.sessions.is_empty() || !rows.devices.is_empty())
    }

    async fn sign_in(
        &self,
        tenant: &TenantId,
        approver: ApproverId,
        (by, is_fresh, remember): (SignInBy, bool, bool),
        browser: Browser<'_>,
    ) -> Result<SignedIn, SignInError> {
        let now = self.clock.now();
        let store = self.store.tenant(tenant);
        let wanted = Wanted { tenant: true, approver: Some(approver), ..Wanted::default() };
        let (rows, known) = futures_util::try_join!(store.read(&wanted), store.human_rows(approver))?;
        let devices = known.devices;
        let is_there = rows.approver.is_some() && rows.tenant.is_some_and(|one| !one.deleting);
        if !is_there {
            return Err(SignInError::Over);
        }
        if let SignInBy::Device(id) = by {
            let known = devices.iter().find(|one| one.id == id);
            known.filter(|one| now < one.expires_at).ok_or(SignInError::Over)?;
        }
        let session = HumanSession {
            id: HumanSessionId::new(self.entropy.bits130()),
            approver,
            created_at: now,
            seen_at: now,
            expires_at: now.plus(HUMAN_ABSOLUTE),
            is_fresh,
            label: browser.label.to_owned(),
        };
        let device = remember.then(|| Device {
            id: DeviceId::new(self.entropy.bits130()),
            approver,
            created_at: now,
            used_at: now,
            expires_at: now.plus(DEVICE_TTL),
            label: browser.label.to_owned(),
        });
        let before = browser.before.and_then(|text| HumanCookie::open(CookieKind::View, text, &self.keys));
        let replaces =
            before.filter(|one| one.tenant == *tenant).map(|one| (one.approver, HumanSessionId::new(one.id)));
        let forgets = if device.is_some() { beyond(devices) } else { vec![] };
        let sign_in = SignIn { by, session, device, replaces, forgets };
        if !store.sign_in(&sign_in).await? {
            return Err(SignInError::Over);
        }
        Ok(self.cookies(tenant, &sign_in))
    }

    fn cookies(&self, tenant: &TenantId, signed: &SignIn) -> SignedIn {
        let approver = signed.session.approver;
        let cookie = |kind, id: &Bits130| {
            HumanCookie { tenant: tenant.clone(), approver, id: *id }.seal(kind, &self.keys)
        };
        let id = signed.session.id.bits();
        SignedIn {
            view: cookie(CookieKind::View, id),
            act: cookie(CookieKind::Act, id),
            device: signed.device.as_ref().map(|device| cookie(CookieKind::Device, device.id.bits())),
        }
    }

    /// Who a cookie lets in, if it is good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn visitor(&self, cookie: &HumanCookie) -> Result<Option<Visitor>, StoreError> {
        let now = self.clock.now();
        let id = HumanSessionId::new(cookie.id);
        let wanted = Wanted {
            tenant: true,
            approver: Some(cookie.approver),
            human: Some((cookie.approver, id)),
            ..Wanted::default()
        };
        let rows = self.store.tenant(&cookie.tenant).read(&wanted).await?;
        let tenant = rows.tenant.filter(|one| !one.deleting);
        let session = rows.human.filter(|one| one.is_live(now));
        Ok(tenant.zip(rows.approver).zip(session).map(|((tenant, approver), session)| Visitor {
            tenant,
            approver,
            session,
        }))
    }

    /// Notes that a person did something, at most once a minute. Losing it costs them a minute of their half hour.
    pub async fn note_seen(&self, visitor: &Visitor) {
        let now = self.clock.now();
        let session = &visitor.session;
        if now.since(session.seen_at) < HUMAN_SEEN_STEP {
            return;
        }
        let store = self.store.tenant(&visitor.tenant.id);
        if let Err(error) = store.touch_human(session.approver, session.id, now).await {
            tracing::debug!(tenant.id = %visitor.tenant.id, "a person's presence was not noted: {error}");
        }
    }

    /// A hidden field for `what`, good once.
    pub fn form_token(&self, visitor: &Visitor, what: &str) -> String {
        let until = self.clock.now().plus(FORM_TTL);
        FormToken::seal(visitor.session.id.bits(), what, self.entropy.bits64(), until, &self.keys)
    }

    /// Whether a hidden field is one for `what` in this person's session.
    pub fn is_form_token(&self, visitor: &Visitor, what: &str, text: &str) -> bool {
        FormToken::is_good(visitor.session.id.bits(), what, text, &self.keys, self.clock.now())
    }

    /// A person's sessions, devices and passkeys, the newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn devices(&self, visitor: &Visitor) -> Result<HumanRows, StoreError> {
        let now = self.clock.now();
        let store = self.store.tenant(&visitor.tenant.id);
        let mut rows = store.human_rows(visitor.approver.id).await?;
        rows.sessions.retain(|one| one.is_live(now));
        rows.devices.retain(|one| now < one.expires_at);
        rows.sessions.sort_by_key(|one| std::cmp::Reverse(one.created_at));
        rows.devices.sort_by_key(|one| std::cmp::Reverse(one.created_at));
        rows.passkeys.sort_by_key(|one| std::cmp::Reverse(one.created_at));
        Ok(rows)
    }

    /// Ends a session or forgets a device of this person's own. What is not theirs is not there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn revoke(&self, visitor: &Visitor, what: HumanRow) -> Result<(), StoreError> {
        self.store.tenant(&visitor.tenant.id).remove_human(visitor.approver.id, what).await
    }
}

/// The devices that make room for one more: the ones unused for longest.
fn beyond(mut devices: Vec<Device>) -> Vec<DeviceId> {
    devices.sort_by_key(|one| std::cmp::Reverse(one.used_at));
    devices.into_iter().skip(DEVICES_MAX - 1).map(|one| one.id).collect()
}

impl App {
    /// What people call an approver, if there is such a one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn approver_name(
        &self,
        tenant: &TenantId,
        approver: ApproverId,
    ) -> Result<Option<String>, StoreError> {
        let wanted = Wanted { approver: Some(approver), ..Wanted::default() };
        let rows = self.store.tenant(tenant).read(&wanted).await?;
        Ok(rows.approver.map(|one| one.name))
    }
}
