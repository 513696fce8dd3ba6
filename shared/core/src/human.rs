//! What a person's browser holds once they have signed in, and the codes that prove that a mailbox is theirs
//! (PROTOCOL.md section 4).

use crate::id::{ApproverId, Bits130, CodeId, TenantId};
use crate::json::Sha256;
use crate::seal::{KeyRing, put_text, take, take_text};
use crate::time::Timestamp;

/// What a cookie is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CookieKind {
    /// To look: sent along when a link in a mail is opened.
    View,
    /// To act: sent along only from our own pages.
    Act,
    /// To sign in again on a device that is remembered.
    Device,
}

impl CookieKind {
    const fn label(self) -> &'static str {
        match self {
            Self::View => "countersign human view",
            Self::Act => "countersign human act",
            Self::Device => "countersign human device",
        }
    }
}

/// The sealed value of a cookie. That it opens says who made it; whether it is still good is said by its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanCookie {
    /// The tenant it is good in.
    pub tenant: TenantId,
    /// Whose it is.
    pub approver: ApproverId,
    /// The session, or the device.
    pub id: Bits130,
}

impl HumanCookie {
    /// The cookie as text: characters of `[A-Za-z0-9_-]`.
    pub fn seal(&self, kind: CookieKind, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, self.tenant.as_str());
        payload.extend_from_slice(self.approver.bits().bytes());
        payload.extend_from_slice(self.id.bytes());
        ring.seal(kind.label(), &payload)
    }

    /// The cookie that `text` is, if a key of `ring` sealed it as one of that kind.
    pub fn open(kind: CookieKind, text: &str, ring: &KeyRing) -> Option<Self> {
        let payload = ring.open(kind.label(), text)?;
        let mut rest = payload.as_slice();
        let tenant = take_text(&mut rest)?.parse().ok()?;
        let approver = ApproverId::new(Bits130::from_bytes(take(&mut rest)?));
        let id = Bits130::from_bytes(take(&mut rest)?);
        rest.is_empty().then_some(Self { tenant, approver, id })
    }
}

/// The hidden field of a form: bound to a session of a person's and to one thing, good once and for a while.
pub struct FormToken;

impl FormToken {
    const LABEL: &'static str = "countersign form";

    /// A token for `what` in the session `of`. `nonce` tells it from all others.
    pub fn seal(of: &Bits130, what: &str, nonce: u64, until: Timestamp, ring: &KeyRing) -> String {
        let mut payload = nonce.to_be_bytes().to_vec();
        payload.extend_from_slice(&until.millis().to_be_bytes());
        ring.seal(&label(of, what), &payload)
    }

    /// Whether `text` is a token for `what` in the session `of` that is good at `now`.
    pub fn is_good(of: &Bits130, what: &str, text: &str, ring: &KeyRing, now: Timestamp) -> bool {
        let until = ring.open(&label(of, what), text).and_then(|payload| {
            let mut rest = payload.as_slice();
            take::<8>(&mut rest)?;
            Some(Timestamp::from_millis(i64::from_be_bytes(take(&mut rest)?)))
        });
        until.is_some_and(|until| now < until)
    }

    /// What spends a token: its hash.
    pub fn spent_by(text: &str) -> Sha256 {
        Sha256::of(format!("{}\0{text}", Self::LABEL).as_bytes())
    }
}

fn label(of: &Bits130, what: &str) -> String {
    format!("{} {of} {what}", FormToken::LABEL)
}

/// A link that signs an approver in, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigninLink {
    /// The tenant it is good in.
    pub tenant: TenantId,
    /// Whom it signs in.
    pub approver: ApproverId,
    /// From here on it is no link.
    pub until: Timestamp,
    /// Tells it from all others.
    pub nonce: u64,
    /// What bounds it further, where a sign-in of the tenant's own led to it.
    pub once: Option<OnceOnly>,
}

/// What bounds a link that a sign-in of the tenant's own led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnceOnly {
    /// What it spends: the same for all links that one proof led to.
    pub spends: Sha256,
    /// The browser that it is good in: the fingerprint of the state that its cookie holds.
    pub browser: Sha256,
}

impl SigninLink {
    const LABEL: &'static str = "countersign sign-in link";

    /// The link's token, one path segment.
    pub fn seal(&self, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, self.tenant.as_str());
        payload.extend_from_slice(self.approver.bits().bytes());
        payload.extend_from_slice(&self.until.millis().to_be_bytes());
        payload.extend_from_slice(&self.nonce.to_be_bytes());
        if let Some(once) = &self.once {
            payload.extend_from_slice(&once.spends.bytes());
            payload.extend_from_slice(&once.browser.bytes());
        }
        ring.seal(Self::LABEL, &payload)
    }

    /// The link that `text` is, if a key of `ring` sealed it. Says nothing of its end.
    pub fn open(text: &str, ring: &KeyRing) -> Option<Self> {
        let payload = ring.open(Self::LABEL, text)?;
        let mut rest = payload.as_slice();
        let tenant = take_text(&mut rest)?.parse().ok()?;
        let approver = ApproverId::new(Bits130::from_bytes(take(&mut rest)?));
        let until = Timestamp::from_millis(i64::from_be_bytes(take(&mut rest)?));
        let nonce = u64::from_be_bytes(take(&mut rest)?);
        let once = if rest.is_empty() {
            None
        } else {
            let (spends, browser) = (take(&mut rest)?, take(&mut rest)?);
            Some(OnceOnly { spends: Sha256::from_bytes(spends), browser: Sha256::from_bytes(browser) })
        };
        rest.is_empty().then_some(Self { tenant, approver, until, nonce, once })
    }

    /// What spends it; `text` is its token.
    pub fn spent_by(&self, text: &str) -> Sha256 {
        let own = || Sha256::of(format!("{}\0{text}", Self::LABEL).as_bytes());
        self.once.map_or_else(own, |once| once.spends)
    }
}

