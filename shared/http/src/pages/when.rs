//! Times and spans as people read them.

use std::time::Duration;

use countersign_core::time::Timestamp;

use super::words::{EN, put};

/// An instant for a `<time>` element.
#[derive(Debug, Clone)]
pub(crate) struct Instant {
    /// For machines, RFC 3339.
    pub(crate) iso: String,
    /// For people, in UTC: with the day where it is not that of `now`.
    pub(crate) shown: String,
}

impl Instant {
    /// `at`, read at `now`.
    pub(crate) fn of(at: Timestamp, now: Timestamp) -> Self {
        let (iso, today) = (at.to_string(), now.to_string());
        let shown = if iso[..10] == today[..10] { clock(&iso) } else { dated(&iso) };
        Self { iso, shown }
    }

    /// `at` with its day, whatever day it is read on.
    pub(crate) fn dated(at: Timestamp) -> Self {
        let iso = at.to_string();
        Self { shown: dated(&iso), iso }
    }
}

fn clock(iso: &str) -> String {
    put(EN.time.clock, &[&iso[11..19]])
}

fn dated(iso: &str) -> String {
    let month = iso[5..7].parse().ok().and_then(|month: usize| EN.time.months.get(month.checked_sub(1)?));
    let (day, month) = (iso[8..10].trim_start_matches('0'), month.copied().unwrap_or_default());
    put(EN.time.dated, &[&clock(iso), day, month, &iso[..4]])
}

fn count(unit: &str, of: u64) -> String {
    put(unit, &[&of.to_string()])
}

/// A span in its two largest units, rounded down: `26 s`, `4 min 32 s`, `2 h 14 min`, `3 days 4 h`.
pub(crate) fn span(of: Duration) -> String {
    let (w, seconds) = (&EN.time, of.as_secs());
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600, seconds / 60);
    let two = |high: String, low: u64, unit: &str| {
        if low == 0 { high } else { format!("{high} {}", count(unit, low)) }
    };
    match seconds {
        0..60 => count(w.seconds, seconds),
        60..3_600 => two(count(w.minutes, minutes), seconds % 60, w.seconds),
        3_600..86_400 => two(count(w.hours, hours), minutes % 60, w.minutes),
        86_400..172_800 => two(w.one_day.to_owned(), hours % 24, w.hours),
        _ => two(count(w.days, days), hours % 24, w.hours),
    }
}

/// A span as a row of a list says it: `0:48 left`, `26 min left`, `2 h 14 min left`.
pub(crate) fn left(of: Duration) -> String {
    let seconds = of.as_secs();
    let shown = match seconds {
        0..600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        600..3_600 => count(EN.time.minutes, seconds / 60),
        _ => span(of),
    };
    put(EN.time.left, &[&shown])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_two_units_at_most() {
        let said = [0, 59, 60, 272, 3_600, 8_040, 86_400, 273_600].map(|s| span(Duration::from_secs(s)));
        assert_eq!(said, ["0 s", "59 s", "1 min", "4 min 32 s", "1 h", "2 h 14 min", "1 day", "3 days 4 h"]);
    }

    #[test]
    fn a_row_counts_seconds_only_near_the_end() {
        let said = [48, 272, 1_560, 8_040].map(|s| left(Duration::from_secs(s)));
        assert_eq!(said, ["0:48 left", "4:32 left", "26 min left", "2 h 14 min left"]);
    }

    #[test]
    fn a_time_names_its_day_only_where_it_is_another() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-12-01T20:09:56Z");
        assert_eq!(Instant::of(at("2026-12-01T20:14:28.400Z"), now).shown, "20:14:28 UTC");
        assert_eq!(Instant::of(at("2026-12-02T00:00:00Z"), now).shown, "00:00:00 UTC, 2 December 2026");
    }
}
