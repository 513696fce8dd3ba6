//! Reading the fields of a JSON object, collecting everything that is wrong.
//!
//! A reader never stops at the first fault: it notes the violation and hands out a stand-in, and [`Faults::refusal`]
//! refuses the whole at the end. `null` counts as absent everywhere, since serialisers write it for "not set".

mod text;

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::str::FromStr;

use countersign_core::schema::VIOLATIONS;
use countersign_core::text::{chars, is_printable_line};
use countersign_core::time::Timestamp;
use countersign_core::violation::{Violation, pointer_token};
use serde_json::{Map, Value};

pub use text::TextRule;

use crate::rejected::{INVALID_REQUEST, Rejected};

/// Characters of a foreign field's name that an error repeats.
const SHOWN_NAME_CHARS: usize = 128;

/// Everything found wrong so far, each with the code it would have alone. Holds the first [`VIOLATIONS`].
#[derive(Debug, Default)]
pub struct Faults(RefCell<Vec<(&'static str, Violation)>>);

impl Faults {
    /// Notes a violation of `code`.
    pub fn add(&self, code: &'static str, pointer: impl Into<String>, message: impl Into<String>) {
        let mut found = self.0.borrow_mut();
        if found.len() < VIOLATIONS {
            found.push((code, Violation::new(pointer, message)));
        }
    }

    /// Refuses if anything was found.
    ///
    /// # Errors
    /// All that was found. A wrong shape gives the code where there is one: the rest was judged on a stand-in.
    pub fn refusal(&self) -> Result<(), Rejected> {
        if self.0.borrow().is_empty() { Ok(()) } else { Err(self.rejected()) }
    }

    /// The refusal for what was found, for a caller that cannot go on.
    pub fn rejected(&self) -> Rejected {
        let found = self.0.take();
        let first = found.first().map_or(INVALID_REQUEST, |(code, _)| *code);
        let is_shape = found.iter().any(|(code, _)| *code == INVALID_REQUEST);
        let code = if is_shape { INVALID_REQUEST } else { first };
        Rejected { code, violations: found.into_iter().map(|(_, violation)| violation).collect() }
    }
}

/// An object and where it stands in the body.
#[derive(Debug)]
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    at: String,
    faults: &'a Faults,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    /// The fields of the whole body.
    pub fn root(body: &'a Map<String, Value>, faults: &'a Faults) -> Self {
        Self::within(body, String::new(), faults)
    }

    fn within(map: &'a Map<String, Value>, at: String, faults: &'a Faults) -> Self {
        Self { map, at, faults, known: RefCell::default() }
    }

    /// The pointer to `key`.
    pub fn pointer(&self, key: &str) -> String {
        format!("{}/{}", self.at, pointer_token(key))
    }

    /// Notes that `key` breaks the shape.
    pub fn refuse(&self, key: &str, message: impl Into<String>) {
        self.refuse_as(INVALID_REQUEST, key, message);
    }

    /// Notes that `key` breaks a rule with a code of its own.
    pub fn refuse_as(&self, code: &'static str, key: &str, message: impl Into<String>) {
        self.faults.add(code, self.pointer(key), message);
    }

    /// Notes that the object as a whole breaks a rule with a code of its own.
    pub fn refuse_itself_as(&self, code: &'static str, message: impl Into<String>) {
        self.faults.add(code, self.at.clone(), message);
    }

    /// Refuses `key` wherever it is given; `message` says why.
    pub fn forbid(&self, code: &'static str, key: &'static str, message: &str) {
        if self.raw(key).is_some() {
            self.refuse_as(code, key, message);
        }
    }

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.map.values().all(Value::is_null)
    }

    /// Whether `key` is written down, even as `null`.
    pub fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// The value of `key`, whatever it is, unless it is `null`.
    pub fn raw(&self, key: &'static str) -> Option<&'a Value> {
        self.known.borrow_mut().push(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// The value of `key` as `read` sees it; a fault if it is given and not `wanted`.
    pub fn read<T>(
        &self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.raw(key)?);
        if found.is_none() {
            self.refuse(key, format!("must be {wanted}"));
        }
        found
    }

    /// The same for a field that must be given.
    pub fn required<T>(
        &self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        if self.raw(key).is_none() {
            self.refuse(key, format!("is missing; it must be {wanted}"));
        }
        self.read(key, wanted, read)
    }

    /// A text that may be absent.
    pub fn text(&self, key: &'static str, rule: TextRule) -> Option<String> {
        self.read(key, &rule.wanted(self.map.get(key)), |value| rule.read(value)).map(str::to_owned)
    }

    /// A text; the empty one stands in for a fault.
    pub fn required_text(&self, key: &'static str, rule: TextRule) -> String {
        self.required(key, &rule.wanted(self.map.get(key)), |value| rule.read(value))
            .unwrap_or_default()
            .to_owned()
    }

    /// `true` or `false`; absent is `false`.
    pub fn flag(&self, key: &'static str) -> bool {
        self.read(key, "true or false", Value::as_bool).unwrap_or(false)
    }

    /// A whole number of `range`.
    pub fn integer(&self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, &wanted, |value| value.as_u64().filter(|number| range.contains(number)))
    }

    /// One of `options`, by its `word`.
    pub fn word<T: Copy>(
        &self,
        key: &'static str,
        options: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let words: Vec<&str> = options.iter().map(|option| word(*option)).collect();
        let wanted = match words.as_slice() {
            [only] => format!("\"{only}\", or be left out"),
            several => format!("one of {}", several.join(", ")),
        };
        self.read(key, &wanted, |value| options.iter().copied().find(|option| value == word(*option)))
    }

    /// One of `options`, which must be given.
    pub fn required_word<T: Copy>(
        &self,
        key: &'static str,
        options: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        if self.raw(key).is_none() {
            let words: Vec<&str> = options.iter().map(|option| word(*option)).collect();
            self.refuse(key, format!("is missing; it must be one of {}", words.join(", ")));
        }
        self.word(key, options, word)
    }

    /// An RFC 3339 time.
    pub fn time(&self, key: &'static str) -> Option<Timestamp> {
        let wanted = "an RFC 3339 time such as 2026-11-30T20:00:00.000Z";
        self.read(key, wanted, |value| value.as_str().and_then(Timestamp::parse))
    }

    /// A text that parses as `T`; `wanted` says what would.
    pub fn parsed<T: FromStr>(&self, key: &'static str, wanted: &str) -> Option<T> {
        self.read(key, wanted, |value| value.as_str().and_then(|text| text.parse().ok()))
    }

    /// An object that we do not look into.
    pub fn map(&self, key: &'static str) -> Option<&'a Map<String, Value>> {
        self.read(key, "an object", Value::as_object)
    }

    /// The fields of an object.
    pub fn object(&self, key: &'static str) -> Option<Self> {
        self.map(key).map(|map| Self::within(map, self.pointer(key), self.faults))
    }

    /// The fields of an object that must be given.
    pub fn required_object(&self, key: &'static str) -> Option<Self> {
        let map = self.required(key, "an object", Value::as_object)?;
        Some(Self::within(map, self.pointer(key), self.faults))
    }

    /// A list of texts.
    pub fn texts(&self, key: &'static str, counts: RangeInclusive<usize>, rule: TextRule) -> Vec<String> {
        let read = |(index, item): (usize, &Value)| {
            let found = rule.read(item).map(str::to_owned);
            if found.is_none() {
                let pointer = format!("{}/{index}", self.pointer(key));
                let wanted = rule.wanted(Some(item));
                self.faults.add(INVALID_REQUEST, pointer, format!("must be {wanted}"));
            }
            found
        };
        self.items(key, counts).iter().enumerate().filter_map(read).collect()
    }

    /// A list of texts that must be given.
    pub fn required_texts(
        &self,
        key: &'static str,
        counts: RangeInclusive<usize>,
        rule: TextRule,
    ) -> Vec<String> {
        if self.raw(key).is_none() {
            self.refuse(key, format!("is missing; it must be {}", a_list(&counts)));
        }
        self.texts(key, counts, rule)
    }

    /// A list of texts that parse as `T`; `wanted` says what would.
    pub fn parsed_list<T: FromStr>(
        &self,
        key: &'static str,
        counts: RangeInclusive<usize>,
        wanted: &str,
    ) -> Vec<T> {
        let read = |(index, item): (usize, &Value)| {
            let found = item.as_str().and_then(|text| text.parse().ok());
            if found.is_none() {
                let pointer = format!("{}/{index}", self.pointer(key));
                self.faults.add(INVALID_REQUEST, pointer, format!("must be {wanted}"));
            }
            found
        };
        self.items(key, counts).iter().enumerate().filter_map(read).collect()
    }

    /// A list of objects.
    pub fn objects(&self, key: &'static str, counts: RangeInclusive<usize>) -> Vec<Self> {
        let read = |(index, item): (usize, &'a Value)| {
            let pointer = format!("{}/{index}", self.pointer(key));
            if let Value::Object(map) = item {
                return Some(Self::within(map, pointer, self.faults));
            }
            self.faults.add(INVALID_REQUEST, pointer, "must be an object");
            None
        };
        self.items(key, counts).iter().enumerate().filter_map(read).collect()
    }

    fn items(&self, key: &'static str, counts: RangeInclusive<usize>) -> &'a [Value] {
        let wanted = a_list(&counts);
        let fits = |value: &'a Value| value.as_array().filter(|items| counts.contains(&items.len()));
        self.read(key, &wanted, fits).map_or(&[], Vec::as_slice)
    }

    /// The fields that nobody has asked for so far.
    pub fn unknown(&self) -> Vec<(&'a String, &'a Value)> {
        let known = self.known.borrow();
        self.map.iter().filter(|(key, _)| !known.contains(&key.as_str())).collect()
    }

    /// Refuses the fields that nobody has asked for.
    pub fn finish(&self) {
        for (key, _) in self.unknown().into_iter().take(VIOLATIONS) {
            if chars(key) <= SHOWN_NAME_CHARS && is_printable_line(key) {
                self.refuse(key, "unknown field");
            } else {
                // What is this long or not printable is not fit to be quoted in an error.
                let message = "unknown field, with a name that is too long or not printable";
                self.faults.add(INVALID_REQUEST, self.at.clone(), message);
            }
        }
    }
}

fn a_list(counts: &RangeInclusive<usize>) -> String {
    format!("a list of {} to {} entries", counts.start(), counts.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(body: &Value, read: impl FnOnce(&Fields<'_>), want: &[&str]) {
        let faults = Faults::default();
        read(&Fields::root(body.as_object().unwrap(), &faults));
        let found: Vec<String> = faults.rejected().violations.iter().map(ToString::to_string).collect();
        assert_eq!(found, want, "{body}");
    }

    #[test]
    fn every_fault_is_listed_and_says_what_would_be_right() {
        let body = json!({"a": 1, "b": "x", "c": 0, "d": "e", "f": "soon", "g": [], "h": [1, "x"]});
        let read = |fields: &Fields<'_>| {
            fields.text("a", TextRule::any(9));
            fields.flag("b");
            fields.integer("c", 1..=9);
            fields.word("d", &["x", "y"], |word| word);
            fields.time("f");
            fields.object("g");
            fields.texts("h", 0..=9, TextRule::any(9));
            fields.required_text("i", TextRule::line(120));
        };
        let want = [
            "/a: must be text of 1 to 9 characters, not blank",
            "/b: must be true or false",
            "/c: must be a whole number from 1 to 9",
            "/d: must be one of x, y",
            "/f: must be an RFC 3339 time such as 2026-11-30T20:00:00.000Z",
            "/g: must be an object",
            "/h/0: must be text of 1 to 9 characters, not blank",
            "/i: is missing; it must be text of 1 to 120 characters, not blank, on one line and without invisible \
             characters",
        ];
        check(&body, read, &want);
    }

    #[test]
    fn null_is_absent() {
        let body = json!({"a": null, "b": null});
        let read = |fields: &Fields<'_>| {
            assert_eq!(fields.text("a", TextRule::any(9)), None);
            assert!(fields.required_object("b").is_none());
            fields.finish();
        };
        check(&body, read, &["/b: is missing; it must be an object"]);
    }

    #[test]
    fn unknown_fields_are_refused_where_they_stand() {
        let long = "x".repeat(SHOWN_NAME_CHARS + 1);
        let body = json!({"list": [{"a/~b": 1}], "c\n": 1, "surprise": 1, long: 1});
        let read = |fields: &Fields<'_>| {
            fields.objects("list", 0..=9).iter().for_each(Fields::finish);
            fields.finish();
        };
        let unfit = "unknown field, with a name that is too long or not printable";
        check(&body, read, &["/list/0/a~1~0b: unknown field", unfit, "/surprise: unknown field", unfit]);
    }

    #[test]
    fn no_body_makes_more_than_the_bound() {
        let body: Map<String, Value> = (0..1_000).map(|n| (n.to_string(), json!(n))).collect();
        let faults = Faults::default();
        Fields::root(&body, &faults).finish();
        assert_eq!(faults.rejected().violations.len(), VIOLATIONS);
    }

    #[test]
    fn a_wrong_shape_gives_the_code() {
        let faults = Faults::default();
        faults.add("invalid_binding", "/binding", "x");
        faults.add(INVALID_REQUEST, "/a", "x");
        assert_eq!(faults.rejected().code, INVALID_REQUEST);
        faults.add("invalid_binding", "/binding", "x");
        assert_eq!(faults.refusal().unwrap_err().code, "invalid_binding");
        assert_eq!(faults.refusal(), Ok(()));
    }
}
