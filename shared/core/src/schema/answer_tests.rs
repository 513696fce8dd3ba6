//! Which answers fit, case by case.

use serde_json::{Map, Value, json};

use super::*;

/// A schema with the one required field `a`.
#[track_caller]
fn with_a(field: &Value) -> Schema {
    Schema::parse(&json!({"type": "object", "properties": {"a": field}, "required": ["a"]})).unwrap()
}

#[track_caller]
fn checked(schema: &Schema, content: &Value) -> Result<Map<String, Value>, Vec<String>> {
    let refusals = schema.check(Some(content.as_object().unwrap()));
    refusals.map_err(|violations| violations.iter().map(ToString::to_string).collect())
}

/// Every one of `good` answers `field` and none of `bad` does, told as `message`.
#[track_caller]
fn check(field: &Value, good: &[Value], bad: &[Value], message: &str) {
    let schema = with_a(field);
    for value in good {
        let content = json!({"a": value});
        assert_eq!(checked(&schema, &content).as_ref(), Ok(content.as_object().unwrap()), "{field}");
    }
    for value in bad.iter().chain([&Value::Null]) {
        assert_eq!(
            checked(&schema, &json!({"a": value})),
            Err(vec![format!("/a: {message}")]),
            "{field}: {value}"
        );
    }
}

#[test]
fn a_boolean_is_not_its_spelling() {
    check(
        &json!({"type": "boolean"}),
        &[json!(true), json!(false)],
        &[json!("false"), json!("true"), json!(0), json!(1), json!([])],
        "must be true or false",
    );
}

#[test]
fn an_integer_is_whole_and_in_range() {
    check(
        &json!({"type": "integer", "minimum": 1, "maximum": 90}),
        &[json!(1), json!(90), json!(3.0)],
        &[json!(0), json!(91), json!(3.5), json!("3"), json!(true)],
        "must be a whole number from 1 to 90",
    );
    check(
        &json!({"type": "integer"}),
        &[json!(u64::MAX), json!(i64::MIN)],
        &[json!(0.1)],
        "must be a whole number",
    );
}

#[test]
fn a_number_is_in_range() {
    check(
        &json!({"type": "number", "minimum": 0.5}),
        &[json!(0.5), json!(1), json!(3.17)],
        &[json!(0.49), json!("1")],
        "must be a number of at least 0.5",
    );
    check(
        &json!({"type": "number", "maximum": 2}),
        &[json!(2.0)],
        &[json!(2.01)],
        "must be a number of at most 2",
    );
}

#[test]
fn a_text_is_counted_in_scalar_values() {
    check(
        &json!({"type": "string", "minLength": 2, "maxLength": 3}),
        &[json!("Zoë"), json!("✓✓"), json!("👩‍🚀")],
        &[json!("ë"), json!("abcd"), json!(12), json!(["ab"])],
        "must be text of 2 to 3 characters",
    );
}

#[test]
fn a_text_is_never_longer_than_the_cap() {
    for field in [json!({"type": "string"}), json!({"type": "string", "maxLength": ANSWER_CHARS * 2})] {
        check(
            &field,
            &[json!(""), json!("ä".repeat(ANSWER_CHARS))],
            &[json!("a".repeat(ANSWER_CHARS + 1))],
            "must be text of at most 16000 characters",
        );
    }
}

#[test]
fn a_format_is_checked() {
    check(
        &json!({"type": "string", "format": "email"}),
        &[json!("ana@example.org")],
        &[json!("nope"), json!("")],
        "must be an e-mail address such as ana@example.org",
    );
    check(
        &json!({"type": "string", "format": "uri", "maxLength": 30}),
        &[json!("https://example.org")],
        &[json!("example.org"), json!(format!("https://example.org/{}", "a".repeat(30)))],
        "must be a URI with its scheme, such as https://example.org/a, of at most 30 characters",
    );
    check(
        &json!({"type": "string", "format": "date"}),
        &[json!("2026-11-30")],
        &[json!("30.11.2026")],
        "must be a date such as 2026-11-30",
    );
}

