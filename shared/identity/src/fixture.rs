//! Keys, an issuer and tokens for the tests.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::encoding::PublicKeyX509Der;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_core::credential::Scope;
use countersign_core::id::TenantId;
use countersign_core::secret::Secret;
use countersign_core::time::Timestamp;
use serde_json::{Value, json};

use crate::{AcrLevels, Algorithm, Issuer, Keys, Material, StaticKey, StaticKeys};

pub(crate) const ISS: &str = "https://id.acme.example";
pub(crate) const AUDIENCE: &str = "https://ask.example/acme";
pub(crate) const SECRET: &[u8; 32] = b"a shared secret of thirty-2 byte";
/// The present, in seconds.
pub(crate) const NOW: i64 = 1_796_068_800;

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(NOW * 1_000)
}

pub(crate) fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key pair of one kind.
pub(crate) enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Pair {
    pub(crate) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    pub(crate) fn p256() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    pub(crate) fn p384() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&signature::ECDSA_P384_SHA384_FIXED_SIGNING).unwrap())
    }

    pub(crate) fn ed() -> Self {
        Self::Ed(Ed25519KeyPair::generate().unwrap())
    }

    pub(crate) fn der(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match self {
            Self::Rsa(pair) => pair.public_key().as_der().unwrap(),
            Self::Ec(pair) => pair.public_key().as_der().unwrap(),
            Self::Ed(pair) => pair.public_key().as_der().unwrap(),
        };
        der.as_ref().to_vec()
    }

    pub(crate) fn pem(&self) -> String {
        let text = STANDARD.encode(self.der());
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }

    pub(crate) fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let padding: &dyn signature::RsaEncoding = match algorithm {
                    Algorithm::Rs256 => &signature::RSA_PKCS1_SHA256,
                    Algorithm::Rs384 => &signature::RSA_PKCS1_SHA384,
                    Algorithm::Rs512 => &signature::RSA_PKCS1_SHA512,
                    Algorithm::Ps256 => &signature::RSA_PSS_SHA256,
                    Algorithm::Ps384 => &signature::RSA_PSS_SHA384,
                    _ => &signature::RSA_PSS_SHA512,
                };
                let mut signed = vec![0; pair.public_modulus_len()];
                pair.sign(padding, &random, message, &mut signed).unwrap();
                signed
            }
            Self::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

/// An issuer of one registered key.
pub(crate) fn issuer(kid: Option<&str>, algorithm: Algorithm, material: Material) -> Issuer {
    let key = StaticKey::new(kid.map(str::to_owned), algorithm, material).unwrap();
    issuer_of(Keys::Static(StaticKeys::new(vec![key]).unwrap()))
}

pub(crate) fn issuer_of(keys: Keys) -> Issuer {
    let acr = AcrLevels::new(vec!["mfa".into()], vec!["phishing-resistant".into()]).unwrap();
    Issuer::new(ISS.into(), keys, None, [Scope::Read, Scope::Decide], acr).unwrap()
}

pub(crate) fn shared() -> Material {
    Material::Secret(Secret::new(SECRET.to_vec()))
}

pub(crate) fn header(algorithm: Algorithm) -> Value {
    json!({"alg": algorithm.name(), "typ": "JWT", "kid": "k1"})
}

pub(crate) fn claims() -> Value {
    json!({"iss": ISS, "aud": AUDIENCE, "sub": "mara", "exp": NOW + 300, "iat": NOW, "nbf": NOW,
        "scope": "decide read manage nonsense", "acr": "mfa"})
}

/// A token of these very texts.
pub(crate) fn token_of(header: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = sign(signed.as_bytes());
    format!("{signed}.{}", encode(signature))
}
