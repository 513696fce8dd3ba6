//! What holds for every input.

use countersign_core::ask::{Ask, RetryKey};
use countersign_core::schema::VIOLATIONS;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fallback::{self, AskBody};
use crate::native::{self, CreateBody};
use crate::rejected::Rejected;
use crate::session::{SessionBody, TokenBody};

/// Keys that a reader looks at, so that arbitrary objects get past the first look.
const KEYS: &str = "\
    mode message requestedSchema _meta com.pulsemcp/request-id com.pulsemcp/expires-at \
    com.pulsemcp/session-id com.pulsemcp/tool-name com.pulsemcp/context com.countersign/poll-interval-ms \
    action_type action content reason session server tool tier title consequence irreversible warnings \
    details label value origin preview requested_schema type properties required binding resource_key \
    resource kind operation targets args args_sha256 preview_sha256 gate supersedes expires_at \
    expires_in_seconds poll_interval_ms name surface thread";

/// `_meta` keys that say something; all others must not.
const SPEAKING: [&str; 6] = [
    "com.pulsemcp/request-id",
    "com.pulsemcp/expires-at",
    "com.pulsemcp/session-id",
    "com.pulsemcp/tool-name",
    "com.pulsemcp/context",
    "com.countersign/poll-interval-ms",
];

/// Texts that readers look for.
const WORDS: [&str; 11] =
    ["form", "accept", "decline", "object", "boolean", "set", "server", "slack", "el_", "{}", "{\"a\":1}"];

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(KEYS.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned), 1 => any::<String>()]
}

/// Keys that claim to be ours, or to be somebody.
fn claim() -> impl Strategy<Value = String> {
    let words =
        ["tenant", "tier", "session", "approver", "principal", "verified", "audience", "elicitation-id"];
    (r"(com\.countersign/|com\.pulsemcp/|)", prop::sample::select(words.to_vec()))
        .prop_map(|(prefix, word)| prefix + word)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(WORDS.as_slice()).prop_map(str::to_owned),
        any::<String>(),
        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z",
        "(rk_)?[0-9a-f]{64}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((key(), value()), 0..24).prop_map(|entries| entries.into_iter().collect())
}

fn refusal<T>(read: Result<T, Rejected>) -> Option<Rejected> {
    read.err()
}

fn refusals(body: &Map<String, Value>) -> Vec<Rejected> {
    let refused = [
        refusal(AskBody::read(body).and_then(AskBody::into_ask)),
        refusal(fallback::RespondBody::read(body)),
        refusal(CreateBody::read(body, RetryKey::None).and_then(CreateBody::into_ask)),
        refusal(native::RespondBody::read(body)),
        refusal(SessionBody::read(body)),
        refusal(TokenBody::read(body)),
    ];
    refused.into_iter().flatten().collect()
}

/// The pointer's parent is in the body: it can be followed.
fn leads_somewhere(body: &Map<String, Value>, pointer: &str) -> bool {
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    Value::Object(body.clone()).pointer(parent).is_some()
}

fn ask(meta: Map<String, Value>, top: Map<String, Value>) -> (Option<String>, Ask) {
    let mut body = top;
    body.insert("mode".into(), json!("form"));
    body.insert("message".into(), json!("Send?"));
    body.shift_remove("requestedSchema");
    body.insert("_meta".into(), Value::Object(meta));
    let read = AskBody::read(&body).expect("refused what is good");
    (read.session.clone(), read.into_ask().expect("has no schema"))
}

proptest! {
    #[test]
    fn no_object_makes_a_reader_panic_and_every_refusal_can_be_followed(body in object()) {
        for refused in refusals(&body) {
            prop_assert!((1..=VIOLATIONS).contains(&refused.violations.len()), "{refused:?}");
            for violation in &refused.violations {
                prop_assert!(leads_somewhere(&body, &violation.pointer), "{violation:?}");
            }
        }
    }

    /// Threat 35 of RELIABILITY.md: a claim in `_meta` or beside it changes nothing but the opaque meta.
    #[test]
    fn nothing_that_a_caller_adds_changes_what_is_asked_of_whom(
        claims in prop::collection::vec((prop_oneof![key(), claim()], value()), 0..12),
        top in object(),
    ) {
        let own = json!({"com.pulsemcp/request-id": "r1", "com.pulsemcp/session-id": "run-1"});
        let own = own.as_object().cloned().unwrap();
        let claims = claims.into_iter().filter(|(key, _)| !SPEAKING.contains(&key.as_str()));
        let claimed: Map<_, _> = own.clone().into_iter().chain(claims).collect();
        let (plain_session, plain) = ask(own, Map::new());
        let (session, mut got) = ask(claimed, top);
        got.content.meta.clear();
        got.request_sha256 = plain.request_sha256;
        prop_assert_eq!((session, got), (plain_session, plain));
    }
}
