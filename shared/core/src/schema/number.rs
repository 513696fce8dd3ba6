//! JSON numbers compared without losing digits.

use std::cmp::Ordering;

use serde_json::Number;

/// Whether `number` is an integer in the sense of JSON Schema: 3.0 is one.
pub(super) fn is_whole(number: &Number) -> bool {
    exact(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// `number` as a count: whole and not negative. What is too large to count with is the largest count.
pub(super) fn count(number: &Number) -> Option<usize> {
    match exact(number) {
        Some(whole) if whole >= 0 => Some(usize::try_from(whole).unwrap_or(usize::MAX)),
        _ => None,
    }
}

/// The order of two numbers.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (exact(left), exact(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        // Rounding to a double is monotone, and a fraction is far from where doubles skip integers.
        _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
    }
}

/// `number` as an integer where it is one and has at most 38 digits.
fn exact(number: &Number) -> Option<i128> {
    if let Some(whole) = number.as_i64() {
        return Some(i128::from(whole));
    }
    if let Some(whole) = number.as_u64() {
        return Some(i128::from(whole));
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e38)?;
    #[expect(clippy::cast_possible_truncation, reason = "integral and within i128, checked above")]
    Some(float as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(left: &str, right: &str, want: Ordering) {
        assert_eq!(compare(&number(left), &number(right)), want, "{left} against {right}");
        assert_eq!(compare(&number(right), &number(left)), want.reverse(), "{right} against {left}");
    }

    #[test]
    fn integers_and_decimals_have_one_order() {
        check("1", "1.0", Ordering::Equal);
        check("1", "1.5", Ordering::Less);
        check("-1", "-1.5", Ordering::Greater);
        check("1e300", "18446744073709551615", Ordering::Greater);
        check("-0.0", "0", Ordering::Equal);
    }

    #[test]
    fn integers_beyond_the_exact_doubles_keep_their_order() {
        check("9007199254740992", "9007199254740993", Ordering::Less);
        check("9007199254740992.0", "9007199254740993", Ordering::Less);
        check("18446744073709551614", "18446744073709551615", Ordering::Less);
    }

    #[test]
    fn whole_is_a_matter_of_value_not_of_spelling() {
        for (text, want) in [("3", true), ("3.0", true), ("3.5", false), ("1e300", true), ("-0.0", true)] {
            assert_eq!(is_whole(&number(text)), want, "{text}");
        }
    }

    #[test]
    fn a_count_is_whole_and_not_negative() {
        for (text, want) in
            [("0", Some(0)), ("3.0", Some(3)), ("-1", None), ("2.5", None), ("1e30", Some(usize::MAX))]
        {
            assert_eq!(count(&number(text)), want, "{text}");
        }
    }
}
