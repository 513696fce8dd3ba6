//! Endpoints and the signed requests that come in through them (PROTOCOL.md sections 2.5 and 2.6).

use std::time::Duration;

use countersign_core::endpoint::{ActorKind, EndpointId, EventKind};
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{ACTOR_ID_CHARS, ROTATION_OVERLAP_SECONDS, TARGET_NAME_CHARS, URL_CHARS};
use crate::rejected::Rejected;
use crate::submitted::{self, ContentAs, Submitted};

const GOOD_URL: &str = "an https URL of 1 to 2000 characters, without user, password or fragment";

/// `POST /v1/endpoints`, and with every field optional `PATCH /v1/endpoints/{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointBody {
    /// Where events go.
    pub url: Option<String>,
    /// Which events; `None` is as before, or none.
    pub events: Option<Vec<EventKind>>,
    /// Whether and for whom signed requests come in; `None` is as before, or off.
    pub inbound: Option<InboundRule>,
}

/// Whether and for whom signed requests come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundRule {
    /// They do.
    pub enabled: bool,
    /// How they may name the person.
    pub actor_kinds: Vec<ActorKind>,
}

impl EndpointBody {
    /// Reads a new endpoint; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let read = Self::fields(&fields);
        let tells = read.events.as_ref().is_some_and(|events| !events.is_empty());
        if read.url.is_none() && (tells || read.inbound.is_none()) {
            fields.refuse("url", format!("is missing; it must be {GOOD_URL}"));
        }
        fields.finish();
        faults.refusal().map(|()| read)
    }

    /// Reads a change; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read_change(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let read = Self::fields(&fields);
        fields.finish();
        faults.refusal().map(|()| read)
    }

    fn fields(fields: &Fields<'_>) -> Self {
        let url = fields.read("url", GOOD_URL, |value| value.as_str().filter(|url| is_target(url)));
        let events = fields
            .raw("events")
            .map(|_| words(fields, "events", EventKind::ALL.len(), &EventKind::ALL.map(EventKind::word)));
        Self {
            url: url.map(str::to_owned),
            events,
            inbound: fields.object("inbound").map(|one| inbound(&one)),
        }
    }
}

fn inbound(fields: &Fields<'_>) -> InboundRule {
    let enabled = fields.flag("enabled");
    let actor_kinds =
        words(fields, "actor_kinds", ActorKind::ALL.len(), &ActorKind::ALL.map(ActorKind::word));
    if enabled && actor_kinds.is_empty() {
        fields.refuse("actor_kinds", "must name at least one kind where inbound is enabled");
    }
    fields.finish();
    InboundRule { enabled, actor_kinds }
}

/// A list of known words, without repeats, in order.
fn words<T: std::str::FromStr + Ord>(
    fields: &Fields<'_>,
    key: &'static str,
    most: usize,
    known: &[&'static str],
) -> Vec<T> {
    let texts = fields.texts(key, 0..=most, TextRule::line(TARGET_NAME_CHARS));
    let mut read = Vec::new();
    for text in texts {
        match text.parse() {
            Ok(word) => read.push(word),
            Err(_) => fields.refuse(key, format!("may only name {}", known.join(", "))),
        }
    }
    read.sort();
    read.dedup();
    read
}

/// The look of a URL that may be called; whether its address is public is judged at each call.
fn is_target(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?']).next()).unwrap_or_default();
    (1..=URL_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !text.contains('#')
        && !authority.is_empty()
        && !authority.contains('@')
}

/// `POST /v1/endpoints/{id}/rotate`: `{which?: "inbound_secret" | "secret", overlap_seconds?}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotateBody {
    /// Which secret is made anew.
    pub which: WhichSecret,
    /// How long the old one stays good.
    pub overlap: Duration,
}

/// One of an endpoint's two secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichSecret {
    /// That we sign with.
    Outgoing,
    /// That the tenant's own gateway signs with.
    Inbound,
}

impl WhichSecret {
    const ALL: [Self; 2] = [Self::Outgoing, Self::Inbound];

    const fn word(self) -> &'static str {
        match self {
            Self::Outgoing => "secret",
            Self::Inbound => "inbound_secret",
        }
    }
}

