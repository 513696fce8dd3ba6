//! Standard Webhooks signatures (<https://www.standardwebhooks.com>, spec version 1): `v1,` and the base64 of
//! HMAC-SHA256 over `id.timestamp.body`, under a secret that is shown as `whsec_` and its base64.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};

use crate::id::BadId;
use crate::secret::Secret;
use crate::time::Timestamp;

/// How far the sender's clock may be from ours, either way.
pub const TOLERANCE: Duration = Duration::from_mins(5);
/// Characters of a `webhook-id`.
pub const ID_CHARS: usize = 255;

/// Signatures of one message that are looked at: two secrets overlap while one is rotated.
const SIGNATURES: usize = 8;

/// `whsec_…`: what both sides of a webhook share.
#[derive(Debug, Clone)]
pub struct SigningSecret(Secret<Vec<u8>>);

impl SigningSecret {
    /// What every such secret starts with.
    pub const PREFIX: &'static str = "whsec_";
    /// Bytes of a secret that we make: within the 24 to 64 that the spec asks for.
    pub const BYTES: usize = 32;

    /// A secret out of random bytes.
    pub fn mint(random: [u8; Self::BYTES]) -> Self {
        Self(Secret::new(random.to_vec()))
    }

    /// The whole secret, to be shown once.
    pub fn reveal(&self) -> String {
        format!("{}{}", Self::PREFIX, STANDARD.encode(self.0.expose()))
    }

    /// The signature of a message.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        format!("v1,{}", STANDARD.encode(self.mac(id, timestamp, body).finalize().into_bytes()))
    }

    fn mac(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<sha2::Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac = Hmac::new_from_slice(self.0.expose()).expect("any key");
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        mac
    }

    fn signed(&self, message: &Signed<'_>, timestamp: i64) -> bool {
        let genuine = |signature: &Vec<u8>| {
            self.mac(message.id, timestamp, message.body).verify_slice(signature).is_ok()
        };
        message.signatures().any(|signature| genuine(&signature))
    }
}

impl FromStr for SigningSecret {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bytes = text.strip_prefix(Self::PREFIX).and_then(|base64| STANDARD.decode(base64).ok());
        bytes.map(|bytes| Self(Secret::new(bytes))).ok_or(BadId("signing secret"))
    }
}

/// A message with its three headers, as they came.
#[derive(Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `webhook-timestamp`, Unix seconds.
    pub timestamp: &'a str,
    /// `webhook-signature`: signatures with their versions, separated by spaces.
    pub signature: &'a str,
    /// The body's bytes.
    pub body: &'a [u8],
}

impl Signed<'_> {
    /// Whether one of `secrets` signed the message, and within [`TOLERANCE`] of `now`.
    ///
    /// # Errors
    /// Why not. Which of the secrets failed is not told apart.
    pub fn verify<'s>(
        &self,
        secrets: impl IntoIterator<Item = &'s SigningSecret>,
        now: Timestamp,
    ) -> Result<(), Unsigned> {
        let id_is_good =
            (1..=ID_CHARS).contains(&self.id.len()) && self.id.bytes().all(|b| b.is_ascii_graphic());
        if !id_is_good {
            return Err(Unsigned::Id);
        }
        // A sign or a leading zero would make two texts of one time: the signature is over the text.
        let timestamp: i64 = self.timestamp.parse().map_err(|_| Unsigned::Timestamp)?;
        if timestamp.to_string() != self.timestamp {
            return Err(Unsigned::Timestamp);
        }
        let genuine = secrets.into_iter().fold(false, |found, secret| found | secret.signed(self, timestamp));
        if !genuine {
            return Err(Unsigned::Signature);
        }
        let sent = i128::from(timestamp) * 1_000;
        let distance = (i128::from(now.millis()) - sent).unsigned_abs();
        if distance > TOLERANCE.as_millis() { Err(Unsigned::Timestamp) } else { Ok(()) }
    }

    /// The signatures of the version that we know.
    fn signatures(&self) -> impl Iterator<Item = Vec<u8>> {
        let known = self.signature.split(' ').take(SIGNATURES).filter_map(|one| one.strip_prefix("v1,"));
        known.filter_map(|base64| STANDARD.decode(base64).ok())
    }
}

