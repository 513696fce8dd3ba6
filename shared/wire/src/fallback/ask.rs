//! `POST …/api/v1/elicitations`: a question of the fallback client.

use std::time::Duration;

use countersign_core::ask::{Ask, Content, Expiry, RetryKey};
use countersign_core::elicitation::Tier;
use countersign_core::json::Sha256;
use countersign_core::schema::Schema;
use countersign_core::text::truncate;
use countersign_core::time::Timestamp;
use countersign_core::violation::pointer_token;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{
    FALLBACK_CONTEXT_CHARS, FALLBACK_MESSAGE_CHARS, FALLBACK_TOOL_CHARS, NAME_CHARS, POLL_INTERVAL_MS,
};
use crate::rejected::Rejected;
use crate::schema;

/// The asker's own id of the question.
pub(super) const REQUEST_ID: &str = "com.pulsemcp/request-id";
/// When the question is to end.
pub(super) const EXPIRES_AT: &str = "com.pulsemcp/expires-at";
const SESSION_ID: &str = "com.pulsemcp/session-id";
const TOOL_NAME: &str = "com.pulsemcp/tool-name";
const CONTEXT: &str = "com.pulsemcp/context";
const POLL_INTERVAL: &str = "com.countersign/poll-interval-ms";

const GOOD_REQUEST_ID: &str =
    "text of 1 to 255 characters, not blank, without control characters and not starting with ph_ or el_";

/// A question of good shape, whose schema is still to be parsed: the session is checked between the two.
#[derive(Debug, Clone, PartialEq)]
pub struct AskBody {
    /// The session that the asker says it belongs to; its id or its name. A claim, never an authority.
    pub session: Option<String>,
    ask: Ask,
    schema: Option<Value>,
}

impl AskBody {
    /// Reads the body of a create.
    ///
    /// Only the keys named here mean anything. All others, in the body or in `_meta`, are kept as the caller's opaque
    /// meta, and nothing of them decides where the question goes or how far it is trusted.
    ///
    /// # Errors
    /// `invalid_request` with everything that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        fields.word("mode", &["form"], |word| word);
        let message = fields.required_text("message", TextRule::any(FALLBACK_MESSAGE_CHARS));
        let schema = fields.raw("requestedSchema").cloned();
        let Some(meta) = fields.required_object("_meta") else { return Err(faults.rejected()) };
        let read_id = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let request_id = meta.required(REQUEST_ID, GOOD_REQUEST_ID, read_id);
        let session = not_blank(meta.read(SESSION_ID, "text", Value::as_str));
        let ask = Ask {
            retry_key: request_id.map_or(RetryKey::None, RetryKey::Request),
            server: None,
            tool: tool(&meta),
            tier: Tier::Write,
            title: None,
            expiry: expiry(&meta),
            poll_interval: poll_interval(&meta),
            content: content(message, &fields, &meta),
            supersedes: None,
            audience: None,
            require_reachable: false,
            request_sha256: Sha256::of_json(&Value::Object(body.clone())),
        };
        faults.refusal()?;
        Ok(Self { session, ask, schema })
    }

    /// The question, with its schema parsed.
    ///
    /// # Errors
    /// `invalid_schema` or `sensitive_field`, with pointers below `/requestedSchema`.
    pub fn into_ask(mut self) -> Result<Ask, Rejected> {
        self.ask.content.schema = schema::parse(self.schema.as_ref(), "/requestedSchema")?;
        Ok(self.ask)
    }
}

fn content(message: String, fields: &Fields<'_>, meta: &Fields<'_>) -> Content {
    let context = meta.text(CONTEXT, TextRule::any(FALLBACK_CONTEXT_CHARS).or_blank());
    Content {
        message,
        context: not_blank(context.as_deref()),
        consequence: None,
        irreversible: false,
        warnings: Vec::new(),
        details: Vec::new(),
        preview: None,
        schema: Schema::yes_no(),
        binding: None,
        meta: kept(fields, meta),
    }
}

/// What we do not understand: `_meta` keys as they are, fields of the body under their pointer, which is no key of
/// the form that MCP gives to `_meta`.
fn kept(fields: &Fields<'_>, meta: &Fields<'_>) -> Map<String, Value> {
    let top = fields.unknown().into_iter();
    let top = top.map(|(key, value)| (format!("/{}", pointer_token(key)), value.clone()));
    let meta = meta.unknown().into_iter().map(|(key, value)| (key.clone(), value.clone()));
    top.chain(meta).collect()
}

/// Cut rather than refused: a long name is odd, and the approval matters more.
fn tool(meta: &Fields<'_>) -> Option<String> {
    let name = meta.text(TOOL_NAME, TextRule::any(FALLBACK_TOOL_CHARS).or_blank());
    not_blank(name.as_deref()).map(|name| truncate(&name, NAME_CHARS).into_owned())
}

/// A value that is not a time counts as not sent: the client would not retry.
fn expiry(meta: &Fields<'_>) -> Expiry {
    let sent = meta.raw(EXPIRES_AT).and_then(Value::as_str).and_then(Timestamp::parse);
    sent.map_or(Expiry::Default, Expiry::At)
}

fn poll_interval(meta: &Fields<'_>) -> Option<Duration> {
    let sent = meta.raw(POLL_INTERVAL).and_then(Value::as_u64);
    sent.filter(|millis| POLL_INTERVAL_MS.contains(millis)).map(Duration::from_millis)
}

