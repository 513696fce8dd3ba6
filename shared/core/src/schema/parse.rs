//! From the JSON of a requested schema to its fields.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::keywords::{Faults, Keywords};
use super::{
    ANSWER_CHARS, Choice, DESCRIPTION_CHARS, DIALECT_CHARS, FIELD_NAME_CHARS, Field, FieldKind, Format,
    MultiSelect, Range, SchemaError, TITLE_CHARS, Text, answer, number, options, sensitive,
};
use crate::limits::SCHEMA_FIELDS;
use crate::violation::pointer_token;

const ROOT: [&str; 7] =
    ["type", "properties", "required", "$schema", "title", "description", "additionalProperties"];
const TYPES: &str = "string, number, integer, boolean or array";

/// The fields of `source`, or everything that is wrong with it.
pub(super) fn fields(source: &Value) -> Result<Vec<Field>, SchemaError> {
    let mut faults = Faults::default();
    let fields = match Keywords::open(source, String::new(), &mut faults) {
        Some(root) if !root.is_empty() => root_fields(&root, &mut faults),
        _ => Vec::new(),
    };
    faults.into_result().map(|()| fields)
}

fn root_fields(root: &Keywords<'_>, faults: &mut Faults) -> Vec<Field> {
    root.allow_only(&ROOT, faults);
    root.require("type", "\"object\"", faults);
    root.read("type", "\"object\"", faults, |value| (value == "object").then_some(()));
    root.text("$schema", DIALECT_CHARS, faults);
    root.text("title", TITLE_CHARS, faults);
    root.text("description", DESCRIPTION_CHARS, faults);
    root.read("additionalProperties", "false, or be left out", faults, |value| {
        (value == false).then_some(())
    });
    root.require("properties", "an object of fields", faults);
    let Some(properties) = root.read("properties", "an object of fields", faults, Value::as_object) else {
        return Vec::new();
    };
    if properties.len() > SCHEMA_FIELDS {
        let message = format!("has {} fields; ask for at most {SCHEMA_FIELDS}", properties.len());
        faults.add("/properties", message);
    }
    let required = required_names(root, properties, faults);
    let fields = properties.iter().take(SCHEMA_FIELDS);
    fields.filter_map(|(name, value)| field(name, value, required.contains(name.as_str()), faults)).collect()
}

fn required_names<'a>(
    root: &Keywords<'a>,
    properties: &Map<String, Value>,
    faults: &mut Faults,
) -> HashSet<&'a str> {
    let entries = root.read("required", "a list of field names", faults, Value::as_array);
    let mut names = HashSet::new();
    for (index, entry) in entries.into_iter().flatten().enumerate() {
        let fault = match entry.as_str() {
            Some(name) if !properties.contains_key(name) => {
                "names no entry of properties; add it there or remove it"
            }
            Some(name) if !names.insert(name) => "repeats an earlier entry; remove it",
            Some(_) => continue,
            None => "must be the name of a field",
        };
        faults.add(format!("/required/{index}"), fault);
    }
    names
}

fn field(name: &str, value: &Value, required: bool, faults: &mut Faults) -> Option<Field> {
    if !(1..=FIELD_NAME_CHARS).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        let message =
            format!("a field name must have 1 to {FIELD_NAME_CHARS} characters, none of them a control");
        // The pointer stays at the parent: what breaks this rule is not fit to be quoted in an error.
        faults.add("/properties", message);
        return None;
    }
    let faults_before = faults.count();
    let keywords = Keywords::open(value, format!("/properties/{}", pointer_token(name)), faults)?;
    let title = keywords.text("title", TITLE_CHARS, faults);
    let description = keywords.text("description", DESCRIPTION_CHARS, faults);
    let kind = kind(&keywords, faults)?;
    let labels = [Some(name), keywords.get("title").and_then(Value::as_str)];
    if matches!(kind, FieldKind::Text(_)) && labels.into_iter().flatten().any(sensitive::asks_for_secret) {
        faults.add_sensitive(keywords.at.clone());
    }
    let default = keywords.get("default").cloned();
    // Against a kind that is itself broken, a default would be judged by rules nobody wrote.
    if faults.count() == faults_before && default.as_ref().is_some_and(|value| !answer::fits(&kind, value)) {
        faults.add(keywords.pointer("default"), answer::expected(&kind));
    }
    Some(Field { name: name.to_owned(), title, description, required, kind, default })
}

