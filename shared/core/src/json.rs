//! Reading JSON so that what is hashed is what was sent.

mod canonical;
mod integers;

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

pub use canonical::{Sha256, canonical, sha256};

use crate::limits::JSON_DEPTH;
use crate::text;

/// Doubles hold every integer up to this one (2^53); past it an integer is kept as a double.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
/// Characters of a foreign key that an error repeats.
const SHOWN_KEY_CHARS: usize = 60;

/// Why bytes were not read as JSON. The text says what to mend, and may be shown to the sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadJson {
    /// The bytes are not UTF-8.
    #[error("send the JSON as UTF-8: byte {offset} starts no character")]
    NotUtf8 {
        /// Bytes before the first bad one.
        offset: usize,
    },
    /// The text starts with U+FEFF.
    #[error("send the JSON without a byte order mark")]
    ByteOrderMark,
    /// The text is not JSON, holds half of a surrogate pair, goes on after its end, or has a number past the
    /// range of a double.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// An object has one key twice; parsers differ on which value counts.
    #[error("key \"{key}\" is given twice in one object, send it once ({at})")]
    DuplicateKey {
        /// The key after unescaping, cut and made printable.
        key: String,
        /// The end of the second one.
        at: Place,
    },
    /// Arrays and objects are nested deeper than [`JSON_DEPTH`].
    #[error("nested deeper than {JSON_DEPTH} levels, flatten it ({0})")]
    TooDeep(Place),
    /// An integer that readers who keep numbers as doubles, JavaScript's for one, would change.
    #[error("an integer has more digits than a JSON number keeps, send it as a string ({0})")]
    InexactInteger(Place),
    /// Valid JSON whose root is no object.
    #[error("send a JSON object")]
    NotAnObject,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// In bytes, counted from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

/// Reads strict JSON: one value, in which nothing is said twice and no number changes by being read.
///
/// A number has one representation: `-0` is 0, integral values up to 2^53 are integers, all others doubles.
pub fn read(bytes: &[u8]) -> Result<Value, BadJson> {
    let text = str::from_utf8(bytes).map_err(|error| BadJson::NotUtf8 { offset: error.valid_up_to() })?;
    if text.starts_with('\u{feff}') {
        return Err(BadJson::ByteOrderMark);
    }
    let fault = Cell::new(None);
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Strict { level: 1, fault: &fault }
        .deserialize(&mut source)
        .and_then(|value| source.end().map(|()| value))
        .map_err(|error| explain(&error, fault.take()))?;
    match integers::first_inexact(text) {
        Some(offset) => Err(BadJson::InexactInteger(place(text, offset))),
        None => Ok(value),
    }
}

/// Reads strict JSON whose root is an object.
pub fn read_object(bytes: &[u8]) -> Result<Map<String, Value>, BadJson> {
    match read(bytes)? {
        Value::Object(map) => Ok(map),
        _ => Err(BadJson::NotAnObject),
    }
}

/// What our visitor refuses; the parser adds where.
enum Fault {
    Duplicate(String),
    Depth,
}

fn explain(error: &serde_json::Error, fault: Option<Fault>) -> BadJson {
    let at = Place { line: error.line(), column: error.column() };
    match fault {
        Some(Fault::Duplicate(key)) => {
            BadJson::DuplicateKey { key: text::summary(None, &key, SHOWN_KEY_CHARS), at }
        }
        Some(Fault::Depth) => BadJson::TooDeep(at),
        None => BadJson::Syntax(error.to_string()),
    }
}

/// Builds the value at nesting `level`.
#[derive(Clone, Copy)]
struct Strict<'a> {
    level: usize,
    fault: &'a Cell<Option<Fault>>,
}

