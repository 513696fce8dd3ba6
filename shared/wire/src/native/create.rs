//! `POST /v1/elicitations`.

use std::time::Duration;

use countersign_core::ask::{Ask, Content, Detail, Expiry, Origin, RetryKey};
use countersign_core::elicitation::Tier;
use countersign_core::json::Sha256;
use countersign_core::schema::{FieldKind, Schema};
use serde_json::{Map, Value};

use super::binding;
use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{
    DETAILS, EXPIRES_IN_SECONDS, LABEL_CHARS, MESSAGE_CHARS, NAME_CHARS, NOTE_CHARS, POLL_INTERVAL_MS,
    PREVIEW_CHARS, SESSION_CHARS, TITLE_CHARS, VALUE_CHARS, WARNINGS,
};
use crate::policy::asked_audience;
use crate::rejected::{CALLBACK_NOT_ALLOWED, INVALID_BINDING, Rejected};
use crate::schema;

/// A question of good shape, whose schema is still to be parsed: the session is checked between the two.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateBody {
    /// The session it belongs to; its id or its name.
    pub session: Option<String>,
    ask: Ask,
    schema: Option<Value>,
}

impl CreateBody {
    /// Reads the body of a create. `retry_key` comes from the request's head.
    ///
    /// # Errors
    /// `invalid_request` for the shape; else `callback_not_allowed` or `invalid_binding`.
    pub fn read(body: &Map<String, Value>, retry_key: RetryKey) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let session = fields.text("session", TextRule::line(SESSION_CHARS));
        let schema = fields.raw("requested_schema").cloned();
        let server = fields.text("server", TextRule::line(NAME_CHARS));
        let tool = fields.text("tool", TextRule::line(NAME_CHARS));
        let ask = Ask {
            retry_key,
            tier: fields.word("tier", &Tier::ALL, Tier::word).unwrap_or(Tier::Write),
            title: fields.text("title", TextRule::line(TITLE_CHARS)),
            content: content(&fields, server.as_deref(), tool.as_deref()),
            expiry: expiry(&fields),
            poll_interval: fields.integer("poll_interval_ms", POLL_INTERVAL_MS).map(Duration::from_millis),
            supersedes: fields.parsed("supersedes", "the id of an elicitation, el_ and 26 characters"),
            audience: asked_audience(&fields),
            require_reachable: fields.flag("require_reachable"),
            request_sha256: Sha256::of_json(&Value::Object(body.clone())),
            server,
            tool,
        };
        refuse_by_policy(&fields);
        fields.finish();
        faults.refusal()?;
        Ok(Self { session, ask, schema })
    }

    /// The question, with its schema parsed.
    ///
    /// # Errors
    /// `invalid_schema` or `sensitive_field`, with pointers below `/requested_schema`; `invalid_binding` for a gate
    /// that is no boolean field.
    pub fn into_ask(mut self) -> Result<Ask, Rejected> {
        let schema = schema::parse(self.schema.as_ref(), "/requested_schema")?;
        let gate = self.ask.content.binding.as_ref().and_then(|binding| binding.gate.as_deref());
        if gate.is_some_and(|gate| !has_boolean(&schema, gate)) {
            let message = "must name a boolean field of requested_schema";
            return Err(Rejected::one(INVALID_BINDING, "/binding/gate", message));
        }
        self.ask.content.schema = schema;
        Ok(self.ask)
    }
}

fn has_boolean(schema: &Schema, name: &str) -> bool {
    schema.fields().iter().any(|field| field.name == name && field.kind == FieldKind::Boolean)
}

fn content(fields: &Fields<'_>, server: Option<&str>, tool: Option<&str>) -> Content {
    let preview = fields.text("preview", TextRule::any(PREVIEW_CHARS).or_blank());
    Content {
        message: fields.required_text("message", TextRule::lines(MESSAGE_CHARS)),
        context: None,
        consequence: fields.text("consequence", TextRule::lines(NOTE_CHARS)),
        irreversible: fields.flag("irreversible"),
        warnings: fields.texts("warnings", 0..=WARNINGS, TextRule::lines(NOTE_CHARS)),
        details: fields.objects("details", 0..=DETAILS).iter().filter_map(detail).collect(),
        schema: Schema::yes_no(),
        binding: fields.object("binding").map(|one| binding::read(&one, server, tool, preview.as_deref())),
        meta: fields.map("meta").cloned().unwrap_or_default(),
        preview,
    }
}

