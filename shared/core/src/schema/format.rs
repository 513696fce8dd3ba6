//! The four string formats of MCP.

use email_address::{EmailAddress, Options};
use iri_string::types::UriStr;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Bytes of an address that mail can be sent to (RFC 5321, the path without its brackets).
const EMAIL_BYTES: usize = 254;

/// What a text must read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One mailbox: no display name, no quotes, no spaces, a domain with a dot (so not `localhost`).
    Email,
    /// An RFC 3986 URI: with a scheme, percent-encoded, perhaps with a fragment.
    ///
    /// The scheme can be any, `javascript` too: an answer is not fit to become a link.
    Uri,
    /// An RFC 3339 `full-date`.
    Date,
    /// An RFC 3339 `date-time`: seconds and offset are there, `T` stands between date and time.
    DateTime,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Email, Self::Uri, Self::Date, Self::DateTime];

    /// The word for it in a schema.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// The format that `keyword` names.
    pub(super) fn named(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.keyword() == keyword)
    }

    /// What fits, as the object of "must be".
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address such as ana@example.org",
            Self::Uri => "a URI with its scheme, such as https://example.org/a",
            Self::Date => "a date such as 2026-11-30",
            Self::DateTime => "a date and time with its offset, such as 2026-11-30T20:00:00Z",
        }
    }

    /// Whether `text` reads as this format.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => UriStr::new(text).is_ok(),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

fn is_email(text: &str) -> bool {
    let options = Options {
        minimum_sub_domains: 2,
        allow_domain_literal: false,
        allow_display_text: false,
        ..Options::default()
    };
    text.len() <= EMAIL_BYTES
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"')
        && text.rsplit_once('@').is_some_and(|(_, domain)| is_host(domain))
        && EmailAddress::parse_with_options(text, options).is_ok()
}

/// The crate lets every atom character into a domain, `!` and `_` included.
fn is_host(domain: &str) -> bool {
    domain.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '-' || c == '.')
}

fn is_date(text: &str) -> bool {
    is_date_time(&format!("{text}T00:00:00Z"))
}

fn is_date_time(text: &str) -> bool {
    // `time` takes any byte between date and time.
    let separator = text.as_bytes().get("2026-11-30".len());
    matches!(separator, Some(b'T' | b't')) && OffsetDateTime::parse(text, &Rfc3339).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(format: Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(format.fits(text), "{text:?} is {}", format.described());
        }
        for text in bad {
            assert!(!format.fits(text), "{text:?} is not {}", format.described());
        }
    }

    #[test]
    fn an_email_is_one_bare_mailbox() {
        let longest = format!("{}@{}org", "a".repeat(50), "abcdefghi.".repeat(20));
        let too_long = format!("{}@{}org", "a".repeat(60), "abcdefghi.".repeat(20));
        assert!(Format::Email.fits(&longest), "{longest:?}");
        check(
            Format::Email,
            &["ana@example.org", "a.b+c@sub.example.org", "zoë@exämple.org", "o'hara@example.org"],
            &[
                "",
                "nope",
                "ana@",
                "@example.org",
                "ana@localhost",
                "ana@[127.0.0.1]",
                "Ana <ana@example.org>",
                "<ana@example.org>",
                " ana@example.org",
                "ana@example.org ",
                "ana @example.org",
                "\"ana b\"@example.org",
                "\"ana\"@example.org",
                "ana@example.org\n",
                "ana\u{a0}b@example.org",
                "ana..b@example.org",
                "ana@example..org",
                "ana@-example.org",
                "ana@ex_ample.org",
                "ana@example.org,ben@example.org",
                &too_long,
            ],
        );
    }

    #[test]
    fn a_uri_has_a_scheme_and_no_raw_characters() {
        check(
            Format::Uri,
            &["https://example.org", "https://example.org/a?b=c#d", "mailto:ana@example.org", "urn:isbn:1"],
            &[
                "",
                "example.org",
                "/a",
                "//example.org",
                "https://example.org/a b",
                "https://exämple.org",
                "1a:b",
            ],
        );
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        check(
            Format::Date,
            &["2026-11-30", "2024-02-29", "0000-01-01", "9999-12-31"],
            &[
                "",
                "2026-02-29",
                "2026-11-31",
                "2026-13-01",
                "2026-1-01",
                "20261130",
                "2026-11-30Z",
                "2026-W48-1",
            ],
        );
    }

    #[test]
    fn a_date_time_has_seconds_and_an_offset() {
        check(
            Format::DateTime,
            &[
                "2026-11-30T20:00:00Z",
                "2026-11-30t20:00:00.123456z",
                "2026-11-30T20:00:00+01:00",
                "2016-12-31T23:59:60Z",
            ],
            &[
                "",
                "2026-11-30",
                "2026-11-30 20:00:00Z",
                "2026-11-30T20:00Z",
                "2026-11-30T20:00:00",
                "2026-11-30T24:00:00Z",
                "2026-11-30T20:00:00+25:00",
                "2026-11-30T20:00:00+01:60",
                "2026-11-30T20:00:00Z ",
            ],
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_a_format_panic(
            text in ".*", day in "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:.+Zz-]{0,20}",
        ) {
            for format in Format::ALL {
                let _ = format.fits(&text);
                let _ = format.fits(&day);
            }
        }
    }
}