#[test]
fn a_choice_is_one_of_the_options() {
    for field in [
        json!({"type": "string", "enum": ["x", "y"], "enumNames": ["X!", "Y!"]}),
        json!({"type": "string", "oneOf": [{"const": "x", "title": "X!"}, {"const": "y", "title": "Y!"}]}),
    ] {
        check(
            &field,
            &[json!("x"), json!("y")],
            &[json!("X"), json!("X!"), json!(""), json!(["x"])],
            "must be one of \"x\", \"y\"",
        );
    }
}

#[test]
fn several_choices_are_different_options_and_counted() {
    let items = json!({"type": "string", "enum": ["x", "y", "z"]});
    check(
        &json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2}),
        &[json!(["x"]), json!(["z", "x"])],
        &[json!([]), json!(["x", "x"]), json!(["x", "y", "z"]), json!(["w"]), json!([1]), json!("x")],
        "must be a list of 1 to 2 without repeats, out of \"x\", \"y\", \"z\"",
    );
}

#[test]
fn a_long_list_of_options_is_counted_instead_of_quoted() {
    let options: Vec<String> = (0..100).map(|index| format!("option {index}")).collect();
    let field = json!({"type": "string", "enum": options});
    check(&field, &[json!("option 7")], &[json!("x")], "must be one of the 100 options of the schema");
}

#[test]
fn missing_and_extra_fields_are_both_told() {
    let schema = with_a(&json!({"type": "boolean"}));
    let want =
        ["/a: is missing; it must be true or false", "/b~1c: is not a field of this request; remove it"];
    assert_eq!(checked(&schema, &json!({"b/c": 1})), Err(want.map(str::to_owned).to_vec()));
    assert!(checked(&Schema::yes_no(), &json!({"a": true})).is_err());
}

#[test]
fn an_optional_field_may_be_left_out_but_not_null() {
    let schema = Schema::parse(&json!({"type": "object", "properties": {"a": {"type": "boolean"}}})).unwrap();
    assert!(checked(&schema, &json!({})).is_ok());
    assert!(checked(&schema, &json!({"a": null})).is_err());
}

#[test]
fn a_refusal_never_quotes_the_answer() {
    let schema = with_a(&json!({"type": "string", "maxLength": 3}));
    let refusal = checked(&schema, &json!({"a": "confidential"})).unwrap_err();
    assert!(!refusal[0].contains("confidential"), "{refusal:?}");
}

#[test]
fn the_number_of_violations_is_bounded() {
    let extra = (0..100).map(|index| (index.to_string(), Value::Null));
    let violations = Schema::yes_no().check(Some(&extra.collect())).unwrap_err();
    assert_eq!(violations.len(), VIOLATIONS);
}

#[test]
fn what_was_given_comes_back_in_its_order_without_defaults() {
    let schema = Schema::parse(&json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "number"}, "c": {"type": "boolean", "default": true},
    }}));
    let content = json!({"b": 1.50, "a": 3.0});
    let stored = checked(&schema.unwrap(), &content).unwrap();
    assert_eq!(Value::Object(stored).to_string(), r#"{"b":1.5,"a":3.0}"#);
}

/// The gate of a schema of these fields, and what an accept without content stores.
#[track_caller]
fn check_gate(fields: &Value, required: &[&str], gate: Option<&str>, stored: Option<&Value>) {
    let schema =
        Schema::parse(&json!({"type": "object", "properties": fields, "required": required})).unwrap();
    assert_eq!(schema.gate(), gate, "{fields}");
    assert_eq!(schema.check(None).ok().map(Value::Object).as_ref(), stored, "{fields}");
}

#[test]
fn one_tap_answers_the_only_required_boolean() {
    let fields = json!({"note": {"type": "string"}, "ok": {"type": "boolean"}, "more": {"type": "boolean"}});
    check_gate(&fields, &["ok"], Some("ok"), Some(&json!({"ok": true})));
    check_gate(&fields, &["ok", "more"], None, None);
    check_gate(&fields, &["note"], None, None);
    check_gate(&fields, &[], None, Some(&json!({})));
    assert_eq!(Schema::yes_no().check(None), Ok(Map::new()));
}

#[test]
fn an_explicit_empty_content_is_not_filled_in() {
    let schema = with_a(&json!({"type": "boolean", "default": true}));
    assert!(checked(&schema, &json!({})).is_err());
}
