//! A decision as it was sent, before it is held against the question.

use countersign_core::json::read_object;
use serde_json::{Map, Value};

use crate::fields::{Fields, TextRule};
use crate::limits::REASON_CHARS;
use crate::rejected::INVALID_CONTENT;

/// What the sender decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// Dismissed without an answer.
    Cancel,
}

impl Action {
    const ALL: [Self; 3] = [Self::Accept, Self::Decline, Self::Cancel];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

/// A decision of good shape. Whether the content fits the schema is not known yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// What was decided.
    pub action: Action,
    /// The answer; only an accept has one, and it may come without.
    pub content: Option<Map<String, Value>>,
    /// Why, in the decider's words.
    pub reason: Option<String>,
}

/// Whether content may be the JSON text of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentAs {
    Object,
    ObjectOrText,
}

/// Reads the fields of a decision; `None` is a fault that was noted.
pub(crate) fn read(
    fields: &Fields<'_>,
    action_key: &'static str,
    content_as: ContentAs,
) -> Option<Submitted> {
    let action = fields.required_word(action_key, &Action::ALL, Action::word);
    let reason = fields.text("reason", TextRule::any(REASON_CHARS).or_blank());
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    let sent = fields.raw("content");
    // A refusal with content is still a refusal: what is dropped is not judged either.
    let content = match (action?, sent) {
        (Action::Accept, Some(sent)) => match object(sent, content_as) {
            Ok(content) => Some(content),
            Err(message) => {
                fields.refuse_as(INVALID_CONTENT, "content", message);
                return None;
            }
        },
        (Action::Accept | Action::Decline | Action::Cancel, _) => None,
    };
    Some(Submitted { action: action?, content, reason })
}

fn object(sent: &Value, content_as: ContentAs) -> Result<Map<String, Value>, String> {
    match (sent, content_as) {
        (Value::Object(content), _) => Ok(content.clone()),
        (Value::String(text), ContentAs::ObjectOrText) => read_object(text.as_bytes())
            .map_err(|error| format!("must be an object, or the JSON text of one: {error}")),
        (_, ContentAs::ObjectOrText) => Err("must be an object, or the JSON text of one".into()),
        (_, ContentAs::Object) => Err("must be an object".into()),
    }
}
