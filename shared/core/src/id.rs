//! Names of things. A value of one of these types is well-formed; `FromStr` is the only way in from text.

use std::fmt;
use std::str::FromStr;

use serde_json::json;

use crate::json::Sha256;
use crate::limits::REQUEST_ID_CHARS;

/// Text that is not a well-formed name of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a well-formed {0}")]
pub struct BadId(pub &'static str);

const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BITS130_CHARS: usize = 26;

/// 130 bits, printed as 26 lower-case Crockford base32 characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits130([u8; 17]);

impl Bits130 {
    /// How many bytes hold the bits; the last six bits of the last byte are zero.
    pub const BYTES: usize = 17;

    /// The first 130 bits of `bytes`.
    pub fn from_bytes(mut bytes: [u8; Self::BYTES]) -> Self {
        bytes[16] &= 0b1100_0000;
        Self(bytes)
    }

    fn from_hash(hash: Sha256) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(&hash.bytes()[..Self::BYTES]);
        Self::from_bytes(bytes)
    }

    /// The bits, left-aligned.
    pub const fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    fn quintet(&self, index: usize) -> usize {
        let bit = index * 5;
        let high = u16::from(self.0[bit / 8]) << 8;
        let low = self.0.get(bit / 8 + 1).map_or(0, |byte| u16::from(*byte));
        usize::from((high | low) >> (11 - bit % 8)) & 0b1_1111
    }
}

impl fmt::Display for Bits130 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..BITS130_CHARS).try_for_each(|index| write!(f, "{}", char::from(CROCKFORD[self.quintet(index)])))
    }
}

impl fmt::Debug for Bits130 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Bits130 {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() != BITS130_CHARS {
            return Err(BadId("identifier"));
        }
        let mut bytes = [0_u8; Self::BYTES];
        for (index, character) in text.bytes().enumerate() {
            let value = CROCKFORD.iter().position(|known| *known == character).ok_or(BadId("identifier"))?;
            for offset in 0..5 {
                let bit = index * 5 + offset;
                let set = u8::from((value >> (4 - offset)) & 1 == 1);
                bytes[bit / 8] |= set << (7 - bit % 8);
            }
        }
        Ok(Self(bytes))
    }
}

macro_rules! prefixed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Bits130);

        impl $name {
            /// What every such id starts with.
            pub const PREFIX: &'static str = $prefix;

            /// The id made of these bits.
            pub const fn new(bits: Bits130) -> Self {
                Self(bits)
            }

            /// The bits behind the prefix.
            pub const fn bits(&self) -> &Bits130 {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                text.strip_prefix($prefix).and_then(|bits| bits.parse().ok()).map(Self).ok_or(BadId($kind))
            }
        }
    };
}

prefixed_id!(
    /// One question to a human. Derived where a retry must land on the same row, random elsewhere.
    ElicitationId,
    "el_",
    "elicitation id"
);
prefixed_id!(
    /// The agent run that questions belong to; derived from tenant and name.
    SessionId,
    "se_",
    "session id"
);
prefixed_id!(
    /// A human who may answer.
    ApproverId,
    "ap_",
    "approver id"
);
prefixed_id!(
    /// One ask token of a session. Not secret: the token is.
    AskTokenId,
    "at_",
    "ask token id"
);
prefixed_id!(
    /// One API key of a tenant. Not secret: the key is.
    ApiKeyId,
    "key_",
    "API key id"
);

prefixed_id!(
    /// An identity provider of a tenant's own; derived from the tenant and what it calls itself.
    IssuerId,
    "is_",
    "issuer id"
);

prefixed_id!(
    /// A person who is signed in, in one browser.
    HumanSessionId,
    "hs_",
    "human session id"
);
prefixed_id!(
    /// A device that its approver wants remembered.
    DeviceId,
    "dv_",
    "device id"
);
prefixed_id!(
    /// One code that was mailed to somebody.
    CodeId,
    "co_",
    "code id"
);

/// Which protocol asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// The pulsemcp fallback protocol (PROTOCOL.md section 1).
    Fallback,
    /// The native API (PROTOCOL.md section 2).
    Native,
}

impl Front {
    /// The word that stands for this front in hashes and rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::Native => "native",
        }
    }
}

impl ElicitationId {
    /// The id that a retried create computes again (DESIGN.md section 4): `key` is the request-id or the
    /// Idempotency-Key.
    pub fn derive(
        front: Front,
        tenant: &TenantId,
        principal: &Principal,
        session: Option<SessionId>,
        key: &str,
    ) -> Self {
        let session = session.map(|id| id.to_string()).unwrap_or_default();
        let parts = json!(["elicitation", front.word(), tenant.as_str(), principal.as_str(), session, key]);
        Self(Bits130::from_hash(Sha256::of_json(&parts)))
    }
}

impl IssuerId {
    /// The id of the issuer that calls itself `iss` in `tenant`.
    pub fn derive(tenant: &TenantId, iss: &str) -> Self {
        Self(Bits130::from_hash(Sha256::of_json(&json!(["issuer", tenant.as_str(), iss]))))
    }
}

impl SessionId {
    /// The id of the session that `tenant` calls `name`.
    pub fn derive(tenant: &TenantId, name: &SessionName) -> Self {
        Self(Bits130::from_hash(Sha256::of_json(&json!(["session", tenant.as_str(), name.as_str()]))))
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $well_formed:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let well_formed: fn(&str) -> bool = $well_formed;
                if well_formed(text) { Ok(Self(text.to_owned())) } else { Err(BadId($kind)) }
            }
        }
    };
}