/// What a person takes along to the tenant's own sign-in, and what comes back as the claim `nonce`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsoState {
    /// The tenant it is good in.
    pub tenant: TenantId,
    /// From here on it is none.
    pub until: Timestamp,
    /// Tells it from all others.
    pub nonce: u64,
    /// The question that the person is on the way to.
    pub to: Option<String>,
}

impl SsoState {
    const LABEL: &'static str = "countersign sso state";

    /// The state as text: characters of `[A-Za-z0-9_-]`, at most 255 of them.
    pub fn seal(&self, ring: &KeyRing) -> String {
        let mut payload = Vec::new();
        put_text(&mut payload, self.tenant.as_str());
        put_text(&mut payload, self.to.as_deref().unwrap_or_default());
        payload.extend_from_slice(&self.until.millis().to_be_bytes());
        payload.extend_from_slice(&self.nonce.to_be_bytes());
        ring.seal(Self::LABEL, &payload)
    }

    /// The state that `text` is, if a key of `ring` sealed it. Says nothing of its end.
    pub fn open(text: &str, ring: &KeyRing) -> Option<Self> {
        let payload = ring.open(Self::LABEL, text)?;
        let mut rest = payload.as_slice();
        let tenant = take_text(&mut rest)?.parse().ok()?;
        let to = Some(take_text(&mut rest)?.to_owned()).filter(|to| !to.is_empty());
        let until = Timestamp::from_millis(i64::from_be_bytes(take(&mut rest)?));
        let nonce = u64::from_be_bytes(take(&mut rest)?);
        rest.is_empty().then_some(Self { tenant, until, nonce, to })
    }

    /// What stands for a state where it must not be read back.
    pub fn fingerprint(text: &str) -> Sha256 {
        Sha256::of(format!("{}\0{text}", Self::LABEL).as_bytes())
    }
}

/// The six digits of a mailed code. They follow from its id and a key of the ring, so no row holds them.
///
/// `None` where the ring has that key no more.
pub fn mailed_digits(id: CodeId, key_id: &str, ring: &KeyRing) -> Option<String> {
    let mac = ring.mac_by(key_id, "countersign mailed code", id.bits().bytes())?;
    let number = mac.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Some(format!("{:06}", number % 1_000_000))
}

/// What a person typed as a code: its digits alone.
pub fn typed_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::SealKey;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000_000);

    fn ring() -> KeyRing {
        KeyRing::new(SealKey::new("k1", [1; 32]).unwrap(), vec![])
    }

    fn cookie() -> HumanCookie {
        HumanCookie {
            tenant: "demo".parse().unwrap(),
            approver: ApproverId::new(Bits130::from_bytes([1; 17])),
            id: Bits130::from_bytes([2; 17]),
        }
    }

    #[test]
    fn a_cookie_opens_as_its_own_kind_only() {
        let text = cookie().seal(CookieKind::View, &ring());
        assert_eq!(HumanCookie::open(CookieKind::View, &text, &ring()), Some(cookie()));
        for other in [CookieKind::Act, CookieKind::Device] {
            assert_eq!(HumanCookie::open(other, &text, &ring()), None, "{other:?}");
        }
    }

    #[test]
    fn a_form_token_is_good_in_its_session_for_its_thing_until_its_end() {
        let (own, other) = (Bits130::from_bytes([1; 17]), Bits130::from_bytes([2; 17]));
        let token = FormToken::seal(&own, "el_1", 7, LATER, &ring());
        let good = |of: &Bits130, what: &str, now| FormToken::is_good(of, what, &token, &ring(), now);
        assert!(good(&own, "el_1", NOW));
        assert!(!good(&other, "el_1", NOW) && !good(&own, "el_2", NOW) && !good(&own, "el_1", LATER));
        let next = FormToken::seal(&own, "el_1", 8, LATER, &ring());
        assert_ne!(FormToken::spent_by(&token), FormToken::spent_by(&next));
    }

    #[test]
    fn a_sign_in_link_reads_back() {
        let HumanCookie { tenant, approver, .. } = cookie();
        let once = OnceOnly { spends: Sha256::of(b"a"), browser: Sha256::of(b"b") };
        for once in [None, Some(once)] {
            let link = SigninLink { tenant: tenant.clone(), approver, until: LATER, nonce: 9, once };
            assert_eq!(SigninLink::open(&link.seal(&ring()), &ring()), Some(link));
        }
        assert_eq!(SigninLink::open("x", &ring()), None);
    }

    #[test]
    fn a_state_reads_back_and_fits_a_claim() {
        let tenant: TenantId = "t".repeat(40).parse().unwrap();
        for to in [None, Some("K7Q-4MD".to_owned()), Some("x".repeat(64))] {
            let state = SsoState { tenant: tenant.clone(), until: LATER, nonce: 9, to };
            let text = state.seal(&ring());
            assert!(text.len() <= 255, "{}", text.len());
            assert_eq!(SsoState::open(&text, &ring()), Some(state));
        }
    }

    #[test]
    fn mailed_digits_are_six_and_follow_from_id_and_key() {
        let id = |byte| CodeId::new(Bits130::from_bytes([byte; 17]));
        let digits = mailed_digits(id(1), "k1", &ring()).unwrap();
        assert_eq!((digits.len(), &digits), (6, &mailed_digits(id(1), "k1", &ring()).unwrap()));
        assert_ne!(digits, mailed_digits(id(2), "k1", &ring()).unwrap());
        assert_eq!(mailed_digits(id(1), "gone", &ring()), None);
        assert_eq!(typed_digits(" 418 265\n"), "418265");
    }
}
