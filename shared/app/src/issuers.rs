//! A tenant's own identity providers, and the callers that their tokens are (PROTOCOL.md sections 0 and 2.5).

use countersign_core::credential::Scope;
use countersign_core::id::{IssuerId, TenantId};
use countersign_core::secret::Secret;
use countersign_core::time::Timestamp;
use countersign_core::violation::Violation;
use countersign_identity::{
    AcrLevels, Algorithm, Issuer, Jwks, JwksUrl, Keys, Material, PlainHttp, StaticKey, StaticKeys, Verified,
    VerifyError, peek,
};

use crate::App;
use crate::authority::{AuthError, Caller, Proof, live};
use crate::keys::Bounds;
use crate::ports::StoreError;
use crate::records::{Approver, ExternalKind, Wanted};

/// Issuers of one tenant.
pub const MAX_ISSUERS: usize = 10;

/// What was registered of an issuer.
#[derive(Debug, Clone)]
pub struct Registration {
    /// What it calls itself.
    pub iss: String,
    /// Where its keys come from.
    pub keys: RegisteredKeys,
    /// The claim that scopes are in; `None` is `scope`.
    pub scopes_claim: Option<String>,
    /// The scopes that its tokens can give.
    pub scopes: Vec<Scope>,
    /// Values of `acr` that stand for a code.
    pub acr_code: Vec<String>,
    /// Values of `acr` that stand for a passkey.
    pub acr_passkey: Vec<String>,
    /// Where its people sign in; only with the scope `decide`, since who signs in decides.
    pub sso_url: Option<String>,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A token that is believed.
pub(crate) struct Believed {
    /// The tenant that it is for.
    pub(crate) tenant: TenantId,
    /// What it says.
    pub(crate) verified: Verified,
    /// The approver whose external id its `sub` is.
    pub(crate) approver: Option<Approver>,
    /// Who made it.
    pub(crate) issuer: Registration,
}

/// Where an issuer's keys come from.
#[derive(Debug, Clone)]
pub enum RegisteredKeys {
    /// It publishes them.
    Jwks {
        /// Where.
        url: String,
        /// What they are used for.
        algorithm: Algorithm,
    },
    /// They were handed over.
    Static(Vec<RegisteredKey>),
    /// A secret that both know, for HS256.
    Shared(Secret<Vec<u8>>),
}

/// A public key that was handed over.
#[derive(Debug, Clone)]
pub struct RegisteredKey {
    /// The name that tokens call it by.
    pub kid: Option<String>,
    /// What it is used for.
    pub algorithm: Algorithm,
    /// PEM, or the JSON text of a JWK.
    pub public_key: String,
}

/// Why an issuer is not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssuerError {
    /// There is no such issuer for this caller.
    #[error("there is no such issuer")]
    Unknown,
    /// The tenant has one that calls itself so.
    #[error("an issuer of that name is registered already")]
    Exists,
    /// Its tokens would be able to do what the caller cannot.
    #[error("an issuer cannot be given what its maker does not have")]
    Beyond,
    /// The tenant has as many as it may have.
    #[error("{MAX_ISSUERS} issuers are registered already")]
    TooMany,
    /// A part of it cannot be used.
    #[error("{0}")]
    Unusable(Violation),
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Registration {
    /// The issuer that it makes.
    ///
    /// # Errors
    /// What of it cannot be used, with a pointer into the request that registers it.
    pub fn issuer(&self, plain_http: PlainHttp) -> Result<Issuer, Violation> {
        let keys = match &self.keys {
            RegisteredKeys::Jwks { url, algorithm } => {
                Keys::Jwks(Jwks::new(JwksUrl::parse(url, plain_http)?, *algorithm)?)
            }
            RegisteredKeys::Static(keys) => {
                let keys = keys.iter().map(RegisteredKey::key).collect::<Result<_, _>>()?;
                Keys::Static(StaticKeys::new(keys)?)
            }
            RegisteredKeys::Shared(secret) => {
                let key = StaticKey::new(None, Algorithm::Hs256, Material::Secret(secret.clone()))?;
                Keys::Static(StaticKeys::new(vec![key])?)
            }
        };
        let acr = AcrLevels::new(self.acr_code.clone(), self.acr_passkey.clone())?;
        let scopes = self.scopes.iter().copied();
        Issuer::new(self.iss.clone(), keys, self.scopes_claim.clone(), scopes, acr)
    }

    fn check_sso(&self, plain_http: PlainHttp) -> Result<(), Violation> {
        let Some(url) = &self.sso_url else { return Ok(()) };
        if !self.scopes.contains(&Scope::Decide) {
            let why = "needs the scope decide among scopes: who signs in through it decides";
            return Err(Violation::new("/sso_url", why));
        }
        let why = "must be an https URL with a host, without a user and a fragment";
        JwksUrl::parse(url, plain_http).map(drop).map_err(|_| Violation::new("/sso_url", why))
    }

    /// Its id in `tenant`.
    pub fn id(&self, tenant: &TenantId) -> IssuerId {
        IssuerId::derive(tenant, &self.iss)
    }
}

impl RegisteredKey {
    fn key(&self) -> Result<StaticKey, Violation> {
        let jwk = serde_json::from_str(&self.public_key).ok();
        let material = jwk.map_or_else(|| Material::Pem(self.public_key.clone()), Material::Jwk);
        StaticKey::new(self.kid.clone(), self.algorithm, material)
    }
}

impl App {
    /// What tokens for `tenant` must name as their audience.
    pub fn audience(&self, tenant: &TenantId) -> String {
        format!("{}/{tenant}", self.settings.base_url)
    }

