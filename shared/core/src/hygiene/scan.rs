//! Which characters of a text show, with what stands around them taken into account.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

use super::class::class;

/// Marks that a character may carry. Written languages need fewer.
const MARKS: usize = 4;

const JOINER: char = '\u{200d}';

/// The flags of England, Scotland and Wales: the only tag sequences that are emoji for general interchange.
const TAGGED_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// How a character shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Seen,
    Hidden,
    Odd,
}

/// The characters of `text`, seen or hidden. With `breaks`, line feeds and tabs are seen.
pub(super) fn scan(text: &str, breaks: bool) -> Vec<(char, Kind)> {
    let mut chars = Vec::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        if TAGGED_FLAGS.contains(&cluster) {
            chars.extend(cluster.chars().map(|char| (char, Kind::Seen)));
            continue;
        }
        let mut marks = 0;
        let mut rest = cluster.chars().peekable();
        while let Some(char) = rest.next() {
            let before = chars.last().copied();
            let seen = match char {
                '\n' | '\t' if breaks => true,
                JOINER => joins(before, rest.peek().copied()),
                '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(has_forms),
                _ if class(char).is_some() => false,
                _ if is_combining_mark(char) => {
                    marks += 1;
                    // A mark right after a code would change how the code reads.
                    marks <= MARKS && !matches!(before, Some((_, Kind::Hidden)))
                }
                _ => {
                    marks = 0;
                    true
                }
            };
            chars.push((char, if seen { Kind::Seen } else { Kind::Hidden }));
        }
    }
    chars
}

/// Whether a joiner here makes one emoji of two.
fn joins(before: Option<(char, Kind)>, after: Option<char>) -> bool {
    let ends_emoji = |(char, kind)| {
        kind == Kind::Seen && (is_pictograph(char) || matches!(char, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'))
    };
    before.is_some_and(ends_emoji) && after.is_some_and(is_pictograph)
}

/// Whether a character has a text and a picture form: emoji, and what keycaps are made of.
fn has_forms((char, kind): (char, Kind)) -> bool {
    kind == Kind::Seen && (matches!(char, '0'..='9' | '#' | '*') || is_pictograph(char))
}

/// Whether `char` is `Extended_Pictographic`. By rule GB11 of UAX 29 a joiner holds two of those together, and
/// nothing else, so the table of the segmentation crate answers.
fn is_pictograph(char: char) -> bool {
    format!("{char}{JOINER}\u{a9}").graphemes(true).count() == 1
}
