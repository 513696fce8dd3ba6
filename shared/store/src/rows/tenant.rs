//! Tenants and approvers.

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_app::records::{Approver, ExternalIds, Route, Tenant};
use countersign_core::id::{GroupName, TenantId};
use countersign_core::quota::Quota;

use super::attributes::{Builder, Reader, number, text, time, words};
use super::policy::{policy_text, read_policy};
use crate::keys::Keys;
use crate::table::Item;

/// The item of a tenant.
pub(crate) fn tenant_item(keys: &Keys, tenant: &Tenant) -> Item {
    let routes = tenant.routes.iter().map(|route| (route.approver.to_string(), route_value(route)));
    Builder::new(&keys.tenant_row())
        .set("id", text(tenant.id.as_str()))
        .set("name", text(&*tenant.name))
        .set("created_at", time(tenant.created_at))
        .set("suspended", AttributeValue::Bool(tenant.suspended))
        .set("deleting", AttributeValue::Bool(tenant.deleting))
        .set("policy", text(policy_text(&tenant.policy.policy)))
        .set("policy_version", number(tenant.policy.version))
        .set("policy_updated_at", time(tenant.policy.updated_at))
        .set("routes", AttributeValue::M(routes.collect()))
        .build()
}

/// What a create needs to know of one approver, as an attribute.
pub(crate) fn route_value(route: &Route) -> AttributeValue {
    let map = Builder::bare()
        .set("channels", words(route.channels.iter().map(|channel| channel.word())))
        .set("groups", words(route.groups.iter().map(GroupName::as_str)));
    AttributeValue::M(map.build())
}

/// What a tenant may ask: what nobody set is as for every tenant.
fn read_quota(row: &Reader<'_>) -> Result<Quota, StoreError> {
    let usual = Quota::default();
    Ok(Quota {
        burst: row.maybe_number("quota_burst")?.unwrap_or(usual.burst),
        per_minute: row.maybe_number("quota_per_minute")?.unwrap_or(usual.per_minute),
        max_stored: row.maybe_number("quota_max_stored")?.unwrap_or(usual.max_stored),
        max_open: row.maybe_number("quota_max_open")?.unwrap_or(usual.max_open),
    })
}

/// The tenant that an item is.
pub(crate) fn read_tenant(item: &Item) -> Result<Tenant, StoreError> {
    let row = Reader::new(item, "tenant");
    let routes = row.map("routes")?;
    let of_tenant = Reader::new(routes, "tenant.routes");
    let route = |id: &String| {
        let approver = id.parse().map_err(|_| row.corrupt("routes"))?;
        let of_route = Reader::new(of_tenant.map(id)?, "tenant.routes");
        Ok(Route { approver, channels: of_route.words("channels")?, groups: of_route.words("groups")? })
    };
    let mut routes = routes.keys().map(route).collect::<Result<Vec<_>, StoreError>>()?;
    routes.sort_by_key(|route| route.approver);
    Ok(Tenant {
        id: row.parsed::<TenantId>("id")?,
        name: row.text("name")?.to_owned(),
        created_at: row.time("created_at")?,
        suspended: row.flag("suspended")?,
        deleting: row.flag("deleting")?,
        quota: read_quota(&row)?,
        policy: read_policy(item)?,
        routes,
    })
}

/// The item of an approver.
pub(crate) fn approver_item(keys: &Keys, approver: &Approver) -> Item {
    Builder::new(&keys.approver(approver.id))
        .set("id", text(approver.id.to_string()))
        .set("name", text(&*approver.name))
        .maybe("email", approver.email.as_deref().map(text))
        .set("groups", words(approver.groups.iter().map(GroupName::as_str)))
        .maybe("slack", approver.external_ids.slack.as_deref().map(text))
        .maybe("telegram", approver.external_ids.telegram.as_deref().map(text))
        .maybe("sub", approver.external_ids.sub.as_deref().map(text))
        .set("created_at", time(approver.created_at))
        .set("revision", number(approver.revision))
        .build()
}

/// The approver that an item is.
pub(crate) fn read_approver(item: &Item) -> Result<Approver, StoreError> {
    let row = Reader::new(item, "approver");
    Ok(Approver {
        id: row.parsed("id")?,
        name: row.text("name")?.to_owned(),
        email: row.maybe_owned("email")?,
        groups: row.words("groups")?,
        external_ids: ExternalIds {
            slack: row.maybe_owned("slack")?,
            telegram: row.maybe_owned("telegram")?,
            sub: row.maybe_owned("sub")?,
        },
        created_at: row.time("created_at")?,
        revision: row.number("revision")?,
    })
}
