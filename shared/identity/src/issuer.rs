//! What a tenant registers about its identity provider.

use std::collections::BTreeSet;
use std::fmt;

use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use countersign_core::text;
use countersign_core::violation::Violation;
use iri_string::components::AuthorityComponents;
use iri_string::types::UriStr;
use serde_json::Value;

use crate::algorithm::{Algorithm, Family};
use crate::jwks::{KeySet, NamedKey, meant_for};
use crate::key::{Material, PinnedKey};
use crate::limits::{ACR_VALUES_MAX, CLAIM_CHARS, STATIC_KEYS_MAX, URL_CHARS};
use crate::peek::is_name;

/// The claim that scopes are in where the issuer names none (RFC 9068 section 2.2.3).
pub const SCOPES_CLAIM_DEFAULT: &str = "scope";

/// Which values of `acr` raise the assurance.
#[derive(Debug, Clone, Default)]
pub struct AcrLevels {
    code: Vec<String>,
    passkey: Vec<String>,
}

impl AcrLevels {
    /// Levels named by these values, each of them in one list only.
    pub fn new(code: Vec<String>, passkey: Vec<String>) -> Result<Self, Violation> {
        for (pointer, values) in [("/acr/code", &code), ("/acr/passkey", &passkey)] {
            if values.len() > ACR_VALUES_MAX {
                return Err(Violation::new(pointer, format!("at most {ACR_VALUES_MAX} values")));
            }
            if let Some(index) = values.iter().position(|value| !is_name(value)) {
                return Err(Violation::new(format!("{pointer}/{index}"), "1 to 255 printable characters"));
            }
        }
        match passkey.iter().position(|value| code.contains(value)) {
            Some(index) => Err(Violation::new(format!("/acr/passkey/{index}"), "is a value of code too")),
            None => Ok(Self { code, passkey }),
        }
    }

    /// Values that stand for a code.
    pub fn code(&self) -> &[String] {
        &self.code
    }

    /// Values that stand for a passkey.
    pub fn passkey(&self) -> &[String] {
        &self.passkey
    }

    pub(crate) fn assurance(&self, acr: Option<&str>) -> Assurance {
        let is_in = |values: &[String]| acr.is_some_and(|acr| values.iter().any(|value| value == acr));
        if is_in(&self.passkey) {
            Assurance::Passkey
        } else if is_in(&self.code) {
            Assurance::Code
        } else {
            Assurance::Tap
        }
    }
}

/// Whether key sets may come over plain http.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// Never: how a deployment runs.
    Never,
    /// From this machine, for trying things out.
    OnLoopback,
}

/// Where a key set is published: an absolute https URL without user and fragment.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JwksUrl(String);

