//! What an asking side sends: the question as a person is shown it, and the wishes that come with it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::audience::AudienceEntry;
use crate::elicitation::Tier;
use crate::id::{ElicitationId, IdempotencyKey, RequestId};
use crate::json::Sha256;
use crate::schema::Schema;
use crate::time::Timestamp;

/// Who vouches for a detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The tool server computed it.
    Server,
    /// The agent supplied it; nobody checked it.
    Caller,
}

impl Origin {
    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Caller => "caller",
        }
    }
}

/// One labelled fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// What it is.
    pub label: String,
    /// Its value.
    pub value: String,
    /// Who vouches for it.
    pub origin: Origin,
}

/// What an accept is good for; a claim must match it (PROTOCOL.md section 2.2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Binding {
    /// `rk_…`, given or computed from the resource.
    pub resource_key: Option<String>,
    /// The arguments, to be shown; hashed by us.
    pub args: Option<Value>,
    /// Hash of the arguments.
    pub args_sha256: Option<Sha256>,
    /// Hash of the preview.
    pub preview_sha256: Option<Sha256>,
    /// The boolean field that must be answered true.
    pub gate: Option<String>,
}

/// The question as a person is shown it. Written once, never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The asking side's own words.
    pub message: String,
    /// Background that a fallback client sent along.
    pub context: Option<String>,
    /// What happens on a yes.
    pub consequence: Option<String>,
    /// A yes cannot be taken back.
    pub irreversible: bool,
    /// What to look out for.
    pub warnings: Vec<String>,
    /// The facts.
    pub details: Vec<Detail>,
    /// The thing itself, as text.
    pub preview: Option<String>,
    /// The form.
    pub schema: Schema,
    /// What an accept is good for.
    pub binding: Option<Binding>,
    /// Opaque to us, the caller's.
    pub meta: Map<String, Value>,
}

/// When the asking side wants the question to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It did not say, or said nothing usable.
    Default,
    /// At this instant.
    At(Timestamp),
    /// This long after creation.
    After(Duration),
}

impl Expiry {
    /// The instant that was asked for, if one was.
    pub fn asked(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Default => None,
            Self::At(at) => Some(at),
            Self::After(span) => Some(now.plus(span)),
        }
    }
}

/// What makes two creates the same create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryKey {
    /// The fallback client's request-id.
    Request(RequestId),
    /// A native caller's Idempotency-Key.
    Idempotency(IdempotencyKey),
    /// Nothing: every create is a new one.
    None,
}

/// A request to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What makes a retry recognisable.
    pub retry_key: RetryKey,
    /// The tool server.
    pub server: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// How much damage the act can do.
    pub tier: Tier,
    /// A short title.
    pub title: Option<String>,
    /// The question.
    pub content: Content,
    /// When it should end.
    pub expiry: Expiry,
    /// How often the asker will read.
    pub poll_interval: Option<Duration>,
    /// An earlier question of the same asker that this one replaces.
    pub supersedes: Option<ElicitationId>,
    /// The asker's own narrowing of who is asked.
    pub audience: Option<Vec<AudienceEntry>>,
    /// Refuse rather than ask nobody.
    pub require_reachable: bool,
    /// Hash of the canonical request body: a retry must match it.
    pub request_sha256: Sha256,
}

impl Ask {
    /// Hash of what a person is shown: what would be the same question to them has the same, whatever its ids,
    /// deadline and opaque `meta` are.
    pub fn shown_sha256(&self) -> Sha256 {
        let content = &self.content;
        let detail = |one: &Detail| json!([one.label, one.value, one.origin.word()]);
        let details: Vec<_> = content.details.iter().map(detail).collect();
        let binding = content.binding.as_ref();
        Sha256::of_json(&json!({
            "server": self.server, "tool": self.tool, "title": self.title, "message": content.message,
            "context": content.context, "consequence": content.consequence, "warnings": content.warnings,
            "irreversible": content.irreversible, "details": details, "preview": content.preview,
            "schema": content.schema.source(), "args": binding.and_then(|one| one.args.as_ref()),
            "args_sha256": binding.and_then(|one| one.args_sha256).map(Sha256::hex),
            "resource_key": binding.and_then(|one| one.resource_key.as_deref()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> Ask {
        Ask {
            retry_key: RetryKey::None,
            server: None,
            tool: Some("send_email".into()),
            tier: Tier::Write,
            title: None,
            content: Content {
                message: "Send it?".into(),
                context: None,
                consequence: None,
                irreversible: false,
                warnings: vec![],
                details: vec![Detail { label: "To".into(), value: "bo".into(), origin: Origin::Caller }],
                preview: None,
                schema: Schema::yes_no(),
                binding: None,
                meta: Map::new(),
            },
            expiry: Expiry::Default,
            poll_interval: None,
            supersedes: None,
            audience: None,
            require_reachable: false,
            request_sha256: Sha256::of(b""),
        }
    }

    #[track_caller]
    fn is_same(change: impl FnOnce(&mut Ask), want: bool) {
        let mut other = ask();
        change(&mut other);
        assert_eq!(ask().shown_sha256() == other.shown_sha256(), want, "{other:?}");
    }

    #[test]
    fn what_is_shown_is_the_question_and_nothing_else_is() {
        is_same(|one| one.content.message.push('!'), false);
        is_same(|one| one.tool = Some("delete_email".into()), false);
        is_same(|one| one.content.details[0].value.push('b'), false);
        is_same(|one| one.content.preview = Some("x".into()), false);
        is_same(|one| one.retry_key = RetryKey::Request("r2".parse().unwrap()), true);
        is_same(|one| one.request_sha256 = Sha256::of(b"x"), true);
        is_same(|one| one.expiry = Expiry::After(Duration::from_secs(90)), true);
        is_same(|one| drop(one.content.meta.insert("n".into(), Value::from(1))), true);
    }
}
