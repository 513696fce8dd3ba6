//! Signing in through the tenant's own sign-in: a person goes there with a state of ours, and comes back with a JWT that an
//! issuer of the tenant's made (PROTOCOL.md section 4).
//!
//! Nothing is stored on the way. The state is sealed, and a cookie of the browser's holds it too; a good JWT becomes a
//! one-time link for that browser alone, whose button signs in. What is good once is the JWT's `jti`, spent in the
//! transaction of the sign-in.

use countersign_core::credential::Scope;
use countersign_core::human::{OnceOnly, SigninLink, SsoState};
use countersign_core::id::TenantId;
use countersign_core::json::Sha256;
use countersign_core::limits::{SSO_STATE_TTL, SSO_TOKEN_TTL};
use countersign_identity::JwksUrl;
use countersign_identity::limits::LEEWAY;
use serde_json::json;
use url::Url;

use crate::App;
use crate::authority::AuthError;
use crate::issuers::{Believed, Registration};
use crate::ports::StoreError;

/// Why nobody came in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SsoError {
    /// The token is not believed, not for this, too old, or of somebody who is no approver. Which of these is in the log.
    #[error("the token signs nobody in")]
    Refused,
    /// The issuer's keys or our store cannot be had just now.
    #[error("not available right now")]
    Unavailable,
}

/// Where a person goes to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsoStart {
    /// The tenant's own page, with the state.
    pub location: String,
    /// The state, for a cookie.
    pub state: String,
}

/// Where a person comes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsoArrival {
    /// The one-time link's token.
    pub link: String,
    /// The question they were on the way to.
    pub to: Option<String>,
}

impl Registration {
    /// Where people sign in, if that can be used: its issuer must be one that can give the scope `decide`.
    pub(crate) fn sso(&self, plain: countersign_identity::PlainHttp) -> Option<Url> {
        let url = self.sso_url.as_deref().filter(|_| self.scopes.contains(&Scope::Decide))?;
        JwksUrl::parse(url, plain).ok()?;
        Url::parse(url).ok()
    }
}

impl App {
    /// The tenant's own sign-in page, if it has one, with a state that is good for ten minutes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn start_sso(
        &self,
        tenant: &TenantId,
        to: Option<&str>,
    ) -> Result<Option<SsoStart>, StoreError> {
        let mut issuers = self.store.tenant(tenant).issuers().await?;
        issuers.sort_by_key(|one| one.created_at);
        let Some(mut url) = issuers.iter().find_map(|one| one.sso(self.plain_http())) else {
            return Ok(None);
        };
        let until = self.clock.now().plus(SSO_STATE_TTL);
        let (tenant, to) = (tenant.clone(), to.map(str::to_owned));
        let state = SsoState { tenant, until, nonce: self.entropy.bits64(), to }.seal(&self.keys);
        url.query_pairs_mut().append_pair("state", &state);
        Ok(Some(SsoStart { location: url.into(), state }))
    }

    /// What a JWT is worth that comes back: a one-time link for the browser that has its state.
    ///
    /// # Errors
    /// [`SsoError`].
    pub async fn finish_sso(&self, tenant: &TenantId, token: &str) -> Result<SsoArrival, SsoError> {
        let refused = |why: &str| {
            tracing::info!(tenant.id = %tenant, "a sign-in of the tenant's own was refused: {why}");
            SsoError::Refused
        };
        let named = self.tenant_of_token(token);
        if named.as_ref() != Some(tenant) {
            return Err(refused("the token is for another tenant"));
        }
        let Believed { verified, approver, issuer, .. } = match self.believe(token).await {
            Ok(believed) => believed,
            Err(AuthError::KeysUnavailable | AuthError::Store(_)) => return Err(SsoError::Unavailable),
            Err(error) => return Err(refused(&error.to_string())),
        };
        issuer.sso(self.plain_http()).ok_or_else(|| refused("its issuer has no sso_url"))?;
        let now = self.clock.now();
        if verified.expires_at > now.plus(SSO_TOKEN_TTL + LEEWAY) {
            return Err(refused("the token is good for longer than five minutes"));
        }
        let state = verified.nonce.ok_or_else(|| refused("it has no claim nonce with the state"))?;
        let opened =
            SsoState::open(&state, &self.keys).filter(|one| one.tenant == *tenant && now < one.until);
        let opened = opened.ok_or_else(|| refused("its nonce is no state of ours, or too old"))?;
        let jti = verified.jti.ok_or_else(|| refused("it has no jti"))?;
        let approver = approver.ok_or_else(|| refused("its sub is no approver's external id"))?;
        let once = OnceOnly {
            spends: Sha256::of_json(&json!(["sso", verified.iss, jti])),
            browser: SsoState::fingerprint(&state),
        };
        let link = SigninLink {
            tenant: tenant.clone(),
            approver: approver.id,
            until: verified.expires_at.min(now.plus(SSO_TOKEN_TTL)),
            nonce: self.entropy.bits64(),
            once: Some(once),
        };
        Ok(SsoArrival { link: link.seal(&self.keys), to: opened.to })
    }
}
