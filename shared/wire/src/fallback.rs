//! What the pulsemcp elicitation client sends and understands (PROTOCOL.md section 1).

mod answer;
mod ask;

use serde::Serialize;
use serde_json::{Map, Value};

pub use answer::{Created, Polled, created, expired_unread, pending_unread, polled};
pub use ask::AskBody;

use crate::fields::{Faults, Fields};
use crate::rejected::Rejected;
use crate::submitted::{self, ContentAs, Submitted};

/// `PATCH /api/v1/elicitations/{id}/respond`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespondBody;

impl RespondBody {
    /// Reads `{action_type, content?, reason?}`; other fields are ignored.
    ///
    /// Content may also be the JSON text of an object, as some clients send it; that text is read as strictly as a
    /// body is.
    ///
    /// # Errors
    /// `invalid_request` for the shape, `invalid_content` for an accept whose content is no object.
    pub fn read(body: &Map<String, Value>) -> Result<Submitted, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let read = submitted::read(&fields, "action_type", ContentAs::ObjectOrText);
        faults.refusal()?;
        read.ok_or_else(|| faults.rejected())
    }
}

/// An error answer of the fallback routes. The client shows the whole of it to a language model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FallbackError {
    error: String,
    message: String,
    messages: Vec<String>,
    code: &'static str,
}

/// An error whose kind is `title`; without `messages` the title is the message.
pub fn error(code: &'static str, title: &str, messages: Vec<String>) -> FallbackError {
    let messages = if messages.is_empty() { vec![title.to_owned()] } else { messages };
    FallbackError { error: title.to_owned(), message: messages.join("; "), messages, code }
}

/// The error for a body that is refused.
pub fn rejected(rejected: &Rejected) -> FallbackError {
    let messages = rejected.violations.iter().map(ToString::to_string).collect();
    error(rejected.code, rejected.title(), messages)
}

/// Where the questions of an ask token are posted and polled, below a base URL.
pub fn ask_path(token: &str) -> String {
    format!("/t/{token}/api/v1/elicitations")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submitted::Action;
    use serde_json::json;

    #[track_caller]
    fn reads(body: &Value, action: Action, content: &Value) {
        let got = RespondBody::read(body.as_object().unwrap()).expect("refused what is good");
        assert_eq!((got.action, json!(got.content)), (action, content.clone()), "{body}");
    }

    #[track_caller]
    fn refuses(body: &Value, code: &str, pointer: &str) {
        let refused = RespondBody::read(body.as_object().unwrap()).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), (code, pointer), "{body}");
    }

    #[test]
    fn content_is_an_object_or_the_json_text_of_one() {
        let filled = json!({"n": 3});
        reads(&json!({"action_type": "accept", "content": {"n": 3}, "other": 1}), Action::Accept, &filled);
        reads(&json!({"action_type": "accept", "content": "{\"n\": 3}"}), Action::Accept, &filled);
        reads(&json!({"action_type": "accept", "content": null}), Action::Accept, &Value::Null);
        for bad in
            [json!("not json"), json!(""), json!("[1]"), json!("{\"a\":1,\"a\":2}"), json!([1]), json!(7)]
        {
            refuses(&json!({"action_type": "accept", "content": bad}), "invalid_content", "/content");
        }
    }

    #[test]
    fn a_refusal_drops_whatever_content_came_along() {
        for action in [Action::Decline, Action::Cancel] {
            for content in [json!({"confirm": true}), json!("not json"), json!(7)] {
                reads(&json!({"action_type": action.word(), "content": content}), action, &Value::Null);
            }
        }
    }

    #[test]
    fn the_action_is_one_of_three() {
        for bad in [
            json!({}),
            json!({"action_type": "maybe"}),
            json!({"action_type": 1}),
            json!({"action": "accept"}),
        ] {
            refuses(&bad, "invalid_request", "/action_type");
        }
        refuses(&json!({"action_type": "cancel", "reason": "x".repeat(1_001)}), "invalid_request", "/reason");
    }

    #[test]
    fn a_blank_reason_is_none() {
        let body = json!({"action_type": "decline", "reason": " "});
        assert_eq!(RespondBody::read(body.as_object().unwrap()).unwrap().reason, None);
    }

    #[test]
    fn an_error_without_messages_repeats_its_title() {
        assert_eq!(error("not_found", "Unknown", Vec::new()).messages, ["Unknown"]);
    }
}
