//! Self-certifying text: poll handles, ask tokens and cursors that are checked without a read.
//!
//! `prefix` + base64url( version, key id, payload, HMAC-SHA256(key, label ‖ version ‖ key id ‖ payload) ).
//! The label separates the kinds, so that one kind never opens as another. The key id names one key of a
//! [`KeyRing`]: after a rotation what an older key sealed stays good as long as that key stays in the ring.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};

use crate::id::{AskTokenId, Bits130, ElicitationId, SessionId, TenantId};
use crate::secret::Secret;
use crate::time::Timestamp;

type HmacSha256 = Hmac<sha2::Sha256>;

const VERSION: u8 = 1;
const MAC_BYTES: usize = 32;
const KEY_ID_BYTES: usize = 8;

/// One sealing key.
#[derive(Debug, Clone)]
pub struct SealKey {
    id: String,
    secret: Secret<[u8; 32]>,
}

impl SealKey {
    /// A key named `id`: 1 to 8 ASCII letters or digits. `None` for any other name.
    pub fn new(id: &str, secret: [u8; 32]) -> Option<Self> {
        let named =
            (1..=KEY_ID_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        named.then(|| Self { id: id.to_owned(), secret: Secret::new(secret) })
    }

    /// The key's name, which is not secret.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn mac(&self, label: &str, message: &[u8]) -> HmacSha256 {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac = HmacSha256::new_from_slice(self.secret.expose()).expect("a 32-byte key");
        mac.update(label.as_bytes());
        mac.update(&[0]);
        mac.update(message);
        mac
    }
}

/// The key that seals, and those that still open.
#[derive(Debug, Clone)]
pub struct KeyRing {
    active: SealKey,
    previous: Vec<SealKey>,
}

impl KeyRing {
    /// A ring that seals with `active` and opens with any of its keys.
    pub const fn new(active: SealKey, previous: Vec<SealKey>) -> Self {
        Self { active, previous }
    }

    fn key(&self, id: &str) -> Option<&SealKey> {
        std::iter::once(&self.active).chain(&self.previous).find(|key| key.id == id)
    }

    /// `payload` under the active key, as base64url.
    pub(crate) fn seal(&self, label: &str, payload: &[u8]) -> String {
        let mut message = vec![VERSION, u8::try_from(self.active.id.len()).unwrap_or(0)];
        message.extend_from_slice(self.active.id.as_bytes());
        message.extend_from_slice(payload);
        let mac = self.active.mac(label, &message).finalize().into_bytes();
        message.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(message)
    }

    /// The payload that some key of the ring sealed; `None` for all else.
    pub(crate) fn open(&self, label: &str, text: &str) -> Option<Vec<u8>> {
        let mut message = URL_SAFE_NO_PAD.decode(text).ok()?;
        let mac = message.split_off(message.len().checked_sub(MAC_BYTES)?);
        let (version, rest) = message.split_first()?;
        let (id_bytes, rest) = rest.split_first()?;
        let (id, payload) = rest.split_at_checked(usize::from(*id_bytes))?;
        let key = self.key(std::str::from_utf8(id).ok()?)?;
        key.mac(label, &message).verify_slice(&mac).ok()?;
        (*version == VERSION).then(|| payload.to_vec())
    }

    /// A key for another purpose out of each key of the ring, the active one first, with that key's name.
    pub fn derived(&self, label: &str) -> Vec<(String, Secret<[u8; 32]>)> {
        let derive = |key: &SealKey| {
            let bytes = key.mac(label, b"derived key").finalize().into_bytes();
            (key.id.clone(), Secret::new(bytes.into()))
        };
        std::iter::once(&self.active).chain(&self.previous).map(derive).collect()
    }

    /// A keyed hash of `secret`, to store instead of it: the key's id and the hash.
    pub fn keyed_hash(&self, label: &str, secret: &[u8]) -> KeyedHash {
        let mac = self.active.mac(label, secret).finalize().into_bytes();
        KeyedHash { key_id: self.active.id.clone(), mac: mac.to_vec() }
    }

    /// The name of the key that seals.
    pub fn active_id(&self) -> &str {
        &self.active.id
    }

    /// The MAC of `message` by the key named `key_id`; `None` where the ring has no such key.
    pub(crate) fn mac_by(&self, key_id: &str, label: &str, message: &[u8]) -> Option<[u8; MAC_BYTES]> {
        self.key(key_id).map(|key| key.mac(label, message).finalize().into_bytes().into())
    }

    /// Whether `hash` is the keyed hash of `secret`, in constant time.
    pub fn hash_matches(&self, label: &str, secret: &[u8], hash: &KeyedHash) -> bool {
        self.key(&hash.key_id).is_some_and(|key| key.mac(label, secret).verify_slice(&hash.mac).is_ok())
    }
}

/// What is stored in place of a secret.
#[derive(Debug, Clone)]
pub struct KeyedHash {
    /// The key of the ring that made it.
    pub key_id: String,
    /// HMAC-SHA256 of the secret.
    pub mac: Vec<u8>,
}

