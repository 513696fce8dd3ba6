//! Instants as the product counts them: whole milliseconds since the Unix epoch, UTC.

use std::fmt;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `millis` after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Reads RFC 3339 text. `None` for anything else, whatever it is.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = OffsetDateTime::parse(text.trim(), &Rfc3339).ok()?;
        i64::try_from(parsed.unix_timestamp_nanos().div_euclid(1_000_000)).ok().map(Self)
    }

    /// This instant and `span` later; saturates at the end of time.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(span)))
    }

    /// This instant and `span` earlier; saturates at the beginning of time.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(whole_millis(span)))
    }

    /// How long after `earlier` this is; zero if it is not later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn whole_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    /// RFC 3339 with milliseconds and `Z`. Instants outside the years 0 to 9999 print as the nearest one inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = i128::from(self.0.clamp(-62_167_219_200_000, 253_402_300_799_999)) * 1_000_000;
        let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| fmt::Error)?;
        let (year, month, day) = at.to_calendar_date();
        let (hour, minute, second, milli) = at.to_hms_milli();
        let month = u8::from(month);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_rfc_3339_in_utc_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_796_068_800_007).to_string(), "2026-11-30T20:00:00.007Z");
    }

    #[test]
    fn an_offset_is_converted() {
        assert_eq!(
            Timestamp::parse("2026-11-30T21:00:00+01:00"),
            Timestamp::parse("2026-11-30T20:00:00.000Z")
        );
    }

    #[test]
    fn the_last_second_of_9999_is_readable() {
        assert!(Timestamp::parse("9999-12-31T23:59:59Z").is_some());
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis in -62_167_219_200_000_i64..=253_402_300_799_999) {
            let at = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        }

        #[test]
        fn no_text_makes_parsing_panic(text in ".*") {
            let _ = Timestamp::parse(&text);
        }
    }
}
