//! Reading one object of a schema keyword by keyword, and collecting what is wrong with it.

use serde_json::{Map, Number, Value};

use super::{SchemaError, SchemaErrorCode, VIOLATIONS, number};
use crate::violation::{Violation, pointer_token};

/// Everything found wrong so far.
#[derive(Default)]
pub(super) struct Faults {
    sensitive: Vec<Violation>,
    invalid: Vec<Violation>,
}

impl Faults {
    /// Something at `pointer` is not of the subset.
    pub(super) fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.invalid.push(Violation::new(pointer, message));
    }

    /// The field at `pointer` asks for a secret.
    pub(super) fn add_sensitive(&mut self, pointer: impl Into<String>) {
        let message = "a form must not ask for a secret; remove this field, and let the person enter the \
                       secret where it is used";
        self.sensitive.push(Violation::new(pointer, message));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.sensitive.len() + self.invalid.len()
    }

    /// The refusal, if anything is wrong. Secrets come first: mending the rest would not help.
    pub(super) fn into_result(self) -> Result<(), SchemaError> {
        let code = match self.sensitive.is_empty() {
            true if self.invalid.is_empty() => return Ok(()),
            true => SchemaErrorCode::Invalid,
            false => SchemaErrorCode::SensitiveField,
        };
        let violations = self.sensitive.into_iter().chain(self.invalid).take(VIOLATIONS).collect();
        Err(SchemaError { code, violations })
    }
}

/// An object of the schema and where it stands.
pub(super) struct Keywords<'a> {
    map: &'a Map<String, Value>,
    /// Pointer to the object.
    pub(super) at: String,
}

impl<'a> Keywords<'a> {
    /// `value` as an object, or a fault.
    pub(super) fn open(value: &'a Value, at: String, faults: &mut Faults) -> Option<Self> {
        if let Value::Object(map) = value {
            return Some(Self { map, at });
        }
        faults.add(at, "must be an object");
        None
    }

    /// Pointer to the value of `keyword`.
    pub(super) fn pointer(&self, keyword: &str) -> String {
        format!("{}/{}", self.at, pointer_token(keyword))
    }

    /// Whether there is no keyword at all.
    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Whether `keyword` is there.
    pub(super) fn has(&self, keyword: &str) -> bool {
        self.map.contains_key(keyword)
    }

    /// The value of `keyword`.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.map.get(keyword)
    }

    /// The value of `keyword`; a fault that says what `is wanted` where there is none.
    pub(super) fn require(&self, keyword: &str, wanted: &str, faults: &mut Faults) -> Option<&'a Value> {
        let value = self.get(keyword);
        if value.is_none() {
            faults.add(self.at.clone(), format!("{keyword} is missing; it must be {wanted}"));
        }
        value
    }

    /// Faults every keyword that is not among `allowed`.
    pub(super) fn allow_only(&self, allowed: &[&str], faults: &mut Faults) {
        for keyword in self.map.keys().filter(|keyword| !allowed.contains(&keyword.as_str())) {
            let message = if keyword == "pattern" {
                "patterns are not supported; use minLength, maxLength, format or an enum".to_owned()
            } else {
                format!("unknown keyword here; allowed are {}", allowed.join(", "))
            };
            faults.add(self.pointer(keyword), message);
        }
    }

    /// The value of `keyword` as `read` sees it; a fault that says what `is wanted` where it is not that.
    pub(super) fn read<T>(
        &self,
        keyword: &str,
        wanted: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.get(keyword)?);
        if found.is_none() {
            faults.add(self.pointer(keyword), format!("must be {wanted}"));
        }
        found
    }

    /// A text of at most `most` characters.
    pub(super) fn text(&self, keyword: &str, most: usize, faults: &mut Faults) -> Option<String> {
        let wanted = format!("text of at most {most} characters");
        let text = self.read(keyword, &wanted, faults, |value| short_text(value, most));
        text.map(str::to_owned)
    }

    /// A whole number, not negative.
    pub(super) fn count(&self, keyword: &str, faults: &mut Faults) -> Option<usize> {
        self.read(keyword, "a whole number, 0 or more", faults, |value| {
            value.as_number().and_then(number::count)
        })
    }

    /// A number.
    pub(super) fn number(&self, keyword: &str, faults: &mut Faults) -> Option<Number> {
        self.read(keyword, "a number", faults, |value| value.as_number().cloned())
    }
}

/// `value` as a text of at most `most` characters.
pub(super) fn short_text(value: &Value, most: usize) -> Option<&str> {
    value.as_str().filter(|text| text.chars().count() <= most)
}