text_id!(
    /// A tenant: 3 to 40 of `a-z`, `0-9` and `-`.
    TenantId,
    "tenant id",
    |text| {
        (3..=40).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    }
);
text_id!(
    /// What a tenant calls a session: 1 to 128 of `A-Z a-z 0-9 . _ : -`, not starting with `se_`.
    SessionName,
    "session name",
    |text| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
            && !text.starts_with(SessionId::PREFIX)
    }
);
text_id!(
    /// The asker's own id of a question: 1 to 255 characters, not blank, no controls, not starting with `ph_` or `el_`.
    RequestId,
    "request-id",
    |text| {
        (1..=REQUEST_ID_CHARS).contains(&text.chars().count())
            && !text.trim().is_empty()
            && !text.chars().any(char::is_control)
            && !text.starts_with("ph_")
            && !text.starts_with(ElicitationId::PREFIX)
    }
);
text_id!(
    /// An Idempotency-Key: 1 to 255 printable ASCII characters.
    IdempotencyKey,
    "Idempotency-Key",
    |text| (1..=REQUEST_ID_CHARS).contains(&text.len()) && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
);

text_id!(
    /// A group of approvers: 1 to 40 of `a-z`, `0-9` and `-`, not starting with `-`.
    GroupName,
    "group name",
    |text| {
        (1..=40).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && !text.starts_with('-')
    }
);

/// Who acts, in a form that survives key rotation (PROTOCOL.md section 0).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(String);

impl Principal {
    /// The principal of an API key.
    pub fn api_key(id: ApiKeyId) -> Self {
        Self(id.to_string())
    }

    /// The principal of every ask token of a session.
    pub fn session(id: SessionId) -> Self {
        Self(id.to_string())
    }

    /// The principal of an approver who answers without a credential of their own with us.
    pub fn approver(id: ApproverId) -> Self {
        Self(id.to_string())
    }

    /// A principal as a row keeps it.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text that is stored and compared.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Short, non-secret code that both sides see, such as `K7Q-4MD`. Unique within a tenant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Reference(String);

impl Reference {
    /// The reference made of the first 30 bits of `random`.
    pub fn from_random(random: [u8; 4]) -> Self {
        let bits = u32::from_be_bytes(random) >> 2;
        let symbol = |index: u32| {
            let value = usize::try_from(bits >> (25 - 5 * index)).unwrap_or(0) & 0b1_1111;
            char::from(CROCKFORD[value].to_ascii_uppercase())
        };
        Self((0..3).map(symbol).chain(std::iter::once('-')).chain((3..6).map(symbol)).collect())
    }

    /// The text, `XXX-XXX`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Reference {
    type Err = BadId;

    /// Reads what a person may have typed: any case, with or without the dash, `O` for `0`, `I` and `L` for `1`.
    fn from_str(text: &str) -> Result<Self, BadId> {
        let symbols: String = text
            .chars()
            .filter(|character| *character != '-' && *character != ' ')
            .map(|character| match character.to_ascii_uppercase() {
                'O' => '0',
                'I' | 'L' => '1',
                other => other,
            })
            .collect();
        let known = |byte: u8| CROCKFORD.contains(&byte.to_ascii_lowercase());
        if symbols.len() == 6 && symbols.bytes().all(known) {
            Ok(Self(format!("{}-{}", &symbols[..3], &symbols[3..])))
        } else {
            Err(BadId("reference"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenant_id_is_lower_case_and_short() {
        for good in ["demo", "a-1", &"x".repeat(40)] {
            assert!(good.parse::<TenantId>().is_ok(), "{good}");
        }
        for bad in ["", "ab", "Demo", "a_b", "a.b", &"x".repeat(41)] {
            assert!(bad.parse::<TenantId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_request_id_may_not_look_like_ours() {
        for bad in ["", "  ", "ph_x", "el_x", "a\nb", &"x".repeat(256)] {
            assert!(bad.parse::<RequestId>().is_err(), "{bad:?}");
        }
        assert!("é".repeat(255).parse::<RequestId>().is_ok(), "characters count, not bytes");
    }

    #[test]
    fn a_reference_reads_as_people_type_it() {
        let reference: Reference = "K70-4M1".parse().unwrap();
        for typed in ["k70-4m1", "k7o4ml", " K7O 4MI "] {
            assert_eq!(typed.parse::<Reference>().unwrap(), reference, "{typed}");
        }
    }

    #[test]
    fn a_derived_id_depends_on_each_part() {
        let tenant: TenantId = "demo".parse().unwrap();
        let one = Principal::stored("a");
        let id =
            |front, principal: &Principal, key| ElicitationId::derive(front, &tenant, principal, None, key);
        let base = id(Front::Native, &one, "k");
        assert_eq!(base, id(Front::Native, &one, "k"));
        assert_ne!(base, id(Front::Fallback, &one, "k"));
        assert_ne!(base, id(Front::Native, &Principal::stored("b"), "k"));
        assert_ne!(base, id(Front::Native, &one, "l"));
    }

    proptest! {
        #[test]
        fn an_id_reads_back(bytes: [u8; 17]) {
            let id = ElicitationId::new(Bits130::from_bytes(bytes));
            prop_assert_eq!(id.to_string().len(), 29);
            prop_assert_eq!(id.to_string().parse::<ElicitationId>(), Ok(id));
        }

        #[test]
        fn a_reference_reads_back(random: [u8; 4]) {
            let reference = Reference::from_random(random);
            prop_assert_eq!(reference.as_str().parse::<Reference>(), Ok(reference.clone()));
        }
    }
}
