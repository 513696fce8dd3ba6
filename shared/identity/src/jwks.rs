//! Sets of keys, and which of them a token is held against.

use countersign_core::json;
use serde_json::{Map, Value};

use crate::algorithm::Algorithm;
use crate::key::PinnedKey;
use crate::limits::{CANDIDATES_MAX, JWKS_BYTES, JWKS_KEYS_MAX};
use crate::peek::Peeked;
use crate::verify::Refused;

/// A key and the name that tokens call it by.
#[derive(Debug, Clone)]
pub(crate) struct NamedKey {
    pub(crate) kid: Option<String>,
    pub(crate) key: PinnedKey,
}

/// The keys of one issuer.
#[derive(Debug, Clone)]
pub(crate) struct KeySet(Vec<NamedKey>);

impl KeySet {
    pub(crate) const fn new(keys: Vec<NamedKey>) -> Self {
        Self(keys)
    }

    /// Reads a JWK set (RFC 7517 section 5). Keys that are not for signatures of `algorithm`, or not sound,
    /// are left out, as its section 5 asks for; a text that is no such set is refused with the reason.
    pub(crate) fn read(bytes: &[u8], algorithm: Algorithm) -> Result<Self, String> {
        if bytes.len() > JWKS_BYTES {
            return Err(format!("larger than {JWKS_BYTES} bytes"));
        }
        let root = json::read_object(bytes).map_err(|error| error.to_string())?;
        let Some(Value::Array(listed)) = root.get("keys") else { return Err("has no array \"keys\"".into()) };
        if listed.len() > JWKS_KEYS_MAX {
            return Err(format!("has more than {JWKS_KEYS_MAX} keys"));
        }
        let jwks: Option<Vec<_>> = listed.iter().map(Value::as_object).collect();
        let jwks = jwks.ok_or("has a key that is no object")?;
        Ok(Self(jwks.into_iter().filter_map(|jwk| usable(jwk, algorithm)).collect()))
    }

    /// Whether a token that names `kid` has anything to be held against.
    pub(crate) fn knows(&self, kid: Option<&str>) -> bool {
        self.named(kid).next().is_some()
    }

    /// Whether one of the keys signed `token`.
    pub(crate) fn check(&self, token: &Peeked<'_>) -> Result<(), Refused> {
        if !self.knows(token.kid()) {
            return Err(Refused::UnknownKey);
        }
        let pinned = |key: &&PinnedKey| key.algorithm() == token.algorithm();
        let candidates: Vec<_> = self.named(token.kid()).filter(pinned).collect();
        if candidates.is_empty() {
            return Err(Refused::WrongAlgorithm);
        }
        if candidates.len() > CANDIDATES_MAX {
            return Err(Refused::AmbiguousKey);
        }
        let (signed, signature) = token.signature();
        if candidates.iter().any(|key| key.verifies(signed, signature)) {
            Ok(())
        } else {
            Err(Refused::BadSignature)
        }
    }

    /// Keys that may be meant: a key without a name is meant by every token, a token without one means any key.
    fn named(&self, kid: Option<&str>) -> impl Iterator<Item = &PinnedKey> {
        let meant = move |one: &&NamedKey| match (kid, &one.kid) {
            (Some(wanted), Some(name)) => wanted == name,
            (None, _) | (_, None) => true,
        };
        self.0.iter().filter(meant).map(|one| &one.key)
    }
}

fn usable(jwk: &Map<String, Value>, algorithm: Algorithm) -> Option<NamedKey> {
    let kid = match jwk.get("kid") {
        None => None,
        Some(kid) => Some(kid.as_str()?.to_owned()),
    };
    if !meant_for(jwk, algorithm) {
        return None;
    }
    let key = PinnedKey::from_jwk(algorithm, jwk).ok()?;
    Some(NamedKey { kid, key })
}

/// Whether what a JWK says about its own purpose allows verifying signatures of `algorithm`.
pub(crate) fn meant_for(jwk: &Map<String, Value>, algorithm: Algorithm) -> bool {
    let says = |name: &str, want: &str| jwk.get(name).is_none_or(|value| value == want);
    let verifies = |operations: &Value| {
        operations.as_array().is_some_and(|listed| listed.iter().any(|operation| operation == "verify"))
    };
    says("use", "sig") && says("alg", algorithm.name()) && jwk.get("key_ops").is_none_or(verifies)
}
