//! A passkey in software: answers as a browser and its authenticator would, and as they would not.

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::json::Sha256;
use countersign_identity::passkey::PasskeyAlgorithm;
use serde_json::{Value, json};

use crate::person::PAGE_ORIGIN;

enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// A passkey. What it says of itself is open to change.
pub struct Authenticator {
    pair: Pair,
    /// The credential's id.
    pub id: Vec<u8>,
    /// The site that it is used on.
    pub origin: String,
    /// The relying party that it signs for.
    pub rp_id: String,
    /// The flags of its data (Web Authentication Level 3, section 6.1), the one for attested data aside.
    pub flags: u8,
    /// Its counter.
    pub count: u32,
    /// Whether the browser says that it is in a frame of another site.
    pub cross_origin: Option<bool>,
}

impl Authenticator {
    /// One with a key of its own, on our pages.
    pub fn new(algorithm: PasskeyAlgorithm) -> Self {
        let pair = match algorithm {
            PasskeyAlgorithm::Es256 => {
                Pair::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key"))
            }
            PasskeyAlgorithm::EdDsa => Pair::Ed(Ed25519KeyPair::generate().expect("a key")),
            PasskeyAlgorithm::Rs256 => Pair::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).expect("a key")),
        };
        let mut made = Self {
            pair,
            id: vec![],
            origin: PAGE_ORIGIN.to_owned(),
            rp_id: "localhost".to_owned(),
            flags: 0x05,
            count: 0,
            cross_origin: Some(false),
        };
        made.id = Sha256::of(&made.public_key()).bytes()[..16].to_vec();
        made
    }

    /// Its public key: a DER `SubjectPublicKeyInfo`.
    pub fn public_key(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match &self.pair {
            Pair::Ec(pair) => pair.public_key().as_der().expect("DER"),
            Pair::Ed(pair) => pair.public_key().as_der().expect("DER"),
            Pair::Rsa(pair) => pair.public_key().as_der().expect("DER"),
        };
        der.as_ref().to_vec()
    }

    const fn algorithm(&self) -> PasskeyAlgorithm {
        match self.pair {
            Pair::Ec(_) => PasskeyAlgorithm::Es256,
            Pair::Ed(_) => PasskeyAlgorithm::EdDsa,
            Pair::Rsa(_) => PasskeyAlgorithm::Rs256,
        }
    }

    /// What our script posts of the answer to `create()`.
    pub fn create(&self, challenge: &[u8]) -> Value {
        let length = u16::try_from(self.id.len()).expect("a length").to_be_bytes();
        // The key in COSE that follows is not read.
        let data = [self.fixed(0x40).as_slice(), &[7; 16], &length, &self.id, &[0xa0]].concat();
        json!({
            "id": encode(&self.id),
            "client_data": encode(self.client_data("webauthn.create", challenge)),
            "authenticator_data": encode(data),
            "public_key": encode(self.public_key()),
            "algorithm": self.algorithm().cose(),
        })
    }

    /// What our script posts of the answer to `get()`.
    pub fn get(&self, challenge: &[u8]) -> Value {
        let client = self.client_data("webauthn.get", challenge);
        let data = self.fixed(0);
        let signed = [data.as_slice(), &Sha256::of(client.as_bytes()).bytes()].concat();
        json!({
            "id": encode(&self.id),
            "client_data": encode(client),
            "authenticator_data": encode(data),
            "signature": encode(self.sign(&signed)),
        })
    }

    fn client_data(&self, kind: &str, challenge: &[u8]) -> String {
        let mut said = json!({"type": kind, "challenge": encode(challenge), "origin": self.origin});
        if let Some(cross) = self.cross_origin {
            said["crossOrigin"] = cross.into();
        }
        said.to_string()
    }

    fn fixed(&self, more: u8) -> Vec<u8> {
        let hash = Sha256::of(self.rp_id.as_bytes()).bytes();
        [hash.as_slice(), &[self.flags | more], &self.count.to_be_bytes()].concat()
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, message).expect("a signature").as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).expect("a signature");
                signature
            }
        }
    }
}

/// base64url, as the script spells bytes.
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