impl RotateBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let overlap = fields.integer("overlap_seconds", ROTATION_OVERLAP_SECONDS);
        let read = Self {
            which: fields
                .word("which", &WhichSecret::ALL, WhichSecret::word)
                .unwrap_or(WhichSecret::Outgoing),
            overlap: overlap.map_or(Duration::from_hours(24), Duration::from_secs),
        };
        fields.finish();
        faults.refusal().map(|()| read)
    }
}

/// An endpoint; its secrets only right after they were made.
#[derive(Debug, Clone, Serialize)]
pub struct EndpointView {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    events: Vec<&'static str>,
    status: &'static str,
    inbound: InboundView,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inbound_secret: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret_omitted: bool,
}

#[derive(Debug, Clone, Serialize)]
struct InboundView {
    enabled: bool,
    actor_kinds: Vec<&'static str>,
    url: String,
}

/// What an endpoint is, for its view.
#[derive(Debug, Clone, Copy)]
pub struct EndpointFacts<'a> {
    /// Its id.
    pub id: &'a EndpointId,
    /// Where events go.
    pub url: Option<&'a str>,
    /// Which events.
    pub events: &'a [EventKind],
    /// Nothing goes out or comes in.
    pub disabled: bool,
    /// Signed requests come in.
    pub inbound: bool,
    /// How they may name the person.
    pub actor_kinds: &'a [ActorKind],
    /// When it was made.
    pub created_at: Timestamp,
    /// Our own address, for the URL of signed requests.
    pub base_url: &'a str,
}

impl EndpointView {
    /// The endpoint without its secrets.
    pub fn of(facts: &EndpointFacts<'_>) -> Self {
        Self {
            id: facts.id.to_string(),
            url: facts.url.map(str::to_owned),
            events: facts.events.iter().map(|kind| kind.word()).collect(),
            status: if facts.disabled { "disabled" } else { "enabled" },
            inbound: InboundView {
                enabled: facts.inbound,
                actor_kinds: facts.actor_kinds.iter().map(|kind| kind.word()).collect(),
                url: format!("{}/v1/inbound/{}", facts.base_url, facts.id),
            },
            created_at: facts.created_at.to_string(),
            secret: None,
            inbound_secret: None,
            secret_omitted: false,
        }
    }

    /// The same with the secrets that were just made, to be shown once.
    #[must_use]
    pub fn with_secrets(mut self, secret: Option<String>, inbound_secret: Option<String>) -> Self {
        self.secret = secret;
        self.inbound_secret = inbound_secret;
        self
    }

    /// The same for a repeated create, whose secrets were shown before.
    #[must_use]
    pub const fn repeated(mut self) -> Self {
        self.secret_omitted = true;
        self
    }
}

/// All endpoints of a tenant.
#[derive(Debug, Clone, Serialize)]
pub struct EndpointPage {
    endpoints: Vec<EndpointView>,
}

impl EndpointPage {
    /// The answer.
    pub const fn of(endpoints: Vec<EndpointView>) -> Self {
        Self { endpoints }
    }
}

/// `POST /v1/inbound/{endpoint_id}`: a person answered in the tenant's own surface.
#[derive(Debug, Clone, PartialEq)]
pub struct InboundBody {
    /// The question, by id, reference or request-id.
    pub elicitation: String,
    /// What was decided.
    pub submitted: Submitted,
    /// How the person is named.
    pub actor_kind: ActorKind,
    /// Their id of that kind.
    pub actor_id: String,
}

