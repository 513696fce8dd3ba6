//! Every number that bounds a token, a key or the cache of key sets.

use std::time::Duration;

/// Bytes of a token.
pub const TOKEN_BYTES: usize = 8 * 1024;
/// Characters of `iss`, `sub`, `jti` and `kid`.
pub const NAME_CHARS: usize = 255;
/// How far the clocks of an issuer and ours may differ.
pub const LEEWAY: Duration = Duration::from_secs(30);
/// How far ahead `exp` may lie, the leeway aside: a token cannot be taken back, so it must end by itself.
pub const TOKEN_LIFE_MAX: Duration = Duration::from_hours(24);
/// The largest `NumericDate` that is taken for a time: the last second of the year 9999.
pub const NUMERIC_DATE_MAX: f64 = 253_402_300_799.0;

/// Bits of an RSA modulus.
pub const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// Bytes of a shared secret: at least the output of its hash (RFC 7518 section 3.2).
pub const SECRET_BYTES: std::ops::RangeInclusive<usize> = 32..=512;
/// Bytes of a public key as PEM, and of each member of a JWK.
pub const PUBLIC_KEY_BYTES: usize = 4 * 1024;
/// Keys of an issuer that are registered one by one.
pub const STATIC_KEYS_MAX: usize = 10;
/// Keys that one token is tried against.
pub const CANDIDATES_MAX: usize = 8;
/// Characters of a JWKS URL.
pub const URL_CHARS: usize = 2048;
/// Characters of a claim's name.
pub const CLAIM_CHARS: usize = 128;
/// Values of `acr` for one level of assurance.
pub const ACR_VALUES_MAX: usize = 20;

/// Whoever fetches a key set gives up after this.
pub const JWKS_LIMIT: Duration = Duration::from_millis(1500);
/// Bytes of a key set. Whoever fetches one reads no more than this, and the cache checks it again.
pub const JWKS_BYTES: usize = 150 * 1024;
/// Keys in a key set, the unusable ones too.
pub const JWKS_KEYS_MAX: usize = 50;
/// A key set is fetched at most this often, whatever is asked and however the last attempt ended.
pub const JWKS_REFRESH_MIN: Duration = Duration::from_mins(1);
/// A key set is used this long without asking again; a withdrawn key is gone after it.
pub const JWKS_FRESH: Duration = Duration::from_mins(10);
/// While fetching fails, a key set is used this long after it was last fetched.
pub const JWKS_STALE: Duration = Duration::from_hours(1);
/// A `kid` that a refresh did not bring causes no other refresh for this long.
pub const KID_MISSING_FOR: Duration = Duration::from_mins(5);
/// Missing `kid`s that are remembered for one key set.
pub const KIDS_MISSING_MAX: usize = 256;
/// Key sets that are kept.
pub const JWKS_SETS_MAX: usize = 512;

/// Bytes of what a browser answers for a passkey, as the script posts it.
pub const PASSKEY_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of a credential's id (Web Authentication Level 3, section 4).
pub const CREDENTIAL_ID_BYTES: usize = 1023;