/// The sealed id that a fallback client polls with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollHandle {
    /// The tenant it is good in.
    pub tenant: TenantId,
    /// The session it is good in; `None` for a question without one.
    pub session: Option<SessionId>,
    /// The question.
    pub elicitation: ElicitationId,
    /// The question's deadline: what a poll falls back on when the row cannot be had.
    pub expires_at: Timestamp,
}

impl PollHandle {
    /// What every handle starts with.
    pub const PREFIX: &'static str = "ph_";
    const LABEL: &'static str = "countersign poll handle";

    /// The handle as text: at most 200 characters of `[A-Za-z0-9_-]`.
    pub fn seal(&self, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, self.tenant.as_str());
        payload.push(u8::from(self.session.is_some()));
        if let Some(session) = &self.session {
            payload.extend_from_slice(session.bits().bytes());
        }
        payload.extend_from_slice(self.elicitation.bits().bytes());
        payload.extend_from_slice(&self.expires_at.millis().to_be_bytes());
        format!("{}{}", Self::PREFIX, ring.seal(Self::LABEL, &payload))
    }

    /// The handle that `text` is, if a key of `ring` sealed it.
    pub fn open(text: &str, ring: &KeyRing) -> Option<Self> {
        let payload = ring.open(Self::LABEL, text.strip_prefix(Self::PREFIX)?)?;
        let mut rest = payload.as_slice();
        let tenant = take_text(&mut rest)?.parse().ok()?;
        let session = match take::<1>(&mut rest)? {
            [0] => None,
            _ => Some(SessionId::new(Bits130::from_bytes(take(&mut rest)?))),
        };
        let elicitation = ElicitationId::new(Bits130::from_bytes(take(&mut rest)?));
        let expires_at = Timestamp::from_millis(i64::from_be_bytes(take(&mut rest)?));
        rest.is_empty().then_some(Self { tenant, session, elicitation, expires_at })
    }
}

/// The capability of one session: create and poll in it, nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskToken {
    /// The tenant it is good in.
    pub tenant: TenantId,
    /// The session it is good in.
    pub session: SessionId,
    /// Its own id, by which it is listed and revoked.
    pub id: AskTokenId,
    /// From here on it creates nothing.
    pub expires_at: Timestamp,
}

impl AskToken {
    /// What every ask token starts with.
    pub const PREFIX: &'static str = "cst_";
    const LABEL: &'static str = "countersign ask token";

    /// The token as text, one path segment.
    pub fn seal(&self, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, self.tenant.as_str());
        payload.extend_from_slice(self.session.bits().bytes());
        payload.extend_from_slice(self.id.bits().bytes());
        payload.extend_from_slice(&self.expires_at.millis().to_be_bytes());
        format!("{}{}", Self::PREFIX, ring.seal(Self::LABEL, &payload))
    }

    /// The token that `text` is, if a key of `ring` sealed it. Says nothing of revocation or expiry.
    pub fn open(text: &str, ring: &KeyRing) -> Option<Self> {
        let payload = ring.open(Self::LABEL, text.strip_prefix(Self::PREFIX)?)?;
        let mut rest = payload.as_slice();
        let tenant = take_text(&mut rest)?.parse().ok()?;
        let session = SessionId::new(Bits130::from_bytes(take(&mut rest)?));
        let id = AskTokenId::new(Bits130::from_bytes(take(&mut rest)?));
        let expires_at = Timestamp::from_millis(i64::from_be_bytes(take(&mut rest)?));
        rest.is_empty().then_some(Self { tenant, session, id, expires_at })
    }
}

/// A place in a list, good only in the list that made it.
pub struct Cursor;

impl Cursor {
    const LABEL: &'static str = "countersign cursor";

    /// `place` in the list named `list`, as text.
    pub fn seal(list: &str, place: &str, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, place);
        ring.seal(&format!("{} {list}", Self::LABEL), &payload)
    }

    /// The place that `text` marks in the list named `list`.
    pub fn open(list: &str, text: &str, ring: &KeyRing) -> Option<String> {
        let payload = ring.open(&format!("{} {list}", Self::LABEL), text)?;
        let mut rest = payload.as_slice();
        let place = take_text(&mut rest)?.to_owned();
        rest.is_empty().then_some(place)
    }
}

/// A code that confirms one thing, for a while.
pub struct Confirmation;

impl Confirmation {
    const LABEL: &'static str = "countersign confirmation";

    /// A code for `what`, good until `until`.
    pub fn seal(what: &str, until: Timestamp, ring: &KeyRing) -> String {
        ring.seal(&format!("{} {what}", Self::LABEL), &until.millis().to_be_bytes())
    }

    /// Whether `code` is one for `what` that is good at `now`.
    pub fn is_good(what: &str, code: &str, ring: &KeyRing, now: Timestamp) -> bool {
        let until = ring.open(&format!("{} {what}", Self::LABEL), code);
        let until = until.and_then(|payload| payload.try_into().ok()).map(i64::from_be_bytes);
        until.is_some_and(|until| now < Timestamp::from_millis(until))
    }
}

