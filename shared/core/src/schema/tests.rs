//! What the parser takes and refuses, case by case. Answers are in `answer_tests.rs`.

use serde_json::{Value, json};

use super::*;

/// A schema with the one field `a`.
fn with_a(field: &Value) -> Value {
    json!({"type": "object", "properties": {"a": field}})
}

#[track_caller]
fn refused(source: &Value) -> SchemaError {
    Schema::parse(source).expect_err(&source.to_string())
}

/// Refused as invalid, with exactly these pointers.
#[track_caller]
fn check(source: &Value, want: &[&str]) {
    let error = refused(source);
    let got: Vec<&str> = error.violations.iter().map(|violation| violation.pointer.as_str()).collect();
    assert_eq!(got, want, "{error}");
    assert_eq!(error.code, SchemaErrorCode::Invalid, "{error}");
}

/// The field `a` is refused, with exactly these pointers below it.
#[track_caller]
fn check_a(field: &Value, want: &[&str]) {
    let want: Vec<String> = want.iter().map(|pointer| format!("/properties/a{pointer}")).collect();
    check(&with_a(field), &want.iter().map(String::as_str).collect::<Vec<_>>());
}

#[track_caller]
fn parses_to(field: &Value, want: &FieldKind) {
    let schema = Schema::parse(&with_a(field)).unwrap();
    assert_eq!(&schema.fields()[0].kind, want, "{field}");
}

fn choice(value: &str, title: Option<&str>) -> Choice {
    Choice { value: value.to_owned(), title: title.map(str::to_owned) }
}

#[test]
fn every_kind_is_read() {
    let text = Text { min_length: Some(1), max_length: Some(9), format: Some(Format::Email) };
    parses_to(
        &json!({"type": "string", "minLength": 1, "maxLength": 9.0, "format": "email", "default": "a@b.org"}),
        &FieldKind::Text(text),
    );
    let range = |low: Value, high: Value| Range {
        minimum: low.as_number().cloned(),
        maximum: high.as_number().cloned(),
    };
    parses_to(
        &json!({"type": "number", "minimum": -0.5, "maximum": 2, "default": 1.25}),
        &FieldKind::Number(range(json!(-0.5), json!(2))),
    );
    parses_to(
        &json!({"type": "integer", "minimum": 1, "maximum": 9.0, "default": 3.0}),
        &FieldKind::Integer(range(json!(1), json!(9.0))),
    );
    parses_to(&json!({"type": "boolean", "default": false}), &FieldKind::Boolean);
}

#[test]
fn every_spelling_of_a_choice_is_read() {
    let plain = vec![choice("x", None), choice("y", None)];
    let titled = vec![choice("x", Some("X!")), choice("y", Some("Y!"))];
    let pairs = json!([{"const": "x", "title": "X!"}, {"title": "Y!", "const": "y"}]);
    let items = json!({"type": "string", "enum": ["x", "y"]});
    let multi = |options: &[Choice], min_items, max_items| {
        FieldKind::MultiSelect(MultiSelect { options: options.to_vec(), min_items, max_items })
    };
    parses_to(
        &json!({"type": "string", "enum": ["x", "y"], "default": "y"}),
        &FieldKind::Select(plain.clone()),
    );
    parses_to(&json!({"type": "string", "oneOf": pairs, "default": "y"}), &FieldKind::Select(titled.clone()));
    parses_to(
        &json!({"type": "string", "enum": ["x", "y"], "enumNames": ["X!", "Y!"]}),
        &FieldKind::Select(titled.clone()),
    );
    parses_to(
        &json!({"type": "array", "items": items, "minItems": 1, "maxItems": 9, "default": ["y"]}),
        &multi(&plain, Some(1), Some(9)),
    );
    parses_to(&json!({"type": "array", "items": {"anyOf": pairs}}), &multi(&titled, None, None));
}

#[test]
fn an_empty_schema_is_a_plain_yes_or_no() {
    assert_eq!(Schema::parse(&json!({})), Ok(Schema::yes_no()));
    assert!(Schema::yes_no().is_yes_no());
    assert!(Schema::parse(&json!({"type": "object", "properties": {}, "required": []})).unwrap().is_yes_no());
    assert!(!Schema::parse(&with_a(&json!({"type": "boolean"}))).unwrap().is_yes_no());
}

