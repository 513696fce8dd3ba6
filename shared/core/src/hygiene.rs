//! Text that is not ours, taken apart for showing.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::is_invisible;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// A character that cannot be seen.
    Hidden(char),
    /// A letter that looks like one of another script.
    Odd(char),
}

/// Caller text, taken apart for showing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    pieces: Vec<Piece>,
}

impl Shown {
    /// One line: line breaks and tabs become spaces.
    pub fn line(text: &str) -> Self {
        Self::of(&text.split_whitespace().collect::<Vec<_>>().join(" "), false)
    }

    /// A text whose line breaks are kept.
    pub fn block(text: &str) -> Self {
        Self::of(&text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n"), true)
    }

    fn of(text: &str, breaks: bool) -> Self {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        for char in text.chars() {
            if is_invisible(char) && !(breaks && matches!(char, '\n' | '\t')) {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Hidden(char));
            } else {
                plain.push(char);
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Self { pieces }
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// As plain text, hidden characters by their number.
    pub fn plain(&self) -> String {
        let plain = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hidden(char) => format!("U+{:04X}", u32::from(*char)),
            Piece::Odd(char) => char.to_string(),
        };
        self.pieces.iter().map(plain).collect()
    }

    /// What is odd about it, in our own words.
    pub fn notes(&self) -> Vec<String> {
        let hidden = self.pieces.iter().filter(|piece| matches!(piece, Piece::Hidden(_))).count();
        match hidden {
            0 => vec![],
            1 => vec!["1 hidden character, shown as a code.".to_owned()],
            count => vec![format!("{count} hidden characters, shown as codes.")],
        }
    }

    /// The first `max_chars` characters, the rest, and how many those are.
    pub fn split_at_chars(self, max_chars: usize) -> (Self, Option<Self>, usize) {
        let (mut head, mut rest, mut room, mut left) = (Vec::new(), Vec::new(), max_chars, 0);
        for piece in self.pieces {
            let count = match &piece {
                Piece::Text(text) => text.chars().count(),
                Piece::Hidden(_) | Piece::Odd(_) => 1,
            };
            if rest.is_empty() && count <= room {
                room -= count;
                head.push(piece);
                continue;
            }
            left += count;
            match piece {
                Piece::Text(text) if rest.is_empty() => {
                    let mut end = 0;
                    for (start, cluster) in text.grapheme_indices(true) {
                        let Some(after) = room.checked_sub(cluster.chars().count()) else { break };
                        room = after;
                        left -= cluster.chars().count();
                        end = start + cluster.len();
                    }
                    if end > 0 {
                        head.push(Piece::Text(text[..end].to_owned()));
                    }
                    rest.push(Piece::Text(text[end..].to_owned()));
                }
                piece => rest.push(piece),
            }
        }
        let rest = (!rest.is_empty()).then_some(Self { pieces: rest });
        (Self { pieces: head }, rest, left)
    }
}
