//! Verification of what people show: JWTs that a tenant's own identity provider issued (PROTOCOL.md sections 0 and 2.5),
//! and [`passkey`]s.
//!
//! What a token may say is decided by what was registered: an [`Issuer`] pins the algorithm of every key, and
//! the header's `jku`, `x5u`, `x5c` and `jwk` are never looked at. [`peek()`] reads a token without believing it,
//! so that the issuer can be looked up; [`Verifier::verify`] believes it.
//!
//! There is no I/O here and no clock: key sets come through [`FetchJwks`], the present as an argument.
//! `jsonwebtoken` checks signatures and nothing else. Its own reading of headers and claims is too lenient
//! for us (duplicate keys, any `typ`) and takes the time from the system.

mod algorithm;
mod cache;
mod claims;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
mod issuer;
mod jwks;
mod key;
pub mod limits;
pub mod passkey;
mod peek;
mod verify;

pub use algorithm::Algorithm;
pub use cache::{FetchFailed, FetchJwks, KeysUnavailable};
pub use claims::Verified;
pub use issuer::{
    AcrLevels, Issuer, Jwks, JwksUrl, Keys, PlainHttp, SCOPES_CLAIM_DEFAULT, StaticKey, StaticKeys,
};
pub use key::Material;
pub use peek::{Peeked, peek};
pub use verify::{Refused, Verifier, VerifyError};
