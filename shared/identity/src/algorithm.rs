//! The signature algorithms that an issuer may register.

use std::fmt;
use std::str::FromStr;

use countersign_core::id::BadId;

/// A JWS algorithm (RFC 7518 section 3.1, RFC 8037). The list is closed: `none` is not a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
    /// HMAC with SHA-256, for a shared secret that was registered as such.
    Hs256,
}

/// What an algorithm takes for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Rsa,
    P256,
    P384,
    Ed25519,
    Secret,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 10] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Hs256,
    ];

    /// The value of `alg`, as headers and rows have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
        }
    }

    pub(crate) const fn family(self) -> Family {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => Family::Rsa,
            Self::Es256 => Family::P256,
            Self::Es384 => Family::P384,
            Self::EdDsa => Family::Ed25519,
            Self::Hs256 => Family::Secret,
        }
    }

    pub(crate) const fn library(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::Rs256 => jsonwebtoken::Algorithm::RS256,
            Self::Rs384 => jsonwebtoken::Algorithm::RS384,
            Self::Rs512 => jsonwebtoken::Algorithm::RS512,
            Self::Ps256 => jsonwebtoken::Algorithm::PS256,
            Self::Ps384 => jsonwebtoken::Algorithm::PS384,
            Self::Ps512 => jsonwebtoken::Algorithm::PS512,
            Self::Es256 => jsonwebtoken::Algorithm::ES256,
            Self::Es384 => jsonwebtoken::Algorithm::ES384,
            Self::EdDsa => jsonwebtoken::Algorithm::EdDSA,
            Self::Hs256 => jsonwebtoken::Algorithm::HS256,
        }
    }
}

impl FromStr for Algorithm {
    type Err = BadId;

    /// Reads the exact name: case counts (RFC 7515 section 4.1.1).
    fn from_str(name: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or(BadId("algorithm"))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
