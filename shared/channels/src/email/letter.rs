//! What the mail says. All of it is ours; the only foreign word is the tenant's name.

use countersign_app::codes::CodeNotice;
use countersign_app::ports::Notice;
use countersign_core::elicitation::Tier;
use countersign_core::hygiene::Shown;
use countersign_core::hygiene::encode::{escape, subject as one_line};
use countersign_core::time::Timestamp;

/// Characters of a tenant's name that a letter repeats.
const TENANT_CHARS: usize = 100;

const MONTHS: [&str; 12] = [
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
];

/// A notice in words, before it has headers.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    /// Whom it is from, for people.
    pub(crate) sender: String,
    /// The subject.
    pub(crate) subject: String,
    /// The text part.
    pub(crate) text: String,
    /// The HTML part.
    pub(crate) html: String,
}

impl Letter {
    /// Writes the letter.
    pub(crate) fn of(notice: &Notice) -> Self {
        // One visible line: a name with a line break in it would otherwise start a header of its own.
        let tenant = one_line(&Shown::line(&notice.tenant), TENANT_CHARS);
        let when = Instant::of(notice.decide_by);
        let reference = notice.reference.as_str();
        let subject = format!("Your decision is needed by {} UTC ({reference})", when.minute);
        let kind = kind(notice.tier, &tenant);
        let text = format!(
            include_str!("letter.txt"),
            tenant = tenant,
            reference = reference,
            decide_by = when.second,
            kind = kind,
            link = notice.link,
        );
        let html = format!(
            include_str!("letter.html"),
            style = include_str!("letter.css"),
            subject = escape(&subject),
            tenant = escape(&tenant),
            reference = escape(reference),
            decide_by = escape(&when.second),
            kind = escape(&kind),
            link = escape(&notice.link),
        );
        Self { sender: format!("Countersign for {tenant}"), subject, text, html }
    }
}

impl Letter {
    /// Writes the letter that carries a code.
    pub(crate) fn of_code(notice: &CodeNotice) -> Self {
        let tenant = one_line(&Shown::line(&notice.tenant), TENANT_CHARS);
        let (title, what) = match &notice.reference {
            None => ("Your sign-in code".to_owned(), "sign in"),
            Some(reference) => (format!("Your code to approve {reference}"), "approve it"),
        };
        let subject = format!("{title} for Countersign");
        let digits = notice.digits.expose();
        let digits = format!("{} {}", &digits[..3], &digits[3..]);
        let text =
            format!(include_str!("code.txt"), title = title, digits = digits, what = what, tenant = tenant);
        let html = format!(
            include_str!("code.html"),
            style = include_str!("letter.css"),
            subject = escape(&subject),
            tenant = escape(&tenant),
            title = escape(&title),
            digits = escape(&digits),
            what = what,
        );
        Self { sender: format!("Countersign for {tenant}"), subject, text, html }
    }
}

/// An instant as a letter writes it. Rounded down: nobody is promised time that is not there.
struct Instant {
    /// As in `20:14`.
    minute: String,
    /// As in `20:14:28 UTC, 1 December 2026`.
    second: String,
}

impl Instant {
    fn of(at: Timestamp) -> Self {
        // Always `YYYY-MM-DDTHH:MM:SS.mmmZ`.
        let iso = at.to_string();
        let (year, month, day, time) = (&iso[..4], &iso[5..7], &iso[8..10], &iso[11..19]);
        let month = month.parse().ok().and_then(|month: usize| MONTHS.get(month.checked_sub(1)?));
        let month = month.copied().unwrap_or_default();
        let day = day.trim_start_matches('0');
        Self { minute: iso[11..16].to_owned(), second: format!("{time} UTC, {day} {month} {year}") }
    }
}

