//! When to try again: pure arithmetic over attempts, a random number and the clock's readings.

use std::time::Duration;

use crate::time::Timestamp;

/// Waits before the attempts to deliver a message, each counted from the attempt before it, without jitter.
pub const DELIVERY_SCHEDULE: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(2),
];

/// A delivery waits this much less or more than scheduled, in percent.
pub const DELIVERY_JITTER_PERCENT: u32 = 20;

/// How long to wait before the delivery after `attempts_done` others, with jitter; `None` is giving up.
pub fn next_delivery(attempts_done: u32, random: u64) -> Option<Duration> {
    let planned = *DELIVERY_SCHEDULE.get(usize::try_from(attempts_done).ok()?)?;
    Some(jittered(planned, random))
}

/// `planned`, up to a fifth less or more.
pub fn jittered(planned: Duration, random: u64) -> Duration {
    let least = planned * (100 - DELIVERY_JITTER_PERCENT) / 100;
    let spread = planned * (2 * DELIVERY_JITTER_PERCENT) / 100;
    least + share(spread, random)
}

/// Growing waits between the attempts of one call.
///
/// Jitter is full: anything from nothing to the ceiling, which doubles with each attempt up to `cap`. Those
/// who collide on a row must not meet again, and full jitter spreads them over the widest range. Unlike
/// decorrelated jitter it needs no memory of the wait before. A [`Budget`] bounds the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Longest wait after the first failure.
    pub first: Duration,
    /// Longest wait after any failure.
    pub cap: Duration,
}

impl Backoff {
    /// How long to wait after failure number `attempt`, from 0: less than [`Backoff::ceiling`], or zero.
    pub fn delay(self, attempt: u32, random: u64) -> Duration {
        share(self.ceiling(attempt), random)
    }

    /// What bounds the wait after failure number `attempt`: `first` doubled `attempt` times, at most `cap`.
    pub fn ceiling(self, attempt: u32) -> Duration {
        self.first.saturating_mul(2_u32.saturating_pow(attempt)).min(self.cap)
    }
}

/// The time that all attempts of one call may take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// When the call began.
    pub started: Timestamp,
    /// How long it may take.
    pub total: Duration,
}

impl Budget {
    /// What is left at `now`, never zero; `None` once it is spent. A clock that went back spends nothing.
    pub fn remaining(self, now: Timestamp) -> Option<Duration> {
        self.total.checked_sub(now.since(self.started)).filter(|left| !left.is_zero())
    }
}

/// The part of `span` that `random` picks out of all its range; less than `span` unless that is zero.
fn share(span: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let picked = (u128::from(nanos) * u128::from(random)) >> u64::BITS;
    Duration::from_nanos(u64::try_from(picked).unwrap_or(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), cap: Duration::from_secs(1) };
    const ATTEMPTS: u32 = 8;

    #[test]
    fn the_ceiling_doubles_up_to_the_cap() {
        let ceilings = [0, 1, 2, 4, 5, 31, 32, u32::MAX].map(|attempt| BACKOFF.ceiling(attempt).as_millis());
        assert_eq!(ceilings, [50, 100, 200, 800, 1000, 1000, 1000, 1000]);
    }

    #[test]
    fn a_random_number_picks_its_share_of_the_ceiling() {
        assert_eq!(BACKOFF.delay(1, 0), Duration::ZERO);
        assert_eq!(BACKOFF.delay(1, 1 << 63), Duration::from_millis(50));
        assert_eq!(BACKOFF.delay(1, u64::MAX), Duration::from_nanos(99_999_999));
    }

    #[test]
    fn the_first_delivery_is_at_once_and_there_are_eight() {
        assert_eq!(next_delivery(0, u64::MAX), Some(Duration::ZERO));
        assert_eq!(next_delivery(1, 0), Some(Duration::from_secs(4)));
        assert_eq!(next_delivery(7, 1 << 63), Some(Duration::from_hours(2)));
        assert_eq!(next_delivery(ATTEMPTS, 0), None);
        assert_eq!(next_delivery(u32::MAX, 0), None);
    }

    #[test]
    fn a_budget_is_spent_at_its_end() {
        let budget = Budget { started: Timestamp::from_millis(1000), total: Duration::from_millis(8) };
        let left = |now| budget.remaining(Timestamp::from_millis(now)).map(|left| left.as_millis());
        assert_eq!(
            [left(999), left(1000), left(1007), left(1008), left(i64::MAX)],
            [Some(8), Some(8), Some(1), None, None]
        );
    }

    proptest! {
        #[test]
        fn a_wait_is_under_its_ceiling_and_ceilings_never_fall(
            first: Duration,
            cap: Duration,
            attempt in prop_oneof![0_u32..40, any::<u32>()],
            random: u64,
        ) {
            let backoff = Backoff { first, cap };
            let ceiling = backoff.ceiling(attempt);
            prop_assert!(backoff.delay(attempt, random) <= ceiling);
            prop_assert!(ceiling <= cap);
            prop_assert!(ceiling <= backoff.ceiling(attempt.saturating_add(1)));
        }

        #[test]
        fn a_delivery_keeps_within_its_jitter(attempts_done in 0..ATTEMPTS, random: u64) {
            let planned = DELIVERY_SCHEDULE[attempts_done as usize];
            let wait = next_delivery(attempts_done, random).unwrap();
            prop_assert!(wait.abs_diff(planned) * 5 <= planned);
        }

        #[test]
        fn deliveries_never_come_closer_and_end_within_four_and_a_half_hours(random: [u64; 8]) {
            let wait = |(done, random)| next_delivery(done, random).unwrap();
            let waits: Vec<Duration> = (0..ATTEMPTS).zip(random).map(wait).collect();
            prop_assert!(waits.is_sorted());
            let span: Duration = waits.iter().sum();
            prop_assert!(span >= Duration::from_mins(178) && span <= Duration::from_mins(268));
        }
    }
}
