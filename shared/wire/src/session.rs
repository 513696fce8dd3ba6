//! Sessions (PROTOCOL.md section 2.1).

mod env;
mod guidance;
mod view;

use std::time::Duration;

use countersign_core::audience::AudienceEntry;
use countersign_core::id::SessionName;
use serde_json::{Map, Value, json};

pub use env::{Env, McpEnv};
pub use guidance::{Gate, guidance};
pub use view::{SessionCreated, SessionRepeated, SessionView, TokenGrant};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{ASK_TOKEN_TTL_SECONDS, SESSION_TTL_SECONDS, THREAD_CHARS, TITLE_CHARS};
use crate::policy::asked_audience;
use crate::rejected::Rejected;

const SURFACES: [&str; 4] = ["slack", "telegram", "cli", "web"];
const GOOD_NAME: &str = "1 to 128 characters of A-Z, a-z, 0-9, '.', '_', ':' and '-', not starting with se_";

/// `POST /v1/sessions`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionBody {
    /// Its name; the caller's, or to be made up.
    pub name: Option<SessionName>,
    /// A title for people.
    pub title: Option<String>,
    /// Where its conversation lives: `{kind, thread}`.
    pub surface: Option<Value>,
    /// The wait of its questions that name none.
    pub default_ttl: Option<Duration>,
    /// The asker's own narrowing of who is asked in it.
    pub audience: Option<Vec<AudienceEntry>>,
    /// The life of the ask token.
    pub ask_token_ttl: Option<Duration>,
}

impl SessionBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let session = Self {
            name: fields.parsed("name", GOOD_NAME),
            title: fields.text("title", TextRule::line(TITLE_CHARS)),
            surface: fields.object("surface").map(|surface| read_surface(&surface)),
            default_ttl: fields.integer("default_ttl_seconds", SESSION_TTL_SECONDS).map(Duration::from_secs),
            audience: asked_audience(&fields),
            ask_token_ttl: ask_token_ttl(&fields),
        };
        fields.finish();
        faults.refusal().map(|()| session)
    }
}

/// `POST /v1/sessions/{id}/tokens`: one more ask token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBody {
    /// The life of the ask token.
    pub ask_token_ttl: Option<Duration>,
}

impl TokenBody {
    /// Reads `{ask_token_ttl_seconds?}`; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let token = Self { ask_token_ttl: ask_token_ttl(&fields) };
        fields.finish();
        faults.refusal().map(|()| token)
    }
}

fn ask_token_ttl(fields: &Fields<'_>) -> Option<Duration> {
    fields.integer("ask_token_ttl_seconds", ASK_TOKEN_TTL_SECONDS).map(Duration::from_secs)
}

fn read_surface(fields: &Fields<'_>) -> Value {
    let kind = fields.required_word("kind", &SURFACES, |word| word);
    let thread = fields.required_text("thread", TextRule::line(THREAD_CHARS));
    fields.finish();
    json!({ "kind": kind, "thread": thread })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<SessionBody, Rejected> {
        SessionBody::read(body.as_object().unwrap())
    }

    #[track_caller]
    fn refuses(body: &Value, code: &str, pointer: &str) {
        let refused = read(body).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), (code, pointer), "{body}");
    }

    #[test]
    fn a_session_may_say_nothing_or_everything() {
        assert!(read(&json!({})).is_ok());
        let body = json!({"name": "run-1", "title": "Inbox zero", "surface": {"kind": "slack", "thread": "C1/17"},
            "default_ttl_seconds": 604_800, "ask_token_ttl_seconds": 31_536_000});
        let got = read(&body).unwrap();
        assert_eq!(got.surface, Some(json!({"kind": "slack", "thread": "C1/17"})));
        assert_eq!(got.default_ttl, Some(Duration::from_hours(7 * 24)));
        assert_eq!(got.ask_token_ttl, Some(Duration::from_hours(365 * 24)));
    }

    #[test]
    fn every_refusal_has_a_pointer() {
        for (body, pointer) in [
            (json!({"name": "a b"}), "/name"),
            (json!({"name": "se_1"}), "/name"),
            (json!({"name": "x".repeat(129)}), "/name"),
            (json!({"title": "x".repeat(121)}), "/title"),
            (json!({"surface": "slack"}), "/surface"),
            (json!({"surface": {"kind": "fax", "thread": "1"}}), "/surface/kind"),
            (json!({"surface": {"kind": "web"}}), "/surface/thread"),
            (json!({"surface": {"kind": "web", "thread": "1", "x": 1}}), "/surface/x"),
            (json!({"default_ttl_seconds": 59}), "/default_ttl_seconds"),
            (json!({"default_ttl_seconds": 604_801}), "/default_ttl_seconds"),
            (json!({"ask_token_ttl_seconds": 59}), "/ask_token_ttl_seconds"),
            (json!({"ask_token_ttl_seconds": 31_536_001}), "/ask_token_ttl_seconds"),
            (json!({"surprise": 1}), "/surprise"),
        ] {
            refuses(&body, "invalid_request", pointer);
        }
        refuses(&json!({"audience": ["group:ops", "ops"]}), "invalid_request", "/audience/1");
    }

    #[test]
    fn a_token_body_knows_one_field() {
        let ttl = |body: Value| TokenBody::read(body.as_object().unwrap()).map(|token| token.ask_token_ttl);
        assert_eq!(ttl(json!({})), Ok(None));
        assert_eq!(ttl(json!({"ask_token_ttl_seconds": 60})), Ok(Some(Duration::from_mins(1))));
        assert!(ttl(json!({"ttl_seconds": 60})).is_err());
    }
}
