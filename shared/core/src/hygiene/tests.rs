//! What people see of hostile text.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::corpus::CORPUS;
use super::*;

/// The corpus in every channel.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hygiene.txt");

#[track_caller]
fn block(text: &str, want: &str, notes: &[&str]) {
    let shown = Shown::block(text);
    assert_eq!(shown.plain(), want, "{text:?}");
    assert_eq!(shown.notes(), notes, "{text:?}");
}

#[test]
fn hidden_characters_show_as_codes_and_are_explained() {
    block(
        "a\u{202e}b\u{200b}",
        "aU+202EbU+200B",
        &[
            "2 hidden characters, shown as codes. U+202E reverses the text after it; U+200B takes up no space.",
        ],
    );
    block(
        "ok\u{2066} approved \u{2069}\u{e0041}\u{7}",
        "okU+2066 approved U+2069U+E0041U+0007",
        &["4 hidden characters, shown as codes. U+2066 and U+2069 change the direction of text; \
           U+E0041 is invisible; U+0007 is a control."],
    );
}

#[test]
fn emoji_are_left_alone() {
    for emoji in
        ["👨\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "👩🏽\u{200d}🚀", "🏳\u{fe0f}\u{200d}🌈"]
    {
        block(emoji, emoji, &[]);
    }
}

#[test]
fn a_letter_of_another_script_is_marked_where_it_passes_for_one() {
    let shown = Shown::line("billing@cont\u{43e}so.example");
    assert!(shown.pieces().contains(&Piece::Odd('\u{43e}')));
    assert_eq!(shown.notes(), ["The marked letter is Cyrillic, the others are Latin. They look alike."]);
    for ordinary in ["10 k\u{3a9}", "привет мир", "日本語カナABC", "apple.рф", "Ελλάδα", "e\u{301}"]
    {
        assert!(Shown::line(ordinary).notes().is_empty(), "{ordinary}");
    }
}

/// What each channel shows of `text`.
fn in_every_channel(text: &str) -> [(&'static str, String); 8] {
    let (line, block) = (Shown::line(text), Shown::block(text));
    [
        ("line", encode::plain(&line)),
        ("plain", encode::plain(&block)),
        ("html", encode::html(&block)),
        ("subject", encode::subject(&block, 80)),
        ("slack", encode::slack(&block)),
        ("telegram", encode::telegram(&block)),
        ("terminal", encode::terminal(&block)),
        ("notes", block.notes().join(" ")),
    ]
}

#[test]
fn the_corpus_reads_as_its_golden_copy_in_every_channel() {
    let mut got = String::new();
    for (name, text) in CORPUS {
        let refused =
            refuse(text).err().map_or("takes it".to_owned(), |char| format!("refuses {}", code(char)));
        writeln!(got, "== {name}: a short field {refused}\n{:>9} {}", "text", text.escape_default()).unwrap();
        for (channel, shown) in in_every_channel(text) {
            let shown = format!("{channel:>9} {}", shown.replace('\n', "\n        | "));
            got.extend(shown.lines().flat_map(|line| [line.trim_end(), "\n"]));
        }
    }
    if std::fs::read_to_string(GOLDEN).is_ok_and(|want| want == got) {
        return;
    }
    let new = format!("{GOLDEN}.new");
    std::fs::write(&new, got).unwrap();
    panic!("differs from {GOLDEN}: look, then accept it with mv {new} {GOLDEN}");
}

/// Pieces of the corpus in any order, beside arbitrary text.
fn hostile() -> impl Strategy<Value = String> {
    let chars: Vec<char> = CORPUS.iter().flat_map(|(_, text)| text.chars()).collect();
    let texts: Vec<&str> = CORPUS.iter().map(|(_, text)| *text).collect();
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(chars), 0..60).prop_map(String::from_iter),
        prop::collection::vec(prop::sample::select(texts), 0..4).prop_map(|texts| texts.concat()),
    ]
}

fn hides(text: &str) -> bool {
    scan::scan(text, true).iter().any(|(_, kind)| *kind == Kind::Hidden)
}

/// The text of `html`, if all its tags are our two spans, in pairs and not within each other.
fn read_back(html: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        let inner =
            tag.strip_prefix("span class=\"esc\">").or_else(|| tag.strip_prefix("span class=\"odd\">"))?;
        let (inner, after) = inner.split_once("</span>")?;
        text.extend([before, inner]);
        rest = after;
    }
    text.push_str(rest);
    let quotes = text.replace("&quot;", "\"").replace("&#39;", "'");
    let clean = !text.contains(['<', '>', '"', '\'']);
    clean.then(|| quotes.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

proptest! {
    #[test]
    fn no_channel_lets_a_hidden_character_through(text in hostile()) {
        for (channel, shown) in in_every_channel(&text) {
            prop_assert!(!hides(&shown), "{channel}: {shown:?}");
        }
    }

    #[test]
    fn html_holds_only_our_two_spans(text in hostile()) {
        let shown = Shown::block(&text);
        prop_assert_eq!(read_back(&encode::html(&shown)), Some(shown.plain()));
    }

    #[test]
    fn a_subject_is_one_short_line_without_encoded_words(text in hostile(), max_chars in 0_usize..80) {
        let subject = encode::subject(&Shown::block(&text), max_chars);
        prop_assert!(!subject.contains(['\r', '\n', '\t']));
        prop_assert!(!subject.contains("=?"));
        prop_assert!(subject.chars().count() <= max_chars);
    }

    #[test]
    fn chat_markup_cannot_start(text in hostile()) {
        let shown = Shown::block(&text);
        prop_assert!(!encode::slack(&shown).contains(['<', '>']));
        prop_assert!(!encode::telegram(&shown).contains(['<', '>']));
    }

    #[test]
    fn splitting_loses_nothing_and_counts_the_rest(text in hostile(), max_chars in 0_usize..80) {
        let whole = Shown::block(&text);
        let (head, rest, left) = whole.clone().split_at_chars(max_chars);
        let count = |shown: &Shown| spread(shown.pieces()).len();
        prop_assert!(count(&head) <= max_chars);
        prop_assert_eq!(rest.as_ref().map_or(0, count), left);
        let rest = rest.unwrap_or_default();
        prop_assert_eq!(head.plain() + &rest.plain(), whole.plain());
        let both = [spread(head.pieces()), spread(rest.pieces())].concat();
        prop_assert_eq!(both, spread(whole.pieces()));
    }

    #[test]
    fn what_a_short_field_takes_shows_without_codes(text in hostile()) {
        if refuse(&text).is_ok() {
            prop_assert!(!Shown::line(&text).pieces().iter().any(|piece| matches!(piece, Piece::Hidden(_))));
            prop_assert!(crate::text::is_printable_line(&text));
        }
    }
}

#[test]
fn a_cut_keeps_what_people_see_as_one_character() {
    let family = "👨\u{200d}👩\u{200d}👧";
    let (head, rest, left) = Shown::line(&format!("a{family}b")).split_at_chars(4);
    assert_eq!((head.plain(), rest.unwrap().plain(), left), ("a".to_owned(), format!("{family}b"), 6));
    // The mark belongs to the marked letter before it.
    let (head, ..) = Shown::line("cont\u{43e}\u{301}so").split_at_chars(5);
    assert_eq!(head.plain(), "cont");
    assert!(head.notes().is_empty());
}
