//! Routes that show what reaches a handler, and routes that break: no route of ours does either.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, Method, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::credential::OperatorKey;
use countersign_core::id::Bits130;
use countersign_core::seal::{KeyRing, SealKey};
use countersign_http::{Http, routes};
use countersign_runtime::{Config, OsEntropy, Parts, SystemClock, compose};
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use countersign_store::vault::RingWrap;
use countersign_testkit::hooks::RecordingHooks;
use countersign_testkit::jwks::PublishedKeys;
use countersign_testkit::trigger::RecordingTrigger;
use serde_json::{Value, json};

/// - `/echo/{segment}` tells what it was asked, and sets two cookies,
/// - `/bytes` answers the bytes that it was sent,
/// - `/panic` panics where nothing of ours catches it,
/// - the routes of the poll function, whose every call of the table panics: `/readyz` panics where we catch it.
pub fn router() -> Router {
    routes::poll(http())
        .route("/echo/{segment}", any(echo))
        .route(
            "/bytes",
            post(async |body: Bytes| ([(header::CONTENT_TYPE, "application/octet-stream")], body)),
        )
        .route("/panic", get(broken))
}

async fn echo(
    method: Method,
    Path(segment): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let text = |name: &str| {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.collect::<Vec<_>>().join(",")
    };
    let seen: Value = json!({
        "method": method.as_str(), "segment": segment, "query": query, "cookie": text("cookie"),
        "x_many": text("x-many"), "body_base64": STANDARD.encode(body)
    });
    (AppendHeaders([(header::SET_COOKIE, "a=1; Path=/"), (header::SET_COOKIE, "b=2")]), Json(seen))
}

async fn broken() -> &'static str {
    panic!("as asked")
}

#[expect(clippy::expect_used, reason = "constants")]
fn keys() -> KeyRing {
    KeyRing::new(SealKey::new("k1", [1; 32]).expect("a key id"), vec![])
}

#[expect(clippy::expect_used, reason = "constants")]
fn http() -> Http {
    let config = Config::parse(|_| None).expect("defaults");
    let app = compose(Parts {
        table: Arc::new(Broken),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        keys: keys(),
        jwks: Arc::new(PublishedKeys::default()),
        hooks: Arc::new(RecordingHooks::default()),
        wrap: Arc::new(RingWrap::new(&keys(), Arc::new(OsEntropy))),
        trigger: Arc::new(RecordingTrigger::default()),
        channels: vec![],
        settings: config.settings("http://127.0.0.1:8787", false),
    });
    Http { app, operator: Arc::new(OperatorKey::mint(Bits130::from_bytes([8; 17]))) }
}

/// A table whose every call panics.
struct Broken;

#[async_trait]
impl Table for Broken {
    async fn get(&self, _: &Key) -> Result<Option<Item>, TableError> {
        panic!("as built")
    }

    async fn batch_get(&self, _: &[Key]) -> Result<Vec<Item>, TableError> {
        panic!("as built")
    }

    async fn write(&self, _: &Write) -> Result<(), TableError> {
        panic!("as built")
    }

    async fn transact(&self, _: &[Write]) -> Result<(), TableError> {
        panic!("as built")
    }

    async fn update(&self, _: &Write) -> Result<Item, TableError> {
        panic!("as built")
    }

    async fn scan(&self, _: &Scan) -> Result<ScanPage, TableError> {
        panic!("as built")
    }

    async fn query(&self, _: &Query) -> Result<Vec<Item>, TableError> {
        panic!("as built")
    }
}
