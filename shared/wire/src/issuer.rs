//! Issuers of a tenant's own JWTs (PROTOCOL.md section 2.5).

use countersign_core::credential::Scope;
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{ACTOR_ID_CHARS, TARGET_NAME_CHARS, URL_CHARS};
use crate::rejected::Rejected;

/// The algorithms of a token's signature, as RFC 7518 and RFC 8037 name them.
pub const ALGORITHMS: [&str; 10] =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "HS256"];

/// Characters of a public key, as PEM or JWK.
const KEY_CHARS: usize = 8_000;
/// Keys that are registered one by one.
const KEYS: usize = 10;
/// Values of `acr` for one assurance.
const ACR_VALUES: usize = 20;

/// `POST /v1/issuers`. What the key material is worth is judged where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerBody {
    /// What the issuer calls itself, by exactly these characters.
    pub iss: String,
    /// Where its keys come from.
    pub keys: KeysBody,
    /// The claim that scopes are in.
    pub scopes_claim: Option<String>,
    /// The scopes that its tokens can give; `None` is what the caller may give without a word.
    pub scopes: Option<Vec<Scope>>,
    /// Values of `acr` that stand for a code.
    pub acr_code: Vec<String>,
    /// Values of `acr` that stand for a passkey.
    pub acr_passkey: Vec<String>,
    /// Where its people sign in.
    pub sso_url: Option<String>,
}

/// Where an issuer's keys come from.
#[derive(Clone, PartialEq, Eq)]
pub enum KeysBody {
    /// It publishes them.
    Jwks {
        /// Where.
        url: String,
        /// The one algorithm that they are used for.
        algorithm: &'static str,
    },
    /// They were handed over.
    Static(Vec<KeyBody>),
    /// A secret that both know.
    Shared(String),
}

/// A public key that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBody {
    /// The name that tokens call it by.
    pub kid: Option<String>,
    /// The one algorithm that it is used for.
    pub algorithm: &'static str,
    /// PEM (SPKI), or the JSON text of a JWK.
    pub public_key: String,
}

impl std::fmt::Debug for KeysBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Jwks { url, algorithm } => write!(f, "Jwks({url}, {algorithm})"),
            Self::Static(keys) => f.debug_list().entries(keys).finish(),
            Self::Shared(_) => f.write_str("Shared(..)"),
        }
    }
}

impl IssuerBody {
    /// Reads `{iss, algorithm?, jwks_url? | public_key? | keys? | shared_secret?, scopes_claim?, scopes?, acr?,
    /// sso_url?}`;
    /// unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let iss = fields.required_text("iss", TextRule::line(ACTOR_ID_CHARS));
        let keys = keys(&fields);
        let scopes_claim = fields.text("scopes_claim", TextRule::line(TARGET_NAME_CHARS));
        let scopes = fields.raw("scopes").map(|_| scopes(&fields));
        let acr = fields.object("acr").map(|acr| {
            let values = |key| acr.texts(key, 0..=ACR_VALUES, TextRule::line(ACTOR_ID_CHARS));
            let read = (values("code"), values("passkey"));
            acr.finish();
            read
        });
        let (acr_code, acr_passkey) = acr.unwrap_or_default();
        let sso_url = fields.text("sso_url", TextRule::line(URL_CHARS));
        fields.finish();
        faults.refusal()?;
        let keys = keys.ok_or_else(|| faults.rejected())?;
        Ok(Self { iss, keys, scopes_claim, scopes, acr_code, acr_passkey, sso_url })
    }
}

