//! Tokens that mean harm, each by its name, and one honest token for each algorithm.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use serde_json::{Value, json};

use crate::fixture::{
    AUDIENCE, ISS, NOW, Pair, SECRET, claims, encode, header, issuer, now, shared, tenant, token_of,
};
use crate::{
    Algorithm, FetchFailed, FetchJwks, Issuer, Material, Refused, Verified, Verifier, VerifyError, peek,
};

/// Fetches nothing: nothing here may want a fetch.
struct Nowhere;

#[async_trait]
impl FetchJwks for Nowhere {
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchFailed> {
        panic!("{url} was fetched")
    }
}

async fn verify(issuer: &Issuer, token: &str) -> Result<Verified, VerifyError> {
    let peeked = peek(token)?;
    Verifier::new(Arc::new(Nowhere)).verify(&tenant(), issuer, &peeked, AUDIENCE, now()).await
}

fn mac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

#[tokio::test]
async fn an_honest_token_of_each_algorithm_is_believed() {
    for algorithm in Algorithm::ALL {
        let pair = match algorithm {
            Algorithm::Es256 => Pair::p256(),
            Algorithm::Es384 => Pair::p384(),
            Algorithm::EdDsa => Pair::ed(),
            _ => Pair::rsa(),
        };
        let material = if algorithm == Algorithm::Hs256 { shared() } else { Material::Pem(pair.pem()) };
        let (head, body) = (header(algorithm).to_string(), claims().to_string());
        let token = token_of(&head, &body, |message| match algorithm {
            Algorithm::Hs256 => mac(SECRET, message),
            _ => pair.sign(algorithm, message),
        });
        let believed = verify(&issuer(Some("k1"), algorithm, material), &token).await.unwrap();
        assert_eq!((believed.iss.as_str(), believed.sub.as_str()), (ISS, "mara"), "{algorithm}");
        assert_eq!(believed.scopes, BTreeSet::from([Scope::Read, Scope::Decide]));
        assert_eq!(believed.assurance, Assurance::Code);
    }
}

/// Who makes the tokens of the table.
struct Forge {
    pair: Pair,
    other: Pair,
    curve: Pair,
    issuer: Issuer,
    curve_issuer: Issuer,
}

impl Forge {
    fn new() -> Self {
        let (pair, curve) = (Pair::rsa(), Pair::p256());
        Self {
            issuer: issuer(Some("k1"), Algorithm::Rs256, Material::Pem(pair.pem())),
            curve_issuer: issuer(Some("k1"), Algorithm::Es256, Material::Pem(curve.pem())),
            other: Pair::rsa(),
            pair,
            curve,
        }
    }

    fn signed(&self, header: &str, claims: &str) -> String {
        token_of(header, claims, |message| self.pair.sign(Algorithm::Rs256, message))
    }

    /// Well signed, with one claim changed; `null` takes it away.
    fn claim(&self, name: &str, value: Value) -> String {
        let mut body = claims();
        match value {
            Value::Null => drop(body.as_object_mut().unwrap().remove(name)),
            value => body[name] = value,
        }
        self.signed(&header(Algorithm::Rs256).to_string(), &body.to_string())
    }

    /// Well signed, with one member of the header changed.
    fn head(&self, name: &str, value: Value) -> String {
        let mut head = header(Algorithm::Rs256);
        head[name] = value;
        self.signed(&head.to_string(), &claims().to_string())
    }

    fn honest(&self) -> String {
        self.signed(&header(Algorithm::Rs256).to_string(), &claims().to_string())
    }

    /// The same, signed by somebody else with a header that says where their key is.
    fn pointing(&self, name: &str, value: Value) -> String {
        let mut head = header(Algorithm::Rs256);
        head[name] = value;
        token_of(&head.to_string(), &claims().to_string(), |message| {
            self.other.sign(Algorithm::Rs256, message)
        })
    }

