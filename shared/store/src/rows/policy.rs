//! The policy, as one JSON text: on the tenant's row, and each version on a row of its own.

use std::str::FromStr;
use std::time::Duration;

use countersign_app::ports::StoreError;
use countersign_app::records::PolicyVersion;
use countersign_core::assurance::Assurance;
use countersign_core::limits::MAX_OPEN_PER_APPROVER;
use countersign_core::policy::{Policy, TierPolicy};
use serde::{Deserialize, Serialize};

use super::attributes::{Builder, Reader, number, text, time};
use crate::keys::Keys;
use crate::table::Item;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRow {
    read: TierRow,
    write: TierRow,
    commit: TierRow,
    external: TierRow,
    default_ttl_ms: Option<u64>,
    retention_ms: Option<u64>,
    max_open_per_session: usize,
    max_open_per_approver: Option<usize>,
    self_approval: bool,
    asker_may_choose: bool,
    pull: bool,
    cool_down_ms: Vec<u64>,
    claim_window_ms: u64,
    callback_origins: Vec<String>,
    #[serde(default)]
    reasons: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierRow {
    assurance: String,
    audience: Option<Vec<String>>,
    channels: Option<Vec<String>>,
}

/// A policy as text.
pub(crate) fn policy_text(policy: &Policy) -> String {
    let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let row = PolicyRow {
        read: tier_row(&policy.read),
        write: tier_row(&policy.write),
        commit: tier_row(&policy.commit),
        external: tier_row(&policy.external),
        default_ttl_ms: policy.default_ttl.map(millis),
        retention_ms: policy.retention.map(millis),
        max_open_per_session: policy.max_open_per_session,
        max_open_per_approver: Some(policy.max_open_per_approver),
        self_approval: policy.self_approval,
        asker_may_choose: policy.asker_may_choose,
        pull: policy.pull,
        cool_down_ms: policy.cool_down.iter().copied().map(millis).collect(),
        claim_window_ms: millis(policy.claim_window),
        callback_origins: policy.callback_origins.clone(),
        reasons: policy.reasons.clone(),
    };
    serde_json::to_string(&row).unwrap_or_default()
}

fn tier_row(tier: &TierPolicy) -> TierRow {
    TierRow {
        assurance: tier.assurance.word().to_owned(),
        audience: tier.audience.as_ref().map(|list| list.iter().map(ToString::to_string).collect()),
        channels: tier.channels.as_ref().map(|list| list.iter().map(ToString::to_string).collect()),
    }
}

/// The item of a version.
pub(crate) fn policy_item(keys: &Keys, one: &PolicyVersion) -> Item {
    Builder::new(&keys.policy(one.version))
        .set("policy", text(policy_text(&one.policy)))
        .set("policy_version", number(one.version))
        .set("policy_updated_at", time(one.updated_at))
        .build()
}

/// The version that an item is, or that is in force for the tenant that it is.
pub(crate) fn read_policy(item: &Item) -> Result<PolicyVersion, StoreError> {
    let row = Reader::new(item, "policy");
    let read: PolicyRow = serde_json::from_str(row.text("policy")?).map_err(|_| row.corrupt("policy"))?;
    let policy = Policy {
        read: read_tier(&row, &read.read)?,
        write: read_tier(&row, &read.write)?,
        commit: read_tier(&row, &read.commit)?,
        external: read_tier(&row, &read.external)?,
        default_ttl: read.default_ttl_ms.map(Duration::from_millis),
        retention: read.retention_ms.map(Duration::from_millis),
        max_open_per_session: read.max_open_per_session,
        max_open_per_approver: read.max_open_per_approver.unwrap_or(MAX_OPEN_PER_APPROVER),
        self_approval: read.self_approval,
        asker_may_choose: read.asker_may_choose,
        pull: read.pull,
        cool_down: read.cool_down_ms.into_iter().map(Duration::from_millis).collect(),
        claim_window: Duration::from_millis(read.claim_window_ms),
        callback_origins: read.callback_origins,
        reasons: read.reasons,
    };
    Ok(PolicyVersion {
        policy,
        version: row.number("policy_version")?,
        updated_at: row.time("policy_updated_at")?,
    })
}

fn read_tier(row: &Reader<'_>, tier: &TierRow) -> Result<TierPolicy, StoreError> {
    let assurance = Assurance::from_word(&tier.assurance).ok_or_else(|| row.corrupt("assurance"))?;
    let audience = tier.audience.as_deref().map(|list| parsed(list).ok_or_else(|| row.corrupt("audience")));
    let channels = tier.channels.as_deref().map(|list| parsed(list).ok_or_else(|| row.corrupt("channels")));
    Ok(TierPolicy { assurance, audience: audience.transpose()?, channels: channels.transpose()? })
}

fn parsed<T: FromStr>(list: &[String]) -> Option<Vec<T>> {
    list.iter().map(|text| text.parse().ok()).collect()
}