#[test]
fn what_real_sdks_add_to_the_root_is_kept() {
    let source = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "additionalProperties": false,
        "title": "T", "description": "D", "required": ["b"],
        "properties": {"b": {"type": "boolean", "title": "B"}, "a": {"description": "A", "type": "string"}},
        "type": "object",
    });
    let schema = Schema::parse(&source).unwrap();
    assert_eq!(schema.source().to_string(), source.to_string());
    let fields: Vec<(&str, &str, bool)> =
        schema.fields().iter().map(|field| (field.name.as_str(), field.label(), field.required)).collect();
    assert_eq!(fields, [("b", "B", true), ("a", "a", false)]);
    assert_eq!(schema.fields()[1].description.as_deref(), Some("A"));
}

#[test]
fn the_root_is_an_object_schema() {
    for source in [json!(null), json!("x"), json!([]), json!(7), json!(true)] {
        check(&source, &[""]);
    }
    check(&json!({"title": "x"}), &["", ""]);
    check(&json!({"type": "string", "properties": {}}), &["/type"]);
    check(&json!({"type": "object", "properties": []}), &["/properties"]);
    check(
        &json!({"type": "object", "properties": {}, "additionalProperties": true}),
        &["/additionalProperties"],
    );
    check(&json!({"type": "object", "properties": {}, "$schema": 1, "title": null}), &["/$schema", "/title"]);
    check(&json!({"type": "object", "properties": {}, "a/b~c": 1, "$defs": {}}), &["/a~1b~0c", "/$defs"]);
}

#[test]
fn required_names_fields_once() {
    let required =
        |value: Value| json!({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": value});
    check(&required(json!(["b"])), &["/required/0"]);
    check(&required(json!(["a", "a", 7])), &["/required/1", "/required/2"]);
    check(&required(json!("a")), &["/required"]);
    check(&required(json!(null)), &["/required"]);
}

#[test]
fn fields_are_counted_and_named() {
    let many = |count: usize| {
        let fields = (0..count).map(|index| (format!("f{index}"), json!({"type": "boolean"})));
        json!({"type": "object", "properties": fields.collect::<Map<_, _>>()})
    };
    assert!(Schema::parse(&many(32)).is_ok());
    check(&many(33), &["/properties"]);
    let named = |name: &str| json!({"type": "object", "properties": {name: {"type": "boolean"}}});
    assert!(Schema::parse(&named(&"ä".repeat(128))).is_ok());
    for name in ["", "a\nb", &"ä".repeat(129)] {
        check(&named(name), &["/properties"]);
    }
    check(
        &json!({"type": "object", "properties": {"a/b~": {"type": "object"}}}),
        &["/properties/a~1b~0/type"],
    );
}

#[test]
fn a_field_is_one_of_the_types() {
    for field in [json!(null), json!("string"), json!(["string"]), json!({})] {
        check_a(&field, &[""]);
    }
    for name in [json!("object"), json!("null"), json!("String"), json!(["string", "null"]), json!(null)] {
        check_a(&json!({"type": name}), &["/type"]);
    }
    check_a(&json!({"enum": ["x"]}), &[""]);
}

#[test]
fn a_pattern_is_refused_by_name() {
    check_a(&json!({"type": "string", "pattern": "^x"}), &["/pattern"]);
    let error = refused(&with_a(&json!({"type": "string", "pattern": "^x"})));
    assert!(error.violations[0].message.contains("patterns are not supported"), "{error}");
}

#[test]
fn keywords_of_another_kind_are_refused() {
    check_a(&json!({"type": "string", "minimum": 1, "enumNames": ["x"]}), &["/minimum", "/enumNames"]);
    check_a(&json!({"type": "string", "enum": ["x"], "minLength": 1}), &["/minLength"]);
    check_a(&json!({"type": "string", "enum": ["x"], "oneOf": []}), &["/oneOf"]);
    check_a(
        &json!({"type": "string", "oneOf": [{"const": "x", "title": "X"}], "format": "uri"}),
        &["/format"],
    );
    check_a(
        &json!({"type": "number", "exclusiveMinimum": 1, "multipleOf": 2}),
        &["/exclusiveMinimum", "/multipleOf"],
    );
    check_a(&json!({"type": "boolean", "enum": [true]}), &["/enum"]);
    let named_items = json!({"type": "string", "enum": ["x"], "enumNames": ["X"]});
    check_a(
        &json!({"type": "array", "uniqueItems": true, "items": named_items}),
        &["/uniqueItems", "/items/enumNames"],
    );
    check_a(
        &json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}], "enum": ["x"]}}),
        &["/items/enum"],
    );
}

