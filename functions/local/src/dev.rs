//! The developer's hooks: move the clock, do what is due, read the outbox, break the store. For tests, on this
//! machine only.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use countersign_app::App;
use countersign_app::ports::Clock as _;
use countersign_app::sweep::SweepReport;
use countersign_channels::OutboxMessage;
use countersign_embedded::clock::OffsetClock;
use countersign_embedded::faults::{Fault, Faults, Op};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt as _;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::mail::Mail;
use crate::queue::Queue;

/// What each step of a tick may take. A fault that hangs must not hang the test that set it.
const STEP_LIMIT: Duration = Duration::from_secs(15);

const OPS: &str = "get, put, update, transact, query, any";
const KINDS: &str = "throttle, conflict, error, timeout, apply_then_error";

/// What the hooks reach.
#[derive(Clone)]
pub(crate) struct Hooks {
    /// The use-cases.
    pub(crate) app: App,
    /// What is committed and not told yet.
    pub(crate) queue: Arc<Queue>,
    /// Where mail goes.
    pub(crate) mail: Mail,
    /// The clock that everything sees.
    pub(crate) clock: Arc<OffsetClock>,
    /// The faults of the table.
    pub(crate) faults: Arc<Faults>,
}

/// `plain` with the hooks. A request that is not for this machine by name finds nothing at them.
pub(crate) fn with_hooks(plain: &Router, hooks: Hooks) -> Router {
    let routes = Router::new()
        .route("/dev/clock", post(move_clock))
        .route("/dev/tick", post(tick))
        .route("/dev/outbox", get(outbox))
        .route("/dev/faults", post(set_fault))
        .layer(SetResponseHeaderLayer::overriding(CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(from_fn_with_state(plain.clone(), loopback_only))
        .with_state(hooks);
    plain.clone().merge(routes)
}

/// Everybody else gets what they would get without hooks: a page on the web may have its own name point to us.
async fn loopback_only(State(plain): State<Router>, request: Request, next: Next) -> Response {
    if names_loopback(request.headers()) {
        return next.run(request).await;
    }
    let Ok(answer) = plain.oneshot(request).await;
    answer
}

fn names_loopback(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || IpAddr::from_str(address).is_ok_and(|address| address.is_loopback())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_ms: i64,
}

async fn move_clock(State(hooks): State<Hooks>, Json(body): Json<Advance>) -> Json<Value> {
    let offset_ms = hooks.clock.advance(body.advance_ms);
    Json(json!({ "now": hooks.clock.now().to_string(), "offset_ms": offset_ms }))
}

/// What was committed, then what is due, then what that led to.
async fn tick(State(hooks): State<Hooks>) -> Json<Value> {
    let done = hooks.queue.done();
    hooks.queue.drained(STEP_LIMIT).await;
    let (sweep, error) = match timeout(STEP_LIMIT, hooks.app.sweep()).await {
        Ok(Ok(report)) => (Some(counts(&report)), None),
        Ok(Err(error)) => (None, Some(error.to_string())),
        Err(_) => (None, Some(format!("the sweep did not finish within {STEP_LIMIT:?}"))),
    };
    let unfinished = hooks.queue.drained(STEP_LIMIT).await;
    let notified = hooks.queue.done() - done;
    Json(json!({ "notified": notified, "unfinished": unfinished, "sweep": sweep, "error": error }))
}

fn counts(report: &SweepReport) -> Value {
    let SweepReport { due, expired, planned, sent, postponed, failed, purged, troubled } = *report;
    json!({
        "due": due, "expired": expired, "planned": planned, "sent": sent, "postponed": postponed,
        "failed": failed, "purged": purged, "troubled": troubled,
    })
}

/// What mail would have said; empty where a mail server is configured, which then gets it all.
async fn outbox(State(hooks): State<Hooks>) -> Json<Value> {
    let messages: Vec<_> = hooks.mail.kept().iter().map(message).collect();
    Json(json!({ "messages": messages }))
}

fn message(kept: &OutboxMessage) -> Value {
    json!({
        "channel": kept.channel.word(),
        "to": kept.to,
        "subject": kept.subject,
        "text": kept.text,
        "reference": kept.reference.as_ref().map(ToString::to_string),
        "link": kept.link,
        "code": kept.code,
        "at": kept.at.to_string(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultBody {
    op: String,
    kind: String,
    times: u64,
}

async fn set_fault(State(hooks): State<Hooks>, Json(body): Json<FaultBody>) -> Response {
    let Ok(op) = body.op.parse::<Op>() else {
        return refuse(format!("op is {:?}, and must be one of {OPS}", body.op));
    };
    let Ok(kind) = body.kind.parse::<Fault>() else {
        return refuse(format!("kind is {:?}, and must be one of {KINDS}", body.kind));
    };
    hooks.faults.set(op, kind, body.times);
    StatusCode::NO_CONTENT.into_response()
}

fn refuse(why: String) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, why).into_response()
}

#[cfg(test)]
mod tests;
