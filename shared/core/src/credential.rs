//! Keys that people and programs carry: how they look, and how a typing error is told from a wrong key.

use std::fmt;
use std::str::FromStr;

use crate::id::{ApiKeyId, BadId, Bits130, TenantId};
use crate::json::Sha256;
use crate::secret::Secret;

const CHECK_CHARS: usize = 6;

/// What a key may do (PROTOCOL.md section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Create questions and sessions, read its own.
    Ask,
    /// Read everything of the tenant.
    Read,
    /// Decide.
    Decide,
    /// Manage the tenant.
    Manage,
    /// Fetch codec keys.
    Codec,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Ask, Self::Read, Self::Decide, Self::Manage, Self::Codec];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Manage => "manage",
            Self::Codec => "codec",
        }
    }
}

impl FromStr for Scope {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|scope| scope.word() == word).ok_or(BadId("scope"))
    }
}

/// `csk_<tenant>.<id>_<secret><check>`: a tenant's API key. The prefix and the check let secret scanners find it.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// The tenant it belongs to.
    pub tenant: TenantId,
    /// Its id, which is not secret.
    pub id: ApiKeyId,
    secret: Secret<String>,
}

impl ApiKey {
    /// What every API key starts with.
    pub const PREFIX: &'static str = "csk_";

    /// A key out of random bits.
    pub fn mint(tenant: TenantId, id: Bits130, secret: Bits130) -> Self {
        Self { tenant, id: ApiKeyId::new(id), secret: Secret::new(secret.to_string()) }
    }

    /// Another secret for the key of that id.
    pub fn of(tenant: TenantId, id: ApiKeyId, secret: Bits130) -> Self {
        Self { tenant, id, secret: Secret::new(secret.to_string()) }
    }

    /// The part that proves possession, for hashing.
    pub fn secret_bytes(&self) -> &[u8] {
        self.secret.expose().as_bytes()
    }

    /// The whole key, to be shown once.
    pub fn reveal(&self) -> String {
        let body = format!("{}{}.{}_{}", Self::PREFIX, self.tenant, self.id.bits(), self.secret.expose());
        let check = check(&body);
        body + &check
    }
}

impl FromStr for ApiKey {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        read_api_key(text).ok_or(BadId("API key"))
    }
}

fn read_api_key(text: &str) -> Option<ApiKey> {
    let body = checked(text)?;
    let (tenant, rest) = body.strip_prefix(ApiKey::PREFIX)?.split_once('.')?;
    let (id, secret) = rest.split_once('_')?;
    Some(ApiKey::mint(tenant.parse().ok()?, id.parse().ok()?, secret.parse().ok()?))
}

/// `csop_<secret><check>`: the operator's key.
#[derive(Debug, Clone)]
pub struct OperatorKey(Secret<String>);

impl OperatorKey {
    /// What every operator key starts with.
    pub const PREFIX: &'static str = "csop_";

    /// A key out of random bits.
    pub fn mint(secret: Bits130) -> Self {
        Self(Secret::new(secret.to_string()))
    }

    /// The whole key, to be shown once.
    pub fn reveal(&self) -> String {
        let body = format!("{}{}", Self::PREFIX, self.0.expose());
        let check = check(&body);
        body + &check
    }

    /// Whether both are the same key, in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.matches(other.0.expose().as_bytes())
    }
}

impl FromStr for OperatorKey {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let read = || checked(text)?.strip_prefix(Self::PREFIX)?.parse().ok().map(Self::mint);
        read().ok_or(BadId("operator key"))
    }
}

/// The last six symbols: 30 bits of the SHA-256 of all before them.
fn check(body: &str) -> String {
    let mut bytes = [0; Bits130::BYTES];
    bytes.copy_from_slice(&Sha256::of(body.as_bytes()).bytes()[..Bits130::BYTES]);
    let mut symbols = Bits130::from_bytes(bytes).to_string();
    symbols.truncate(CHECK_CHARS);
    symbols
}

fn checked(text: &str) -> Option<&str> {
    let (body, claimed) = text.split_at_checked(text.len().checked_sub(CHECK_CHARS)?)?;
    (check(body) == claimed).then_some(body)
}

/// What a bearer sent, by its look alone; nothing of it is verified.
#[derive(Debug, Clone)]
pub enum Presented {
    /// Looks like an API key and its check fits.
    ApiKey(ApiKey),
    /// Looks like the operator's key and its check fits.
    Operator(OperatorKey),
}

impl Presented {
    /// The credential that `text` looks like.
    pub fn read(text: &str) -> Option<Self> {
        text.parse().map(Self::ApiKey).or_else(|_| text.parse().map(Self::Operator)).ok()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ApiKey {
        let bits = |byte| Bits130::from_bytes([byte; 17]);
        ApiKey::mint("demo".parse().unwrap(), bits(1), bits(2))
    }

    #[test]
    fn a_key_reads_back() {
        let read: ApiKey = key().reveal().parse().unwrap();
        assert_eq!(read.tenant, key().tenant);
        assert_eq!(read.id, key().id);
        assert_eq!(read.reveal(), key().reveal());
    }

    #[test]
    fn a_typing_error_is_not_a_key() {
        let good = key().reveal();
        for index in 0..good.len() {
            let mut edited = good.clone();
            let other = if &good[index..=index] == "x" { "y" } else { "x" };
            edited.replace_range(index..=index, other);
            assert!(edited.parse::<ApiKey>().is_err(), "{edited}");
        }
        assert!("é".parse::<ApiKey>().is_err());
        assert!("".parse::<OperatorKey>().is_err());
    }

    #[test]
    fn a_key_does_not_print_its_secret() {
        let shown = format!("{:?}", key());
        assert!(!shown.contains(key().secret.expose().as_str()), "{shown}");
    }

    #[test]
    fn an_operator_key_reads_back_and_is_no_api_key() {
        let operator = OperatorKey::mint(Bits130::from_bytes([9; 17]));
        let text = operator.reveal();
        assert!(matches!(Presented::read(&text), Some(Presented::Operator(read)) if read.matches(&operator)));
        assert!(Presented::read(&key().reveal()).is_some_and(|one| matches!(one, Presented::ApiKey(_))));
        assert!(Presented::read("nonsense").is_none());
    }
}
