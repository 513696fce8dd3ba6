//! Letters of one script inside a word of another.

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::skeleton;

use super::Piece;
use super::scan::Kind;

/// Scripts whose letters pass for each other. Other mixes are ordinary: Japanese alone has three.
const ALIKE: [Script; 5] =
    [Script::Latin, Script::Cyrillic, Script::Greek, Script::Armenian, Script::Cherokee];

/// Marks the letters that pass for another script, word by word. Gives each pair of scripts: of the marked
/// letters, and of most letters around them.
pub(super) fn mark(chars: &mut [(char, Kind)]) -> Vec<(Script, Script)> {
    let mut mixes = Vec::new();
    // A hidden character does not end a word: it would hide the mix as well.
    let within = |(char, kind): &(char, Kind)| {
        *kind == Kind::Hidden || char.is_alphanumeric() || is_combining_mark(*char)
    };
    for word in chars.chunk_by_mut(|a, b| within(a) == within(b)) {
        let Some(main) = main_script(word) else { continue };
        for (char, kind) in word {
            let script = char.script();
            if *kind == Kind::Seen && script != main && ALIKE.contains(&script) && has_twin(*char, script) {
                *kind = Kind::Odd;
                if !mixes.contains(&(script, main)) {
                    mixes.push((script, main));
                }
            }
        }
    }
    mixes
}

/// Whether a letter of `script` is marked.
pub(super) fn has_odd(chars: &[(char, Kind)], script: Script) -> bool {
    chars.iter().any(|(char, kind)| *kind == Kind::Odd && char.script() == script)
}

/// The script of most letters, if the word mixes scripts; Latin when as many are Latin.
fn main_script(word: &[(char, Kind)]) -> Option<Script> {
    let count = |script: Script| {
        word.iter().filter(|(char, kind)| *kind == Kind::Seen && char.script() == script).count()
    };
    let counts = ALIKE.map(|script| (count(script), script));
    let mixed = counts.iter().filter(|(count, _)| *count > 0).count() > 1;
    let most = counts.iter().map(|(count, _)| *count).max()?;
    counts.into_iter().find(|(count, _)| mixed && *count == most).map(|(_, script)| script)
}

/// Whether a letter passes for one of another script: by the confusables of UTS 39, whose prototypes are Latin.
fn has_twin(char: char, script: Script) -> bool {
    script == Script::Latin
        || skeleton(char.encode_utf8(&mut [0; 4])).any(|twin| twin.script() == Script::Latin)
}

/// Whether a piece is a marked letter of `script`.
pub(super) fn is_odd(piece: &Piece, script: Script) -> bool {
    matches!(piece, Piece::Odd(char) if char.script() == script)
}
