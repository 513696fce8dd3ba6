//! Text that is not ours, taken apart for showing (threats 14–17 of the reliability plan).
//!
//! Text is normalised to NFC. What cannot be seen becomes a visible code, and a letter that passes for one of
//! another script is marked. [`encode`] writes the result for each channel.

mod class;
#[cfg(test)]
mod corpus;
pub mod encode;
mod notes;
mod scan;
mod scripts;
#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization as _;
use unicode_script::Script;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::is_invisible;
use scan::Kind;

/// Empty lines that may follow each other in a block: more would push the rest out of sight.
const EMPTY_LINES: usize = 2;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// A character that cannot be seen, or a mark too many; shows by its number, as in `U+202E`.
    Hidden(char),
    /// A letter that looks like one of another script.
    Odd(char),
}

/// Caller text, taken apart for showing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    pieces: Vec<Piece>,
    /// The script of marked letters, with the script of the letters around them.
    mixes: Vec<(Script, Script)>,
}

impl Shown {
    /// One line: runs of blanks, line breaks and tabs become a single space.
    pub fn line(text: &str) -> Self {
        let text: String = text.nfc().collect();
        Self::of(&text.split_whitespace().collect::<Vec<_>>().join(" "), false)
    }

    /// A text whose line breaks and tabs are kept; of more than two empty lines in a row, two stay.
    pub fn block(text: &str) -> Self {
        let text: String = text.nfc().collect();
        let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
        let mut empty = 0;
        let keep = |line: &&str| {
            empty = if line.trim().is_empty() { empty + 1 } else { 0 };
            empty <= EMPTY_LINES
        };
        Self::of(&text.split('\n').filter(keep).collect::<Vec<_>>().join("\n"), true)
    }

    fn of(text: &str, breaks: bool) -> Self {
        let mut chars = scan::scan(text, breaks);
        let mixes = scripts::mark(&mut chars);
        Self { pieces: gather(chars), mixes }
    }

    /// The pieces. Two texts never follow each other.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// As plain text, hidden characters by their number.
    pub fn plain(&self) -> String {
        let plain = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hidden(char) => code(*char),
            Piece::Odd(char) => char.to_string(),
        };
        self.pieces.iter().map(plain).collect()
    }

    /// What is odd about it: sentences of ours, for people.
    pub fn notes(&self) -> Vec<String> {
        notes::notes(&self.pieces, &self.mixes)
    }

    /// The first `max_chars` characters, the rest, and how many characters those are. A code counts as one.
    ///
    /// The cut is between characters as people see them, so the head may be shorter.
    pub fn split_at_chars(self, max_chars: usize) -> (Self, Option<Self>, usize) {
        let mut chars = spread(&self.pieces);
        if chars.len() <= max_chars {
            return (self, None, 0);
        }
        let rest = chars.split_off(cut(&chars, max_chars));
        let left = rest.len();
        let part = |chars: Vec<(char, Kind)>| {
            let mixes =
                self.mixes.iter().filter(|(odd, _)| scripts::has_odd(&chars, *odd)).copied().collect();
            Self { mixes, pieces: gather(chars) }
        };
        (part(chars), Some(part(rest)), left)
    }
}

/// The first character of `text` that a short server field may not hold, if any: what cannot be seen, what has
/// no agreed meaning, or a mark too many. Stricter than [`Shown`]: joiners in emoji are refused as well.
pub fn refuse(text: &str) -> Result<(), char> {
    let bad = |(char, kind): &(char, Kind)| *kind == Kind::Hidden || is_invisible(*char);
    match scan::scan(text, false).into_iter().find(bad) {
        Some((char, _)) => Err(char),
        None => Ok(()),
    }
}

/// A character by its number, as in `U+202E`.
pub fn code(char: char) -> String {
    format!("U+{:04X}", u32::from(char))
}

fn gather(chars: Vec<(char, Kind)>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (char, kind) in chars {
        match (kind, pieces.last_mut()) {
            (Kind::Hidden, _) => pieces.push(Piece::Hidden(char)),
            (Kind::Odd, _) => pieces.push(Piece::Odd(char)),
            (Kind::Seen, Some(Piece::Text(text))) => text.push(char),
            (Kind::Seen, _) => pieces.push(Piece::Text(char.to_string())),
        }
    }
    pieces
}

fn spread(pieces: &[Piece]) -> Vec<(char, Kind)> {
    let mut chars = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => chars.extend(text.chars().map(|char| (char, Kind::Seen))),
            Piece::Hidden(char) => chars.push((*char, Kind::Hidden)),
            Piece::Odd(char) => chars.push((*char, Kind::Odd)),
        }
    }
    chars
}

/// The last place within `max_chars` where a text may be cut: beside a code, or between grapheme clusters.
fn cut(chars: &[(char, Kind)], max_chars: usize) -> usize {
    let mut end = 0;
    for run in chars.chunk_by(|a, b| (a.1 == Kind::Hidden) == (b.1 == Kind::Hidden)) {
        if run.first().is_some_and(|(_, kind)| *kind == Kind::Hidden) {
            end += run.len().min(max_chars - end);
        } else {
            let text: String = run.iter().map(|(char, _)| char).collect();
            for cluster in text.graphemes(true) {
                let after = end + cluster.chars().count();
                if after > max_chars {
                    return end;
                }
                end = after;
            }
        }
        if end == max_chars {
            break;
        }
    }
    end
}
