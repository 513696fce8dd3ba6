//! Words that are not ours, as a page shows them: taken apart by `core::hygiene`, escaped by the templates.

use countersign_core::hygiene::{Piece, Shown};

use super::words::{Words, put};

/// Characters of a long text that stand in the open; the rest is folded, with its count.
const OPEN_CHARS: usize = 1_200;

/// A piece of a foreign text.
#[derive(Debug, Clone)]
pub(crate) enum Bit {
    /// As it is.
    Text(String),
    /// A character that cannot be seen, by its number.
    Hidden(String),
    /// A letter that looks like one of another script.
    Odd(char),
}

/// A foreign text, ready for a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Foreign {
    /// What stands in the open.
    pub(crate) head: Vec<Bit>,
    /// What is folded, under this summary.
    pub(crate) rest: Option<(String, Vec<Bit>)>,
    /// What is odd about it, in our words.
    pub(crate) notes: Vec<String>,
}

impl Foreign {
    /// One line.
    pub(crate) fn line(text: &str) -> Self {
        let shown = Shown::line(text);
        Self { notes: shown.notes(), head: bits(&shown), rest: None }
    }

    /// A text of many lines; what is beyond the cap is folded.
    pub(crate) fn block(text: &str, words: &Words) -> Self {
        let shown = Shown::block(text);
        let notes = shown.notes();
        let (head, rest, left) = shown.split_at_chars(OPEN_CHARS);
        let rest = rest.map(|rest| (put(words.more_characters, &[&left.to_string()]), bits(&rest)));
        Self { head: bits(&head), rest, notes }
    }

    /// As plain text, for a title of the window or a label that is read aloud.
    pub(crate) fn plain(text: &str) -> String {
        Shown::line(text).plain()
    }
}

fn bits(shown: &Shown) -> Vec<Bit> {
    let bit = |piece: &Piece| match piece {
        Piece::Text(text) => Bit::Text(text.clone()),
        Piece::Hidden(char) => Bit::Hidden(format!("U+{:04X}", u32::from(*char))),
        Piece::Odd(char) => Bit::Odd(*char),
    };
    shown.pieces().iter().map(bit).collect()
}