#[test]
fn texts_have_lengths_and_a_known_format() {
    check_a(&json!({"type": "string", "format": "uuid"}), &["/format"]);
    check_a(&json!({"type": "string", "format": null}), &["/format"]);
    check_a(&json!({"type": "string", "minLength": -1, "maxLength": 2.5}), &["/minLength", "/maxLength"]);
    check_a(&json!({"type": "string", "minLength": "1"}), &["/minLength"]);
    check_a(&json!({"type": "string", "minLength": 3, "maxLength": 2}), &["/minLength"]);
    check_a(&json!({"type": "string", "minLength": ANSWER_CHARS + 1}), &["/minLength"]);
    assert!(Schema::parse(&with_a(&json!({"type": "string", "maxLength": 1e300}))).is_err());
    assert!(Schema::parse(&with_a(&json!({"type": "string", "maxLength": u64::MAX}))).is_ok());
}

#[test]
fn titles_and_descriptions_are_short_texts() {
    let long = |count: usize| "ä".repeat(count);
    assert!(Schema::parse(&with_a(&json!({"type": "boolean", "title": long(TITLE_CHARS)}))).is_ok());
    check_a(
        &json!({"type": "boolean", "title": long(TITLE_CHARS + 1), "description": 1}),
        &["/title", "/description"],
    );
    check_a(&json!({"type": "boolean", "description": long(DESCRIPTION_CHARS + 1)}), &["/description"]);
}

#[test]
fn ranges_are_numbers_in_order() {
    check_a(&json!({"type": "number", "minimum": "1"}), &["/minimum"]);
    check_a(&json!({"type": "number", "minimum": 2, "maximum": 1.5}), &["/minimum"]);
    check_a(&json!({"type": "integer", "minimum": 0.5, "maximum": 1.5}), &["/minimum", "/maximum"]);
    assert!(Schema::parse(&with_a(&json!({"type": "integer", "minimum": 1, "maximum": 1}))).is_ok());
}

#[test]
fn options_are_different_texts() {
    check_a(&json!({"type": "string", "enum": [1, 2]}), &["/enum/0", "/enum/1"]);
    check_a(&json!({"type": "string", "enum": []}), &["/enum"]);
    check_a(&json!({"type": "string", "enum": null}), &["/enum"]);
    check_a(&json!({"type": "string", "enum": ["x", "y", "x"]}), &["/enum/2"]);
    check_a(&json!({"type": "string", "enum": ["x".repeat(OPTION_CHARS + 1)]}), &["/enum/0"]);
    check_a(&json!({"type": "string", "enum": ["x", "y"], "enumNames": ["X"]}), &["/enumNames"]);
    check_a(&json!({"type": "string", "enum": ["x"], "enumNames": [1]}), &["/enumNames/0"]);
    let many: Vec<String> = (0..=OPTIONS).map(|index| index.to_string()).collect();
    assert!(Schema::parse(&with_a(&json!({"type": "string", "enum": many[1..]}))).is_ok());
    check_a(&json!({"type": "string", "enum": many}), &["/enum"]);
}

