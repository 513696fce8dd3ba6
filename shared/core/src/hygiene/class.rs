//! Which characters cannot be seen, and what they do.

use unicode_script::{Script, UnicodeScript as _};

use crate::text::is_invisible;

/// What a hidden character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// C0 and C1.
    Control,
    /// Reverses what follows: overrides.
    Reverse,
    /// Changes the direction of text: embeddings, isolates and marks.
    Direction,
    /// Takes up no space.
    ZeroWidth,
    /// Shows only where a line breaks.
    SoftHyphen,
    /// A line or paragraph separator.
    Break,
    /// Looks like a blank but is none.
    Filler,
    /// Chooses a form of the character before it.
    Variation,
    /// Starts or ends a note, or stands for an object that is not there.
    Annotation,
    /// Means what its maker wants.
    Private,
    /// Is no character, now or ever.
    Noncharacter,
    /// Has no meaning yet.
    Unassigned,
    /// Tags, and what else Unicode lets nobody see.
    Invisible,
    /// A mark on a character that has enough of them, or on a code.
    Mark,
}

/// What hides `char`, whatever stands around it.
pub(super) fn class(char: char) -> Option<Class> {
    if matches!(char, ' '..='~') {
        return None;
    }
    Some(match char {
        _ if char.is_control() => Class::Control,
        '\u{202d}'..='\u{202e}' => Class::Reverse,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => {
            Class::Direction
        }
        '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {
            Class::ZeroWidth
        }
        '\u{ad}' => Class::SoftHyphen,
        '\u{2028}'..='\u{2029}' => Class::Break,
        // The blank Braille pattern is no format character, but nothing shows of it either.
        '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => {
            Class::Filler
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Class::Variation
        }
        '\u{fff9}'..='\u{fffc}' => Class::Annotation,
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}' => Class::Private,
        '\u{fdd0}'..='\u{fdef}' => Class::Noncharacter,
        _ if u32::from(char) & 0xfffe == 0xfffe => Class::Noncharacter,
        _ if is_invisible(char) => Class::Invisible,
        _ if char.script() == Script::Unknown => Class::Unassigned,
        _ => return None,
    })
}

impl Class {
    /// What characters of this class do, after "U+202E" or after "U+2066 and U+2069".
    pub(super) fn does(self, many: bool) -> &'static str {
        let (one, some) = match self {
            Self::Control => ("is a control", "are controls"),
            Self::Reverse => ("reverses the text after it", "reverse the text after them"),
            Self::Direction => ("changes the direction of text", "change the direction of text"),
            Self::ZeroWidth => ("takes up no space", "take up no space"),
            Self::SoftHyphen => ("shows only at the end of a line", "show only at the end of a line"),
            Self::Break => ("breaks the line", "break the line"),
            Self::Filler => ("looks like a blank", "look like blanks"),
            Self::Variation => (
                "changes the form of the character before it",
                "change the form of the character before them",
            ),
            Self::Annotation => {
                ("stands for something that is not there", "stand for something that is not there")
            }
            Self::Private => ("means something else to each program", "mean something else to each program"),
            Self::Noncharacter => ("is not a character", "are not characters"),
            Self::Unassigned => ("has no meaning yet", "have no meaning yet"),
            Self::Invisible => ("is invisible", "are invisible"),
            Self::Mark => ("is a mark out of place", "are marks out of place"),
        };
        if many { some } else { one }
    }
}