    fn confused(&self) -> Vec<(&'static str, String)> {
        let pem = self.pair.pem();
        let unsigned = |name| by_algorithm(name, |_| vec![1]);
        vec![
            ("alg none", unsigned("none")),
            ("alg None", unsigned("None")),
            ("alg nOnE", unsigned("nOnE")),
            ("alg empty", unsigned("")),
            ("alg rs256 in lower case", by_algorithm("rs256", |m| self.pair.sign(Algorithm::Rs256, m))),
            ("HS256 with the public PEM", by_algorithm("HS256", |m| mac(pem.as_bytes(), m))),
            ("HS256 with the public DER", by_algorithm("HS256", |m| mac(&self.pair.der(), m))),
            ("HS256 with an empty secret", by_algorithm("HS256", |m| mac(b"", m))),
            ("PS256 of the same key", by_algorithm("PS256", |m| self.pair.sign(Algorithm::Ps256, m))),
            ("RS384 of the same key", by_algorithm("RS384", |m| self.pair.sign(Algorithm::Rs384, m))),
            (
                "RS256 header over a PS256 signature",
                by_algorithm("RS256", |m| self.pair.sign(Algorithm::Ps256, m)),
            ),
            ("ES256 of a key of its own", by_algorithm("ES256", |m| self.curve.sign(Algorithm::Es256, m))),
            (
                "no alg",
                token_of(r#"{"kid":"k1"}"#, &claims().to_string(), |m| self.pair.sign(Algorithm::Rs256, m)),
            ),
            (
                "alg that is a list",
                token_of(r#"{"alg":["RS256"]}"#, &claims().to_string(), |m| {
                    self.pair.sign(Algorithm::Rs256, m)
                }),
            ),
        ]
    }

    fn misdirected(&self) -> Vec<(&'static str, String)> {
        let jwk = json!({"kty": "oct", "k": encode(SECRET)});
        let huge = format!("k{}", "1".repeat(300));
        vec![
            ("jku", self.pointing("jku", json!("https://evil.example/jwks"))),
            ("x5u", self.pointing("x5u", json!("https://evil.example/cert"))),
            ("x5c", self.pointing("x5c", json!([encode(self.other.der())]))),
            ("jwk embedded", self.pointing("jwk", jwk)),
            ("another's signature", self.pointing("kid", json!("k1"))),
            ("kid of nobody", self.head("kid", json!("k2"))),
            ("kid that is a path", self.head("kid", json!("../../dev/null"))),
            ("kid that is SQL", self.head("kid", json!("' OR 1=1 --"))),
            ("kid that is empty", self.head("kid", json!(""))),
            ("kid that is huge", self.head("kid", json!(huge))),
            ("kid that is a number", self.head("kid", json!(1))),
            ("crit", self.head("crit", json!(["exp"]))),
            ("b64", self.head("b64", json!(false))),
            ("zip", self.head("zip", json!("DEF"))),
            ("typ of a logout token", self.head("typ", json!("logout+jwt"))),
        ]
    }

    fn misclaimed(&self) -> Vec<(&'static str, String)> {
        vec![
            ("no aud", self.claim("aud", Value::Null)),
            ("aud of another tenant", self.claim("aud", json!("https://ask.example/acme-2"))),
            ("aud that only begins like ours", self.claim("aud", json!("https://ask.example/acme/"))),
            ("aud list without ours", self.claim("aud", json!(["a", "b"]))),
            ("aud list that is empty", self.claim("aud", json!([]))),
            ("aud list of numbers", self.claim("aud", json!([1]))),
            ("no iss", self.claim("iss", Value::Null)),
            ("another iss", self.claim("iss", json!("https://id.acme.example/"))),
            ("no exp", self.claim("exp", Value::Null)),
            ("exp as text", self.claim("exp", json!("9999999999"))),
            ("exp 30 s ago", self.claim("exp", json!(NOW - 30))),
            ("exp more than a day ahead", self.claim("exp", json!(NOW + 24 * 3_600 + 31))),
            ("exp beyond all years", self.claim("exp", json!(1e18))),
            ("exp negative", self.claim("exp", json!(-1))),
            ("exp true", self.claim("exp", json!(true))),
            ("nbf 31 s ahead", self.claim("nbf", json!(NOW + 31))),
            ("nbf as text", self.claim("nbf", json!("now"))),
            ("iat 31 s ahead", self.claim("iat", json!(NOW + 31))),
            ("no sub", self.claim("sub", Value::Null)),
            ("sub empty", self.claim("sub", json!(""))),
            ("sub with a control", self.claim("sub", json!("mara\n"))),
            ("sub with a bidi override", self.claim("sub", json!("mar\u{202e}a"))),
            ("sub a number", self.claim("sub", json!(7))),
            ("sub too long", self.claim("sub", json!("x".repeat(256)))),
        ]
    }

