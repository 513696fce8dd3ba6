//! Tenants and approvers.

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_app::records::{Approver, Route, Tenant};
use countersign_core::id::TenantId;

use super::attributes::{Builder, Reader, number, text, time, words};
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
        .set("self_approval", AttributeValue::Bool(tenant.self_approval))
        .maybe("default_ttl_ms", tenant.default_ttl.map(|ttl| number(ttl.as_millis())))
        .set("max_open", number(tenant.max_open))
        .set("routes", AttributeValue::M(routes.collect()))
        .build()
}

/// The channels of one approver, as an attribute.
pub(crate) fn route_value(route: &Route) -> AttributeValue {
    words(route.channels.iter().map(|channel| channel.word()))
}

/// The tenant that an item is.
pub(crate) fn read_tenant(item: &Item) -> Result<Tenant, StoreError> {
    let row = Reader::new(item, "tenant");
    let routes = row.map("routes")?;
    let channels = Reader::new(routes, "tenant.routes");
    let route = |id: &String| {
        let approver = id.parse().map_err(|_| row.corrupt("routes"))?;
        Ok(Route { approver, channels: channels.words(id)? })
    };
    let mut routes = routes.keys().map(route).collect::<Result<Vec<_>, StoreError>>()?;
    routes.sort_by_key(|route| route.approver);
    Ok(Tenant {
        id: row.parsed::<TenantId>("id")?,
        name: row.text("name")?.to_owned(),
        created_at: row.time("created_at")?,
        suspended: row.flag("suspended")?,
        deleting: row.flag("deleting")?,
        self_approval: row.flag("self_approval")?,
        default_ttl: row.maybe_millis("default_ttl_ms")?,
        max_open: row.number("max_open")?,
        routes,
    })
}

/// The item of an approver.
pub(crate) fn approver_item(keys: &Keys, approver: &Approver) -> Item {
    Builder::new(&keys.approver(approver.id))
        .set("id", text(approver.id.to_string()))
        .set("name", text(&*approver.name))
        .maybe("email", approver.email.as_deref().map(text))
        .set("created_at", time(approver.created_at))
        .build()
}

/// The approver that an item is.
pub(crate) fn read_approver(item: &Item) -> Result<Approver, StoreError> {
    let row = Reader::new(item, "approver");
    Ok(Approver {
        id: row.parsed("id")?,
        name: row.text("name")?.to_owned(),
        email: row.maybe_owned("email")?,
        created_at: row.time("created_at")?,
    })
}
