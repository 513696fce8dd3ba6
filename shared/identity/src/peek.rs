//! What a token says of itself, before anything of it is believed.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::{json, text};
use serde_json::{Map, Value};

use crate::algorithm::Algorithm;
use crate::limits::{NAME_CHARS, TOKEN_BYTES};
use crate::verify::Refused;

/// Media types of a plain JWT and of an access token (RFC 9068 section 2.1), lower case. Other types are other
/// uses, such as a logout token, and must not pass here (RFC 8725 section 3.11).
const TYPES: [&str; 4] = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"];
/// Header members that change what the rest means: critical extensions, an unencoded payload (RFC 7797),
/// encryption and compression (RFC 7516).
const CHANGING_MEMBERS: [&str; 4] = ["crit", "b64", "enc", "zip"];

/// A well-formed token of which nothing is verified.
pub struct Peeked<'a> {
    signed: &'a str,
    signature: &'a str,
    algorithm: Algorithm,
    kid: Option<String>,
    iss: String,
    audiences: Vec<String>,
    claims: Map<String, Value>,
}

/// Reads a compact JWS (RFC 7515 section 3.1) with a JSON object of claims, at most [`TOKEN_BYTES`] long.
///
/// Strict where readers differ: exactly three parts, base64url without padding or stray bits, no key twice in
/// an object. What the header says about where keys are is not looked at.
pub fn peek(token: &str) -> Result<Peeked<'_>, Refused> {
    if token.len() > TOKEN_BYTES {
        return Err(Refused::TooLarge);
    }
    let malformed = Refused::Malformed("three parts with dots between");
    let (signed, signature) = token.rsplit_once('.').ok_or(malformed)?;
    let (header, claims) = signed.split_once('.').filter(|(_, rest)| !rest.contains('.')).ok_or(malformed)?;
    let signature_bytes = URL_SAFE_NO_PAD.decode(signature);
    if !signature_bytes.is_ok_and(|bytes| !bytes.is_empty()) {
        return Err(Refused::Malformed("a signature in base64url without padding"));
    }
    let header = object(header).ok_or(Refused::Malformed("a header that is a JSON object"))?;
    let claims = object(claims).ok_or(Refused::Malformed("claims that are a JSON object"))?;
    let (algorithm, kid) = read_header(&header)?;
    let iss = name(&claims, "iss")?.ok_or(Refused::Claim("iss"))?;
    let audiences = audiences(&claims).ok_or(Refused::Claim("aud"))?;
    Ok(Peeked { signed, signature, algorithm, kid, iss, audiences, claims })
}

impl Peeked<'_> {
    /// Who claims to have issued it.
    pub fn iss(&self) -> &str {
        &self.iss
    }

    /// For whom it claims to be.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// The key that it names.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// The algorithm that it names.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whom it claims to speak for; `None` where that is no name.
    pub fn sub(&self) -> Option<&str> {
        self.claims.get("sub").and_then(Value::as_str).filter(|sub| is_name(sub))
    }

    /// What was signed, and the signature in base64url.
    pub(crate) const fn signature(&self) -> (&str, &str) {
        (self.signed, self.signature)
    }

    pub(crate) const fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }
}

impl fmt::Debug for Peeked<'_> {
    /// Without the token: it is a credential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peeked").field("iss", &self.iss).field("kid", &self.kid).finish_non_exhaustive()
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    json::read_object(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

fn read_header(header: &Map<String, Value>) -> Result<(Algorithm, Option<String>), Refused> {
    if CHANGING_MEMBERS.iter().any(|member| header.contains_key(*member)) {
        return Err(Refused::Malformed("a header without crit, b64, enc and zip"));
    }
    let is_type = |value: &Value| {
        value.as_str().is_some_and(|name| TYPES.contains(&name.to_ascii_lowercase().as_str()))
    };
    if !header.get("typ").is_none_or(is_type) {
        return Err(Refused::Malformed("typ absent, JWT or at+jwt"));
    }
    let algorithm = header.get("alg").and_then(Value::as_str).and_then(|name| name.parse().ok());
    let kid =
        name(header, "kid").map_err(|_| Refused::Malformed("a kid of 1 to 255 printable characters"))?;
    Ok((algorithm.ok_or(Refused::WrongAlgorithm)?, kid))
}

fn audiences(claims: &Map<String, Value>) -> Option<Vec<String>> {
    let listed = match claims.get("aud")? {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let names: Option<Vec<_>> = listed.iter().map(|value| value.as_str().map(str::to_owned)).collect();
    names.filter(|names| !names.is_empty())
}

/// A member that is absent or a name: 1 to 255 visible characters.
pub(crate) fn name(object: &Map<String, Value>, member: &'static str) -> Result<Option<String>, Refused> {
    let Some(value) = object.get(member) else { return Ok(None) };
    let name = value.as_str().filter(|name| is_name(name)).ok_or(Refused::Claim(member))?;
    Ok(Some(name.to_owned()))
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_CHARS).contains(&text::chars(name)) && text::is_printable_line(name)
}
