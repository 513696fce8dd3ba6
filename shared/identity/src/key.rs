//! One key, checked when it is registered and pinned to one algorithm.

use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    RsaPublicKeyComponents, VerificationAlgorithm,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::secret::Secret;
use countersign_core::violation::Violation;
use jsonwebtoken::DecodingKey;
use rustls_pki_types::pem::{SectionKind, SliceIter};
use serde_json::{Map, Value};

use crate::algorithm::{Algorithm, Family};
use crate::limits::{PUBLIC_KEY_BYTES, RSA_BITS, SECRET_BYTES};

/// Members that only a private or symmetric key has (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1).
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
/// What an uncompressed point starts with (SEC 1 section 2.3.3).
const UNCOMPRESSED: u8 = 0x04;

/// A key as its owner hands it over.
#[derive(Debug, Clone)]
pub enum Material {
    /// A `PUBLIC KEY` section (RFC 7468 section 13).
    Pem(String),
    /// A public JWK (RFC 7517).
    Jwk(Map<String, Value>),
    /// A secret that both sides know, for HS256 only.
    Secret(Secret<Vec<u8>>),
}

impl Material {
    /// Where the material is in what registers it.
    const fn pointer(&self) -> &'static str {
        match self {
            Self::Pem(_) | Self::Jwk(_) => "/public_key",
            Self::Secret(_) => "/shared_secret",
        }
    }
}

/// A key that verifies signatures of one algorithm.
#[derive(Debug, Clone)]
pub(crate) struct PinnedKey {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl PinnedKey {
    pub(crate) fn new(algorithm: Algorithm, material: &Material) -> Result<Self, Violation> {
        let key = match material {
            Material::Pem(text) => public_section(text).and_then(|der| public_key(algorithm, &der)),
            Material::Jwk(jwk) => {
                return Self::from_jwk(algorithm, jwk).map_err(|one| one.under("/public_key"));
            }
            Material::Secret(secret) => shared_secret(algorithm, secret),
        };
        let refused = |message| Violation::new(material.pointer(), message);
        Ok(Self { algorithm, key: key.map_err(refused)? })
    }

