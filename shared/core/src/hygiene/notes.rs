//! What is odd about a text, in our own words.

use unicode_script::Script;

use super::class::{Class, class};
use super::{Piece, code, scripts};

/// Codes that one note names for each class, and classes that it explains.
const NAMED: usize = 4;

/// A sentence or two about the hidden characters, then about each mix of scripts.
pub(super) fn notes(pieces: &[Piece], mixes: &[(Script, Script)]) -> Vec<String> {
    let hidden: Vec<char> = pieces.iter().filter_map(hidden).collect();
    let odd = |script: Script| pieces.iter().filter(|piece| scripts::is_odd(piece, script)).count();
    let mixes = mixes.iter().map(|(script, main)| mix(odd(*script) > 1, *script, *main));
    about_hidden(&hidden).into_iter().chain(mixes).collect()
}

fn hidden(piece: &Piece) -> Option<char> {
    match piece {
        Piece::Hidden(char) => Some(*char),
        Piece::Text(_) | Piece::Odd(_) => None,
    }
}

fn about_hidden(hidden: &[char]) -> Option<String> {
    let count = match hidden.len() {
        0 => return None,
        1 => "1 hidden character, shown as a code.".to_owned(),
        count => format!("{count} hidden characters, shown as codes."),
    };
    let mut classes: Vec<(Class, Vec<char>)> = Vec::new();
    for char in hidden {
        let class = class(*char).unwrap_or(Class::Mark);
        match classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, chars)) if chars.contains(char) => {}
            Some((_, chars)) => chars.push(*char),
            None => classes.push((class, vec![*char])),
        }
    }
    let does = |(class, chars): &(Class, Vec<char>)| {
        let codes: Vec<String> = chars.iter().copied().map(code).collect();
        format!("{} {}", listed(&codes), class.does(codes.len() > 1))
    };
    let does: Vec<String> = classes.iter().take(NAMED).map(does).collect();
    Some(format!("{count} {}.", does.join("; ")))
}

/// As in "A", "A and B", "A, B and C"; of more than four the first three and "others".
fn listed(codes: &[String]) -> String {
    match codes {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if codes.len() <= NAMED => format!("{} and {last}", first.join(", ")),
        [first @ .., _] => format!("{} and others", first[..NAMED - 1].join(", ")),
    }
}

fn mix(many: bool, script: Script, main: Script) -> String {
    let marked = if many { "letters are" } else { "letter is" };
    format!(
        "The marked {marked} {}, the others are {}. They look alike.",
        script.full_name(),
        main.full_name()
    )
}