impl Strict<'_> {
    fn refuse<E: serde::de::Error>(self, fault: Fault) -> E {
        self.fault.set(Some(fault));
        E::custom("refused")
    }

    /// The seed of what lies inside an array or object at this level.
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.level > JSON_DEPTH {
            return Err(self.refuse(Fault::Depth));
        }
        Ok(Self { level: self.level + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "what a double cannot hold, the scan of literals refuses")]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "what a double cannot hold, the scan of literals refuses")]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(self.refuse(Fault::Duplicate(key)));
            }
            map.insert(key, entries.next_value_seed(inside)?);
        }
        Ok(Value::Object(map))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "integral and at most 2^53 here")]
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= INTEGER_MAX {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

fn place(text: &str, offset: usize) -> Place {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place { line: before.matches('\n').count() + 1, column: offset - line_start + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Any value of at most `JSON_DEPTH` levels.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        let depth = u32::try_from(JSON_DEPTH).unwrap();
        leaf.prop_recursive(depth, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    #[track_caller]
    fn reads(text: &str, want: &Value) {
        assert_eq!(read(text.as_bytes()).as_ref(), Ok(want), "{text}");
    }

    #[track_caller]
    fn refuses(text: impl AsRef<[u8]>, want: &str) {
        let refused = read(text.as_ref()).expect_err("read what must be refused");
        assert_eq!(refused.to_string(), want);
    }

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn a_number_has_one_representation() {
        reads("[-0, -0.0, -0e9, 1.0, 1e2]", &json!([0, 0, 0, 1, 100]));
        reads(
            "[9007199254740992, -9007199254740991]",
            &json!([9_007_199_254_740_992_i64, -9_007_199_254_740_991_i64]),
        );
        reads("[18446744073709551616, 1E30]", &json!([18_446_744_073_709_551_616.0, 1e30]));
        reads("[0.1e-6, 1e-400]", &json!([1e-7, 0]));
    }

    #[test]
    fn floats_read_to_the_nearest_double() {
        // serde_json misses each by one unit without its feature float_roundtrip, which we get only because
        // serde_json_canonicalizer asks for it.
        for text in ["1.6059343925285465", "1.7741184088125455", "31.245270191439438", "121.48791951161945"] {
            let double = read(text.as_bytes()).unwrap().as_f64().unwrap();
            assert_eq!(double.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn a_large_integer_passes_by_value_or_as_javascript_writes_it() {
        reads("295147905179352825856", &json!(295_147_905_179_352_825_856.0));
        reads("295147905179352830000", &json!(295_147_905_179_352_825_856.0));
    }

    #[test]
    fn an_integer_that_a_double_changes_is_refused() {
        let message = "an integer has more digits than a JSON number keeps, send it as a string";
        refuses("9007199254740993", &format!("{message} (line 1 column 1)"));
        refuses("-9007199254740993", &format!("{message} (line 1 column 1)"));
        refuses("12345678901234567890123", &format!("{message} (line 1 column 1)"));
        refuses("{\"a\\\"\": \"1\",\n \"b\": 18446744073709551615}", &format!("{message} (line 2 column 7)"));
        reads("\"9007199254740993\"", &json!("9007199254740993"));
    }

    #[test]
    fn a_key_given_twice_is_refused_however_it_is_escaped() {
        let message = "key \"a\" is given twice in one object, send it once";
        refuses(r#"{"a":1,"a":1}"#, &format!("{message} (line 1 column 10)"));
        refuses(r#"[{"a":1,"\u0061":2}]"#, &format!("{message} (line 1 column 16)"));
        reads(r#"[{"a":1},{"a":{"a":2}}]"#, &json!([{"a": 1}, {"a": {"a": 2}}]));
    }

    #[test]
    fn eight_levels_are_read_and_nine_refused() {
        assert!(read(nested(JSON_DEPTH).as_bytes()).is_ok());
        assert!(matches!(read(nested(JSON_DEPTH + 1).as_bytes()), Err(BadJson::TooDeep(_))));
        assert!(matches!(read("[".repeat(60_000).as_bytes()), Err(BadJson::TooDeep(_))));
    }

    #[test]
    fn broken_text_is_refused_with_a_hint() {
        refuses(b"\"\xff\"", "send the JSON as UTF-8: byte 1 starts no character");
        refuses("\u{feff}{}", "send the JSON without a byte order mark");
        refuses("", "not valid JSON: EOF while parsing a value at line 1 column 0");
        refuses("{} {}", "not valid JSON: trailing characters at line 1 column 4");
        refuses("1e400", "not valid JSON: number out of range at line 1 column 5");
        for text in [r#""\ud83d""#, r#""\ude02""#, r#"{"\ud83dx":1}"#, "[1,]", "[01]", "NaN", "'a'", "\"\n\""]
        {
            assert!(matches!(read(text.as_bytes()), Err(BadJson::Syntax(_))), "{text}");
        }
    }

    #[test]
    fn a_root_that_is_no_object_has_its_own_error() {
        assert_eq!(read_object(b"[]"), Err(BadJson::NotAnObject));
        assert_eq!(read_object(b"{\"b\":1,\"a\":2}").unwrap().keys().collect::<Vec<_>>(), ["b", "a"]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        #[test]
        fn what_is_read_means_the_same_to_the_plain_parser(text in r#"[\[\]{},:"\\ua0-9eE.+\- ]{0,24}"#) {
            if let Ok(value) = read(text.as_bytes()) {
                let plain: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(canonical(&plain), canonical(&value));
            }
        }

        #[test]
        fn the_canonical_form_reads_back_to_itself(value in values()) {
            let once = canonical(&value);
            let read_once = read(once.as_bytes()).unwrap();
            prop_assert_eq!(canonical(&read_once), once.clone());
            prop_assert_eq!(read(canonical(&read_once).as_bytes()).unwrap(), read_once);
        }

        #[test]
        fn an_injected_duplicate_is_refused(
            keys in prop::collection::vec(any::<String>(), 1..6),
            pick: prop::sample::Index,
        ) {
            let map: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!([]))).collect();
            let twice = json!(pick.get(&keys));
            let text = json!(map).to_string().replacen('{', &format!("{{{twice}:0,"), 1);
            let refused = matches!(read(text.as_bytes()), Err(BadJson::DuplicateKey { .. }));
            prop_assert!(refused, "{}", text);
        }
    }
}