    /// The key in `jwk`; the pointers of violations are relative to it.
    pub(crate) fn from_jwk(algorithm: Algorithm, jwk: &Map<String, Value>) -> Result<Self, Violation> {
        let bytes = jwk_bytes(algorithm, jwk)?;
        let key = public_key(algorithm, &bytes).map_err(|message| Violation::new("", message))?;
        Ok(Self { algorithm, key })
    }

    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether `signature` (base64url) is this key's of `signed`.
    pub(crate) fn verifies(&self, signed: &str, signature: &str) -> bool {
        let verdict =
            jsonwebtoken::crypto::verify(signature, signed.as_bytes(), &self.key, self.algorithm.library());
        verdict.unwrap_or(false)
    }
}

fn public_section(text: &str) -> Result<Vec<u8>, String> {
    if text.len() > PUBLIC_KEY_BYTES {
        return Err(format!("longer than {PUBLIC_KEY_BYTES} bytes"));
    }
    let mut sections = SliceIter::<(SectionKind, Vec<u8>)>::new(text.as_bytes());
    let first = sections.next().and_then(Result::ok);
    match (first, sections.next()) {
        (Some((SectionKind::PublicKey, der)), None) => Ok(der),
        (Some((SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey, _)), _) => {
            Err("a private key: keep it, send the public one, and replace the pair".into())
        }
        _ => Err("send one PEM section, PUBLIC KEY".into()),
    }
}

/// The key in `bytes`: a `SubjectPublicKeyInfo`, or a bare point as a JWK holds one.
fn public_key(algorithm: Algorithm, bytes: &[u8]) -> Result<DecodingKey, String> {
    match algorithm.family() {
        Family::Rsa => rsa_key(bytes).map_err(|message| format!("{message} for {algorithm}")),
        Family::P256 => curve_key(bytes, &ECDSA_P256_SHA256_FIXED, DecodingKey::from_ec_der)
            .ok_or_else(|| "not a key on P-256, which ES256 needs".into()),
        Family::P384 => curve_key(bytes, &ECDSA_P384_SHA384_FIXED, DecodingKey::from_ec_der)
            .ok_or_else(|| "not a key on P-384, which ES384 needs".into()),
        Family::Ed25519 => curve_key(bytes, &ED25519, DecodingKey::from_ed_der)
            .ok_or_else(|| "not an Ed25519 key, which EdDSA needs".into()),
        Family::Secret => Err("HS256 takes a shared secret, never a public key".into()),
    }
}

fn rsa_key(der: &[u8]) -> Result<DecodingKey, String> {
    let key = rsa::PublicKey::from_der(der).map_err(|_| "not an RSA public key")?;
    let bits = bit_length(key.modulus().big_endian_without_leading_zero());
    if !RSA_BITS.contains(&bits) {
        let (least, most) = (RSA_BITS.start(), RSA_BITS.end());
        return Err(format!("an RSA key of {bits} bits, send one of {least} to {most}"));
    }
    Ok(DecodingKey::from_rsa_der(der))
}

fn bit_length(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

fn curve_key(
    bytes: &[u8],
    curve: &'static dyn VerificationAlgorithm,
    wrap: fn(&[u8]) -> DecodingKey,
) -> Option<DecodingKey> {
    ParsedPublicKey::new(curve, bytes).ok().map(|_| wrap(bytes))
}

fn shared_secret(algorithm: Algorithm, secret: &Secret<Vec<u8>>) -> Result<DecodingKey, String> {
    let bytes = secret.expose();
    if algorithm.family() != Family::Secret {
        return Err(format!("{algorithm} takes a public key, never a shared secret"));
    }
    if !SECRET_BYTES.contains(&bytes.len()) {
        return Err(format!("send {} to {} bytes", SECRET_BYTES.start(), SECRET_BYTES.end()));
    }
    // Everybody may know a public key, so whoever knows it could sign.
    if bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
        return Err("a PEM section is no shared secret".into());
    }
    DecodingKey::from_secret(bytes).map_err(|_| "not a shared secret".into())
}

/// What [`public_key`] takes, out of a JWK that fits `algorithm`.
fn jwk_bytes(algorithm: Algorithm, jwk: &Map<String, Value>) -> Result<Vec<u8>, Violation> {
    if PRIVATE_MEMBERS.iter().any(|name| jwk.contains_key(*name)) {
        return Err(Violation::new(
            "",
            "a private or symmetric key: send the public one, and replace the pair",
        ));
    }
    match algorithm.family() {
        Family::Rsa => {
            expect(jwk, "kty", "RSA", algorithm)?;
            rsa_bytes(&number(jwk, "n")?, &number(jwk, "e")?)
        }
        Family::P256 => point(jwk, "P-256", 32, algorithm),
        Family::P384 => point(jwk, "P-384", 48, algorithm),
        Family::Ed25519 => {
            expect(jwk, "kty", "OKP", algorithm)?;
            expect(jwk, "crv", "Ed25519", algorithm)?;
            coordinate(jwk, "x", 32)
        }
        Family::Secret => Err(Violation::new("", "HS256 takes a shared secret, never a public key")),
    }
}

fn rsa_bytes(n: &[u8], e: &[u8]) -> Result<Vec<u8>, Violation> {
    RsaPublicKeyComponents { n, e }
        .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
        .map(|key| key.as_ref().to_vec())
        .map_err(|_| Violation::new("", "not an RSA public key"))
}

fn point(
    jwk: &Map<String, Value>,
    crv: &str,
    bytes: usize,
    algorithm: Algorithm,
) -> Result<Vec<u8>, Violation> {
    expect(jwk, "kty", "EC", algorithm)?;
    expect(jwk, "crv", crv, algorithm)?;
    Ok([vec![UNCOMPRESSED], coordinate(jwk, "x", bytes)?, coordinate(jwk, "y", bytes)?].concat())
}

fn expect(jwk: &Map<String, Value>, name: &str, want: &str, algorithm: Algorithm) -> Result<(), Violation> {
    if jwk.get(name).and_then(Value::as_str) == Some(want) {
        return Ok(());
    }
    Err(Violation::new(format!("/{name}"), format!("must be {want} for {algorithm}")))
}

/// A big-endian number. Some writers put a zero byte before it, against RFC 7518 section 6.3.1.1.
fn number(jwk: &Map<String, Value>, name: &str) -> Result<Vec<u8>, Violation> {
    let bytes = member(jwk, name)?;
    Ok(bytes.iter().copied().skip_while(|byte| *byte == 0).collect())
}

/// A coordinate in its full length (RFC 7518 section 6.2.1.2, RFC 8037 section 2).
fn coordinate(jwk: &Map<String, Value>, name: &str, length: usize) -> Result<Vec<u8>, Violation> {
    let bytes = member(jwk, name)?;
    if bytes.len() == length {
        return Ok(bytes);
    }
    Err(Violation::new(format!("/{name}"), format!("must be {length} bytes")))
}

fn member(jwk: &Map<String, Value>, name: &str) -> Result<Vec<u8>, Violation> {
    let text = jwk.get(name).and_then(Value::as_str).filter(|text| text.len() <= PUBLIC_KEY_BYTES);
    text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .ok_or_else(|| Violation::new(format!("/{name}"), "must be base64url without padding"))
}
