//! Whether an answer fits, and what to say where it does not.
//!
//! Messages name the rule and never quote the answer: they end up in logs and models, the answer must not.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::Display;

use serde_json::{Map, Number, Value};

use super::{Choice, Field, FieldKind, Format, MultiSelect, Range, Text, VIOLATIONS, number};
use crate::violation::{Violation, pointer_token};

/// Characters of options that a message quotes; a longer list is only counted.
const QUOTED_OPTIONS_CHARS: usize = 200;

/// `given` unchanged if it answers `fields` and nothing else.
pub(super) fn check(
    fields: &[Field],
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Violation>> {
    let wrong = fields.iter().filter_map(|field| fault(field, given.get(&field.name)));
    let extra = given.keys().filter(|key| fields.iter().all(|field| field.name != **key));
    let extra = extra.map(|key| at(key, "is not a field of this request; remove it"));
    let violations: Vec<Violation> = wrong.chain(extra).take(VIOLATIONS).collect();
    if violations.is_empty() { Ok(given.clone()) } else { Err(violations) }
}

fn fault(field: &Field, answer: Option<&Value>) -> Option<Violation> {
    match answer {
        None if field.required => Some(at(&field.name, &format!("is missing; it {}", expected(&field.kind)))),
        Some(value) if !fits(&field.kind, value) => Some(at(&field.name, &expected(&field.kind))),
        _ => None,
    }
}

fn at(key: &str, message: &str) -> Violation {
    Violation::new(format!("/{}", pointer_token(key)), message)
}

/// Whether `value` answers a field of `kind`.
pub(super) fn fits(kind: &FieldKind, value: &Value) -> bool {
    match (kind, value) {
        (FieldKind::Text(rules), Value::String(text)) => fits_text(rules, text),
        (FieldKind::Number(range), Value::Number(number)) => fits_range(range, number),
        (FieldKind::Integer(range), Value::Number(number)) => {
            number::is_whole(number) && fits_range(range, number)
        }
        (FieldKind::Boolean, Value::Bool(_)) => true,
        (FieldKind::Select(options), Value::String(text)) => is_option(options, text),
        (FieldKind::MultiSelect(rules), Value::Array(chosen)) => fits_chosen(rules, chosen),
        _ => false,
    }
}

fn fits_text(rules: &Text, text: &str) -> bool {
    let length = text.chars().count();
    let long_enough = rules.min_length.is_none_or(|least| length >= least);
    long_enough && length <= rules.longest() && rules.format.is_none_or(|format| format.fits(text))
}

fn fits_range(range: &Range, number: &Number) -> bool {
    let below = |bound: &Number| number::compare(number, bound) == Ordering::Less;
    let above = |bound: &Number| number::compare(number, bound) == Ordering::Greater;
    !range.minimum.as_ref().is_some_and(below) && !range.maximum.as_ref().is_some_and(above)
}

fn fits_chosen(rules: &MultiSelect, chosen: &[Value]) -> bool {
    let enough = rules.min_items.is_none_or(|least| chosen.len() >= least);
    let not_too_many = rules.max_items.is_none_or(|most| chosen.len() <= most);
    let mut seen = HashSet::new();
    let is_new_option = |value: &Value| {
        value.as_str().is_some_and(|text| is_option(&rules.options, text) && seen.insert(text.to_owned()))
    };
    enough && not_too_many && chosen.iter().all(is_new_option)
}

fn is_option(options: &[Choice], text: &str) -> bool {
    options.iter().any(|option| option.value == text)
}

/// What would be right for a field of `kind`, beginning with "must be".
pub(super) fn expected(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text(rules) => expected_text(rules),
        FieldKind::Number(range) => format!("must be a number{}", expected_range(range)),
        FieldKind::Integer(range) => format!("must be a whole number{}", expected_range(range)),
        FieldKind::Boolean => "must be true or false".to_owned(),
        FieldKind::Select(options) => format!("must be one of {}", quoted(options)),
        FieldKind::MultiSelect(rules) => {
            let count = between(rules.min_items, rules.max_items);
            format!("must be a list{count} without repeats, out of {}", quoted(&rules.options))
        }
    }
}

fn expected_text(rules: &Text) -> String {
    let length = between(rules.min_length, Some(rules.longest()));
    match rules.format {
        None => format!("must be text{length} characters"),
        // An address or a date is short by nature: only a length that the asker chose is news.
        Some(format) if format != Format::Uri && (rules.min_length, rules.max_length) == (None, None) => {
            format!("must be {}", format.described())
        }
        Some(format) => format!("must be {},{length} characters", format.described()),
    }
}

fn expected_range(range: &Range) -> String {
    match (&range.minimum, &range.maximum) {
        (Some(low), Some(high)) => format!(" from {low} to {high}"),
        (low, high) => between(low.as_ref(), high.as_ref()),
    }
}

/// ` of 1 to 3`, ` of at least 1`, ` of at most 3`, or nothing without a bound.
fn between<T: Display>(low: Option<T>, high: Option<T>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(" of {low} to {high}"),
        (Some(low), None) => format!(" of at least {low}"),
        (None, Some(high)) => format!(" of at most {high}"),
        (None, None) => String::new(),
    }
}

fn quoted(options: &[Choice]) -> String {
    let values: Vec<String> = options.iter().map(|option| format!("\"{}\"", option.value)).collect();
    let list = values.join(", ");
    if list.chars().count() <= QUOTED_OPTIONS_CHARS {
        return list;
    }
    format!("the {} options of the schema", options.len())
}
