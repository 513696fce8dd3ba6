//! The claims of a token, held against its issuer, our audience and the present.

use std::collections::BTreeSet;

use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use countersign_core::id::Principal;
use countersign_core::json::Sha256;
use countersign_core::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::issuer::Issuer;
use crate::limits::{LEEWAY, NUMERIC_DATE_MAX, TOKEN_LIFE_MAX};
use crate::peek::{Peeked, name};
use crate::verify::Refused;

/// What a verified token says. Only [`crate::Verifier::verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Who issued it.
    pub iss: String,
    /// Whom it speaks for, 1 to 255 visible characters; unique within `iss` only.
    pub sub: String,
    /// The scopes that the token names and its issuer may give.
    pub scopes: BTreeSet<Scope>,
    /// How sure the issuer is of the person.
    pub assurance: Assurance,
    /// The token's own id.
    pub jti: Option<String>,
    /// What its maker was given to put in, if that is text.
    pub nonce: Option<String>,
    /// When it ends; believed up to the leeway longer.
    pub expires_at: Timestamp,
    /// When it was made.
    pub issued_at: Option<Timestamp>,
}

impl Verified {
    /// `iss` and `sub` as one principal (PROTOCOL.md section 0). Hashed, so that no two pairs run together.
    pub fn principal(&self) -> Principal {
        Principal::stored(format!("jwt_{}", Sha256::of_json(&json!([self.iss, self.sub])).hex()))
    }
}

/// Everything but the signature.
pub(crate) fn read(
    issuer: &Issuer,
    token: &Peeked<'_>,
    audience: &str,
    now: Timestamp,
) -> Result<Verified, Refused> {
    if token.iss() != issuer.iss() {
        return Err(Refused::WrongIssuer);
    }
    if !token.audiences().iter().any(|one| one == audience) {
        return Err(Refused::WrongAudience);
    }
    let claims = token.claims();
    let (expires_at, issued_at) = times(claims, now)?;
    Ok(Verified {
        iss: issuer.iss().to_owned(),
        sub: name(claims, "sub")?.ok_or(Refused::Claim("sub"))?,
        scopes: scopes(claims.get(issuer.scopes_claim()), issuer.scopes_ceiling()),
        assurance: issuer.acr().assurance(claims.get("acr").and_then(Value::as_str)),
        jti: name(claims, "jti")?,
        nonce: claims.get("nonce").and_then(Value::as_str).map(str::to_owned),
        expires_at,
        issued_at,
    })
}

fn times(claims: &Map<String, Value>, now: Timestamp) -> Result<(Timestamp, Option<Timestamp>), Refused> {
    let expires_at = date(claims, "exp")?.ok_or(Refused::Claim("exp"))?;
    let issued_at = date(claims, "iat")?;
    let latest = now.plus(LEEWAY);
    if now >= expires_at.plus(LEEWAY) {
        return Err(Refused::Expired);
    }
    if expires_at > latest.plus(TOKEN_LIFE_MAX) {
        return Err(Refused::LivesTooLong);
    }
    if date(claims, "nbf")?.is_some_and(|not_before| not_before > latest) {
        return Err(Refused::NotYetValid);
    }
    if issued_at.is_some_and(|issued_at| issued_at > latest) {
        return Err(Refused::IssuedInFuture);
    }
    Ok((expires_at, issued_at))
}

/// A `NumericDate` (RFC 7519 section 2), which may have a fraction.
#[expect(clippy::cast_possible_truncation, reason = "inside the range of dates here")]
fn date(claims: &Map<String, Value>, claim: &'static str) -> Result<Option<Timestamp>, Refused> {
    let Some(value) = claims.get(claim) else { return Ok(None) };
    let in_range = |seconds: &f64| (0.0..=NUMERIC_DATE_MAX).contains(seconds);
    let seconds = value.as_f64().filter(in_range).ok_or(Refused::Claim(claim))?;
    Ok(Some(Timestamp::from_millis((seconds * 1000.0).floor() as i64)))
}

/// Words in one string (RFC 8693 section 4.2) or in an array; what is no word of ours is left out.
fn scopes(claim: Option<&Value>, ceiling: &BTreeSet<Scope>) -> BTreeSet<Scope> {
    let words: Vec<&str> = match claim {
        Some(Value::String(words)) => words.split(' ').collect(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    words.into_iter().filter_map(|word| word.parse().ok()).filter(|scope| ceiling.contains(scope)).collect()
}
