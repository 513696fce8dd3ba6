//! The requested schema: the primitive subset of MCP form elicitation, and the answers that fit it.
//!
//! The parser is closed: a keyword it does not know is a violation, never ignored, because a constraint that
//! is dropped silently is an answer the asker believes was checked. What was parsed is kept verbatim beside
//! the parsed form, so that it can be shown and stored with its key order.

mod answer;
mod format;
mod keywords;
mod number;
mod options;
mod parse;
mod sensitive;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Number, Value};

pub use format::Format;

use crate::violation::Violation;

/// Most violations that one refusal lists; the first ones tell enough to mend the input.
pub const VIOLATIONS: usize = 20;
/// Characters (Unicode scalar values) of a field's name.
pub const FIELD_NAME_CHARS: usize = 128;
/// Characters of a title, of the whole schema or of a field.
pub const TITLE_CHARS: usize = 200;
/// Characters of a description, of the whole schema or of a field.
pub const DESCRIPTION_CHARS: usize = 2_000;
/// Characters of the `$schema` identifier.
pub const DIALECT_CHARS: usize = 500;
/// Options of one choice.
pub const OPTIONS: usize = 200;
/// Characters of an option's value or title.
pub const OPTION_CHARS: usize = 500;
/// Characters of a string answer, also where `maxLength` is absent or larger.
pub const ANSWER_CHARS: usize = 16_000;

/// A requested schema that was found good.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    source: Value,
    fields: Vec<Field>,
}

impl Schema {
    /// Parses a requested schema. `{}` is [`Schema::yes_no`].
    ///
    /// # Errors
    /// Everything that is wrong with `source`, up to [`VIOLATIONS`] entries.
    pub fn parse(source: &Value) -> Result<Self, SchemaError> {
        let fields = parse::fields(source)?;
        Ok(Self { source: source.clone(), fields })
    }

    /// The schema of a question that asks for nothing but a yes or a no.
    pub fn yes_no() -> Self {
        Self { source: Value::Object(Map::new()), fields: Vec::new() }
    }

    /// Whether the question has no fields, only a yes or a no.
    pub fn is_yes_no(&self) -> bool {
        self.fields.is_empty()
    }

    /// The fields in the order in which the asker wrote them.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// What was parsed, unchanged.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// The name of the only required field, if there is exactly one and it is a boolean.
    ///
    /// It is the field that an approval without content sets to `true`.
    pub fn gate(&self) -> Option<&str> {
        let mut required = self.fields.iter().filter(|field| field.required);
        match (required.next(), required.next()) {
            (Some(Field { name, kind: FieldKind::Boolean, .. }), None) => Some(name),
            _ => None,
        }
    }

    /// Checks the content of an accept and returns what is to be stored.
    ///
    /// Without content the [gate](Schema::gate) is set to `true`, or else the content counts as `{}`. Given
    /// content comes back exactly as it is: defaults are never filled in, since nobody chose them.
    ///
    /// # Errors
    /// What does not fit, up to [`VIOLATIONS`] entries, each pointing to a field of the content.
    pub fn check(&self, content: Option<&Map<String, Value>>) -> Result<Map<String, Value>, Vec<Violation>> {
        match (content, self.gate()) {
            (Some(given), _) => answer::check(&self.fields, given),
            (None, Some(gate)) => Ok(Map::from_iter([(gate.to_owned(), Value::Bool(true))])),
            (None, None) => answer::check(&self.fields, &Map::new()),
        }
    }
}

/// One thing that the schema asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key of the answer.
    pub name: String,
    /// What to call it in front of a person, if the asker says so.
    pub title: Option<String>,
    /// What to explain beside it.
    pub description: Option<String>,
    /// Whether an accept must answer it.
    pub required: bool,
    /// What fits.
    pub kind: FieldKind,
    /// What a form may start with. It fits `kind`, and is never filled in for a person.
    pub default: Option<Value>,
}

impl Field {
    /// The title, or the name where there is none.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// What fits a field. The five spellings of a choice are two kinds here: what a form shows is the same.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// `type: string`
    Text(Text),
    /// `type: number`
    Number(Range),
    /// `type: integer`; 3.0 is one, as in JSON Schema.
    Integer(Range),
    /// `type: boolean`
    Boolean,
    /// `type: string` with `enum`, with `enum` and `enumNames`, or with `oneOf`; never empty.
    Select(Vec<Choice>),
    /// `type: array` with `items.enum` or `items.anyOf`
    MultiSelect(MultiSelect),
}

/// Free text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Fewest characters (Unicode scalar values).
    pub min_length: Option<usize>,
    /// Most characters that the asker allows; see [`Text::longest`].
    pub max_length: Option<usize>,
    /// What the text must read as.
    pub format: Option<Format>,
}

impl Text {
    /// Most characters that are taken: the asker's `maxLength`, but never more than [`ANSWER_CHARS`].
    pub fn longest(&self) -> usize {
        self.max_length.map_or(ANSWER_CHARS, |most| most.min(ANSWER_CHARS))
    }
}

/// The closed interval a number must lie in.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// Smallest number that fits.
    pub minimum: Option<Number>,
    /// Largest number that fits.
    pub maximum: Option<Number>,
}

/// One option of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is answered.
    pub value: String,
    /// What is shown, where it differs.
    pub title: Option<String>,
}

impl Choice {
    /// The title, or the value where there is none.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

/// A choice of several options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiSelect {
    /// What can be chosen; never empty.
    pub options: Vec<Choice>,
    /// Fewest options to choose.
    pub min_items: Option<usize>,
    /// Most options to choose.
    pub max_items: Option<usize>,
}

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The kind of refusal; `SensitiveField` wins where both apply.
    pub code: SchemaErrorCode,
    /// What is wrong, with pointers relative to the schema's root; never empty.
    pub violations: Vec<Violation>,
}

/// The two kinds of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaErrorCode {
    /// The schema is not of the supported subset or contradicts itself.
    Invalid,
    /// A text field asks for a secret, which must never pass through a form.
    SensitiveField,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("requested schema refused")?;
        for violation in &self.violations {
            write!(f, "; {violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaError {}
