//! The form of a requested schema (PROTOCOL.md section 3): shown as nine kinds of field, read back as JSON.

use countersign_core::schema::{Choice, Field, FieldKind, Format, MultiSelect, Range, Schema, Text};
use countersign_core::state::Answer;
use countersign_core::violation::{Violation, pointer_token};
use serde_json::{Map, Value};

use super::browser::Posted;
use super::sheet::Fact;
use super::shown::Foreign;
use super::words::{FieldWords, Words, put};

/// What the name of every field starts with, so that none is taken for one of ours.
const PREFIX: &str = "f.";
/// Choices that are shown one below the other; more are a list to open.
const OPEN_CHOICES: usize = 5;
/// Characters beyond which a text gets more than a line.
const LINE_CHARS: usize = 200;

/// How a field is filled in.
#[derive(Debug, Clone)]
pub(crate) enum Control {
    /// One line.
    Input { kind: &'static str, mode: &'static str, class: &'static str, max: Option<usize> },
    /// Several lines.
    Area { max: usize },
    /// One of a few.
    Radios { ours: bool, options: Vec<Offered> },
    /// One of many.
    Select { options: Vec<Offered> },
    /// Any of them.
    Checks { options: Vec<Offered> },
}

/// A choice.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) value: String,
    pub(crate) label: Foreign,
    pub(crate) chosen: bool,
}

/// A field, ready for a template.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) label: Foreign,
    pub(crate) about: Option<Foreign>,
    pub(crate) hint: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) required: bool,
    pub(crate) value: String,
    pub(crate) control: Control,
}

