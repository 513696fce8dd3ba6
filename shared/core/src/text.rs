//! Short texts for people and models: bounded, on one line, with nothing invisible in them.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;

/// What stands for the part that was cut off.
const CUT: char = '…';

/// The length of `text` as every limit counts it: Unicode scalar values.
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// `text` in at most `max_chars` scalar values: cut between characters as people see them, `…` for the rest.
pub fn truncate(text: &str, max_chars: usize) -> Cow<'_, str> {
    if chars(text) <= max_chars {
        return Cow::Borrowed(text);
    }
    let Some(mut room) = max_chars.checked_sub(1) else { return Cow::Borrowed("") };
    let mut end = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        let Some(left) = room.checked_sub(chars(cluster)) else { break };
        room = left;
        end = start + cluster.len();
    }
    Cow::Owned(format!("{}{CUT}", &text[..end]))
}

/// `tool: message` on one line, in at most `max_chars` scalar values; the invisible shows like `\u{202e}`.
pub fn summary(tool: Option<&str>, message: &str, max_chars: usize) -> String {
    let message = one_line(message);
    let line = match tool.map(one_line).filter(|tool| !tool.is_empty()) {
        Some(tool) => format!("{tool}: {message}"),
        None => message,
    };
    truncate(&line, max_chars).into_owned()
}

/// Whether `text` is a single line of visible characters and plain spaces. The empty text is.
pub fn is_printable_line(text: &str) -> bool {
    !text.chars().any(is_invisible)
}

/// `email` for people who know it already: its first character and its domain, as in `y***@localhost`.
///
/// Text without an `@` keeps its first character only.
pub fn mask_address(email: &str) -> String {
    let (local, domain) = match email.rsplit_once('@') {
        Some((local, domain)) => (local, Some(domain)),
        None => (email, None),
    };
    let first: String = local.chars().take(1).collect();
    let masked = match domain {
        Some(domain) => format!("{first}***@{domain}"),
        None => format!("{first}***"),
    };
    visible(&masked)
}

fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_invisible(char) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Controls, line separators and what Unicode calls default-ignorable: bidi controls, joiners, fillers, tags.
///
/// U+FE0E and U+FE0F are left out: they choose between the text and picture form of the emoji before them.
pub(crate) fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FAMILY: &str = "👨\u{200d}👩\u{200d}👧";
    const FLAG: &str = "🇩🇪";

    #[track_caller]
    fn cut(text: &str, max_chars: usize, want: &str) {
        assert_eq!(truncate(text, max_chars), want, "{text:?} in {max_chars}");
    }

    #[test]
    fn a_text_that_fits_is_left_alone() {
        cut("", 0, "");
        cut("abc", 3, "abc");
        assert!(matches!(truncate("abc", 3), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cut_never_splits_what_people_see_as_one_character() {
        cut("abcd", 3, "ab…");
        cut("abcd", 1, "…");
        cut("abcd", 0, "");
        cut("ae\u{301}\u{302}z!", 4, "a…");
        cut(&format!("{FLAG}{FLAG}{FLAG}"), 4, &format!("{FLAG}…"));
        cut(&format!("{FAMILY}{FAMILY}"), 8, &format!("{FAMILY}…"));
        cut(&format!("{FAMILY}{FAMILY}"), 5, "…");
        cut("a\r\nbc", 3, "a…");
    }

    #[test]
    fn a_summary_is_one_line_with_everything_visible() {
        assert_eq!(summary(Some("send_mail"), " To:\ty@x\r\n\u{2028}\n now ", 300), "send_mail: To: y@x now");
        assert_eq!(
            summary(None, "a\u{202e}b\u{200b}\u{e0041}\u{7}", 300),
            r"a\u{202e}b\u{200b}\u{e0041}\u{7}"
        );
        assert_eq!(summary(Some(" \n"), "plain", 300), "plain");
        assert_eq!(summary(Some("a\nb"), "", 300), "a b: ");
        assert_eq!(summary(Some("tool"), "message", 9), "tool: me…");
    }

    #[test]
    fn a_printable_line_holds_nothing_invisible() {
        for good in ["", "Müller & Søn", "日本語 한국어", "❤\u{fe0f} 🇩🇪", "e\u{301}"] {
            assert!(is_printable_line(good), "{good:?}");
        }
        let controls = "\0\t\n\r\u{7f}\u{85}\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}";
        let others = "\u{2028}\u{2029}\u{202a}\u{2066}\u{feff}\u{e0020}\u{e0101}";
        for bad in controls.chars().chain(others.chars()) {
            assert!(!is_printable_line(&format!("a{bad}b")), "{bad:?}");
        }
    }

    #[test]
    fn a_masked_address_keeps_the_first_character_and_the_domain() {
        assert_eq!(mask_address("yuki@localhost"), "y***@localhost");
        assert_eq!(mask_address("é@example.org"), "é***@example.org");
        assert_eq!(mask_address("\"a@b\"@example.org"), "\"***@example.org");
        assert_eq!(mask_address("@example.org"), "***@example.org");
        assert_eq!(mask_address("yuki"), "y***");
        assert_eq!(mask_address(""), "***");
        assert_eq!(mask_address("y@a\n"), r"y***@a\u{a}");
    }

    /// Text made of what is hard to cut, beside arbitrary text.
    fn hard() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("e\u{301}\u{302}\u{303}"),
            Just(FAMILY),
            Just(FLAG),
            Just("\u{1100}\u{1161}\u{11a8}"),
            Just("\r\n"),
            Just("\u{600}a"),
            Just("\u{202e}"),
            Just("b")
        ];
        prop_oneof![any::<String>(), prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())]
    }

    proptest! {
        #[test]
        fn a_cut_text_keeps_the_bound_and_whole_clusters(text in hard(), max_chars in 0_usize..40) {
            let short = truncate(&text, max_chars);
            prop_assert!(chars(&short) <= max_chars);
            if chars(&text) > max_chars && max_chars > 0 {
                let kept = short.strip_suffix(CUT).unwrap();
                prop_assert!(text.starts_with(kept));
                let at_boundary = text.grapheme_indices(true).any(|(start, _)| start == kept.len());
                prop_assert!(at_boundary);
            }
        }

        #[test]
        fn a_summary_keeps_the_bound_and_is_a_printable_line(
            tool in prop::option::of(hard()),
            text in hard(),
            max_chars in 0_usize..400,
        ) {
            let line = summary(tool.as_deref(), &text, max_chars);
            prop_assert!(chars(&line) <= max_chars);
            prop_assert!(is_printable_line(&line));
        }

        #[test]
        fn a_masked_address_hides_the_rest_of_the_local_part(local in "[a-z]{2,20}", odd in hard()) {
            let masked = mask_address(&format!("{local}@127.0.0.1"));
            prop_assert!(!masked.contains(&local));
            prop_assert!(is_printable_line(&mask_address(&odd)));
        }
    }
}
