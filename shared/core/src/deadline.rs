//! When a question ends, and until when it may be decided.

use std::time::Duration;

use crate::limits::{EXPIRY_MAX, EXPIRY_MIN, LAST_CALL_MARGIN, LAST_CALL_WINDOW};
use crate::time::Timestamp;

/// The three instants of one question, fixed at creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// From here on the question is expired.
    pub expires_at: Timestamp,
    /// From here on, inclusive, a decision is refused.
    pub decide_by: Timestamp,
    /// When the asker itself stops listening; never after `expires_at`.
    pub asker_deadline: Timestamp,
}

impl Deadlines {
    /// The deadlines of a fallback question (PROTOCOL.md section 1.2): the client stops by its own clock, so the
    /// last moment of a decision lies [`LAST_CALL_MARGIN`] before that.
    ///
    /// `asked` is what the request named, `default` the wait where it named none.
    pub fn fallback(now: Timestamp, asked: Option<Timestamp>, default: Duration) -> Self {
        let expires_at = clamp(now, asked, default);
        let asker_deadline =
            asked.filter(|own| *own > now.plus(LAST_CALL_MARGIN) && *own < expires_at).unwrap_or(expires_at);
        Self { expires_at, decide_by: asker_deadline.minus(LAST_CALL_MARGIN), asker_deadline }
    }

    /// The deadlines of a native question: it may be decided until it expires.
    pub fn native(now: Timestamp, asked: Option<Timestamp>, default: Duration) -> Self {
        let expires_at = clamp(now, asked, default);
        Self { expires_at, decide_by: expires_at, asker_deadline: expires_at }
    }

    /// Whether a read at `now` is the asker's last call, to be held until [`Self::asker_deadline`].
    pub fn is_last_call(&self, now: Timestamp) -> bool {
        now >= self.asker_deadline.minus(LAST_CALL_WINDOW) && now < self.asker_deadline
    }
}

fn clamp(now: Timestamp, asked: Option<Timestamp>, default: Duration) -> Timestamp {
    asked.unwrap_or_else(|| now.plus(default)).clamp(now.plus(EXPIRY_MIN), now.plus(EXPIRY_MAX))
}

/// What became of a configured number of minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfiguredExpiry {
    /// Blank: nobody configured anything.
    Unset,
    /// Not a positive whole number: ignored, and worth a log line.
    Ignored,
    /// A usable wait, clamped to the granted bounds.
    Wait(Duration),
}

/// Reads `ELICITATION_EXPIRATION_MINUTES`. No text makes a start fail.
pub fn configured_expiry(text: &str) -> ConfiguredExpiry {
    let text = text.trim();
    if text.is_empty() {
        return ConfiguredExpiry::Unset;
    }
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(minutes) if minutes > 0 => {
            let wait = Duration::from_secs(minutes.saturating_mul(60));
            ConfiguredExpiry::Wait(wait.clamp(EXPIRY_MIN, EXPIRY_MAX))
        }
        Err(_) if digits_only => ConfiguredExpiry::Wait(EXPIRY_MAX), // more digits than fit: above the cap all the same
        _ => ConfiguredExpiry::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::EXPIRY_DEFAULT;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_millis(1_796_068_800_000);

    #[track_caller]
    fn check(asked_after: i64, want_expires: u64, want_asker: u64) {
        let asked = Timestamp::from_millis(NOW.millis() + asked_after);
        let got = Deadlines::fallback(NOW, Some(asked), EXPIRY_DEFAULT);
        let after = |at: Timestamp| u64::try_from(at.millis() - NOW.millis()).unwrap();
        assert_eq!(
            (after(got.expires_at), after(got.asker_deadline), after(got.decide_by)),
            (want_expires, want_asker, want_asker - 2_000),
            "asked for {asked_after} ms from now"
        );
    }

    #[test]
    fn the_asker_deadline_is_its_own_where_ours_is_later() {
        check(180_000, 180_000, 180_000);
        check(60_000, 60_000, 60_000);
        check(59_999, 60_000, 59_999);
        check(2_001, 60_000, 2_001);
        check(2_000, 60_000, 60_000);
        check(-10_000, 60_000, 60_000);
        check(30 * 86_400_000, 7 * 86_400_000, 7 * 86_400_000);
    }

    #[test]
    fn a_native_question_may_be_decided_until_it_expires() {
        let got = Deadlines::native(NOW, None, EXPIRY_DEFAULT);
        assert_eq!(got.decide_by, NOW.plus(EXPIRY_DEFAULT));
        assert_eq!(got.decide_by, got.expires_at);
    }

    #[test]
    fn the_last_call_is_half_open() {
        let got = Deadlines::fallback(NOW, None, EXPIRY_DEFAULT);
        assert!(!got.is_last_call(got.asker_deadline.minus(Duration::from_millis(15_001))));
        assert!(got.is_last_call(got.asker_deadline.minus(Duration::from_secs(15))));
        assert!(!got.is_last_call(got.asker_deadline));
    }

    #[test]
    fn configured_minutes_never_fail_a_start() {
        use ConfiguredExpiry::{Ignored, Unset, Wait};
        for (text, want) in [
            ("", Unset),
            ("  ", Unset),
            ("30", Wait(Duration::from_mins(30))),
            (" 30 ", Wait(Duration::from_mins(30))),
            ("0", Ignored),
            ("-5", Ignored),
            ("1.5", Ignored),
            ("soon", Ignored),
            ("99999", Wait(EXPIRY_MAX)),
            ("99999999999999999999999", Wait(EXPIRY_MAX)),
        ] {
            assert_eq!(configured_expiry(text), want, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_as_expires_at_yields_a_deadline_in_bounds(
            text in prop_oneof![".*", "[0-9]{1,6}-[0-9]{2}-[0-9]{2}T[0-9:.]{0,12}(Z|[+-][0-9:]{4,5})?", any::<i64>().prop_map(|n| Timestamp::from_millis(n).to_string())],
            minutes in 0_u64..20_000,
        ) {
            let asked = Timestamp::parse(&text);
            let default = Duration::from_mins(minutes);
            for got in [Deadlines::fallback(NOW, asked, default), Deadlines::native(NOW, asked, default)] {
                prop_assert!(got.expires_at >= NOW.plus(EXPIRY_MIN) && got.expires_at <= NOW.plus(EXPIRY_MAX));
                prop_assert!(got.decide_by <= got.asker_deadline && got.asker_deadline <= got.expires_at);
                prop_assert!(got.decide_by > NOW.minus(Duration::from_millis(1)));
            }
        }

        #[test]
        fn any_configured_text_is_survived(text in ".*") {
            if let ConfiguredExpiry::Wait(wait) = configured_expiry(&text) {
                prop_assert!((EXPIRY_MIN..=EXPIRY_MAX).contains(&wait));
            }
        }
    }
}
