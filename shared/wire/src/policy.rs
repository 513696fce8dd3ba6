//! The tenant's policy (PROTOCOL.md section 2.5).

use std::time::Duration;

use countersign_core::assurance::Assurance;
use countersign_core::audience::AudienceEntry;
use countersign_core::delivery::ChannelKind;
use countersign_core::limits::{MAX_OPEN_PER_APPROVER_MAX, MAX_OPEN_PER_SESSION_MAX};
use countersign_core::policy::{Policy, TierPolicy};
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{
    AUDIENCE, CALLBACK_ORIGINS, COOL_DOWN_SECONDS, COOL_DOWNS, ORIGIN_CHARS, RETENTION_DAYS,
    SESSION_TTL_SECONDS,
};
use crate::rejected::Rejected;

/// What an audience entry must be.
pub const AUDIENCE_ENTRY: &str = "group: and the name of a group, or the id of an approver";
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// Reasons that people pick from.
const REASONS: usize = 8;
/// Characters of one of them.
const REASON_PRESET_CHARS: usize = 60;

/// `PUT /v1/policy`: the whole document. What is left out, or `null`, is as for a new tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyBody {
    /// The policy.
    pub policy: Policy,
    /// The version that the caller had read.
    pub version: Option<u64>,
}

impl PolicyBody {
    /// Reads the body; unknown fields are refused. What `GET` answers may be sent back: `updated_at` says nothing.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let version = fields.integer("version", 1..=u64::MAX);
        fields.raw("updated_at");
        let mut policy = Policy::of_new_tenant();
        if let Some(tiers) = fields.object("tiers") {
            policy.read = tier(&tiers, "read", policy.read);
            policy.write = tier(&tiers, "write", policy.write);
            policy.commit = tier(&tiers, "commit", policy.commit);
            policy.external = tier(&tiers, "external", policy.external);
            tiers.finish();
        }
        policy.default_ttl = seconds(&fields, "default_ttl_seconds");
        policy.retention = fields
            .integer("retention_days", RETENTION_DAYS)
            .map(|days| Duration::from_secs(days * DAY_SECONDS));
        let of_session = count(&fields, "max_open_per_session", MAX_OPEN_PER_SESSION_MAX);
        policy.max_open_per_session = of_session.unwrap_or(policy.max_open_per_session);
        let of_approver = count(&fields, "max_open_per_approver", MAX_OPEN_PER_APPROVER_MAX);
        policy.max_open_per_approver = of_approver.unwrap_or(policy.max_open_per_approver);
        let self_approval = fields.word("self_approval", &[true, false], self_approval_word);
        policy.self_approval = self_approval.unwrap_or(policy.self_approval);
        policy.asker_may_choose = fields.flag("asker_may_choose");
        policy.pull = fields.flag("pull");
        policy.cool_down = cool_down(&fields).unwrap_or(policy.cool_down);
        policy.claim_window = seconds(&fields, "claim_window_seconds").unwrap_or(policy.claim_window);
        policy.callback_origins = origins(&fields);
        policy.reasons = fields.texts("reasons", 0..=REASONS, TextRule::line(REASON_PRESET_CHARS));
        fields.finish();
        faults.refusal().map(|()| Self { policy, version })
    }
}

fn tier(tiers: &Fields<'_>, key: &'static str, new: TierPolicy) -> TierPolicy {
    let Some(fields) = tiers.object(key) else { return new };
    let given = |key| fields.raw(key).is_some();
    let audience: Vec<AudienceEntry> = fields.parsed_list("audience", AUDIENCE, AUDIENCE_ENTRY);
    let known = ChannelKind::ALL.map(ChannelKind::word).join(", ");
    let channels = fields.parsed_list("channels", 0..=ChannelKind::ALL.len(), &format!("one of {known}"));
    let read = TierPolicy {
        assurance: fields.word("assurance", &Assurance::ALL, Assurance::word).unwrap_or(new.assurance),
        audience: given("audience").then_some(audience),
        channels: given("channels").then_some(channels),
    };
    fields.finish();
    read
}

