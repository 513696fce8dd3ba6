//! The routers over a [`TestApp`], called without a socket.

use axum::Router;
use axum::body::Body;
use countersign_core::credential::OperatorKey;
use countersign_core::id::Bits130;
use countersign_http::{Http, routes};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::app::TestApp;

/// Every route over an app of its own.
pub struct Web {
    /// The app behind the routes.
    pub test: TestApp,
    /// The routes.
    pub router: Router,
    /// The operator's key, as sent.
    pub operator: String,
    /// A key with every scope, as sent.
    pub key: String,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("a JSON body")
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The same, if the status is `want`.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "the assertion is enough")]
    pub fn expect(self, want: u16) -> Self {
        assert_eq!(self.status.as_u16(), want, "{}", String::from_utf8_lossy(&self.bytes));
        self
    }
}

impl Web {
    /// Every route over a new app.
    pub async fn start() -> Self {
        Self::over(TestApp::start().await)
    }

    /// Every route over `test`.
    pub fn over(test: TestApp) -> Self {
        let operator = OperatorKey::mint(Bits130::from_bytes([8; 17]));
        let key = test.key.reveal();
        let http = Http { app: test.app.clone(), operator: std::sync::Arc::new(operator.clone()) };
        Self { test, router: routes::all(http), operator: operator.reveal(), key }
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        let answer = self.router.clone().oneshot(request).await.expect("routers do not fail");
        let (parts, body) = answer.into_parts();
        let bytes = body.collect().await.expect("a whole body").to_bytes().to_vec();
        Reply { status: parts.status, headers: parts.headers, bytes }
    }

    /// Sends JSON, or nothing where `body` is null, with a bearer where `key` is not empty.
    pub async fn call(&self, method: &str, path: &str, key: &str, body: Value) -> Reply {
        let mut request =
            Request::builder().method(method).uri(path).header(CONTENT_TYPE, "application/json");
        if !key.is_empty() {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.send(request.body(body).expect("a request")).await
    }

    /// Sends JSON with the key that has every scope.
    pub async fn api(&self, method: &str, path: &str, body: Value) -> Reply {
        self.call(method, path, &self.key, body).await
    }

    /// A new session, and the path that its asker posts to.
    pub async fn session(&self) -> (Value, String) {
        let opened = self.api("POST", "/v1/sessions", serde_json::json!({})).await.expect(201).json();
        let path = format!("/t/{}/api/v1/elicitations", opened["ask_token"].as_str().expect("a token"));
        (opened, path)
    }
}
