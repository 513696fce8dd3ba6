//! What a text field must be.

use std::fmt;

use countersign_core::hygiene;
use countersign_core::text::{chars, is_printable_line};
use serde_json::Value;

/// Which characters a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Line,
    Lines,
    Any,
}

/// The rule for one text field. Unless said otherwise a text must show something: invisible characters and blanks
/// alone do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRule {
    max_chars: usize,
    shape: Shape,
    may_be_blank: bool,
}

impl TextRule {
    /// One line in which everything is visible.
    pub const fn line(max_chars: usize) -> Self {
        Self { max_chars, shape: Shape::Line, may_be_blank: false }
    }

    /// Any number of lines, without control characters except line breaks and tabs.
    pub const fn lines(max_chars: usize) -> Self {
        Self { max_chars, shape: Shape::Lines, may_be_blank: false }
    }

    /// Any characters: what shows it must make the invisible ones visible.
    pub const fn any(max_chars: usize) -> Self {
        Self { max_chars, shape: Shape::Any, may_be_blank: false }
    }

    /// The same rule for a text that may also be blank or empty.
    #[must_use]
    pub const fn or_blank(self) -> Self {
        Self { may_be_blank: true, ..self }
    }

    /// `value` as a text that keeps the rule.
    pub fn read(self, value: &Value) -> Option<&str> {
        let fits = |text: &&str| {
            chars(text) <= self.max_chars && self.takes(text) && (self.may_be_blank || shows_something(text))
        };
        value.as_str().filter(fits)
    }

    /// What a field must be, where `value` is not: names the character that one line may not hold, as in `U+202E`.
    pub fn wanted(self, value: Option<&Value>) -> String {
        let held = match (self.shape, value.and_then(Value::as_str)) {
            (Shape::Line, Some(text)) => hygiene::refuse(text).err(),
            _ => None,
        };
        match held {
            Some(char) => format!("{self}; it holds {}", hygiene::code(char)),
            None => self.to_string(),
        }
    }

    fn takes(self, text: &str) -> bool {
        match self.shape {
            Shape::Line => hygiene::refuse(text).is_ok(),
            Shape::Lines => {
                !text.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\r' | '\t'))
            }
            Shape::Any => true,
        }
    }
}

impl fmt::Display for TextRule {
    /// What a field must be, as the end of a sentence that starts with "must be".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.may_be_blank {
            write!(f, "text of at most {} characters", self.max_chars)?;
        } else {
            write!(f, "text of 1 to {} characters, not blank", self.max_chars)?;
        }
        f.write_str(match self.shape {
            Shape::Line => ", on one line and without invisible characters",
            Shape::Lines => ", without control characters except line breaks and tabs",
            Shape::Any => "",
        })
    }
}

fn shows_something(text: &str) -> bool {
    text.chars().any(|char| !char.is_whitespace() && is_printable_line(char.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: TextRule, text: &str, want: bool) {
        assert_eq!(rule.read(&Value::from(text)).is_some(), want, "{text:?} as {rule}");
    }

    #[test]
    fn a_text_keeps_its_length_in_characters() {
        check(TextRule::line(3), "äöü", true);
        check(TextRule::line(3), "äöüß", false);
        assert_eq!(TextRule::line(3).read(&Value::from(3)), None);
    }

    #[test]
    fn a_text_must_show_something_unless_it_may_be_blank() {
        for blank in ["", " ", "\n\t ", "\u{200b}", "\u{3164}\u{202e}"] {
            check(TextRule::any(9), blank, false);
            check(TextRule::any(9).or_blank(), blank, true);
        }
    }

    #[test]
    fn a_refusal_of_one_line_names_the_character() {
        let rule = TextRule::line(20);
        for (text, code) in [
            ("a\nb", "U+000A"),
            ("a\u{9b}b", "U+009B"),
            ("a\u{202e}b", "U+202E"),
            ("a\u{200b}b", "U+200B"),
            ("a\u{e0041}b", "U+E0041"),
            ("a\u{fe0f}b", "U+FE0F"),
            ("a\u{e000}b", "U+E000"),
            ("👨\u{200d}👩", "U+200D"),
        ] {
            check(rule, text, false);
            assert_eq!(rule.wanted(Some(&Value::from(text))), format!("{rule}; it holds {code}"));
        }
        assert_eq!(rule.wanted(Some(&Value::from(3))), rule.to_string());
        assert_eq!(rule.wanted(Some(&Value::from("x".repeat(21)))), rule.to_string());
    }

    #[test]
    fn the_shapes_differ_in_the_characters_they_take() {
        for (text, line, lines) in [
            ("a b", true, true),
            ("a\nb", false, true),
            ("a\r\n\tb", false, true),
            ("a\u{202e}b", false, true),
            ("👨\u{200d}👩", false, true),
            ("a\u{0}b", false, false),
            ("a\u{1b}[2Jb", false, false),
        ] {
            check(TextRule::line(20), text, line);
            check(TextRule::lines(20), text, lines);
            check(TextRule::any(20), text, true);
        }
    }
}