fn count(fields: &Fields<'_>, key: &'static str, most: usize) -> Option<usize> {
    fields.integer(key, 1..=most as u64).and_then(|count| usize::try_from(count).ok())
}

fn seconds(fields: &Fields<'_>, key: &'static str) -> Option<Duration> {
    fields.integer(key, SESSION_TTL_SECONDS).map(Duration::from_secs)
}

fn cool_down(fields: &Fields<'_>) -> Option<Vec<Duration>> {
    let (counts, range) = (COOL_DOWNS, COOL_DOWN_SECONDS);
    let wanted = format!("a list of at most {} whole numbers from 0 to {}", counts.end(), range.end());
    let span = |value: &Value| value.as_u64().filter(|span| range.contains(span)).map(Duration::from_secs);
    fields.read("cool_down_seconds", &wanted, |value| {
        let spans = value.as_array().filter(|spans| counts.contains(&spans.len()))?;
        spans.iter().map(span).collect()
    })
}

const fn self_approval_word(allowed: bool) -> &'static str {
    if allowed { "allow" } else { "deny" }
}

fn origins(fields: &Fields<'_>) -> Vec<String> {
    let origins = fields.texts("callback_origins", CALLBACK_ORIGINS, TextRule::line(ORIGIN_CHARS));
    if !origins.iter().all(|one| is_origin(one)) {
        let message =
            "each must be https:// and a host in lower case, with a port if need be, and nothing behind";
        fields.refuse("callback_origins", message);
    }
    origins
}