fn keys(fields: &Fields<'_>) -> Option<KeysBody> {
    let sources = ["jwks_url", "public_key", "keys", "shared_secret"];
    let given: Vec<&str> = sources.into_iter().filter(|key| fields.raw(key).is_some()).collect();
    let [source] = given.as_slice() else {
        fields.refuse(
            given.get(1).copied().unwrap_or("jwks_url"),
            "exactly one of jwks_url, public_key, keys and shared_secret must be given",
        );
        fields.raw("algorithm");
        return None;
    };
    match *source {
        "keys" => {
            fields.forbid(crate::rejected::INVALID_REQUEST, "algorithm", "each of keys has its own");
            let keys = fields.objects("keys", 1..=KEYS);
            let read: Vec<_> = keys.iter().map(key).collect();
            keys.iter().for_each(Fields::finish);
            read.into_iter().collect::<Option<_>>().map(KeysBody::Static)
        }
        "public_key" => key(fields).map(|key| KeysBody::Static(vec![key])),
        "jwks_url" => {
            let url = fields.required_text("jwks_url", TextRule::line(URL_CHARS));
            algorithm(fields).map(|algorithm| KeysBody::Jwks { url, algorithm })
        }
        _ => {
            let secret = fields.required_text("shared_secret", TextRule::line(KEY_CHARS));
            let algorithm = fields.required_word("algorithm", &["HS256"], |word| word);
            algorithm.map(|_| KeysBody::Shared(secret))
        }
    }
}

fn key(fields: &Fields<'_>) -> Option<KeyBody> {
    let kid = fields.text("kid", TextRule::line(ACTOR_ID_CHARS));
    let public_key = fields.required("public_key", "a public key: PEM text, or a JWK", |value| match value {
        Value::String(pem) => Some(pem.clone()),
        Value::Object(_) => Some(value.to_string()),
        _ => None,
    });
    let public_key = public_key.filter(|text| text.len() <= KEY_CHARS);
    let algorithm = algorithm(fields);
    Some(KeyBody { kid, algorithm: algorithm?, public_key: public_key? })
}

