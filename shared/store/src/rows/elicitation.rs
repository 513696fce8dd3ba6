//! The state row: what a poll reads.
//!
//! A decision's attributes (`verdict`, `content`, `decided_by`, `decided_at`, `reason`) are its own: no create and no
//! poll expression names them, so that the roles of those functions can be denied them. An accept is read from
//! `verdict`, never from `status`.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_app::records::NewElicitation;
use countersign_core::assurance::Assurance;
use countersign_core::audience::{Audience, AudienceEntry};
use countersign_core::deadline::Deadlines;
use countersign_core::elicitation::{Asker, Elicitation, Evidence, Tier};
use countersign_core::id::{Front, Principal};
use countersign_core::json::Sha256;
use countersign_core::state::{Answer, Decider, Decision, State, Verdict};

use super::attributes::{Builder, PEOPLE, Reader, number, people, text, time, words};
use crate::keys::{Keys, due_place, due_shard, shard};
use crate::table::Item;

pub(crate) const STATUS_PENDING: &str = "pending";
pub(crate) const STATUS_DECIDED: &str = "decided";
pub(crate) const STATUS_WITHDRAWN: &str = "withdrawn";
pub(crate) const STATUS_EXPIRED: &str = "expired";

/// The item of a question that was just asked.
pub(crate) fn elicitation_item(keys: &Keys, new: &NewElicitation) -> Item {
    let one = &new.elicitation;
    let key = keys.state(one.id);
    let millis = |span: Duration| number(span.as_millis());
    Builder::new(&key)
        .set("id", text(one.id.to_string()))
        .set("status", text(STATUS_PENDING))
        .set("reference", text(one.reference.as_str()))
        .set("front", text(one.front.word()))
        .maybe("request_id", one.request_id.as_ref().map(|id| text(id.as_str())))
        .maybe("poll_handle", one.poll_handle.as_deref().map(text))
        .maybe("session", one.session.map(|id| text(id.to_string())))
        .set("principal", text(one.principal.as_str()))
        .maybe("session_owner", one.session_owner.as_ref().map(|owner| text(owner.as_str())))
        .set(PEOPLE, people(&one.people))
        .maybe("server", one.server.as_deref().map(text))
        .maybe("tool", one.tool.as_deref().map(text))
        .set("tier", text(one.tier.word()))
        .maybe("title", one.title.as_deref().map(text))
        .set("policy_version", number(one.policy_version))
        .set("assurance", text(one.assurance.word()))
        .maybe("audience", audience_value(&one.audience))
        .maybe("match_code", one.match_code.as_deref().map(text))
        .set("request_sha256", text(one.request_sha256.hex()))
        .set("shown_sha256", text(one.shown_sha256.hex()))
        .set("created_at", time(one.created_at))
        .set("expires_at", time(one.deadlines.expires_at))
        .set("decide_by", time(one.deadlines.decide_by))
        .set("asker_deadline", time(one.deadlines.asker_deadline))
        .set("poll_interval_ms", millis(one.asker.poll_interval))
        .set("due_pk", text(due_shard(shard(one.id))))
        .set("due_sk", text(due_place(new.plan_by, &key)))
        .set("list_pk", text(keys.pending_list(shard(one.id))))
        .set("list_sk", text(Keys::list_place(one.created_at, one.id)))
        .set("ttl", number(new.keep_until.seconds()))
        .build()
}

/// The question that an item is.
pub(crate) fn read_elicitation(item: &Item) -> Result<Elicitation, StoreError> {
    let row = Reader::new(item, "elicitation");
    let front = match row.text("front")? {
        "fallback" => Front::Fallback,
        "native" => Front::Native,
        _ => return Err(row.corrupt("front")),
    };
    let hash = |name| Sha256::from_hex(row.text(name)?).ok_or_else(|| row.corrupt(name));
    Ok(Elicitation {
        id: row.parsed("id")?,
        reference: row.parsed("reference")?,
        front,
        request_id: row.maybe_parsed("request_id")?,
        poll_handle: row.maybe_owned("poll_handle")?,
        session: row.maybe_parsed("session")?,
        principal: Principal::stored(row.text("principal")?),
        session_owner: row.maybe_text("session_owner")?.map(Principal::stored),
        people: row.people()?,
        server: row.maybe_owned("server")?,
        tool: row.maybe_owned("tool")?,
        tier: Tier::from_word(row.text("tier")?).ok_or_else(|| row.corrupt("tier"))?,
        title: row.maybe_owned("title")?,
        policy_version: row.number("policy_version")?,
        assurance: Assurance::from_word(row.text("assurance")?).ok_or_else(|| row.corrupt("assurance"))?,
        audience: read_audience(&row, item)?,
        match_code: row.maybe_owned("match_code")?,
        request_sha256: hash("request_sha256")?,
        shown_sha256: hash("shown_sha256")?,
        created_at: row.time("created_at")?,
        deadlines: Deadlines {
            expires_at: row.time("expires_at")?,
            decide_by: row.time("decide_by")?,
            asker_deadline: row.time("asker_deadline")?,
        },
        evidence: Evidence {
            planned_at: row.maybe_time("planned_at")?,
            no_target: row.flag("no_target")?,
            reached: row.maybe_number("reached")?.unwrap_or(0),
            failed: row.maybe_number("failed")?.unwrap_or(0),
            told: row.maybe_number("told")?.unwrap_or(0),
            is_awaited: row.flag("is_awaited")?,
        },
        asker: Asker {
            poll_interval: Duration::from_millis(row.number("poll_interval_ms")?),
            has_callback: row.flag("has_callback")?,
            last_polled_at: row.maybe_time("last_polled_at")?,
            collected_at: row.maybe_time("collected_at")?,
        },
        stored: read_state(&row)?,
    })
}

