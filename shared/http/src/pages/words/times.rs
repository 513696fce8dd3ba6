//! Times and spans.

use serde::Serialize;

/// The words of times and spans, for the pages and for their script.
#[derive(Debug, Serialize)]
pub(crate) struct TimeWords {
    #[serde(skip)]
    pub(crate) months: [&'static str; 12],
    #[serde(skip)]
    pub(crate) clock: &'static str,
    /// Time of day, day, month, year.
    #[serde(skip)]
    pub(crate) dated: &'static str,
    #[serde(skip)]
    pub(crate) seconds: &'static str,
    pub(crate) minutes: &'static str,
    pub(crate) hours: &'static str,
    pub(crate) one_day: &'static str,
    pub(crate) days: &'static str,
    pub(crate) left: &'static str,
}

pub(super) const EN: TimeWords = TimeWords {
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    clock: "{} UTC",
    dated: "{}, {} {} {}",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
    one_day: "1 day",
    days: "{} days",
    left: "{} left",
};