#[test]
fn titled_options_have_a_value_and_a_title() {
    let one_of = |options: Value| json!({"type": "string", "oneOf": options});
    check_a(&one_of(json!([])), &["/oneOf"]);
    check_a(&one_of(json!(["x"])), &["/oneOf/0"]);
    check_a(&one_of(json!([{"const": "x"}, {"title": "Y"}])), &["/oneOf/0", "/oneOf/1"]);
    check_a(&one_of(json!([{"const": 1, "title": "X"}])), &["/oneOf/0/const"]);
    check_a(&one_of(json!([{"const": "x", "title": "X", "description": "d"}])), &["/oneOf/0/description"]);
    let twice = json!([{"const": "x", "title": "X"}, {"const": "x", "title": "Y"}]);
    check_a(&one_of(twice.clone()), &["/oneOf/1/const"]);
    check_a(&json!({"type": "array", "items": {"anyOf": twice}}), &["/items/anyOf/1/const"]);
}

#[test]
fn a_multi_select_can_be_answered() {
    let items = json!({"type": "string", "enum": ["x", "y"]});
    let array =
        |least: f64, most: f64| json!({"type": "array", "items": items, "minItems": least, "maxItems": most});
    assert!(Schema::parse(&with_a(&array(2.0, 5.0))).is_ok());
    check_a(&array(2.0, 1.0), &["/minItems"]);
    check_a(&array(3.0, 5.0), &["/minItems"]);
    check_a(&array(-1.0, 0.5), &["/minItems", "/maxItems"]);
    check_a(&json!({"type": "array"}), &[""]);
    check_a(&json!({"type": "array", "minItems": 1}), &[""]);
    check_a(&json!({"type": "array", "items": [items]}), &["/items"]);
    check_a(&json!({"type": "array", "items": {}}), &["/items", "/items"]);
    check_a(&json!({"type": "array", "items": {"type": "integer", "enum": ["x"]}}), &["/items/type"]);
}

#[test]
fn a_default_fits_its_own_field() {
    for field in [
        json!({"type": "integer", "default": 3.5}),
        json!({"type": "integer", "maximum": 3, "default": 4}),
        json!({"type": "number", "default": "1"}),
        json!({"type": "boolean", "default": "true"}),
        json!({"type": "boolean", "default": null}),
        json!({"type": "string", "maxLength": 1, "default": "ab"}),
        json!({"type": "string", "format": "date", "default": "tomorrow"}),
        json!({"type": "string", "enum": ["x"], "default": "y"}),
        json!({"type": "array", "items": {"type": "string", "enum": ["x"]}, "default": ["x", "x"]}),
        json!({"type": "array", "items": {"type": "string", "enum": ["x"]}, "default": "x"}),
    ] {
        check_a(&field, &["/default"]);
    }
    check_a(&json!({"type": "string", "enum": [1], "default": 1}), &["/enum/0"]);
}

#[test]
fn a_text_field_that_asks_for_a_secret_is_named() {
    let secret = |source: Value, want: &[&str]| {
        let error = refused(&source);
        let got: Vec<&str> = error.violations.iter().map(|violation| violation.pointer.as_str()).collect();
        assert_eq!((error.code, got.as_slice()), (SchemaErrorCode::SensitiveField, want), "{error}");
    };
    let text = json!({"type": "string"});
    secret(json!({"type": "object", "properties": {"api_key": text}}), &["/properties/api_key"]);
    secret(with_a(&json!({"type": "string", "title": "Your PIN"})), &["/properties/a"]);
    secret(
        json!({"type": "object", "properties": {"a": {"type": "object"}, "cvv": text}}),
        &["/properties/cvv", "/properties/a/type"],
    );
}

#[test]
fn only_free_text_is_searched_for_secrets() {
    let fields = json!({
        "pin": {"type": "boolean"}, "secret": {"type": "string", "enum": ["keep", "rotate"]},
        "password": {"type": "array", "items": {"type": "string", "enum": ["keep", "rotate"]}},
    });
    assert!(Schema::parse(&json!({"type": "object", "properties": fields})).is_ok());
    assert!(
        Schema::parse(&json!({"type": "object", "properties": {"shipping": {"type": "string"}}})).is_ok()
    );
}

#[test]
fn a_refusal_lists_a_bounded_number_of_violations() {
    let unknown = (0..100).map(|index| (format!("x{index}"), Value::Null));
    assert_eq!(refused(&unknown.collect()).violations.len(), VIOLATIONS);
}
