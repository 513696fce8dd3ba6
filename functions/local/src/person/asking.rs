//! What a person is asked at the terminal, line by line.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use countersign_core::schema::{Choice, Field, FieldKind, Schema};
use countersign_core::violation::Violation;
use serde_json::Value;

use super::shown::plain;
use super::visit::VisitError;

/// A pair of a form.
pub(super) type Pair = (String, String);

/// Whether somebody is there who can be asked.
pub(super) fn is_somebody_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for one line. Questions go to standard error, so that a pipe gets answers alone.
pub(super) fn line(prompt: &str) -> Result<String, VisitError> {
    let mut out = io::stderr().lock();
    drop(write!(out, "{prompt}").and_then(|()| out.flush()));
    let mut typed = String::new();
    match io::stdin().lock().read_line(&mut typed) {
        Ok(0) | Err(_) => Err(VisitError::Usage("the input ended; nothing was decided".to_owned())),
        Ok(_) => Ok(typed.trim().to_owned()),
    }
}

/// The fields of a form that are filled in by a person; none where approving is all that is asked.
pub(super) fn fields(schema: &Schema) -> &[Field] {
    if schema.gate().is_some() { &[] } else { schema.fields() }
}

/// Asks for those fields of a form for which `wanted` holds, and keeps the other pairs of `form`.
pub(super) fn fill(
    schema: &Schema,
    mut form: Vec<Pair>,
    wanted: impl Fn(&Field) -> bool,
) -> Result<Vec<Pair>, VisitError> {
    for field in fields(schema).iter().filter(|field| wanted(field)) {
        let name = format!("f.{}", field.name);
        form.retain(|(other, _)| *other != name);
        for value in one(field)? {
            form.push((name.clone(), value));
        }
    }
    Ok(form)
}

fn one(field: &Field) -> Result<Vec<String>, VisitError> {
    eprintln!("\n{}{}", plain(field.label()), if field.required { "" } else { " (may be left empty)" });
    if let Some(about) = &field.description {
        eprintln!("  | {}", plain(about));
    }
    let options = match &field.kind {
        FieldKind::Select(options) => options.as_slice(),
        FieldKind::MultiSelect(many) => many.options.as_slice(),
        _ => &[],
    };
    for (number, option) in options.iter().enumerate() {
        eprintln!("  {}  {}", number + 1, plain(option.label()));
    }
    let kept = field.default.as_ref().map(texts).unwrap_or_default();
    let offered = match kept.as_slice() {
        [] => String::new(),
        kept => format!(" [{}]", plain(&kept.join(", "))),
    };
    let typed = line(&format!("  {}{offered}: ", what(&field.kind)))?;
    if typed.is_empty() {
        return Ok(kept);
    }
    Ok(match &field.kind {
        FieldKind::Select(options) => vec![choice(options, &typed)],
        FieldKind::MultiSelect(many) => {
            typed.split(',').map(|one| choice(&many.options, one.trim())).collect()
        }
        FieldKind::Boolean => vec![yes_or_no(&typed).map_or(typed, |yes| yes.to_string())],
        _ => vec![typed],
    })
}

/// An option by its number or its value.
fn choice(options: &[Choice], typed: &str) -> String {
    let is_value = options.iter().any(|option| option.value == typed);
    let number = typed.parse::<usize>().ok().filter(|_| !is_value).and_then(|number| number.checked_sub(1));
    let found = number.and_then(|number| options.get(number));
    found.map_or_else(|| typed.to_owned(), |option| option.value.clone())
}

fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    value.as_array().map_or_else(|| vec![one(value)], |many| many.iter().map(one).collect())
}

fn what(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text(text) => text.format.map_or_else(
            || format!("up to {} characters", text.longest()),
            |format| format.keyword().to_owned(),
        ),
        FieldKind::Number(_) => "a number".to_owned(),
        FieldKind::Integer(_) => "a whole number".to_owned(),
        FieldKind::Boolean => "y or n".to_owned(),
        FieldKind::Select(_) => "a number of these".to_owned(),
        FieldKind::MultiSelect(_) => "numbers of these, with commas".to_owned(),
    }
}

/// The faults of a form, each under the name of its field.
pub(super) fn faults(schema: &Schema, wrong: &[Violation]) -> String {
    let label = |pointer: &str| {
        let name = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let found = schema.fields().iter().find(|field| field.name == name);
        plain(found.map_or(name.as_str(), Field::label))
    };
    let told = wrong.iter().map(|one| format!("  {}: {}", label(&one.pointer), plain(&one.message)));
    told.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options() -> Vec<Choice> {
        let option = |value: &str| Choice { value: value.into(), title: None };
        vec![option("x"), option("1"), option("y")]
    }

    #[test]
    fn an_option_is_named_by_number_or_by_value_and_the_value_wins() {
        for (typed, want) in [("1", "1"), ("3", "y"), ("y", "y"), ("4", "4"), ("0", "0"), ("z", "z")] {
            assert_eq!(choice(&options(), typed), want);
        }
    }

    #[test]
    fn faults_are_told_by_the_names_that_the_form_shows() {
        let schema =
            json!({"type": "object", "properties": {"a/b": {"type": "string", "title": "The \u{202e}name"}}});
        let schema = Schema::parse(&schema).unwrap();
        let wrong = [Violation { pointer: "/a~1b".into(), message: "is missing".into() }];
        assert_eq!(faults(&schema, &wrong), "  The U+202Ename: is missing");
    }
}
