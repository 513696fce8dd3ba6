//! What people see of hostile text.

use super::*;

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
