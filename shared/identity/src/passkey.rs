//! Passkeys: what a browser answers to `navigator.credentials.create()` and `.get()`, checked as W3C Web Authentication
//! Level 3 sections 7.1 and 7.2 say.
//!
//! We ask for no attestation, so nothing vouches for the attestation object, and it is not looked at: the key comes as
//! `getPublicKey()` gives it (section 5.2.1.1). Whoever is signed in may register whatever key they hold. What the
//! authenticator data says of itself has a fixed layout (section 6.1), and that is all that is read of it.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::json::Sha256;
use serde_json::{Map, Value};

use crate::limits::{CREDENTIAL_ID_BYTES, PASSKEY_TEXT_BYTES};

/// The user was there (section 6.1, bit 0).
const PRESENT: u8 = 0x01;
/// The user was verified: by a finger, a face or a PIN (bit 2).
const VERIFIED: u8 = 0x04;
/// The credential may be backed up, and so be on several devices (bit 3).
const BACKUP_ELIGIBLE: u8 = 0x08;
/// It is backed up now (bit 4).
const BACKED_UP: u8 = 0x10;
/// Attested credential data follows (bit 6).
const ATTESTED: u8 = 0x40;
/// Extensions follow (bit 7).
const EXTENDED: u8 = 0x80;
/// Bytes of authenticator data without what may follow: the hash, the flags, the counter.
const FIXED_BYTES: usize = 37;

/// An algorithm that passkeys may sign with, of the COSE registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasskeyAlgorithm {
    /// ECDSA on P-256 with SHA-256, -7.
    Es256,
    /// Ed25519, -8.
    EdDsa,
    /// RSA PKCS #1 v1.5 with SHA-256, -257.
    Rs256,
}

impl PasskeyAlgorithm {
    /// Every one, the preferred first.
    pub const ALL: [Self; 3] = [Self::Es256, Self::EdDsa, Self::Rs256];

    /// Its number.
    pub const fn cose(self) -> i64 {
        match self {
            Self::Es256 => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }

    /// The one with that number.
    pub fn of_cose(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.cose() == number)
    }

    fn library(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::Es256 => &ECDSA_P256_SHA256_ASN1,
            Self::EdDsa => &ED25519,
            Self::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}

/// What an answer has to fit.
#[derive(Debug, Clone, Copy)]
pub struct Ceremony<'a> {
    /// The relying party's id: the host of our pages.
    pub rp_id: &'a str,
    /// The origin of our pages.
    pub origin: &'a str,
    /// The challenge that was given out.
    pub challenge: &'a [u8],
}

/// A credential as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Its id, 1 to 1,023 bytes.
    pub id: Vec<u8>,
    /// What it signs with.
    pub algorithm: PasskeyAlgorithm,
    /// Its public key: a DER `SubjectPublicKeyInfo`.
    pub public_key: Vec<u8>,
    /// Its signature counter; 0 where it has none.
    pub count: u32,
    /// It may be on several devices.
    pub is_synced: bool,
}

/// Why an answer is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyRefused {
    /// It is not of the shape.
    #[error("it is not of the shape that the script sends: {0}")]
    Malformed(&'static str),
    /// It answers the other ceremony.
    #[error("its type is that of another ceremony")]
    WrongType,
    /// It answers another challenge.
    #[error("it answers another challenge")]
    WrongChallenge,
    /// It was made on another site.
    #[error("it was made for another origin")]
    WrongOrigin,
    /// It was made in a frame of another site.
    #[error("it was made in a frame of another origin")]
    CrossOrigin,
    /// The authenticator signed for another relying party.
    #[error("it is for another relying party")]
    WrongRelyingParty,
    /// Nobody touched the authenticator.
    #[error("nobody was present")]
    NotPresent,
    /// The authenticator did not verify who touched it.
    #[error("the person was not verified")]
    NotVerified,
    /// What the flags say contradicts itself, or what they said before.
    #[error("its flags contradict each other, or what is kept of it")]
    WrongFlags,
    /// The data holds no credential, or another one than is named.
    #[error("the credential is not the one that is named")]
    WrongCredential,
    /// The key is of an algorithm that we did not ask for, or is none.
    #[error("its key cannot be used")]
    UnusableKey,
    /// The signature is not this key's.
    #[error("its signature is wrong")]
    BadSignature,
    /// The counter did not grow: there are two of it.
    #[error("its counter went back: it may have been copied")]
    Copied,
}

/// What a script posted, taken apart; nothing of it is believed yet.
#[derive(Debug, Clone)]
pub struct Posted(Map<String, Value>);

impl Posted {
    /// The JSON that the script puts into a form.
    ///
    /// # Errors
    /// [`PasskeyRefused::Malformed`].
    pub fn parse(text: &str) -> Result<Self, PasskeyRefused> {
        if text.len() > PASSKEY_TEXT_BYTES {
            return Err(PasskeyRefused::Malformed("it is too long"));
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            _ => Err(PasskeyRefused::Malformed("it is no JSON object")),
        }
    }

    /// The id of the credential.
    ///
    /// # Errors
    /// [`PasskeyRefused::Malformed`].
    pub fn id(&self) -> Result<Vec<u8>, PasskeyRefused> {
        let id = self.bytes("id")?;
        let fits = (1..=CREDENTIAL_ID_BYTES).contains(&id.len());
        fits.then_some(id).ok_or(PasskeyRefused::Malformed("id is empty or too long"))
    }

