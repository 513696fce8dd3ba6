//! Integer literals that do not survive being read as a double.

/// Where in valid JSON the first integer lies that [`kept_by_double`] denies.
///
/// The parser does not tell: it hands integers past 64 bits over as doubles, already rounded.
pub(super) fn first_inexact(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let length = match byte {
            b'"' => string_length(&bytes[at..]),
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|byte| is_numeric(**byte)).count();
                if !kept_by_double(&text[at..at + length]) {
                    return Some(at);
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    None
}

fn is_numeric(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Bytes of the string literal that `bytes` start with, both quotes included.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether an integer literal survives as a double: by value, or as the very text RFC 8785 gives that double.
///
/// The second half is what JavaScript sends for large numbers: 2^68 goes out as 295147905179352830000, which
/// is 4144 more. Fractions and exponents ask for a double: for them rounding changes nothing that was meant.
fn kept_by_double(literal: &str) -> bool {
    const ALWAYS_EXACT_CHARS: usize = 15;
    if literal.len() <= ALWAYS_EXACT_CHARS || literal.contains(['.', 'e', 'E']) {
        return true;
    }
    let Ok(double) = literal.parse::<f64>() else { return false };
    // Below 1e21 Display writes what RFC 8785 does, shortest digits and no exponent, at a fraction of the cost.
    (double.abs() < 1e21 && double.to_string() == literal) || format!("{double:.0}") == literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::canonical;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, want: Option<usize>) {
        assert_eq!(first_inexact(text), want, "{text}");
    }

    #[test]
    fn the_first_integer_past_doubles_is_found() {
        check("[9007199254740992, 9007199254740993, 9007199254740995]", Some(19));
        check("-9007199254740993", Some(0));
    }

    #[test]
    fn digits_in_strings_are_no_integers() {
        check(r#"{"9007199254740993":"\"9007199254740993\\"}"#, None);
    }

    #[test]
    fn fractions_and_exponents_may_be_rounded() {
        check("[9007199254740993.0, 0.30000000000000000001, 12345678901234567890e1, 1E30]", None);
    }

    proptest! {
        #[test]
        fn integers_of_64_bits_pass_exactly_if_a_double_holds_them(value: i64) {
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the point")]
            let held = value as f64 as i128 == i128::from(value);
            let as_sent = value.to_string();
            let as_javascript = canonical(&serde_json::json!(value));
            prop_assert_eq!(first_inexact(&as_sent).is_none(), held || as_sent == as_javascript);
            prop_assert_eq!(first_inexact(&as_javascript), None);
        }
    }
}