impl Shown {
    /// What describes the control, for readers that cannot see.
    pub(crate) fn described_by(&self) -> String {
        let parts = [
            self.about.as_ref().map(|_| format!("{}-a", self.id)),
            self.error.as_ref().map(|_| format!("{}-e", self.id)),
            self.hint.as_ref().map(|_| format!("{}-h", self.id)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Whether it is a group of controls under one name.
    pub(crate) const fn is_group(&self) -> bool {
        matches!(self.control, Control::Radios { .. } | Control::Checks { .. })
    }
}

/// The fields that a person fills in; none where a yes says it all.
pub(crate) fn asked(schema: &Schema) -> &[Field] {
    match schema.fields() {
        [one] if schema.gate() == Some(&one.name) => &[],
        fields => fields,
    }
}

/// The form: as posted where something was, else as the asker prefilled it.
pub(crate) fn show(schema: &Schema, posted: Option<&Posted>, wrong: &[Violation], w: &Words) -> Vec<Shown> {
    let one = |(index, field): (usize, &Field)| shown(index, field, posted, wrong, w);
    asked(schema).iter().enumerate().map(one).collect()
}

fn shown(index: usize, field: &Field, posted: Option<&Posted>, wrong: &[Violation], w: &Words) -> Shown {
    let name = format!("{PREFIX}{}", field.name);
    let values: Vec<String> = match posted {
        Some(posted) => posted.all(&name).into_iter().map(str::to_owned).collect(),
        None => field.default.as_ref().map(|value| typed(&field.kind, value)).unwrap_or_default(),
    };
    let pointer = format!("/{}", pointer_token(&field.name));
    let is_wrong = wrong.iter().any(|one| one.pointer == pointer);
    let is_empty = values.iter().all(String::is_empty);
    let prefilled = posted.is_none() && field.default.is_some();
    Shown {
        id: format!("f-{index}"),
        label: Foreign::line(field.label()),
        about: field.description.as_deref().map(Foreign::line),
        hint: hint(&field.kind, prefilled, w),
        error: is_wrong.then(|| error(&field.kind, is_empty, w)),
        required: field.required,
        value: values.first().cloned().unwrap_or_default(),
        control: control(field, &values, w),
        name,
    }
}

/// What was answered, each field by its label and each choice by its title; a field left empty is not there.
pub(crate) fn answers(schema: &Schema, answer: &Answer, w: &Words) -> Vec<Fact> {
    let of = |field: &Field| {
        let value = answer.get(&field.name)?;
        let options: &[Choice] = match &field.kind {
            FieldKind::Select(options) => options,
            FieldKind::MultiSelect(rules) => &rules.options,
            FieldKind::Text(_) | FieldKind::Number(_) | FieldKind::Integer(_) | FieldKind::Boolean => &[],
        };
        let titled = |value: &Value| match value {
            Value::Bool(yes) => if *yes { w.yes } else { w.no }.to_owned(),
            Value::String(text) => {
                let choice = options.iter().find(|one| one.value == *text);
                choice.map_or(text.as_str(), Choice::label).to_owned()
            }
            other => other.to_string(),
        };
        let text = match value {
            Value::Array(list) if list.is_empty() => w.no_answer.to_owned(),
            Value::Array(list) => list.iter().map(titled).collect::<Vec<_>>().join(", "),
            one => titled(one),
        };
        Some(Fact { label: Foreign::line(field.label()), value: Foreign::block(&text, w) })
    };
    asked(schema).iter().filter_map(of).collect()
}

/// A default as a person would have typed it.
fn typed(kind: &FieldKind, value: &Value) -> Vec<String> {
    match (kind, value) {
        (FieldKind::Text(Text { format: Some(Format::DateTime), .. }), Value::String(text)) => {
            vec![local_time(text).unwrap_or_else(|| text.clone())]
        }
        (_, Value::String(text)) => vec![text.clone()],
        (_, Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        (_, other) => vec![other.to_string()],
    }
}

/// An RFC 3339 instant as the control for dates with times has it: UTC, to the minute where it can be.
fn local_time(text: &str) -> Option<String> {
    let iso = countersign_core::time::Timestamp::parse(text)?.to_string();
    let end = if &iso[16..] == ":00.000Z" { 16 } else { 19 };
    Some(iso[..end].to_owned())
}

fn control(field: &Field, values: &[String], w: &Words) -> Control {
    let chosen = |value: &str| values.iter().any(|one| one == value);
    let offered = |options: &[Choice]| -> Vec<Offered> {
        let one = |choice: &Choice| Offered {
            value: choice.value.clone(),
            label: Foreign::line(choice.label()),
            chosen: chosen(&choice.value),
        };
        options.iter().map(one).collect()
    };
    let ours = |value: &str, label: &str| Offered {
        value: value.to_owned(),
        label: Foreign::line(label),
        chosen: chosen(value) || (value.is_empty() && values.iter().all(String::is_empty)),
    };
    match &field.kind {
        FieldKind::Text(rules) => text_control(rules),
        FieldKind::Number(_) => input("text", "decimal", " input-short", None),
        FieldKind::Integer(_) => input("text", "numeric", " input-short", None),
        FieldKind::Boolean => {
            let mut options = vec![ours("true", w.yes), ours("false", w.no)];
            if !field.required {
                options.push(ours("", w.no_answer));
            }
            Control::Radios { ours: true, options }
        }
        FieldKind::Select(options) if options.len() <= OPEN_CHOICES => {
            let mut shown = offered(options);
            if !field.required {
                shown.push(ours("", w.no_answer));
            }
            Control::Radios { ours: false, options: shown }
        }
        FieldKind::Select(options) => {
            let empty = if field.required { w.choose } else { w.no_answer };
            let mut shown = vec![ours("", empty)];
            shown.extend(offered(options));
            Control::Select { options: shown }
        }
        FieldKind::MultiSelect(rules) => Control::Checks { options: offered(&rules.options) },
    }
}

const fn input(kind: &'static str, mode: &'static str, class: &'static str, max: Option<usize>) -> Control {
    Control::Input { kind, mode, class, max }
}

fn text_control(rules: &Text) -> Control {
    match rules.format {
        Some(Format::Email) => input("email", "email", "", rules.max_length),
        Some(Format::Uri) => input("url", "url", "", rules.max_length),
        Some(Format::Date) => input("date", "text", " input-short", None),
        Some(Format::DateTime) => input("datetime-local", "text", " input-mid", None),
        None if rules.longest() <= LINE_CHARS => input("text", "text", "", Some(rules.longest())),
        None => Control::Area { max: rules.longest() },
    }
}

/// What the posted form answers, as JSON that the schema then judges: what does not read as its kind stays text.
pub(crate) fn content(schema: &Schema, posted: &Posted) -> Option<Map<String, Value>> {
    let fields = asked(schema);
    if fields.is_empty() && !schema.is_yes_no() {
        return None; // one tap answers the gate
    }
    let answer = |field: &Field| {
        let values = posted.all(&format!("{PREFIX}{}", field.name));
        Some((field.name.clone(), read(&field.kind, &values, field.required)?))
    };
    Some(fields.iter().filter_map(answer).collect())
}

fn read(kind: &FieldKind, values: &[&str], required: bool) -> Option<Value> {
    let given: Vec<&str> = values.iter().copied().filter(|value| !value.is_empty()).collect();
    match kind {
        FieldKind::MultiSelect(_) if given.is_empty() && !required => None,
        FieldKind::MultiSelect(_) => Some(given.into()),
        _ => {
            let text = *given.first()?;
            Some(match kind {
                FieldKind::Boolean => match text {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    other => other.into(),
                },
                FieldKind::Number(_) | FieldKind::Integer(_) => number(text),
                FieldKind::Text(Text { format: Some(Format::DateTime), .. }) => with_zone(text).into(),
                FieldKind::Text(_) | FieldKind::Select(_) | FieldKind::MultiSelect(_) => text.into(),
            })
        }
    }
}

/// A number as JSON spells it; anything else stays text, and so does not fit.
fn number(text: &str) -> Value {
    let text = text.trim();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) => Value::Number(number),
        _ => text.into(),
    }
}

/// What the control for dates with times sends has no zone and perhaps no seconds: it is UTC, as the hint says.
fn with_zone(text: &str) -> String {
    match text.len() {
        16 => format!("{text}:00Z"),
        19 if !text.ends_with('Z') => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

fn hint(kind: &FieldKind, prefilled: bool, w: &Words) -> Option<String> {
    let f = &w.field;
    let rule = match kind {
        FieldKind::Text(rules) => text_rule(rules, f),
        FieldKind::Number(range) => Some(put(f.number, &[&bounds(range, f)])),
        FieldKind::Integer(range) => Some(put(f.whole_number, &[&bounds(range, f)])),
        FieldKind::MultiSelect(rules) => Some(put(f.choose, &[&how_many(rules, f)])),
        FieldKind::Boolean | FieldKind::Select(_) => None,
    };
    match (rule, prefilled) {
        (Some(rule), true) => Some(format!("{rule} {}", w.prefilled)),
        (None, true) => Some(w.prefilled.to_owned()),
        (rule, false) => rule,
    }
}

fn text_rule(rules: &Text, f: &FieldWords) -> Option<String> {
    match rules.format {
        Some(Format::Email) => Some(f.mail.to_owned()),
        Some(Format::Uri) => Some(f.address.to_owned()),
        Some(Format::Date) => Some(f.date.to_owned()),
        Some(Format::DateTime) => Some(f.moment.to_owned()),
        None => length(rules, [f.chars_from_to, f.chars_from, f.chars_to]),
    }
}

/// How long a text may be: in the first sentence between two bounds, in the second above one, in the third below one.
fn length(rules: &Text, [from_to, from, to]: [&str; 3]) -> Option<String> {
    match (rules.min_length, rules.max_length) {
        (Some(low), Some(high)) => Some(put(from_to, &[&low.to_string(), &high.to_string()])),
        (Some(low), None) if low > 0 => Some(put(from, &[&low.to_string()])),
        (None, Some(high)) => Some(put(to, &[&high.to_string()])),
        (Some(_) | None, None) => None,
    }
}

fn bounds(range: &Range, f: &FieldWords) -> String {
    match (&range.minimum, &range.maximum) {
        (Some(low), Some(high)) => put(f.from_to, &[&low.to_string(), &high.to_string()]),
        (Some(low), None) => put(f.from, &[&low.to_string()]),
        (None, Some(high)) => put(f.to, &[&high.to_string()]),
        (None, None) => String::new(),
    }
}

fn how_many(rules: &MultiSelect, f: &FieldWords) -> String {
    match (rules.min_items, rules.max_items) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => put(f.many_from_to, &[&low.to_string(), &high.to_string()]),
        (Some(low), None) if low > 0 => put(f.many_from, &[&low.to_string()]),
        (None, Some(high)) => put(f.many_to, &[&high.to_string()]),
        (Some(_) | None, None) => f.many.to_owned(),
    }
}

/// What would be right, as something to do.
fn error(kind: &FieldKind, is_empty: bool, w: &Words) -> String {
    let f = &w.field;
    match kind {
        FieldKind::Boolean | FieldKind::Select(_) => w.choose_one.to_owned(),
        FieldKind::MultiSelect(rules) => put(f.choose, &[&how_many(rules, f)]),
        _ if is_empty => w.answer_this.to_owned(),
        FieldKind::Number(range) => put(f.enter_number, &[&bounds(range, f)]),
        FieldKind::Integer(range) => put(f.enter_whole_number, &[&bounds(range, f)]),
        FieldKind::Text(rules) => match rules.format {
            Some(Format::Email) => f.enter_mail.to_owned(),
            Some(Format::Uri) => f.enter_address.to_owned(),
            Some(Format::Date) => f.enter_date.to_owned(),
            Some(Format::DateTime) => f.enter_moment.to_owned(),
            None => length(rules, [f.write_from_to, f.write_from, f.write_to])
                .unwrap_or_else(|| w.answer_this.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::shown::Bit;
    use serde_json::json;

    use super::*;
    use crate::pages::words::EN;

    fn schema() -> Schema {
        Schema::parse(&json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 80, "default": "Contoso"},
                "run": {"type": "string", "format": "date-time", "default": "2027-01-15T09:00:00+01:00"},
                "limit": {"type": "number", "minimum": 0, "maximum": 50000},
                "term": {"type": "integer", "minimum": 1, "maximum": 90},
                "po": {"type": "boolean"},
                "group": {"type": "string", "oneOf": [{"const": "ops", "title": "Operations"}, {"const": "fin", "title": "Finance"}]},
                "land": {"type": "array", "items": {"type": "string", "enum": ["AT", "CH", "DE"]}, "minItems": 1, "maxItems": 3}
            },
            "required": ["name", "run", "term", "land"]
        }))
        .unwrap()
    }

    fn posted(pairs: &[(&str, &str)]) -> Posted {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(pairs);
        Posted::parse(form.finish().as_bytes())
    }

    #[test]
    fn what_is_posted_reads_back_as_json_of_its_kind() {
        let form = posted(&[
            ("f.name", "Contoso"),
            ("f.run", "2027-01-15T08:00"),
            ("f.limit", " 12500.50 "),
            ("f.term", "14"),
            ("f.po", ""),
            ("f.group", "ops"),
            ("f.land", "AT"),
            ("f.land", "DE"),
        ]);
        let content = content(&schema(), &form).unwrap();
        let want = json!({"name": "Contoso", "run": "2027-01-15T08:00:00Z", "limit": 12500.50, "term": 14,
                          "group": "ops", "land": ["AT", "DE"]});
        assert_eq!(Value::Object(content.clone()), want);
        assert!(schema().check(Some(&content)).is_ok());
    }

    #[test]
    fn what_does_not_fit_comes_back_as_typed_with_what_to_do() {
        let form = posted(&[("f.name", ""), ("f.run", "soon"), ("f.term", "14.5"), ("f.limit", "1e9")]);
        let given = content(&schema(), &form).unwrap();
        let wrong = schema().check(Some(&given)).unwrap_err();
        let shown = show(&schema(), Some(&form), &wrong, &EN);
        let said = |name: &str| {
            let one = shown.iter().find(|one| one.name == name).unwrap();
            (one.value.clone(), one.error.clone().unwrap_or_default())
        };
        assert_eq!(said("f.name"), (String::new(), "Answer this.".into()));
        assert_eq!(said("f.term"), ("14.5".into(), "Enter a whole number from 1 to 90.".into()));
        assert_eq!(said("f.limit"), ("1e9".into(), "Enter a number from 0 to 50000, such as 12.5.".into()));
        assert_eq!(said("f.run").0, "soon");
        assert_eq!(said("f.land").1, "Choose 1 to 3.");
    }

    #[test]
    fn an_answer_is_told_by_labels_and_titles() {
        let answer =
            json!({"name": "Contoso", "term": 14, "po": false, "group": "ops", "land": ["AT", "DE"]});
        let said = |one: Foreign| match one.head.as_slice() {
            [Bit::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        };
        let told = answers(&schema(), answer.as_object().unwrap(), &EN);
        let told: Vec<_> = told.into_iter().map(|one| (said(one.label), said(one.value))).collect();
        let want =
            [("name", "Contoso"), ("term", "14"), ("po", "No"), ("group", "Operations"), ("land", "AT, DE")];
        assert_eq!(told, want.map(|(label, value)| (label.to_owned(), value.to_owned())));
    }

    #[test]
    fn defaults_are_prefilled_and_said_to_be() {
        let shown = show(&schema(), None, &[], &EN);
        assert_eq!(shown[0].value, "Contoso");
        assert_eq!(shown[0].hint.as_deref(), Some("2 to 80 characters. Prefilled by the tool server."));
        assert_eq!(shown[1].value, "2027-01-15T08:00");
    }

    #[test]
    fn a_single_required_yes_needs_no_form() {
        let gate = json!({"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]});
        let gate = Schema::parse(&gate).unwrap();
        assert!(asked(&gate).is_empty());
        assert_eq!(content(&gate, &Posted::default()), None);
        assert_eq!(content(&Schema::yes_no(), &Posted::default()), Some(Map::new()));
    }
}
