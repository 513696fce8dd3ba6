//! The native API's elicitations (PROTOCOL.md section 2.2).

mod binding;
mod create;
mod question;
mod view;

use serde_json::{Map, Value};

pub use create::CreateBody;
pub use question::QuestionView;
pub use view::{Created, DeliveryView, Page, View, Winner, poll_after_ms};

use crate::fields::{Faults, Fields};
use crate::rejected::Rejected;
use crate::submitted::{self, ContentAs, Submitted};

/// `POST /v1/elicitations/{id}/respond`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespondBody;

impl RespondBody {
    /// Reads `{action, content?, reason?}`; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` for the shape, `invalid_content` for an accept whose content is no object.
    pub fn read(body: &Map<String, Value>) -> Result<Submitted, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let read = submitted::read(&fields, "action", ContentAs::Object);
        fields.finish();
        faults.refusal()?;
        read.ok_or_else(|| faults.rejected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn refuses(body: &Value, code: &str, pointer: &str) {
        let refused = RespondBody::read(body.as_object().unwrap()).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), (code, pointer), "{body}");
    }

    #[test]
    fn a_decision_is_read_strictly() {
        refuses(&json!({}), "invalid_request", "/action");
        refuses(&json!({"action": "expired"}), "invalid_request", "/action");
        refuses(&json!({"action": "accept", "action_type": "accept"}), "invalid_request", "/action_type");
        refuses(&json!({"action": "accept", "content": "{}"}), "invalid_content", "/content");
        refuses(&json!({"action": "accept", "reason": 1}), "invalid_request", "/reason");
    }

    #[test]
    fn a_refusal_drops_its_content() {
        let body = json!({"action": "decline", "content": {"a": 1}, "reason": "wrong mailbox"});
        let got = RespondBody::read(body.as_object().unwrap()).unwrap();
        assert_eq!((got.content, got.reason.as_deref()), (None, Some("wrong mailbox")));
    }
}