    fn bytes(&self, name: &'static str) -> Result<Vec<u8>, PasskeyRefused> {
        let text = self.0.get(name).and_then(Value::as_str);
        let bytes = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        bytes.ok_or(PasskeyRefused::Malformed(name))
    }
}

/// Bytes as they go to the script and come from it: base64url without padding.
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A new credential, out of the answer to `create()` (section 7.1).
///
/// # Errors
/// [`PasskeyRefused`].
pub fn register(ceremony: &Ceremony<'_>, posted: &Posted) -> Result<Credential, PasskeyRefused> {
    client_data(ceremony, "webauthn.create", &posted.bytes("client_data")?)?;
    let raw = posted.bytes("authenticator_data")?;
    let data = AuthenticatorData::read(ceremony, &raw)?;
    let id = posted.id()?;
    if data.credential_id() != Some(&id) {
        return Err(PasskeyRefused::WrongCredential);
    }
    let algorithm = posted.0.get("algorithm").and_then(Value::as_i64);
    let algorithm = algorithm.and_then(PasskeyAlgorithm::of_cose).ok_or(PasskeyRefused::UnusableKey)?;
    let public_key = posted.bytes("public_key")?;
    ParsedPublicKey::new(algorithm.library(), &public_key).map_err(|_| PasskeyRefused::UnusableKey)?;
    Ok(Credential { id, algorithm, public_key, count: data.count, is_synced: data.has(BACKUP_ELIGIBLE) })
}

/// The counter of `credential` after the answer to `get()`, where that is its own (section 7.2).
///
/// # Errors
/// [`PasskeyRefused`].
pub fn assert(
    ceremony: &Ceremony<'_>,
    posted: &Posted,
    credential: &Credential,
) -> Result<u32, PasskeyRefused> {
    if posted.id()? != credential.id {
        return Err(PasskeyRefused::WrongCredential);
    }
    let client = posted.bytes("client_data")?;
    client_data(ceremony, "webauthn.get", &client)?;
    let raw = posted.bytes("authenticator_data")?;
    let data = AuthenticatorData::read(ceremony, &raw)?;
    if data.has(BACKUP_ELIGIBLE) != credential.is_synced {
        return Err(PasskeyRefused::WrongFlags);
    }
    let signed = [raw.as_slice(), &Sha256::of(&client).bytes()].concat();
    let key = ParsedPublicKey::new(credential.algorithm.library(), &credential.public_key);
    let key = key.map_err(|_| PasskeyRefused::UnusableKey)?;
    key.verify_sig(&signed, &posted.bytes("signature")?).map_err(|_| PasskeyRefused::BadSignature)?;
    let counts = data.count != 0 || credential.count != 0;
    if counts && data.count <= credential.count {
        return Err(PasskeyRefused::Copied);
    }
    Ok(data.count)
}

/// What the browser says of the ceremony (section 5.8.1).
fn client_data(ceremony: &Ceremony<'_>, kind: &str, bytes: &[u8]) -> Result<(), PasskeyRefused> {
    let Ok(Value::Object(said)) = serde_json::from_slice(bytes) else {
        return Err(PasskeyRefused::Malformed("client_data"));
    };
    let text = |name: &str| said.get(name).and_then(Value::as_str);
    if text("type") != Some(kind) {
        return Err(PasskeyRefused::WrongType);
    }
    if text("challenge") != Some(encode(ceremony.challenge).as_str()) {
        return Err(PasskeyRefused::WrongChallenge);
    }
    if text("origin") != Some(ceremony.origin) {
        return Err(PasskeyRefused::WrongOrigin);
    }
    match said.get("crossOrigin") {
        None | Some(Value::Bool(false)) => Ok(()),
        Some(_) => Err(PasskeyRefused::CrossOrigin),
    }
}

/// What the authenticator says (section 6.1).
struct AuthenticatorData<'a> {
    flags: u8,
    count: u32,
    rest: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    fn read(ceremony: &Ceremony<'_>, raw: &'a [u8]) -> Result<Self, PasskeyRefused> {
        let Some((fixed, rest)) = raw.split_first_chunk::<FIXED_BYTES>() else {
            return Err(PasskeyRefused::Malformed("authenticator_data"));
        };
        let count = u32::from_be_bytes([fixed[33], fixed[34], fixed[35], fixed[36]]);
        let data = Self { flags: fixed[32], count, rest };
        if fixed[..32] != Sha256::of(ceremony.rp_id.as_bytes()).bytes() {
            return Err(PasskeyRefused::WrongRelyingParty);
        }
        if !data.has(PRESENT) {
            return Err(PasskeyRefused::NotPresent);
        }
        if !data.has(VERIFIED) {
            return Err(PasskeyRefused::NotVerified);
        }
        if data.has(BACKED_UP) && !data.has(BACKUP_ELIGIBLE) {
            return Err(PasskeyRefused::WrongFlags);
        }
        if !rest.is_empty() && !data.has(ATTESTED) && !data.has(EXTENDED) {
            return Err(PasskeyRefused::Malformed("authenticator_data"));
        }
        Ok(data)
    }

    const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The id in the attested credential data (section 6.5.1): behind 16 bytes of the model's and two of length.
    fn credential_id(&self) -> Option<&'a [u8]> {
        if !self.has(ATTESTED) {
            return None;
        }
        let (_, rest) = self.rest.split_first_chunk::<16>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        rest.get(..usize::from(u16::from_be_bytes(*length)))
    }
}