fn kind(keywords: &Keywords<'_>, faults: &mut Faults) -> Option<FieldKind> {
    let type_name = keywords.require("type", TYPES, faults)?.as_str();
    Some(match type_name {
        Some("string") if keywords.has("enum") => {
            keywords.allow_only(&["type", "title", "description", "enum", "enumNames", "default"], faults);
            FieldKind::Select(options::plain(keywords, faults))
        }
        Some("string") if keywords.has("oneOf") => {
            keywords.allow_only(&["type", "title", "description", "oneOf", "default"], faults);
            FieldKind::Select(options::titled(keywords, "oneOf", faults))
        }
        Some("string") => FieldKind::Text(text(keywords, faults)),
        Some("number") => FieldKind::Number(range(keywords, faults)),
        Some("integer") => FieldKind::Integer(whole_range(keywords, faults)),
        Some("boolean") => {
            keywords.allow_only(&["type", "title", "description", "default"], faults);
            FieldKind::Boolean
        }
        Some("array") => FieldKind::MultiSelect(multi_select(keywords, faults)),
        _ => {
            faults.add(keywords.pointer("type"), format!("must be {TYPES}"));
            return None;
        }
    })
}

fn text(keywords: &Keywords<'_>, faults: &mut Faults) -> Text {
    let allowed = ["type", "title", "description", "minLength", "maxLength", "format", "default"];
    keywords.allow_only(&allowed, faults);
    let formats = Format::ALL.map(Format::keyword).join(", ");
    let wanted = format!("one of {formats}, or be left out");
    let format = keywords.read("format", &wanted, faults, |value| value.as_str().and_then(Format::named));
    let min_length = keywords.count("minLength", faults);
    let text = Text { min_length, max_length: keywords.count("maxLength", faults), format };
    if min_length.is_some_and(|least| least > text.longest()) {
        let message = format!("must not be more than maxLength, nor than {ANSWER_CHARS}");
        faults.add(keywords.pointer("minLength"), message);
    }
    text
}

fn range(keywords: &Keywords<'_>, faults: &mut Faults) -> Range {
    keywords.allow_only(&["type", "title", "description", "minimum", "maximum", "default"], faults);
    let minimum = keywords.number("minimum", faults);
    let maximum = keywords.number("maximum", faults);
    if let (Some(low), Some(high)) = (&minimum, &maximum)
        && number::compare(low, high) == Ordering::Greater
    {
        faults.add(keywords.pointer("minimum"), "must not be more than maximum");
    }
    Range { minimum, maximum }
}

/// A fractional bound is refused: a form would count its steps from it and offer no whole number at all.
fn whole_range(keywords: &Keywords<'_>, faults: &mut Faults) -> Range {
    let range = range(keywords, faults);
    for (keyword, bound) in [("minimum", &range.minimum), ("maximum", &range.maximum)] {
        if bound.as_ref().is_some_and(|bound| !number::is_whole(bound)) {
            faults.add(keywords.pointer(keyword), "must be a whole number, as the field is an integer");
        }
    }
    range
}

fn multi_select(keywords: &Keywords<'_>, faults: &mut Faults) -> MultiSelect {
    keywords
        .allow_only(&["type", "title", "description", "items", "minItems", "maxItems", "default"], faults);
    let wanted = "an object with the options as enum or anyOf";
    let items = keywords
        .require("items", wanted, faults)
        .and_then(|items| Keywords::open(items, keywords.pointer("items"), faults));
    let options = items.as_ref().map(|items| item_options(items, faults)).unwrap_or_default();
    let min_items = keywords.count("minItems", faults);
    let max_items = keywords.count("maxItems", faults);
    let most = max_items.unwrap_or(usize::MAX).min(options.len());
    if !options.is_empty() && min_items.is_some_and(|least| least > most) {
        faults
            .add(keywords.pointer("minItems"), "must not be more than maxItems, nor than there are options");
    }
    MultiSelect { options, min_items, max_items }
}

fn item_options(items: &Keywords<'_>, faults: &mut Faults) -> Vec<Choice> {
    if items.has("anyOf") {
        items.allow_only(&["anyOf"], faults);
        return options::titled(items, "anyOf", faults);
    }
    items.allow_only(&["type", "enum"], faults);
    items.require("type", "\"string\"", faults);
    items.read("type", "\"string\"", faults, |value| (value == "string").then_some(()));
    items.require("enum", "a list of options, unless anyOf is", faults);
    options::plain(items, faults)
}