fn not_blank(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Value {
        json!({"mode": "form", "message": "Send?", "_meta": {REQUEST_ID: "r1"}})
    }

    fn with(pointer: &str, value: Value) -> Value {
        let mut body = good();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/");
        body.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key, value);
        body
    }

    fn read(body: &Value) -> Result<AskBody, Rejected> {
        AskBody::read(body.as_object().unwrap())
    }

    #[track_caller]
    fn refuses(pointer: &str, value: Value) {
        let refused = read(&with(pointer, value)).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), ("invalid_request", pointer));
    }

    #[track_caller]
    fn ask(pointer: &str, value: Value) -> Ask {
        read(&with(pointer, value)).expect("refused what is good").into_ask().expect("schema")
    }

    #[test]
    fn what_the_protocol_refuses_is_refused_with_a_pointer() {
        let id = "/_meta/com.pulsemcp~1request-id";
        for bad in [json!(null), json!(3), json!([]), json!("x")] {
            refuses("/_meta", bad);
        }
        for bad in
            [json!(null), json!(""), json!("  "), json!("a\nb"), json!("ph_1"), json!("el_1"), json!(7)]
        {
            refuses(id, bad);
        }
        refuses(id, json!("x".repeat(256)));
        for bad in [json!(null), json!(""), json!(" \n"), json!("\u{200b}"), json!(1)] {
            refuses("/message", bad);
        }
        refuses("/message", json!("x".repeat(FALLBACK_MESSAGE_CHARS + 1)));
        refuses("/mode", json!("url"));
        refuses("/_meta/com.pulsemcp~1session-id", json!(7));
        refuses("/_meta/com.pulsemcp~1tool-name", json!("x".repeat(1_001)));
        refuses("/_meta/com.pulsemcp~1context", json!({}));
    }

    #[test]
    fn everything_wrong_is_listed_at_once() {
        let body = json!({"mode": 1, "_meta": {}});
        let pointers: Vec<_> =
            read(&body).unwrap_err().violations.into_iter().map(|one| one.pointer).collect();
        assert_eq!(pointers, ["/mode", "/message", "/_meta/com.pulsemcp~1request-id"]);
    }

    #[test]
    fn a_blank_session_is_none() {
        for (sent, want) in [(json!(""), None), (json!(" "), None), (json!("run-1"), Some("run-1"))] {
            let got = read(&with("/_meta/com.pulsemcp~1session-id", sent)).unwrap();
            assert_eq!(got.session.as_deref(), want);
        }
    }

    #[test]
    fn a_deadline_that_is_no_time_is_the_default() {
        for bad in [json!("soon"), json!(1_800_000_000), json!(null), json!({}), json!("")] {
            assert_eq!(ask("/_meta/com.pulsemcp~1expires-at", bad).expiry, Expiry::Default);
        }
        let at = Timestamp::parse("2026-11-30T20:00:00Z").unwrap();
        assert_eq!(
            ask("/_meta/com.pulsemcp~1expires-at", json!("2026-11-30T20:00:00Z")).expiry,
            Expiry::At(at)
        );
    }

    #[test]
    fn a_poll_interval_out_of_range_is_ignored() {
        let pointer = "/_meta/com.countersign~1poll-interval-ms";
        for (sent, want) in
            [(json!(1_000), Some(1)), (json!(600_000), Some(600)), (json!(999), None), (json!("5"), None)]
        {
            assert_eq!(ask(pointer, sent).poll_interval, want.map(Duration::from_secs));
        }
    }

    #[test]
    fn what_we_do_not_know_is_kept_and_never_read() {
        let mut body = with("/_meta/tenant", json!("other"));
        body["tier"] = json!("read");
        let ask = read(&body).unwrap().into_ask().unwrap();
        assert_eq!(Value::Object(ask.content.meta), json!({"/tier": "read", "tenant": "other"}));
        assert_eq!(ask.tier, Tier::Write);
    }

    #[test]
    fn a_long_tool_name_is_cut_and_an_absent_schema_is_a_yes_or_no() {
        let ask = ask("/_meta/com.pulsemcp~1tool-name", json!("x".repeat(1_000)));
        assert_eq!(ask.tool.map(|name| name.chars().count()), Some(NAME_CHARS));
        assert!(ask.content.schema.is_yes_no());
    }

    #[test]
    fn the_schema_is_judged_last_and_under_its_name() {
        let body =
            with("/requestedSchema", json!({"type": "object", "properties": {"a": {"type": "object"}}}));
        let refused = read(&body).unwrap().into_ask().unwrap_err();
        assert_eq!(refused.code, "invalid_schema");
        assert_eq!(refused.violations[0].pointer, "/requestedSchema/properties/a/type");
        let body = with(
            "/requestedSchema",
            json!({"type": "object", "properties": {"api_key": {"type": "string"}}}),
        );
        assert_eq!(read(&body).unwrap().into_ask().unwrap_err().code, "sensitive_field");
    }

    #[test]
    fn the_hash_is_of_the_whole_body_in_canonical_form() {
        let one = read(&good()).unwrap();
        let reordered = json!({"_meta": {REQUEST_ID: "r1"}, "message": "Send?", "mode": "form"});
        assert_eq!(one.ask.request_sha256, read(&reordered).unwrap().ask.request_sha256);
        assert_ne!(one.ask.request_sha256, read(&with("/other", json!(1))).unwrap().ask.request_sha256);
    }
}