impl fmt::Debug for Signed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed")
            .field("id", &self.id)
            .field("timestamp", &self.timestamp)
            .finish_non_exhaustive()
    }
}

/// Why a message is not taken as signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsigned {
    /// `webhook-id` is missing, or not 1 to 255 visible ASCII characters.
    #[error("webhook-id must be 1 to 255 visible ASCII characters")]
    Id,
    /// `webhook-timestamp` is no time in Unix seconds, or further than five minutes from ours.
    #[error("webhook-timestamp must be the present in Unix seconds, within five minutes")]
    Timestamp,
    /// No signature fits.
    #[error("webhook-signature fits no active secret")]
    Signature,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's reference libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: &str = "1614265330";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn message() -> Signed<'static> {
        Signed { id: ID, timestamp: AT, signature: SIGNATURE, body: BODY }
    }

    fn verify(message: Signed<'_>) -> Result<(), Unsigned> {
        verify_at(message, 1_614_265_330)
    }

    fn verify_at(message: Signed<'_>, seconds: i64) -> Result<(), Unsigned> {
        message.verify(&[SECRET.parse().unwrap()], Timestamp::from_millis(seconds * 1_000))
    }

    #[test]
    fn the_example_of_the_specification_verifies_and_is_what_we_sign() {
        let secret: SigningSecret = SECRET.parse().unwrap();
        assert_eq!(verify(message()), Ok(()));
        assert_eq!(secret.sign(ID, 1_614_265_330, BODY), SIGNATURE);
        assert_eq!(secret.reveal(), SECRET);
    }

    #[test]
    fn anything_edited_is_not_signed() {
        assert_eq!(verify(Signed { id: "msg_other", ..message() }), Err(Unsigned::Signature));
        assert_eq!(verify(Signed { timestamp: "1614265331", ..message() }), Err(Unsigned::Signature));
        assert_eq!(
            verify(Signed { body: br#"{"test": 2432232315}"#, ..message() }),
            Err(Unsigned::Signature)
        );
        for signature in ["", "v1,", "v1,AAAA", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "g0hM9SsE"]
        {
            assert_eq!(verify(Signed { signature, ..message() }), Err(Unsigned::Signature), "{signature}");
        }
    }

    #[test]
    fn one_good_signature_among_several_is_enough_and_any_active_secret_makes_one() {
        let several = format!("v1a,zzz v1,AAAA {SIGNATURE}");
        assert_eq!(verify(Signed { signature: &several, ..message() }), Ok(()));
        let secrets = [SigningSecret::mint([1; 32]), SECRET.parse().unwrap()];
        assert_eq!(message().verify(&secrets, Timestamp::from_millis(1_614_265_330_000)), Ok(()));
        assert_eq!(
            message().verify(&secrets[..1], Timestamp::from_millis(1_614_265_330_000)),
            Err(Unsigned::Signature)
        );
        assert_eq!(message().verify([], Timestamp::from_millis(1_614_265_330_000)), Err(Unsigned::Signature));
    }

    #[test]
    fn a_time_is_good_for_five_minutes_either_way() {
        assert_eq!(verify_at(message(), 1_614_265_330 + 300), Ok(()));
        assert_eq!(verify_at(message(), 1_614_265_330 - 300), Ok(()));
        assert_eq!(verify_at(message(), 1_614_265_330 + 301), Err(Unsigned::Timestamp));
        assert_eq!(verify_at(message(), 1_614_265_330 - 301), Err(Unsigned::Timestamp));
        for timestamp in ["", "x", "+1614265330", "01614265330", "1614265330.0", "99999999999999999999"] {
            assert_eq!(verify(Signed { timestamp, ..message() }), Err(Unsigned::Timestamp), "{timestamp}");
        }
    }

    #[test]
    fn an_id_is_short_visible_text() {
        for id in ["", "a b", "é", "a\n", &"x".repeat(256)] {
            assert_eq!(verify(Signed { id, ..message() }), Err(Unsigned::Id), "{id:?}");
        }
    }

    #[test]
    fn nothing_prints_the_secret_or_the_body() {
        let shown = format!("{:?} {:?}", SECRET.parse::<SigningSecret>().unwrap(), message());
        assert!(!shown.contains("MfKQ") && !shown.contains("2432232314"), "{shown}");
    }
}
