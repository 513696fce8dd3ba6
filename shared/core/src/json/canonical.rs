//! The RFC 8785 form, which is what hashes and signatures are made over, and its digest.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::Digest as _;

/// The RFC 8785 form of `value`: the bytes that are hashed.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "fails only for NaN, infinities and duplicate keys, which a Value cannot hold"
)]
pub fn canonical(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).expect("a Value has a canonical form")
}

/// SHA-256 of `bytes`, for those who want the bare bytes; elsewhere [`Sha256`].
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256(bytes))
    }

    /// The digest of the canonical form of `value`.
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical(value).as_bytes())
    }

    /// The digest that `hex` writes out: 64 digits in either case.
    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The digest of which `bytes` are the bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(self) -> String {
        self.to_string()
    }

    /// 43 characters of unpadded base64url.
    pub fn base64url(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    macro_rules! vector {
        ($name:literal) => {
            check(
                include_str!(concat!("../../testdata/jcs/", $name, ".input.json")),
                include_str!(concat!("../../testdata/jcs/", $name, ".output.json")),
            )
        };
    }

    #[track_caller]
    fn check(input: &str, want: &str) {
        assert_eq!(canonical(&read(input.as_bytes()).unwrap()), want);
    }

    #[test]
    fn the_published_documents_come_out_byte_for_byte() {
        vector!("arrays");
        vector!("french");
        vector!("structures");
        vector!("unicode");
        vector!("values");
        vector!("weird");
    }

    #[test]
    fn the_published_numbers_are_written_as_published_and_read_back() {
        for line in include_str!("../../testdata/jcs/numbers.txt").lines() {
            let (bits, text) = line.split_once(' ').unwrap();
            let double = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
            assert_eq!(canonical(&Value::from(double)), text, "{bits}");
            check(text, text);
        }
    }

    #[test]
    fn digests_are_those_of_others() {
        assert_eq!(Sha256::of(b"").hex(), EMPTY);
        assert_eq!(Sha256::of(b"").base64url(), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        let (spaced, plain) = (read(b"{ \"b\": 1.0, \"a\": 2 }").unwrap(), br#"{"a":2,"b":1}"#);
        assert_eq!(Sha256::of_json(&spaced), Sha256::of(plain));
    }

    #[test]
    fn hex_reads_in_either_case_and_in_full_only() {
        let digest = Sha256::of(b"");
        assert_eq!(Sha256::from_hex(EMPTY), Some(digest));
        assert_eq!(Sha256::from_hex(&EMPTY.to_uppercase()), Some(digest));
        for bad in [
            "",
            &EMPTY[1..],
            &format!("{EMPTY}0"),
            &EMPTY.replace('e', "g"),
            &"+1".repeat(32),
            &"é".repeat(32),
        ] {
            assert_eq!(Sha256::from_hex(bad), None, "{bad}");
        }
    }
}