    fn misshapen(&self) -> Vec<(&'static str, String)> {
        let honest = self.honest();
        let parts: Vec<&str> = honest.split('.').collect();
        let (head, body) = (header(Algorithm::Rs256).to_string(), claims().to_string());
        let twice = body.replacen('{', r#"{"sub":"admin","#, 1);
        let escaped = body.replacen('{', r#"{"\u0073ub":"admin","#, 1);
        let deep = format!(r#"{{"x":{}{},"sub":1}}"#, "[".repeat(200), "]".repeat(200));
        let lone = body.replace("mara", "\\ud800");
        vec![
            ("empty", String::new()),
            ("one part", "abc".into()),
            ("two parts", format!("{}.{}", parts[0], parts[1])),
            ("four parts", format!("{honest}.x")),
            ("five parts, as JWE", format!("{honest}.x.y")),
            ("no signature", format!("{}.{}.", parts[0], parts[1])),
            ("padded base64", format!("{}=.{}.{}", parts[0], parts[1], parts[2])),
            ("the standard alphabet", honest.replace(['-', '_'], "+")),
            ("a space at the end", format!("{honest} ")),
            ("a line break inside", format!("{}\n.{}.{}", parts[0], parts[1], parts[2])),
            ("a signature of another token", format!("{}.{}.{}", parts[0], encode(&twice), parts[2])),
            ("a signature with a bit flipped", flipped(&honest)),
            ("a claim twice", self.signed(&head, &twice)),
            ("a claim twice, once in escapes", self.signed(&head, &escaped)),
            ("a header member twice", self.signed(r#"{"alg":"none","alg":"RS256"}"#, &body)),
            ("claims that are a list", self.signed(&head, "[]")),
            ("claims that are no JSON", self.signed(&head, "{")),
            ("claims with trailing bytes", self.signed(&head, &format!("{body}{{}}"))),
            ("claims that are deep", self.signed(&head, &deep)),
            ("half of a surrogate pair", self.signed(&head, &lone)),
            ("bytes that are not UTF-8", format!("{}.{}.{}", parts[0], encode([0xff, 0xfe]), parts[2])),
            ("9,000 bytes", self.claim("x", json!("x".repeat(9_000)))),
        ]
    }
}

/// A token whose header names that algorithm, signed somehow.
fn by_algorithm(name: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    token_of(&json!({"alg": name, "kid": "k1"}).to_string(), &claims().to_string(), sign)
}

/// The last bit of the signature's last whole byte, flipped.
fn flipped(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut bytes =
        base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, signature).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    format!("{signed}.{}", encode(bytes))
}

#[tokio::test]
async fn no_hostile_token_is_believed() {
    let forge = Forge::new();
    assert!(verify(&forge.issuer, &forge.honest()).await.is_ok(), "the control");
    let rows = [forge.confused(), forge.misdirected(), forge.misclaimed(), forge.misshapen()].concat();
    for (name, token) in &rows {
        assert!(verify(&forge.issuer, token).await.is_err(), "believed: {name}");
    }
    println!("{} hostile tokens", rows.len());
}

/// Makes a signature of a message.
type Sign<'s> = &'s dyn Fn(&[u8]) -> Vec<u8>;

#[tokio::test]
async fn no_signature_of_a_curve_but_the_honest_one_is_believed() {
    let forge = Forge::new();
    let (head, body) = (header(Algorithm::Es256).to_string(), claims().to_string());
    let token = |sign: &dyn Fn(&[u8]) -> Vec<u8>| token_of(&head, &body, sign);
    let honest = |message: &[u8]| forge.curve.sign(Algorithm::Es256, message);
    assert!(verify(&forge.curve_issuer, &token(&honest)).await.is_ok(), "the control");
    let der = |message: &[u8]| {
        let fixed = forge.curve.sign(Algorithm::Es256, message);
        [&[0x30, 0x44, 0x02, 0x20], &fixed[..32], &[0x02, 0x20], &fixed[32..]].concat()
    };
    let hostile: [(&str, Sign<'_>); 5] = [
        ("all zeros", &|_| vec![0; 64]),
        ("r and s of one", &|_| [[0_u8; 31].as_slice(), &[1], &[0; 31], &[1]].concat()),
        ("DER in place of r and s", &der),
        ("cut short", &|message| honest(message)[..63].to_vec()),
        ("a byte more", &|message| [honest(message), vec![0]].concat()),
    ];
    for (name, sign) in hostile {
        assert!(verify(&forge.curve_issuer, &token(sign)).await.is_err(), "believed: {name}");
    }
}

#[tokio::test]
async fn the_clocks_may_differ_by_half_a_minute_and_no_more() {
    let forge = Forge::new();
    for (claim, value) in [("exp", NOW - 29), ("nbf", NOW + 30), ("iat", NOW + 30)] {
        assert!(verify(&forge.issuer, &forge.claim(claim, json!(value))).await.is_ok(), "{claim}");
    }
    let expired = verify(&forge.issuer, &forge.claim("exp", json!(NOW - 30))).await;
    assert_eq!(expired, Err(VerifyError::Refused(Refused::Expired)));
}

#[tokio::test]
async fn a_token_lives_for_a_day_at_most() {
    let forge = Forge::new();
    let day = NOW + 24 * 3_600;
    assert!(verify(&forge.issuer, &forge.claim("exp", json!(day + 30))).await.is_ok());
    let refused = verify(&forge.issuer, &forge.claim("exp", json!(day + 31))).await;
    assert_eq!(refused, Err(VerifyError::Refused(Refused::LivesTooLong)));
}

#[test]
fn no_key_is_registered_that_does_not_fit_its_algorithm() {
    use crate::StaticKey;
    let (rsa, p256, ed) = (Pair::rsa(), Pair::p256(), Pair::ed());
    let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n";
    let jwk = |value: Value| Material::Jwk(value.as_object().unwrap().clone());
    for (name, algorithm, material) in [
        ("an RSA key for ES256", Algorithm::Es256, Material::Pem(rsa.pem())),
        ("a P-256 key for ES384", Algorithm::Es384, Material::Pem(p256.pem())),
        ("a P-256 key for RS256", Algorithm::Rs256, Material::Pem(p256.pem())),
        ("an Ed25519 key for ES256", Algorithm::Es256, Material::Pem(ed.pem())),
        ("a public key as HS256's secret", Algorithm::Hs256, Material::Pem(rsa.pem())),
        ("a secret for RS256", Algorithm::Rs256, shared()),
        (
            "a short secret",
            Algorithm::Hs256,
            Material::Secret(countersign_core::secret::Secret::new(vec![1; 31])),
        ),
        ("a private key", Algorithm::EdDsa, Material::Pem(private.into())),
        ("two keys", Algorithm::Rs256, Material::Pem(rsa.pem() + &rsa.pem())),
        ("no key", Algorithm::Rs256, Material::Pem("hello".into())),
        ("a symmetric JWK", Algorithm::Hs256, jwk(json!({"kty": "oct", "k": encode(SECRET)}))),
        (
            "a private JWK",
            Algorithm::EdDsa,
            jwk(json!({"kty": "OKP", "crv": "Ed25519", "x": encode([1; 32]), "d": encode([1; 32])})),
        ),
        (
            "a point that is not on the curve",
            Algorithm::Es256,
            jwk(json!({"kty": "EC", "crv": "P-256", "x": encode([1; 32]), "y": encode([1; 32])})),
        ),
        (
            "a weak RSA key",
            Algorithm::Rs256,
            jwk(json!({"kty": "RSA", "n": encode([0xff; 128]), "e": "AQAB"})),
        ),
    ] {
        assert!(StaticKey::new(None, algorithm, material).is_err(), "registered: {name}");
    }
}