fn kind(tier: Tier, tenant: &str) -> String {
    match tier {
        Tier::Read => "Reads only".to_owned(),
        Tier::Write => "Changes data".to_owned(),
        Tier::Commit => "Cannot be undone".to_owned(),
        Tier::External => format!("Leaves {tenant}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::text;

    use crate::fixture::{notice, same_as_golden};

    #[test]
    fn the_letter_reads_as_its_golden_copy() {
        let letter = Letter::of(&notice());
        assert_eq!(letter.sender, "Countersign for Northwind Traders");
        assert_eq!(letter.subject, "Your decision is needed by 20:14 UTC (K7Q-4MD)");
        same_as_golden("letter.txt", &letter.text);
        same_as_golden("letter.html", &letter.html);
    }

    #[test]
    fn a_hostile_tenant_name_stays_one_line_of_text() {
        let mut notice = notice();
        notice.tier = Tier::External;
        notice.tenant = "O'Brien & \"Sons\"\r\n</title><img src=x> {link}\u{202e}".to_owned();
        let letter = Letter::of(&notice);
        same_as_golden("hostile-tenant.txt", &letter.text);
        same_as_golden("hostile-tenant.html", &letter.html);
    }

    #[test]
    fn no_encoded_word_starts_in_a_tenant_name() {
        let mut notice = notice();
        notice.tenant = "=?utf-8?q?Your_bank?=".to_owned();
        assert_eq!(Letter::of(&notice).sender, "Countersign for = ?utf-8?q?Your_bank?=");
    }

    #[test]
    fn the_link_is_the_only_one_and_has_a_line_of_its_own() {
        let notice = notice();
        let letter = Letter::of(&notice);
        assert_eq!(letter.text.lines().filter(|line| *line == notice.link).count(), 1);
        assert_eq!(letter.text.matches("://").count(), 1);
        assert_eq!(letter.html.matches("href=").count(), 1);
        assert_eq!(letter.html.matches("://").count(), 2, "as target and as text");
        assert!(!letter.html.contains("src="));
    }

    #[test]
    fn a_quote_does_not_end_the_link() {
        let mut notice = notice();
        notice.link = "https://countersign.example/d/\" onclick='x".to_owned();
        let html = Letter::of(&notice).html;
        assert!(html.contains("href=\"https://countersign.example/d/&quot; onclick=&#39;x\">"), "{html}");
    }

    #[test]
    fn the_letter_of_a_code_reads_as_its_golden_copy() {
        let of = notice();
        let code = CodeNotice {
            tenant: of.tenant,
            to: of.to,
            digits: countersign_core::secret::Secret::new("418265".to_owned()),
            reference: None,
            expires_at: of.decide_by,
            id: "co_1".to_owned(),
        };
        let letter = Letter::of_code(&code);
        assert_eq!(letter.subject, "Your sign-in code for Countersign");
        same_as_golden("code.txt", &letter.text);
        same_as_golden("code.html", &letter.html);
        let letter = Letter::of_code(&CodeNotice { reference: Some(of.reference), ..code });
        assert_eq!(letter.subject, "Your code to approve K7Q-4MD for Countersign");
    }

    #[track_caller]
    fn written(at: &str, minute: &str, second: &str) {
        let instant = Instant::of(Timestamp::parse(at).unwrap());
        assert_eq!((instant.minute.as_str(), instant.second.as_str()), (minute, second));
    }

    #[test]
    fn an_instant_is_rounded_down() {
        written("2026-12-01T20:14:59.999Z", "20:14", "20:14:59 UTC, 1 December 2026");
        written("2027-01-31T00:00:00.000Z", "00:00", "00:00:00 UTC, 31 January 2027");
        written("2028-02-29T23:59:00.001+01:00", "22:59", "22:59:00 UTC, 29 February 2028");
    }

    #[track_caller]
    fn named(tier: Tier, want: &str) {
        assert_eq!(kind(tier, "Northwind"), want);
    }

    #[test]
    fn each_tier_has_its_words() {
        named(Tier::Read, "Reads only");
        named(Tier::Write, "Changes data");
        named(Tier::Commit, "Cannot be undone");
        named(Tier::External, "Leaves Northwind");
    }

    #[test]
    fn a_long_tenant_name_is_cut() {
        let mut notice = notice();
        notice.tenant = "x".repeat(5_000);
        assert_eq!(text::chars(&Letter::of(&notice).sender), "Countersign for ".len() + TENANT_CHARS);
    }
}