/// A rule as a list of lists; none where everybody may answer.
fn audience_value(audience: &Audience) -> Option<AttributeValue> {
    let lists: Vec<_> = audience.lists().iter().map(|list| entries_value(list)).collect();
    (!lists.is_empty()).then_some(AttributeValue::L(lists))
}

/// One list of a rule.
pub(crate) fn entries_value(entries: &[AudienceEntry]) -> AttributeValue {
    let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
    words(entries.iter().map(String::as_str))
}

fn read_audience(row: &Reader<'_>, item: &Item) -> Result<Audience, StoreError> {
    let lists = match item.get("audience") {
        None => return Ok(Audience::default()),
        Some(AttributeValue::L(lists)) => lists,
        Some(_) => return Err(row.corrupt("audience")),
    };
    let entry = |value: &AttributeValue| value.as_s().ok().and_then(|text| text.parse().ok());
    let list = |list: &AttributeValue| list.as_l().ok()?.iter().map(entry).collect::<Option<Vec<_>>>();
    let lists: Option<Vec<_>> = lists.iter().map(list).collect();
    lists.map(Audience::new).ok_or_else(|| row.corrupt("audience"))
}

/// One match over all that together must say one thing.
fn read_state(row: &Reader<'_>) -> Result<State, StoreError> {
    let verdict = row.maybe_text("verdict")?;
    let content = row.maybe_text("content")?;
    let decided_at = row.maybe_time("decided_at")?;
    let decided_by = row.maybe_map("decided_by")?;
    let ended_at = row.maybe_time("ended_at")?;
    let cause = row.maybe_text("cause")?;
    let decision = |verdict| -> Result<State, StoreError> {
        let (Some(at), Some(by)) = (decided_at, decided_by) else {
            return Err(row.corrupt("a verdict without who or when"));
        };
        let by = read_decider(by)?;
        Ok(State::Decided(Decision { verdict, by, at, reason: row.maybe_owned("reason")? }))
    };
    match (row.text("status")?, verdict, content, ended_at, cause) {
        (STATUS_PENDING, None, None, None, None) => Ok(State::Pending),
        (STATUS_DECIDED, Some("accept"), Some(content), None, None) => {
            decision(Verdict::Accept(read_answer(row, content)?))
        }
        (STATUS_DECIDED, Some("decline"), None, None, None) => decision(Verdict::Decline),
        (STATUS_DECIDED, Some("cancel"), None, None, None) => decision(Verdict::Cancel),
        (STATUS_WITHDRAWN, None, None, Some(at), None) => Ok(State::Withdrawn { at }),
        (STATUS_EXPIRED, None, None, None, Some(cause)) => {
            cause.parse().map(State::Expired).map_err(|_| row.corrupt("cause"))
        }
        _ => Err(row.corrupt("status, verdict, content and cause disagree")),
    }
}

/// An answer as text: DynamoDB's own maps and numbers would lose the order of keys and the look of numbers.
pub(crate) fn answer_text(answer: &Answer) -> String {
    serde_json::Value::Object(answer.clone()).to_string()
}

fn read_answer(row: &Reader<'_>, content: &str) -> Result<Answer, StoreError> {
    serde_json::from_str(content).map_err(|_| row.corrupt("content"))
}

/// Who decided, as an attribute.
pub(crate) fn decider_map(by: &Decider) -> AttributeValue {
    let map = Builder::bare()
        .set("principal", text(by.principal.as_str()))
        .maybe("approver", by.approver.map(|id| text(id.to_string())))
        .set("name", text(&*by.name))
        .set("method", text(by.method.word()));
    AttributeValue::M(map.build())
}

fn read_decider(map: &Item) -> Result<Decider, StoreError> {
    let by = Reader::new(map, "decided_by");
    Ok(Decider {
        principal: Principal::stored(by.text("principal")?),
        approver: by.maybe_parsed("approver")?,
        name: by.text("name")?.to_owned(),
        method: by.parsed("method")?,
    })
}