    /// Registers an issuer.
    ///
    /// # Errors
    /// See [`IssuerError`].
    pub async fn register_issuer(
        &self,
        caller: &Caller,
        registration: Registration,
    ) -> Result<Registration, IssuerError> {
        // Its tokens carry no ceiling, no servers and no end: a key that has some would shed them so.
        let is_bound = *caller.bounds() != Bounds::default();
        if is_bound || !registration.scopes.iter().all(|scope| caller.has(*scope)) {
            return Err(IssuerError::Beyond);
        }
        registration.issuer(self.plain_http()).map_err(IssuerError::Unusable)?;
        registration.check_sso(self.plain_http()).map_err(IssuerError::Unusable)?;
        let store = self.store.tenant(caller.tenant());
        // A bound against runaway scripts, not a promise: two at once may both pass it.
        if store.issuers().await?.len() >= MAX_ISSUERS {
            return Err(IssuerError::TooMany);
        }
        let made = store.create_issuer(&registration).await?;
        if made { Ok(registration) } else { Err(IssuerError::Exists) }
    }

    /// The tenant's issuers, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn issuers(&self, caller: &Caller) -> Result<Vec<Registration>, StoreError> {
        let mut found = self.store.tenant(caller.tenant()).issuers().await?;
        found.sort_by(|left, right| (left.created_at, &left.iss).cmp(&(right.created_at, &right.iss)));
        Ok(found)
    }

    /// One issuer of the caller's tenant.
    ///
    /// # Errors
    /// [`IssuerError::Unknown`] for another tenant's as for one that never was.
    pub async fn issuer(&self, caller: &Caller, id: IssuerId) -> Result<Registration, IssuerError> {
        let wanted = Wanted { issuer: Some(id), ..Wanted::default() };
        let rows = self.store.tenant(caller.tenant()).read(&wanted).await?;
        rows.issuer.ok_or(IssuerError::Unknown)
    }

    /// Lets an issuer's tokens in no more, at once.
    ///
    /// # Errors
    /// See [`IssuerError`].
    pub async fn remove_issuer(&self, caller: &Caller, id: IssuerId) -> Result<(), IssuerError> {
        self.issuer(caller, id).await?;
        Ok(self.store.tenant(caller.tenant()).remove_issuer(id).await?)
    }

    /// The tenant that a token is for, by its own words: nothing of them is believed yet.
    pub fn tenant_of_token(&self, token: &str) -> Option<TenantId> {
        let peeked = peek(token).ok()?;
        let mut named = peeked.audiences().iter().filter_map(|audience| {
            audience.strip_prefix(self.settings.base_url.as_str())?.strip_prefix('/')?.parse().ok()
        });
        let tenant = named.next()?;
        named.next().is_none().then_some(tenant)
    }

    /// The caller behind a token that an issuer of the tenant's own made. Its `sub` is an approver where one has it.
    ///
    /// # Errors
    /// [`AuthError::Unauthenticated`] for a token that is not believed; [`AuthError::KeysUnavailable`] where its issuer's
    /// keys cannot be had.
    pub async fn authenticate_token(&self, token: &str) -> Result<Caller, AuthError> {
        let Believed { tenant, verified, approver, .. } = self.believe(token).await?;
        let proof = Proof {
            principal: verified.principal(),
            scopes: verified.scopes.iter().copied().collect(),
            assurance: verified.assurance,
            method: countersign_core::state::Method::Api,
        };
        Ok(match approver {
            Some(approver) => Caller::proven(tenant, &approver, proof),
            None => Caller::named(tenant, verified.sub, proof),
        })
    }

    /// Believes a token, as [`App::authenticate_token`] says.
    pub(crate) async fn believe(&self, token: &str) -> Result<Believed, AuthError> {
        let refused = AuthError::Unauthenticated;
        let tenant = self.tenant_of_token(token).ok_or(refused.clone())?;
        let peeked = peek(token).map_err(|_| refused.clone())?;
        let store = self.store.tenant(&tenant);
        let wanted = Wanted {
            tenant: true,
            issuer: Some(IssuerId::derive(&tenant, peeked.iss())),
            ..Wanted::default()
        };
        let sub = peeked.sub().ok_or(refused.clone())?;
        let (rows, approver) =
            futures_util::try_join!(store.read(&wanted), store.approver_by_external(ExternalKind::Sub, sub))?;
        live(rows.tenant)?;
        let registered = rows.issuer.ok_or(refused.clone())?;
        let issuer = registered.issuer(self.plain_http()).map_err(|_| refused.clone())?;
        let now = self.clock.now();
        let audience = self.audience(&tenant);
        let verified = self.tokens.verify(&tenant, &issuer, &peeked, &audience, now).await;
        let verified = verified.map_err(|error| match error {
            VerifyError::Refused(why) => {
                tracing::info!(tenant.id = %tenant, "a token was not let in: {why}");
                refused
            }
            VerifyError::KeysUnavailable(why) => {
                tracing::warn!(tenant.id = %tenant, "the keys of an issuer cannot be had: {}", why.0);
                AuthError::KeysUnavailable
            }
        })?;
        Ok(Believed { tenant, verified, approver, issuer: registered })
    }

    pub(crate) fn plain_http(&self) -> PlainHttp {
        if self.settings.plain_targets { PlainHttp::OnLoopback } else { PlainHttp::Never }
    }
}
