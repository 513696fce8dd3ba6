//! What holds for every schema: generated ones of all kinds, and arbitrary JSON.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use serde_json::{Map, Value, json};

use super::*;

/// A keyword and its value.
type Keyword = (&'static str, Value);

/// A field or a schema as the asker writes it, and an answer that fits it.
type Sample = (Value, Value);

fn label() -> impl Strategy<Value = String> {
    // Letters that spell no secret.
    "[a-h ✓]{0,12}"
}

/// `fixed` and some of `optional` together with a title or description, in any order.
fn object(fixed: Vec<Keyword>, optional: Vec<Keyword>) -> impl Strategy<Value = Value> {
    let count = optional.len() + 2;
    (label(), label()).prop_flat_map(move |(title, description)| {
        let mut all = optional.clone();
        all.extend([("title", json!(title)), ("description", json!(description))]);
        let fixed = fixed.clone();
        let keywords = subsequence(all, 0..=count).prop_map(move |some| [fixed.clone(), some].concat());
        keywords.prop_shuffle().prop_map(to_object)
    })
}

fn to_object(keywords: Vec<Keyword>) -> Value {
    keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect::<Map<_, _>>().into()
}

fn free_text() -> impl Strategy<Value = Sample> {
    "\\PC{0,20}".prop_flat_map(|answer| {
        let length = answer.chars().count();
        let optional =
            vec![("minLength", json!(length)), ("maxLength", json!(length)), ("default", json!(answer))];
        (object(vec![("type", json!("string"))], optional), Just(json!(answer)))
    })
}

fn formatted_text() -> impl Strategy<Value = Sample> {
    let examples = [
        ("email", "zoë@example.org"),
        ("uri", "urn:a:b"),
        ("date", "2024-02-29"),
        ("date-time", "2026-11-30T20:00:00.5+01:00"),
    ];
    select(examples.to_vec()).prop_flat_map(|(format, answer)| {
        let fixed = vec![("type", json!("string")), ("format", json!(format))];
        (object(fixed, vec![("default", json!(answer))]), Just(json!(answer)))
    })
}

fn number(kind: &'static str, answer: impl Strategy<Value = Value>) -> impl Strategy<Value = Sample> {
    answer.prop_flat_map(move |answer| {
        let optional = ["minimum", "maximum", "default"].map(|keyword| (keyword, answer.clone())).to_vec();
        (object(vec![("type", json!(kind))], optional), Just(answer))
    })
}

fn boolean() -> impl Strategy<Value = Sample> {
    any::<bool>().prop_flat_map(|answer| {
        (object(vec![("type", json!("boolean"))], vec![("default", json!(answer))]), Just(json!(answer)))
    })
}

fn values() -> impl Strategy<Value = Vec<String>> {
    btree_set("\\PC{0,8}", 1..6).prop_map(|values| values.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

fn titled(values: &[String]) -> Value {
    values.iter().map(|value| json!({"title": format!("{value}!"), "const": value})).collect()
}

fn single_select() -> impl Strategy<Value = Sample> {
    (values(), any::<Index>(), 0..3).prop_flat_map(|(values, index, spelling)| {
        let answer = json!(index.get(&values));
        let mut keywords = match spelling {
            0 => vec![("enum", json!(values))],
            1 => vec![("oneOf", titled(&values))],
            _ => vec![("enum", json!(values)), ("enumNames", json!(values))],
        };
        keywords.push(("type", json!("string")));
        (object(keywords, vec![("default", answer.clone())]), Just(answer))
    })
}

fn multi_select() -> impl Strategy<Value = Sample> {
    let chosen = values().prop_flat_map(|values| {
        let count = values.len();
        (Just(values.clone()), subsequence(values, 0..=count).prop_shuffle(), any::<bool>())
    });
    chosen.prop_flat_map(|(values, chosen, plain)| {
        let items =
            if plain { json!({"enum": values, "type": "string"}) } else { json!({"anyOf": titled(&values)}) };
        let count = json!(chosen.len());
        let optional = vec![("minItems", count.clone()), ("maxItems", count), ("default", json!(chosen))];
        (object(vec![("items", items), ("type", json!("array"))], optional), Just(json!(chosen)))
    })
}

fn field() -> impl Strategy<Value = Sample> {
    prop_oneof![
        free_text(),
        formatted_text(),
        number("number", prop_oneof![any::<i32>().prop_map(Value::from), (-1e9..1e9).prop_map(Value::from)]),
        number("integer", any::<i64>().prop_map(Value::from)),
        boolean(),
        single_select(),
        multi_select(),
    ]
}

/// A schema, and an answer to all of its fields.
fn sample() -> impl Strategy<Value = Sample> {
    let fields = vec((field(), any::<bool>()), 0..8);
    fields.prop_flat_map(|fields| {
        let named = || fields.iter().enumerate().map(|(index, field)| (format!("f{index}/~"), field));
        let properties: Map<_, _> = named().map(|(name, ((schema, _), _))| (name, schema.clone())).collect();
        let answers: Map<_, _> = named().map(|(name, ((_, answer), _))| (name, answer.clone())).collect();
        let required: Vec<_> = named().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let fixed = vec![("type", json!("object")), ("properties", Value::Object(properties))];
        let optional = vec![
            ("required", json!(required)),
            ("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
            ("additionalProperties", json!(false)),
        ];
        (object(fixed, optional), Just(Value::Object(answers)))
    })
}

/// Pointers to the objects of `value` (itself under `at`) whose keys are keywords.
fn keyword_objects(at: &str, value: &Value, found: &mut Vec<String>) {
    let Value::Object(map) = value else { return };
    found.push(at.to_owned());
    for (key, inner) in map {
        let at = format!("{at}/{key}");
        match (key.as_str(), inner) {
            ("properties", Value::Object(fields)) => fields.iter().for_each(|(name, field)| {
                keyword_objects(&format!("{at}/{}", crate::violation::pointer_token(name)), field, found);
            }),
            ("oneOf" | "anyOf", Value::Array(options)) => {
                let options = options.iter().enumerate();
                options.for_each(|(index, option)| keyword_objects(&format!("{at}/{index}"), option, found));
            }
            ("items", items) => keyword_objects(&at, items, found),
            _ => {}
        }
    }
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let words = "type properties required items enum enumNames oneOf anyOf const title default format \
                 pattern minLength maxLength minimum maximum minItems maxItems string number integer boolean \
                 array object";
    let word = select(words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let text = prop_oneof![3 => word, 1 => "\\PC{0,6}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 80, 6, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => vec((text.clone(), inner), 0..6).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_valid_schema_parses_and_is_kept_byte_by_byte((source, answer) in sample()) {
        let written = source.to_string();
        let read: Value = serde_json::from_str(&written).unwrap();
        let schema = Schema::parse(&read).unwrap();
        prop_assert_eq!(schema.source().to_string(), written);
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name.as_str()).collect();
        let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        prop_assert_eq!(names, keys);
    }

    #[test]
    fn an_answer_that_fits_comes_back_unchanged((source, answer) in sample()) {
        let given = answer.as_object().unwrap();
        let stored = Schema::parse(&source).unwrap().check(Some(given));
        prop_assert_eq!(stored.map(|stored| Value::Object(stored).to_string()), Ok(answer.to_string()));
    }

    #[test]
    fn an_unknown_keyword_is_pointed_at_wherever_it_stands(
        (mut source, _) in sample(), place in any::<Index>(),
    ) {
        let mut places = Vec::new();
        keyword_objects("", &source, &mut places);
        let place = place.get(&places);
        source.pointer_mut(place).unwrap().as_object_mut().unwrap().insert("unheard".to_owned(), json!(1));
        let error = Schema::parse(&source).unwrap_err();
        let pointers: Vec<String> = error.violations.into_iter().map(|violation| violation.pointer).collect();
        prop_assert_eq!(pointers, [format!("{place}/unheard")]);
    }

    #[test]
    fn no_json_makes_parsing_or_checking_panic(
        source in arbitrary_json(), field in arbitrary_json(), answer in arbitrary_json(),
    ) {
        let _ = Schema::parse(&source);
        if let Ok(schema) = Schema::parse(&json!({"type": "object", "properties": {"a": field}})) {
            let _ = schema.check(Some(&Map::from_iter([("a".to_owned(), answer)])));
        }
    }

    #[test]
    fn a_refusal_always_says_what_and_where(source in arbitrary_json()) {
        let Err(error) = Schema::parse(&source) else { return Ok(()) };
        prop_assert!((1..=VIOLATIONS).contains(&error.violations.len()));
        for violation in &error.violations {
            prop_assert!(!violation.message.is_empty());
            prop_assert!(source.pointer(&violation.pointer).is_some(), "{}", violation);
        }
    }
}
