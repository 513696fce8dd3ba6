//! Managing a deployment from the terminal: tenants, keys and approvers, over its HTTP API.

mod args;
mod call;
mod shown;

use std::process::ExitCode;

use serde_json::{Map, Value, json};

pub(crate) use args::{ApproverArgs, KeyArgs, TenantArgs};
use args::{ApproverCommand, Deployment, KeyCommand, TenantCommand};

pub(crate) use call::is_loopback;
use call::{Need, Server};
use shown::{Shown, table};

/// One request to the deployment and how its answer is shown.
struct Order {
    need: Need,
    method: &'static str,
    path: String,
    body: Value,
    shown: Shown,
}

impl Order {
    fn get(need: Need, path: impl Into<String>, shown: Shown) -> Self {
        Self { need, method: "GET", path: path.into(), body: Value::Null, shown }
    }

    fn send(need: Need, method: &'static str, path: impl Into<String>, body: Value, shown: Shown) -> Self {
        Self { need, method, path: path.into(), body, shown }
    }
}

/// Manages tenants.
pub(crate) async fn tenant(args: TenantArgs) -> ExitCode {
    let order = match &args.command {
        TenantCommand::Create { name } => {
            Order::send(Need::Operator, "POST", "/v1/tenants", json!({ "name": name }), Shown::NewTenant)
        }
        TenantCommand::List => Order::get(Need::Operator, "/v1/tenants", Shown::Tenants),
        TenantCommand::Suspend { name } => on_tenant("POST", name, "/suspend", "may not ask any more"),
        TenantCommand::Resume { name } => on_tenant("POST", name, "/resume", "may ask again"),
    };
    carry_out(&args.deployment, order).await
}

fn on_tenant(method: &'static str, name: &str, act: &str, then: &'static str) -> Order {
    let path = format!("/v1/tenants/{}{act}", segment(name));
    Order::send(
        Need::Operator,
        method,
        path,
        json!({}),
        Shown::Done { what: "tenant", name: name.to_owned(), then },
    )
}

/// Manages API keys.
pub(crate) async fn key(args: KeyArgs) -> ExitCode {
    let order = match args.command {
        KeyCommand::Create { name, scopes, expires_in_days, tier_ceiling, servers } => {
            let mut body = Map::from_iter([
                ("name".to_owned(), json!(name)),
                ("scopes".to_owned(), json!(scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>())),
            ]);
            body.extend(expires_in_days.map(|days| ("expires_in_seconds".to_owned(), json!(days * 86_400))));
            body.extend(tier_ceiling.map(|tier| ("tier_ceiling".to_owned(), json!(tier.word()))));
            body.extend((!servers.is_empty()).then(|| ("servers".to_owned(), json!(servers))));
            Order::send(Need::Manager, "POST", "/v1/keys", Value::Object(body), Shown::NewKey)
        }
        KeyCommand::List => Order::get(Need::Manager, "/v1/keys", Shown::Keys),
        KeyCommand::Revoke { id } => {
            let path = format!("/v1/keys/{}", segment(&id));
            let shown = Shown::Done { what: "key", name: id, then: "is revoked, from now on" };
            Order::send(Need::Manager, "DELETE", path, Value::Null, shown)
        }
    };
    carry_out(&args.deployment, order).await
}

/// Manages approvers.
pub(crate) async fn approver(args: ApproverArgs) -> ExitCode {
    let order = match args.command {
        ApproverCommand::Add { name, email, groups, slack, telegram, sub } => {
            let mut body = Map::from_iter([("name".to_owned(), json!(name))]);
            body.extend(email.map(|email| ("email".to_owned(), json!(email))));
            body.extend((!groups.is_empty()).then(|| ("groups".to_owned(), json!(groups))));
            let ids = [("slack", slack), ("telegram", telegram), ("sub", sub)];
            let ids: Map<_, _> =
                ids.into_iter().filter_map(|(kind, id)| Some((kind.to_owned(), json!(id?)))).collect();
            body.extend((!ids.is_empty()).then(|| ("external_ids".to_owned(), Value::Object(ids))));
            Order::send(Need::Manager, "POST", "/v1/approvers", Value::Object(body), Shown::NewApprover)
        }
        ApproverCommand::List => Order::get(Need::Manager, "/v1/approvers", Shown::Approvers),
    };
    carry_out(&args.deployment, order).await
}

/// Sends the request; the answer goes to standard output, what went wrong to standard error.
async fn carry_out(deployment: &Deployment, order: Order) -> ExitCode {
    let outcome = async {
        let server = Server::of(deployment, order.need)?;
        server.call(order.method, &order.path, &order.body).await
    };
    match outcome.await {
        Ok(answer) if deployment.json => {
            let text = if answer.is_null() { json!({}) } else { answer };
            crate::banner::say(&format!("{text:#}"));
            ExitCode::SUCCESS
        }
        Ok(answer) => {
            crate::banner::say(&table(&order.shown, &answer));
            ExitCode::SUCCESS
        }
        Err(error) => {
            if let (true, Some(problem)) = (deployment.json, error.problem()) {
                crate::banner::say(&format!("{problem:#}"));
            }
            eprintln!("countersign: {error}");
            error.exit_code()
        }
    }
}

/// `text` as one segment of a path: what is no plain name cannot be one of ours, and is sent so that it stays one.
fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment() {
        assert_eq!(segment("acme-2"), "acme-2");
        assert_eq!(segment("a/b?c#d é"), "a%2Fb%3Fc%23d%20%C3%A9");
    }
}
