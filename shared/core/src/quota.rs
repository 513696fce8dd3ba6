//! What a tenant may ask: a token bucket, and a bound on what is stored for it.
//!
//! The bucket is a count that only grows and a base from which it is counted, so that charging it is one blind addition:
//! `level = burst − (taken − base) + rate · (now − base_at)`. It is read with the request's other rows and charged beside
//! its transaction; requests that are under way together may so overshoot by their number. The base moves up once the
//! level has grown past twice the burst: what a tenant can save up is bounded, and quiet tenants cost no extra write.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::limits::MAX_OPEN_PER_TENANT_MAX;
use crate::time::Timestamp;

const DAY: u64 = 86_400_000;

/// What a tenant may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Questions at once.
    pub burst: u32,
    /// Questions a minute, for as long as one likes.
    pub per_minute: u32,
    /// Questions that are stored, answered and expired ones included.
    pub max_stored: u64,
    /// Questions that wait for an answer at once.
    pub max_open: usize,
}

impl Default for Quota {
    /// Far above what people can answer, and far below what one item of the table takes.
    fn default() -> Self {
        Self { burst: 300, per_minute: 600, max_stored: 1_000_000, max_open: MAX_OPEN_PER_TENANT_MAX / 2 }
    }
}

/// What a tenant has asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bucket {
    /// All that was ever taken.
    pub taken: u64,
    /// Where counting begins, and when it did; `None` before the first.
    pub base: Option<(u64, Timestamp)>,
    /// Questions by the day of their create, days since 1970.
    pub days: BTreeMap<u64, u64>,
}

/// Why a tenant may not ask now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverQuota {
    /// Too fast; from then on it may again.
    Rate(Duration),
    /// Too much is stored; it goes when its retention ends.
    Stored,
    /// Too many wait for an answer.
    Open,
}

impl Bucket {
    /// Why one more may not be asked at `now`, if it may not. `retention` is how long a question is kept at most.
    pub fn refuses(&self, quota: &Quota, now: Timestamp, retention: Duration) -> Option<OverQuota> {
        let level = self.level(quota, now);
        if level < 1.0 {
            let wait = (1.0 - level) * 60.0 / f64::from(quota.per_minute.max(1));
            return Some(OverQuota::Rate(Duration::from_secs_f64(wait.max(1.0).ceil())));
        }
        (self.stored(now, retention) >= quota.max_stored).then_some(OverQuota::Stored)
    }

    /// Whether the base is to move up with the next charge.
    pub fn is_overfull(&self, quota: &Quota, now: Timestamp) -> bool {
        self.base.is_none() || self.level(quota, now) > 2.0 * f64::from(quota.burst)
    }

    /// The days that count no more.
    pub fn forgotten(&self, now: Timestamp, retention: Duration) -> Vec<u64> {
        let first = Self::day(now).saturating_sub(retention.as_secs() / 86_400 + 1);
        self.days.keys().copied().filter(|day| *day < first).collect()
    }

    /// The day of `at`, days since 1970.
    pub fn day(at: Timestamp) -> u64 {
        u64::try_from(at.millis()).unwrap_or(0) / DAY
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^52")]
    fn level(&self, quota: &Quota, now: Timestamp) -> f64 {
        let (base, gained) = match self.base {
            Some((base, at)) => (base, now.since(at).as_secs_f64() * f64::from(quota.per_minute) / 60.0),
            None => (0, 0.0),
        };
        f64::from(quota.burst) - self.taken.saturating_sub(base) as f64 + gained
    }

    fn stored(&self, now: Timestamp, retention: Duration) -> u64 {
        let forgotten = self.forgotten(now, retention);
        self.days.iter().filter(|(day, _)| !forgotten.contains(day)).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUOTA: Quota = Quota { burst: 10, per_minute: 60, max_stored: 1_000, max_open: 10 };
    const MONTH: Duration = Duration::from_hours(30 * 24);

    fn at(second: u64) -> Timestamp {
        Timestamp::from_millis(1_000_000_000).plus(Duration::from_secs(second))
    }

    /// Asks once at that second, as a create does; whether it was granted.
    fn ask(bucket: &mut Bucket, second: u64) -> bool {
        if bucket.refuses(&QUOTA, at(second), MONTH).is_some() {
            return false;
        }
        if bucket.is_overfull(&QUOTA, at(second)) {
            bucket.base = Some((bucket.taken, at(second)));
        }
        bucket.taken += 1;
        *bucket.days.entry(Bucket::day(at(second))).or_default() += 1;
        true
    }

    #[test]
    fn a_burst_is_granted_and_then_the_rate() {
        let mut bucket = Bucket::default();
        assert_eq!((0..50).filter(|_| ask(&mut bucket, 0)).count(), 10);
        assert_eq!(bucket.refuses(&QUOTA, at(0), MONTH), Some(OverQuota::Rate(Duration::from_secs(1))));
        assert!(ask(&mut bucket, 1) && !ask(&mut bucket, 1));
    }

    #[test]
    fn what_is_stored_is_bounded_until_it_is_kept_no_longer() {
        let day = Bucket::day(at(0));
        let mut bucket = Bucket { days: BTreeMap::from([(day, 1_000)]), ..Bucket::default() };
        assert_eq!(bucket.refuses(&QUOTA, at(0), MONTH), Some(OverQuota::Stored));
        let later = at(32 * 86_400);
        assert_eq!(bucket.refuses(&QUOTA, later, MONTH), None);
        assert_eq!(bucket.forgotten(later, MONTH), [day]);
        bucket.days.clear();
        assert_eq!(bucket.refuses(&QUOTA, at(0), MONTH), None);
    }

    proptest! {
        #[test]
        fn never_more_is_granted_than_twice_the_burst_and_the_rate(seconds in prop::collection::vec(0..600_u64, 1..400)) {
            let mut sorted = seconds;
            sorted.sort_unstable();
            let mut bucket = Bucket::default();
            let granted: Vec<u64> = sorted.into_iter().filter(|second| ask(&mut bucket, *second)).collect();
            for (index, from) in granted.iter().enumerate() {
                for (count, to) in granted[index..].iter().enumerate() {
                    let bound = 2 * u64::from(QUOTA.burst) + (to - from) + 1;
                    prop_assert!(count as u64 <= bound, "{count} within {} s", to - from);
                }
            }
        }

        #[test]
        fn a_clock_that_steps_back_grants_nothing_more(back in 0..10_000_u64) {
            let mut bucket = Bucket::default();
            while ask(&mut bucket, 10_000) {}
            prop_assert!(!ask(&mut bucket, 10_000 - back));
        }
    }
}