fn is_origin(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://") else { return false };
    let (host, port) = rest.split_once(':').unwrap_or((rest, "443"));
    let is_label = |label: &str| {
        let is_known = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        !label.is_empty() && label.bytes().all(is_known) && !label.starts_with('-') && !label.ends_with('-')
    };
    host.split('.').all(is_label) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The policy, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyView {
    version: u64,
    updated_at: String,
    tiers: TiersView,
    default_ttl_seconds: Option<u64>,
    retention_days: Option<u64>,
    max_open_per_session: usize,
    max_open_per_approver: usize,
    self_approval: &'static str,
    asker_may_choose: bool,
    pull: bool,
    cool_down_seconds: Vec<u64>,
    claim_window_seconds: u64,
    callback_origins: Vec<String>,
    reasons: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct TiersView {
    read: TierView,
    write: TierView,
    commit: TierView,
    external: TierView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct TierView {
    assurance: &'static str,
    audience: Option<Vec<String>>,
    channels: Option<Vec<&'static str>>,
}

impl PolicyView {
    /// Version `version` of the policy, in force since `updated_at`.
    pub fn of(policy: &Policy, version: u64, updated_at: Timestamp) -> Self {
        Self {
            version,
            updated_at: updated_at.to_string(),
            tiers: TiersView {
                read: tier_view(&policy.read),
                write: tier_view(&policy.write),
                commit: tier_view(&policy.commit),
                external: tier_view(&policy.external),
            },
            default_ttl_seconds: policy.default_ttl.map(|span| span.as_secs()),
            retention_days: policy.retention.map(|span| span.as_secs() / DAY_SECONDS),
            max_open_per_session: policy.max_open_per_session,
            max_open_per_approver: policy.max_open_per_approver,
            self_approval: self_approval_word(policy.self_approval),
            asker_may_choose: policy.asker_may_choose,
            pull: policy.pull,
            cool_down_seconds: policy.cool_down.iter().map(Duration::as_secs).collect(),
            claim_window_seconds: policy.claim_window.as_secs(),
            callback_origins: policy.callback_origins.clone(),
            reasons: policy.reasons.clone(),
        }
    }
}

fn tier_view(tier: &TierPolicy) -> TierView {
    TierView {
        assurance: tier.assurance.word(),
        audience: tier.audience.as_ref().map(|list| list.iter().map(ToString::to_string).collect()),
        channels: tier.channels.as_ref().map(|list| list.iter().map(|kind| kind.word()).collect()),
    }
}

/// `audience` of a question or a session: the asker's own narrowing of who is asked.
pub(crate) fn asked_audience(fields: &Fields<'_>) -> Option<Vec<AudienceEntry>> {
    let entries = fields.parsed_list("audience", AUDIENCE, AUDIENCE_ENTRY);
    fields.raw("audience").map(|_| entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<PolicyBody, Rejected> {
        PolicyBody::read(body.as_object().unwrap())
    }

    #[track_caller]
    fn refuses(body: &Value, pointer: &str) {
        let refused = read(body).expect_err("read what must be refused");
        assert_eq!(
            (refused.code, refused.violations[0].pointer.as_str()),
            ("invalid_request", pointer),
            "{body}"
        );
    }

    #[test]
    fn what_is_left_out_is_as_for_a_new_tenant() {
        for body in
            [json!({}), json!({"tiers": {"commit": {}}, "self_approval": null, "default_ttl_seconds": null})]
        {
            assert_eq!(read(&body).unwrap(), PolicyBody { policy: Policy::of_new_tenant(), version: None });
        }
    }

    #[test]
    fn what_was_answered_reads_back() {
        let policy = Policy {
            write: TierPolicy {
                assurance: Assurance::Passkey,
                audience: Some(vec!["group:finance".parse().unwrap()]),
                channels: Some(vec![]),
            },
            default_ttl: Some(Duration::from_secs(90)),
            retention: Some(Duration::from_hours(48)),
            max_open_per_session: 50,
            max_open_per_approver: 49,
            self_approval: true,
            asker_may_choose: true,
            pull: true,
            cool_down: vec![Duration::ZERO, Duration::from_mins(1)],
            claim_window: Duration::from_mins(5),
            callback_origins: vec!["https://hooks.example.com:8443".into()],
            reasons: vec!["Wrong account".into()],
            ..Policy::of_new_tenant()
        };
        let answered = serde_json::to_value(PolicyView::of(&policy, 7, Timestamp::from_millis(0))).unwrap();
        assert_eq!(read(&answered).unwrap(), PolicyBody { policy, version: Some(7) });
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        refuses(&json!({"surprise": 1}), "/surprise");
        refuses(&json!({"tiers": {"admin": {}}}), "/tiers/admin");
        refuses(&json!({"tiers": {"write": {"assurance": "sure"}}}), "/tiers/write/assurance");
        refuses(&json!({"tiers": {"write": {"audience": []}}}), "/tiers/write/audience");
        refuses(&json!({"tiers": {"write": {"audience": ["group:a", "b"]}}}), "/tiers/write/audience/1");
        refuses(&json!({"tiers": {"write": {"channels": ["pigeon"]}}}), "/tiers/write/channels/0");
        refuses(&json!({"max_open_per_session": 51}), "/max_open_per_session");
        refuses(&json!({"max_open_per_approver": 201}), "/max_open_per_approver");
        refuses(&json!({"self_approval": true}), "/self_approval");
        refuses(&json!({"reasons": ["Not\u{202e}now"]}), "/reasons/0");
        refuses(&json!({"reasons": ["x".repeat(61)]}), "/reasons/0");
        refuses(&json!({"default_ttl_seconds": 59}), "/default_ttl_seconds");
        refuses(&json!({"retention_days": 0}), "/retention_days");
        refuses(&json!({"version": 0}), "/version");
        for spans in [json!(60), json!([60, -1]), json!([86_401]), json!(vec![1; 11])] {
            refuses(&json!({"cool_down_seconds": spans}), "/cool_down_seconds");
        }
        for origin in
            ["http://a.example", "https://a.example/", "https://A.example", "https://", "https://a:0"]
        {
            refuses(&json!({"callback_origins": [origin]}), "/callback_origins");
        }
    }
}