/// A value may be empty and hold anything, as the subject of a mail may: the page makes it visible.
fn detail(fields: &Fields<'_>) -> Option<Detail> {
    let label = fields.required_text("label", TextRule::line(LABEL_CHARS));
    let value = fields.required_text("value", TextRule::any(VALUE_CHARS).or_blank());
    let origin = fields.required_word("origin", &[Origin::Server, Origin::Caller], Origin::word);
    fields.finish();
    Some(Detail { label, value, origin: origin? })
}

fn expiry(fields: &Fields<'_>) -> Expiry {
    let at = fields.time("expires_at");
    let seconds = fields.integer("expires_in_seconds", EXPIRES_IN_SECONDS);
    match (at, seconds) {
        (Some(_), Some(_)) => {
            fields.refuse("expires_in_seconds", "must not be given beside expires_at; send one of them");
            Expiry::Default
        }
        (Some(at), None) => Expiry::At(at),
        (None, Some(seconds)) => Expiry::After(Duration::from_secs(seconds)),
        (None, None) => Expiry::Default,
    }
}

fn refuse_by_policy(fields: &Fields<'_>) {
    let callback =
        "no policy of this version allows callbacks; leave it out and read the elicitation instead";
    fields.forbid(CALLBACK_NOT_ALLOWED, "callback", callback);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(fields: &Value) -> Map<String, Value> {
        let mut body = json!({"message": "They are expunged."}).as_object().cloned().unwrap();
        body.extend(fields.as_object().cloned().unwrap());
        body
    }

    fn read(fields: &Value) -> Result<Ask, Rejected> {
        CreateBody::read(&body(fields), RetryKey::None)?.into_ask()
    }

    #[track_caller]
    fn refuses(fields: &Value, code: &str, pointer: &str) {
        let refused = read(fields).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), (code, pointer), "{fields}");
    }

    #[track_caller]
    fn shape(field: &str, bad: &Value) {
        refuses(&json!({field: bad}), "invalid_request", &format!("/{field}"));
    }

    #[test]
    fn caps_and_types_are_those_of_the_protocol() {
        for (field, cap) in [
            ("title", 120),
            ("message", 8_000),
            ("consequence", 300),
            ("server", 200),
            ("tool", 200),
            ("session", 128),
        ] {
            assert!(read(&json!({field: "x".repeat(cap)})).is_ok(), "{field}");
            for bad in [json!("x".repeat(cap + 1)), json!(" "), json!("a\u{1b}b"), json!(1)] {
                shape(field, &bad);
            }
        }
        assert!(read(&json!({"preview": "x".repeat(12_000)})).is_ok());
        shape("preview", &json!("x".repeat(12_001)));
        for field in ["irreversible", "require_reachable"] {
            shape(field, &json!("true"));
        }
        for (field, bad) in [
            ("tier", json!("admin")),
            ("supersedes", json!("el_x")),
            ("poll_interval_ms", json!(999)),
            ("poll_interval_ms", json!(600_001)),
            ("meta", json!([])),
            ("binding", json!([])),
            ("surprise", json!(1)),
            ("tenant", json!("other")),
        ] {
            shape(field, &bad);
        }
    }

    #[test]
    fn server_side_names_are_one_printable_line() {
        for field in ["server", "tool", "title"] {
            for bad in ["a\nb", "a\u{202e}b", "a\u{200b}b"] {
                shape(field, &json!(bad));
            }
        }
        assert!(read(&json!({"message": "a\n\tb"})).is_ok());
    }

    #[test]
    fn a_refused_character_is_named_where_it_stands() {
        let details = json!([{"label": "To\u{e0041}", "value": "\u{e0041}", "origin": "server"}]);
        let refused =
            read(&json!({"title": "invoice\u{202e}fdp", "details": details})).unwrap_err().to_string();
        for named in
            ["/title: must be text of 1 to 120 characters", "; it holds U+202E", "; it holds U+E0041"]
        {
            assert!(refused.contains(named), "{refused}");
        }
        assert!(refused.contains("/details/0/label"), "{refused}");
    }

    #[test]
    fn lists_are_bounded_and_their_faults_are_pointed_at() {
        let detail = |label: &str, origin: &str| json!({"label": label, "value": "", "origin": origin});
        assert!(read(&json!({"details": vec![detail("To", "server"); 50]})).is_ok());
        refuses(&json!({"details": vec![detail("To", "server"); 51]}), "invalid_request", "/details");
        refuses(&json!({"details": [detail("To", "me")]}), "invalid_request", "/details/0/origin");
        refuses(
            &json!({"details": [detail(&"x".repeat(61), "server")]}),
            "invalid_request",
            "/details/0/label",
        );
        refuses(&json!({"details": [{"label": "a", "value": "b"}]}), "invalid_request", "/details/0/origin");
        let extra = json!({"details": [{"label": "a", "value": "b", "origin": "caller", "html": true}]});
        refuses(&extra, "invalid_request", "/details/0/html");
        refuses(&json!({"warnings": ["ok", "x".repeat(301)]}), "invalid_request", "/warnings/1");
        refuses(&json!({"warnings": vec!["x"; 21]}), "invalid_request", "/warnings");
    }

    #[test]
    fn an_expiry_is_a_time_or_a_span_and_must_be_readable() {
        let at = "2026-11-30T20:00:00Z";
        assert!(matches!(read(&json!({"expires_at": at})).unwrap().expiry, Expiry::At(_)));
        let span = read(&json!({"expires_in_seconds": 90})).unwrap().expiry;
        assert_eq!(span, Expiry::After(Duration::from_secs(90)));
        shape("expires_at", &json!("soon"));
        for bad in [json!(0), json!(-1), json!(1.5), json!("90")] {
            shape("expires_in_seconds", &bad);
        }
        let both = json!({"expires_at": at, "expires_in_seconds": 90});
        refuses(&both, "invalid_request", "/expires_in_seconds");
    }

    #[test]
    fn what_no_policy_allows_has_its_own_code() {
        refuses(&json!({"callback": {"url": "https://x"}}), "callback_not_allowed", "/callback");
        let also_unknown = read(&json!({"callback": {}, "surprise": 1})).unwrap_err();
        assert_eq!((also_unknown.code, also_unknown.violations.len()), ("invalid_request", 2));
    }

    #[test]
    fn an_audience_names_groups_and_approvers() {
        let ask = read(&json!({"audience": ["group:finance"]})).unwrap();
        assert_eq!(ask.audience, Some(vec!["group:finance".parse().unwrap()]));
        assert_eq!(read(&json!({"audience": null})).unwrap().audience, None);
        shape("audience", &json!([]));
        refuses(&json!({"audience": ["group:a", "finance"]}), "invalid_request", "/audience/1");
    }

    #[test]
    fn a_gate_names_a_boolean_field() {
        let schema =
            json!({"type": "object", "properties": {"ok": {"type": "boolean"}, "n": {"type": "integer"}}});
        let gated = |gate: &str| json!({"requested_schema": schema, "binding": {"gate": gate}});
        assert!(read(&gated("ok")).is_ok());
        for gate in ["n", "missing"] {
            refuses(&gated(gate), "invalid_binding", "/binding/gate");
        }
    }

    #[test]
    fn the_schema_is_judged_under_its_name() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}});
        refuses(
            &json!({"requested_schema": schema}),
            "invalid_schema",
            "/requested_schema/properties/a/pattern",
        );
        refuses(&json!({"requested_schema": 3}), "invalid_schema", "/requested_schema");
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let ask = read(&json!({})).unwrap();
        assert_eq!((ask.tier, ask.expiry, ask.poll_interval), (Tier::Write, Expiry::Default, None));
        assert!(ask.content.schema.is_yes_no() && ask.content.binding.is_none());
        assert_eq!(ask.request_sha256, Sha256::of_json(&Value::Object(body(&json!({})))));
    }
}