impl JwksUrl {
    /// Reads a URL. That it leads to no address of ours is for whoever fetches it to see to.
    pub fn parse(url: &str, plain_http: PlainHttp) -> Result<Self, Violation> {
        let wanted = "must be an https URL with a host, without a user and a fragment";
        let refused = || Violation::new("/jwks_url", wanted);
        if text::chars(url) > URL_CHARS {
            return Err(Violation::new("/jwks_url", format!("longer than {URL_CHARS} characters")));
        }
        let uri = UriStr::new(url).map_err(|_| refused())?;
        let authority = uri.authority_components().ok_or_else(refused)?;
        let by_scheme = match uri.scheme_str() {
            "https" => true,
            "http" => plain_http == PlainHttp::OnLoopback && is_loopback(&authority),
            _ => false,
        };
        let is_plain =
            authority.userinfo().is_none() && uri.fragment().is_none() && !authority.host().is_empty();
        if by_scheme && is_plain { Ok(Self(url.to_owned())) } else { Err(refused()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_loopback(authority: &AuthorityComponents<'_>) -> bool {
    matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]")
}

impl fmt::Debug for JwksUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Keys that the issuer publishes, all of one algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Jwks {
    url: JwksUrl,
    algorithm: Algorithm,
}

impl Jwks {
    /// Keys at `url`, used for `algorithm` and nothing else.
    pub fn new(url: JwksUrl, algorithm: Algorithm) -> Result<Self, Violation> {
        if algorithm.family() == Family::Secret {
            return Err(Violation::new("/algorithm", "HS256 takes a shared secret, never a published key"));
        }
        Ok(Self { url, algorithm })
    }

    /// Where they are.
    pub const fn url(&self) -> &JwksUrl {
        &self.url
    }

    /// What they are used for.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// A key that was registered by hand.
#[derive(Debug, Clone)]
pub struct StaticKey {
    material: Material,
    named: NamedKey,
}

impl StaticKey {
    /// A key for `algorithm`. Without a `kid`, a JWK's own counts; a key without any is tried on every token.
    pub fn new(kid: Option<String>, algorithm: Algorithm, material: Material) -> Result<Self, Violation> {
        let key = PinnedKey::new(algorithm, &material)?;
        let mut kid = kid;
        if let Material::Jwk(jwk) = &material {
            if !meant_for(jwk, algorithm) {
                let message = format!("its use, key_ops or alg do not allow verifying {algorithm}");
                return Err(Violation::new("/public_key", message));
            }
            kid = kid.or_else(|| jwk.get("kid").and_then(Value::as_str).map(str::to_owned));
        }
        if kid.as_deref().is_some_and(|kid| !is_name(kid)) {
            return Err(Violation::new("/kid", "1 to 255 printable characters"));
        }
        Ok(Self { material, named: NamedKey { kid, key } })
    }

    /// The name that tokens call it by.
    pub fn kid(&self) -> Option<&str> {
        self.named.kid.as_deref()
    }

    /// What it is used for.
    pub const fn algorithm(&self) -> Algorithm {
        self.named.key.algorithm()
    }

    /// The key as it was handed over.
    pub const fn material(&self) -> &Material {
        &self.material
    }
}

/// One to ten keys that were registered by hand.
#[derive(Debug, Clone)]
pub struct StaticKeys {
    keys: Vec<StaticKey>,
    set: KeySet,
}

impl StaticKeys {
    /// These keys, no two of one name.
    pub fn new(keys: Vec<StaticKey>) -> Result<Self, Violation> {
        if !(1..=STATIC_KEYS_MAX).contains(&keys.len()) {
            return Err(Violation::new("/keys", format!("1 to {STATIC_KEYS_MAX} keys")));
        }
        let mut names = BTreeSet::new();
        let is_taken = |key: &StaticKey| key.kid().is_some_and(|kid| !names.insert(kid.to_owned()));
        if let Some(index) = keys.iter().position(is_taken) {
            return Err(Violation::new(format!("/keys/{index}/kid"), "is another key's too"));
        }
        let set = KeySet::new(keys.iter().map(|key| key.named.clone()).collect());
        Ok(Self { keys, set })
    }

    /// The keys, as registered.
    pub fn keys(&self) -> &[StaticKey] {
        &self.keys
    }

    pub(crate) const fn set(&self) -> &KeySet {
        &self.set
    }
}

/// Where an issuer's keys come from.
#[derive(Debug, Clone)]
pub enum Keys {
    /// It publishes them.
    Jwks(Jwks),
    /// They were registered by hand.
    Static(StaticKeys),
}

/// An identity provider whose tokens a tenant lets in.
#[derive(Debug, Clone)]
pub struct Issuer {
    iss: String,
    keys: Keys,
    scopes_claim: String,
    scopes_ceiling: BTreeSet<Scope>,
    acr: AcrLevels,
}

impl Issuer {
    /// An issuer that calls itself `iss`, by exactly these characters.
    ///
    /// Its tokens give the scopes in `scopes_claim` (default [`SCOPES_CLAIM_DEFAULT`]) that are in
    /// `scopes_ceiling`. An empty ceiling makes its tokens say who somebody is, and no more.
    pub fn new(
        iss: String,
        keys: Keys,
        scopes_claim: Option<String>,
        scopes_ceiling: impl IntoIterator<Item = Scope>,
        acr: AcrLevels,
    ) -> Result<Self, Violation> {
        if !is_name(&iss) {
            return Err(Violation::new("/iss", "1 to 255 printable characters"));
        }
        let scopes_claim = scopes_claim.unwrap_or_else(|| SCOPES_CLAIM_DEFAULT.to_owned());
        if !is_name(&scopes_claim) || text::chars(&scopes_claim) > CLAIM_CHARS {
            return Err(Violation::new("/scopes_claim", format!("1 to {CLAIM_CHARS} printable characters")));
        }
        Ok(Self { iss, keys, scopes_claim, scopes_ceiling: scopes_ceiling.into_iter().collect(), acr })
    }

    /// What it calls itself.
    pub fn iss(&self) -> &str {
        &self.iss
    }

    /// Where its keys come from.
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The claim that scopes are in.
    pub fn scopes_claim(&self) -> &str {
        &self.scopes_claim
    }

    /// The scopes that its tokens can give.
    pub const fn scopes_ceiling(&self) -> &BTreeSet<Scope> {
        &self.scopes_ceiling
    }

    /// Which values of `acr` raise the assurance.
    pub const fn acr(&self) -> &AcrLevels {
        &self.acr
    }
}