pub(crate) fn put_text(payload: &mut Vec<u8>, text: &str) {
    debug_assert!(text.len() <= 255, "sealed texts are short by their types");
    payload.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    payload.extend_from_slice(&text.as_bytes()[..text.len().min(255)]);
}

pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}

pub(crate) fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let [length] = take::<1>(rest)?;
    let (text, left) = rest.split_at_checked(usize::from(length))?;
    *rest = left;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(id: &str, byte: u8) -> SealKey {
        SealKey::new(id, [byte; 32]).unwrap()
    }

    fn ring() -> KeyRing {
        KeyRing::new(key("k1", 1), vec![])
    }

    #[test]
    fn a_code_confirms_one_thing_for_a_while() {
        let code = Confirmation::seal("delete acme", Timestamp::from_millis(10), &ring());
        let is_good = |what, at| Confirmation::is_good(what, &code, &ring(), Timestamp::from_millis(at));
        assert!(is_good("delete acme", 9));
        assert!(!is_good("delete acme", 10) && !is_good("delete acme-2", 9));
        assert!(!Confirmation::is_good("delete acme", "x", &ring(), Timestamp::from_millis(9)));
    }

    fn handle(tenant: &str) -> PollHandle {
        PollHandle {
            tenant: tenant.parse().unwrap(),
            session: Some(SessionId::new(Bits130::from_bytes([3; 17]))),
            elicitation: ElicitationId::new(Bits130::from_bytes([4; 17])),
            expires_at: Timestamp::from_millis(1_796_068_800_000),
        }
    }

    fn token() -> AskToken {
        AskToken {
            tenant: "demo".parse().unwrap(),
            session: SessionId::new(Bits130::from_bytes([3; 17])),
            id: AskTokenId::new(Bits130::from_bytes([5; 17])),
            expires_at: Timestamp::from_millis(1_796_068_800_000),
        }
    }

    #[test]
    fn the_longest_handle_fits_in_200_url_safe_characters() {
        let ring = KeyRing::new(key("12345678", 1), vec![]);
        let text = handle(&"t".repeat(40)).seal(&ring);
        assert!(text.len() <= 200, "{}", text.len());
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }

    #[test]
    fn what_is_sealed_opens() {
        let mut sessionless = handle("demo");
        sessionless.session = None;
        for one in [handle("demo"), sessionless] {
            assert_eq!(PollHandle::open(&one.seal(&ring()), &ring()), Some(one));
        }
        assert_eq!(AskToken::open(&token().seal(&ring()), &ring()), Some(token()));
    }

    #[test]
    fn a_rotated_ring_opens_old_seals_and_a_dropped_key_does_not() {
        let old = token().seal(&ring());
        let rotated = KeyRing::new(key("k2", 2), vec![key("k1", 1)]);
        assert_eq!(AskToken::open(&old, &rotated), Some(token()));
        assert_ne!(token().seal(&rotated), old);
        assert_eq!(AskToken::open(&old, &KeyRing::new(key("k2", 2), vec![])), None);
        assert_eq!(AskToken::open(&old, &KeyRing::new(key("k1", 9), vec![])), None, "same name, other key");
    }

    #[test]
    fn one_kind_never_opens_as_another() {
        let text = token().seal(&ring()).replacen(AskToken::PREFIX, PollHandle::PREFIX, 1);
        assert_eq!(PollHandle::open(&text, &ring()), None);
        let cursor = Cursor::seal("a", "place", &ring());
        assert_eq!(Cursor::open("a", &cursor, &ring()).as_deref(), Some("place"));
        assert_eq!(Cursor::open("b", &cursor, &ring()), None);
    }

    #[test]
    fn a_keyed_hash_knows_its_secret() {
        let hash = ring().keyed_hash("api key", b"secret");
        let rotated = KeyRing::new(key("k2", 2), vec![key("k1", 1)]);
        assert!(rotated.hash_matches("api key", b"secret", &hash));
        assert!(!rotated.hash_matches("api key", b"secreu", &hash));
        assert!(!rotated.hash_matches("other", b"secret", &hash));
    }

    proptest! {
        #[test]
        fn an_edit_anywhere_does_not_open(index in 0_usize..200, replacement in "[A-Za-z0-9_-]") {
            let good = token().seal(&ring());
            let index = AskToken::PREFIX.len() + index % (good.len() - AskToken::PREFIX.len());
            let mut edited = good.clone();
            edited.replace_range(index..=index, &replacement);
            prop_assume!(edited != good);
            prop_assert_eq!(AskToken::open(&edited, &ring()), None);
        }

        #[test]
        fn a_cut_does_not_open(length in 0_usize..200) {
            let good = token().seal(&ring());
            prop_assume!(length < good.len());
            prop_assert_eq!(AskToken::open(&good[..length], &ring()), None);
        }

        #[test]
        fn no_text_opens_or_panics(text in ".*") {
            prop_assert_eq!(PollHandle::open(&text, &ring()), None);
            let prefixed = format!("ph_{text}");
            prop_assert_eq!(PollHandle::open(&prefixed, &ring()), None);
        }
    }
}