fn algorithm(fields: &Fields<'_>) -> Option<&'static str> {
    fields.required_word("algorithm", &ALGORITHMS, |word| word)
}

fn scopes(fields: &Fields<'_>) -> Vec<Scope> {
    let words = fields.texts("scopes", 0..=Scope::ALL.len(), TextRule::line(TARGET_NAME_CHARS));
    let mut read = Vec::new();
    for word in words {
        match word.parse() {
            Ok(scope) => read.push(scope),
            Err(_) => fields.refuse("scopes", "may only name ask, read, decide, manage and codec"),
        }
    }
    read.sort();
    read.dedup();
    read
}

/// An issuer, for its view.
#[derive(Debug, Clone, Copy)]
pub struct IssuerFacts<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it calls itself.
    pub iss: &'a str,
    /// What its tokens must be for.
    pub audience: &'a str,
    /// Where it publishes its keys.
    pub jwks_url: Option<&'a str>,
    /// The keys: their name and their algorithm.
    pub keys: &'a [(Option<&'a str>, &'static str)],
    /// The claim that scopes are in.
    pub scopes_claim: &'a str,
    /// The scopes that its tokens can give.
    pub scopes: &'a [Scope],
    /// Values of `acr` that stand for a code.
    pub acr_code: &'a [String],
    /// Values of `acr` that stand for a passkey.
    pub acr_passkey: &'a [String],
    /// Where its people sign in.
    pub sso_url: Option<&'a str>,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// An issuer. A shared secret is never shown again.
#[derive(Debug, Clone, Serialize)]
pub struct IssuerView {
    id: String,
    iss: String,
    audience: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_url: Option<String>,
    keys: Vec<KeyView>,
    scopes_claim: String,
    scopes: Vec<&'static str>,
    acr: AcrView,
    #[serde(skip_serializing_if = "Option::is_none")]
    sso_url: Option<String>,
    created_at: String,
}

#[derive(Debug, Clone, Serialize)]
struct KeyView {
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    algorithm: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct AcrView {
    code: Vec<String>,
    passkey: Vec<String>,
}

impl IssuerView {
    /// The answer.
    pub fn of(facts: &IssuerFacts<'_>) -> Self {
        let key = |(kid, algorithm): &(Option<&str>, &'static str)| KeyView {
            kid: kid.map(str::to_owned),
            algorithm,
        };
        Self {
            id: facts.id.to_owned(),
            iss: facts.iss.to_owned(),
            audience: facts.audience.to_owned(),
            jwks_url: facts.jwks_url.map(str::to_owned),
            keys: facts.keys.iter().map(key).collect(),
            scopes_claim: facts.scopes_claim.to_owned(),
            scopes: facts.scopes.iter().map(|scope| scope.word()).collect(),
            acr: AcrView { code: facts.acr_code.to_vec(), passkey: facts.acr_passkey.to_vec() },
            sso_url: facts.sso_url.map(str::to_owned),
            created_at: facts.created_at.to_string(),
        }
    }
}

/// All issuers of a tenant.
#[derive(Debug, Clone, Serialize)]
pub struct IssuerPage {
    issuers: Vec<IssuerView>,
}

impl IssuerPage {
    /// The answer.
    pub const fn of(issuers: Vec<IssuerView>) -> Self {
        Self { issuers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<IssuerBody, Rejected> {
        IssuerBody::read(body.as_object().unwrap())
    }

    #[test]
    fn each_source_of_keys_is_read() {
        let jwks = json!({"iss": "https://id.example.com", "jwks_url": "https://id.example.com/jwks", "algorithm": "ES256"});
        let url = "https://id.example.com/jwks".to_owned();
        assert_eq!(read(&jwks).unwrap().keys, KeysBody::Jwks { url, algorithm: "ES256" });
        let jwk = json!({"iss": "me", "public_key": {"kty": "OKP"}, "algorithm": "EdDSA", "kid": "k1",
            "scopes": ["decide", "read", "decide"], "acr": {"code": ["mfa"]}});
        let got = read(&jwk).unwrap();
        assert_eq!(got.scopes, Some(vec![Scope::Read, Scope::Decide]));
        assert_eq!((got.acr_code, got.acr_passkey), (vec!["mfa".to_owned()], vec![]));
        let KeysBody::Static(keys) = got.keys else { panic!("no static keys") };
        assert_eq!((keys[0].kid.as_deref(), keys[0].public_key.as_str()), (Some("k1"), "{\"kty\":\"OKP\"}"));
        let shared = json!({"iss": "me", "shared_secret": "0123456789", "algorithm": "HS256"});
        assert!(matches!(read(&shared).unwrap().keys, KeysBody::Shared(_)));
        let several = json!({"iss": "me", "keys": [{"algorithm": "RS256", "public_key": "-----BEGIN"}]});
        assert!(matches!(read(&several).unwrap().keys, KeysBody::Static(keys) if keys.len() == 1));
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_pointer() {
        for (body, pointer) in [
            (json!({"iss": "me"}), "/jwks_url"),
            (
                json!({"iss": "me", "jwks_url": "https://x", "public_key": "y", "algorithm": "RS256"}),
                "/public_key",
            ),
            (json!({"iss": "me", "jwks_url": "https://x"}), "/algorithm"),
            (json!({"iss": "me", "jwks_url": "https://x", "algorithm": "none"}), "/algorithm"),
            (json!({"iss": "me", "shared_secret": "s", "algorithm": "RS256"}), "/algorithm"),
            (json!({"iss": "me", "keys": []}), "/keys"),
            (json!({"iss": "me", "keys": [{"algorithm": "RS256"}]}), "/keys/0/public_key"),
            (json!({"iss": "", "jwks_url": "https://x", "algorithm": "RS256"}), "/iss"),
            (
                json!({"iss": "me", "jwks_url": "https://x", "algorithm": "RS256", "scopes": ["root"]}),
                "/scopes",
            ),
            (json!({"iss": "me", "jwks_url": "https://x", "algorithm": "RS256", "x": 1}), "/x"),
        ] {
            let refused = read(&body).expect_err("read what must be refused");
            assert_eq!(refused.violations[0].pointer, pointer, "{body}");
        }
    }

    #[test]
    fn a_shared_secret_is_not_printed() {
        assert_eq!(format!("{:?}", KeysBody::Shared("s3cret".into())), "Shared(..)");
    }
}
