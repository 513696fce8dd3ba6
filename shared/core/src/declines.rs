//! What people have said no to in a session, so that they are not asked again at once (RELIABILITY.md row 11).

use std::time::Duration;

use crate::json::Sha256;
use crate::limits::{DECLINE_MEMORY, DECLINES_FORGOTTEN_AT_ONCE, DECLINES_KEPT, DECLINES_TO_MUTE, MUTE};
use crate::time::Timestamp;

/// One content that was declined: what was shown, not who asked under which id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declined {
    /// Hash of what was shown.
    pub shown: Sha256,
    /// How often.
    pub count: u32,
    /// When last.
    pub at: Timestamp,
}

impl Declined {
    /// From when on it may be asked again.
    fn until(&self, cool_down: &[Duration]) -> Timestamp {
        let step = usize::try_from(self.count.saturating_sub(1)).unwrap_or(usize::MAX);
        self.at.plus(cool_down.get(step).or(cool_down.last()).copied().unwrap_or_default())
    }
}

/// The declines of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declines {
    /// Declines without an accept between them.
    pub in_a_row: u32,
    /// When the last of them was.
    pub last_at: Option<Timestamp>,
    /// Accepts and declines so far. It only grows: who saw this number knows of all of them.
    pub answers: u64,
    /// A person has reported the session: it asks nothing until then.
    pub reported_until: Option<Timestamp>,
    /// By content, in no order.
    pub contents: Vec<Declined>,
}

/// Why a session may not ask for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mute {
    /// People declined too often in it: it asks nothing until then.
    Session(Timestamp),
    /// A person reported a question of it: it asks nothing until then.
    Reported(Timestamp),
    /// This very content was declined: it is not asked again until then.
    Content(Timestamp),
}

impl Declines {
    /// Until when the whole session asks nothing, if it is muted at `now`.
    pub fn muted_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.mute_end().max(self.reported_until).filter(|until| now < *until)
    }

    /// Why `shown` is not asked at `now`, if it is not. `cool_down` says how long each decline of one content counts; the
    /// last span is that of all further ones.
    pub fn mutes(&self, shown: Sha256, now: Timestamp, cool_down: &[Duration]) -> Option<Mute> {
        let cools = || {
            let declined = self.contents.iter().find(|one| one.shown == shown)?;
            Some(declined.until(cool_down)).filter(|until| now < *until).map(Mute::Content)
        };
        let is_reported = self.reported_until.is_some_and(|until| now < until);
        let whole = if is_reported { Mute::Reported } else { Mute::Session };
        self.muted_until(now).map(whole).or_else(cools)
    }

    /// Whether a mute has run out, so that the count begins again with the next question.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.mute_end().is_some_and(|until| now >= until)
    }

    /// Contents that need not be remembered any longer, the oldest first and at most [`DECLINES_FORGOTTEN_AT_ONCE`]: those
    /// that are old, and those beyond [`DECLINES_KEPT`].
    pub fn forgettable(&self, now: Timestamp) -> Vec<Sha256> {
        let mut newest_first = self.contents.clone();
        newest_first.sort_by_key(|one| std::cmp::Reverse((one.at, one.count)));
        let is_old = |one: &Declined| now.since(one.at) >= DECLINE_MEMORY;
        let forget = newest_first.iter().enumerate().rev().take(DECLINES_FORGOTTEN_AT_ONCE);
        forget.filter(|(at, one)| *at >= DECLINES_KEPT || is_old(one)).map(|(_, one)| one.shown).collect()
    }

    fn mute_end(&self) -> Option<Timestamp> {
        self.last_at.filter(|_| self.in_a_row >= DECLINES_TO_MUTE).map(|at| at.plus(MUTE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::COOL_DOWN;

    const START: Timestamp = Timestamp::from_millis(0);

    fn at(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    fn shown(text: &str) -> Sha256 {
        Sha256::of(text.as_bytes())
    }

    fn declined(count: u32) -> Declines {
        let one = Declined { shown: shown("a"), count, at: START };
        Declines { in_a_row: 1, last_at: Some(START), answers: 1, reported_until: None, contents: vec![one] }
    }

    #[track_caller]
    fn cools(count: u32, seconds: u64) {
        let declines = declined(count);
        let end = Some(Mute::Content(at(seconds)));
        assert_eq!(declines.mutes(shown("a"), at(seconds - 1), &COOL_DOWN), end, "{count}");
        assert_eq!(declines.mutes(shown("a"), at(seconds), &COOL_DOWN), None, "{count}");
        assert_eq!(declines.mutes(shown("b"), at(0), &COOL_DOWN), None, "another content");
    }

    #[test]
    fn the_same_content_cools_down_longer_each_time() {
        cools(1, 60);
        cools(2, 300);
        cools(3, 1_800);
        cools(40, 1_800);
    }

    #[test]
    fn without_spans_nothing_cools_down() {
        assert_eq!(declined(9).mutes(shown("a"), at(0), &[]), None);
        let later = [Duration::ZERO, Duration::from_secs(9)];
        assert_eq!(declined(1).mutes(shown("a"), at(0), &later), None);
        assert_eq!(declined(2).mutes(shown("a"), at(8), &later), Some(Mute::Content(at(9))));
    }

    #[test]
    fn three_in_a_row_mute_the_session_for_half_an_hour() {
        let mut declines = Declines { in_a_row: 2, last_at: Some(START), ..Declines::default() };
        assert_eq!(declines.mutes(shown("x"), at(1), &COOL_DOWN), None);
        declines.in_a_row = 3;
        assert_eq!(declines.mutes(shown("x"), at(1_799), &[]), Some(Mute::Session(at(1_800))));
        assert_eq!(declines.muted_until(at(1_800)), None);
        assert!(declines.is_over(at(1_800)) && !declines.is_over(at(1_799)));
    }

    #[test]
    fn old_and_too_many_contents_are_forgotten() {
        let day = DECLINE_MEMORY.as_secs();
        assert_eq!(declined(1).forgettable(at(day - 1)), []);
        assert_eq!(declined(1).forgettable(at(day)), [shown("a")]);
        let content =
            |n: usize| Declined { shown: shown(&n.to_string()), count: 1, at: at(u64::try_from(n).unwrap()) };
        let many = Declines { contents: (0..=DECLINES_KEPT).map(content).collect(), ..Declines::default() };
        assert_eq!(many.forgettable(at(60)), [shown("0")], "the oldest");
    }
}