impl InboundBody {
    /// Reads `{type: "elicitation.respond", data: {elicitation, action, content?, reason?, actor: {kind, id}}}`. A
    /// `timestamp` beside them is what Standard Webhooks payloads carry, and not looked at: the signed header is.
    ///
    /// # Errors
    /// `invalid_request` for the shape, `invalid_content` for an accept whose content is no object.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        fields.required_word("type", &["elicitation.respond"], |word| word);
        fields.raw("timestamp");
        let read = fields.required_object("data").and_then(|data| Self::data(&data));
        fields.finish();
        faults.refusal()?;
        read.ok_or_else(|| faults.rejected())
    }

    fn data(data: &Fields<'_>) -> Option<Self> {
        let elicitation = data.required_text("elicitation", TextRule::line(ACTOR_ID_CHARS));
        let submitted = submitted::read(data, "action", ContentAs::Object);
        let actor = data.required_object("actor");
        let actor = actor.and_then(|actor| {
            let kind = actor.required_word("kind", &ActorKind::ALL, ActorKind::word);
            let id = actor.required_text("id", TextRule::line(ACTOR_ID_CHARS));
            actor.finish();
            Some((kind?, id))
        });
        data.finish();
        let ((actor_kind, actor_id), submitted) = actor.zip(submitted)?;
        Some(Self { elicitation, submitted, actor_kind, actor_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn refused(read: Result<impl Sized, Rejected>) -> (String, String) {
        let Err(refused) = read else { panic!("read what must be refused") };
        (refused.violations[0].pointer.clone(), refused.violations[0].message.clone())
    }

    fn map(body: &Value) -> &Map<String, Value> {
        body.as_object().unwrap()
    }

    #[test]
    fn an_endpoint_is_told_of_events_or_answers_or_both() {
        let url = "https://hooks.example.com/countersign";
        let both = json!({"url": url, "events": ["elicitation.settled", "elicitation.settled"],
            "inbound": {"enabled": true, "actor_kinds": ["slack"]}});
        let read = EndpointBody::read(map(&both)).unwrap();
        assert_eq!(read.url.as_deref(), Some(url));
        assert_eq!(read.events, Some(vec![EventKind::ElicitationSettled]));
        assert_eq!(read.inbound, Some(InboundRule { enabled: true, actor_kinds: vec![ActorKind::Slack] }));
        assert!(
            EndpointBody::read(map(&json!({"inbound": {"enabled": true, "actor_kinds": ["sub"]}}))).is_ok()
        );
    }

    #[test]
    fn an_endpoint_that_cannot_be_is_refused_with_a_pointer() {
        for (body, pointer) in [
            (json!({}), "/url"),
            (json!({"url": "ftp://example.com"}), "/url"),
            (json!({"url": "https://u:p@example.com"}), "/url"),
            (json!({"url": "https://example.com/#x"}), "/url"),
            (json!({"url": "https:///x"}), "/url"),
            (json!({"url": "https://example.com", "events": ["nope"]}), "/events"),
            (json!({"url": "https://example.com", "events": "x"}), "/events"),
            (json!({"events": ["elicitation.created"], "inbound": {"enabled": false}}), "/url"),
            (json!({"inbound": {"enabled": true}}), "/inbound/actor_kinds"),
            (json!({"inbound": {"enabled": true, "actor_kinds": ["fax"]}}), "/inbound/actor_kinds"),
            (json!({"url": "https://example.com", "surprise": 1}), "/surprise"),
        ] {
            assert_eq!(refused(EndpointBody::read(map(&body))).0, pointer, "{body}");
        }
    }

    #[test]
    fn a_signed_answer_is_read_strictly() {
        let good = json!({"type": "elicitation.respond", "timestamp": "2026-12-01T00:00:00Z", "data":
            {"elicitation": "K7Q-4MD", "action": "accept", "content": {"a": 1}, "actor": {"kind": "slack", "id": "U1"}}});
        let read = InboundBody::read(map(&good)).unwrap();
        assert_eq!((read.actor_kind, read.actor_id.as_str()), (ActorKind::Slack, "U1"));
        for (pointer, value) in [
            ("/type", json!("elicitation.settled")),
            ("/data", json!(1)),
            ("/data/elicitation", json!("")),
            ("/data/action", json!("maybe")),
            ("/data/content", json!([])),
            ("/data/actor", json!(null)),
            ("/data/actor/kind", json!("tenant")),
            ("/data/actor/id", json!(7)),
            ("/data/tenant", json!("other")),
        ] {
            let mut bad = good.clone();
            match pointer {
                "/data/tenant" => drop(bad["data"].as_object_mut().unwrap().insert("tenant".into(), value)),
                _ => *bad.pointer_mut(pointer).unwrap() = value,
            }
            assert_eq!(refused(InboundBody::read(map(&bad))).0, pointer, "{bad}");
        }
    }

    #[test]
    fn a_rotation_says_which_secret_and_how_long_the_old_one_lasts() {
        let read = RotateBody::read(map(&json!({"which": "inbound_secret", "overlap_seconds": 60}))).unwrap();
        assert_eq!((read.which, read.overlap), (WhichSecret::Inbound, Duration::from_mins(1)));
        assert_eq!(RotateBody::read(&Map::new()).unwrap().overlap, Duration::from_hours(24));
    }
}
