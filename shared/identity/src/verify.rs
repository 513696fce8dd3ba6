//! The verdict on a token.

use std::sync::Arc;

use countersign_core::id::TenantId;
use countersign_core::time::Timestamp;

use crate::cache::{FetchJwks, JwksCache, KeysUnavailable};
use crate::claims::{self, Verified};
use crate::issuer::{Issuer, Keys};
use crate::limits::{LEEWAY, TOKEN_BYTES, TOKEN_LIFE_MAX};
use crate::peek::Peeked;

/// Why a token is not believed: a 401. The texts hold nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Longer than [`TOKEN_BYTES`].
    #[error("the token is longer than {TOKEN_BYTES} bytes")]
    TooLarge,
    /// Not a JWT as we take it; what it would need.
    #[error("the token is not well-formed, it needs {0}")]
    Malformed(&'static str),
    /// A claim is missing or not of its kind.
    #[error("the token's claim {0} is missing or not well-formed")]
    Claim(&'static str),
    /// The algorithm is not the one that was registered for the key.
    #[error("the token's algorithm is not the one registered for its key")]
    WrongAlgorithm,
    /// The issuer is another.
    #[error("the token's issuer is not registered")]
    WrongIssuer,
    /// The token is for somebody else.
    #[error("the token is for another audience")]
    WrongAudience,
    /// `exp` has passed.
    #[error("the token has expired, get a new one")]
    Expired,
    /// `exp` lies too far ahead.
    #[error("the token's exp lies more than {} h ahead, get one that ends sooner", TOKEN_LIFE_MAX.as_secs() / 3_600)]
    LivesTooLong,
    /// `nbf` lies ahead.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// `iat` lies ahead.
    #[error("the token was issued in the future by our clock, check the issuer's (leeway {} s)", LEEWAY.as_secs())]
    IssuedInFuture,
    /// No key of the issuer has the token's `kid`.
    #[error("the token's key is not one of its issuer's")]
    UnknownKey,
    /// So many keys may be meant that they are not all tried.
    #[error("the token does not say which of its issuer's keys signed it, send a kid")]
    AmbiguousKey,
    /// No key that may be meant made the signature.
    #[error("the token's signature is wrong")]
    BadSignature,
}

/// Why there is no verdict in favour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The token is at fault: 401.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The issuer's keys could not be had: 503.
    #[error(transparent)]
    KeysUnavailable(#[from] KeysUnavailable),
}

/// Verifies tokens; one for a process, since it keeps the key sets.
pub struct Verifier {
    jwks: JwksCache,
}

impl Verifier {
    /// A verifier that gets key sets through `fetch`.
    pub fn new(fetch: Arc<dyn FetchJwks>) -> Self {
        Self { jwks: JwksCache::new(fetch) }
    }

    /// Believes `token`, if `issuer`, which is `tenant`'s, issued it for `audience` and it is valid `now`.
    ///
    /// The signature comes last: what can be refused without the keys causes no fetch.
    pub async fn verify(
        &self,
        tenant: &TenantId,
        issuer: &Issuer,
        token: &Peeked<'_>,
        audience: &str,
        now: Timestamp,
    ) -> Result<Verified, VerifyError> {
        let verified = claims::read(issuer, token, audience, now)?;
        match issuer.keys() {
            Keys::Static(keys) => keys.set().check(token)?,
            Keys::Jwks(jwks) if jwks.algorithm() != token.algorithm() => Err(Refused::WrongAlgorithm)?,
            Keys::Jwks(jwks) => self.jwks.keys(tenant, jwks, token.kid(), now).await?.check(token)?,
        }
        Ok(verified)
    }
}
