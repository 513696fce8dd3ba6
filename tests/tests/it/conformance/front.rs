//! The three fronts, and how a case talks to one.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use countersign_testkit::lambda::{Deployment, Origin, Process, event};
use countersign_testkit::web::Reply;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

/// How requests reach the code.
pub(super) enum Way<'a> {
    /// By a call.
    Router(Router),
    /// Through a socket on the loopback interface.
    Socket(Box<Socket>),
    /// Through the gateway to the functions' processes.
    Deployment(&'a Deployment, Origin),
    /// Through an event to one function's process.
    Process(&'a Process, Origin),
}

/// A server on the loopback interface, and a client of it.
pub(super) struct Socket {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    serving: JoinHandle<()>,
}

impl Socket {
    pub(super) async fn serve(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        #[expect(clippy::disallowed_methods, reason = "the server under test")]
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, client: Client::builder(TokioExecutor::new()).build_http(), serving }
    }

    async fn send(&self, mut request: Request<Bytes>) -> Reply {
        let path = request.uri().path_and_query().unwrap();
        *request.uri_mut() = format!("http://{}{path}", self.address).parse().unwrap();
        let answer = self.client.request(request.map(Full::new)).await.unwrap();
        let (parts, body) = answer.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Reply { status: parts.status, headers: parts.headers, bytes }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// One front, with the keys of the tenant behind it.
pub(super) struct Front<'a> {
    pub(super) name: &'static str,
    pub(super) way: Way<'a>,
    pub(super) key: String,
    pub(super) operator: String,
    /// What was answered, in order: statuses and headers, for comparison between fronts.
    pub(super) seen: Mutex<Vec<String>>,
}

impl<'a> Front<'a> {
    pub(super) fn new(name: &'static str, way: Way<'a>, key: &str, operator: &str) -> Self {
        Self { name, way, key: key.to_owned(), operator: operator.to_owned(), seen: Mutex::default() }
    }

    /// Whether paths arrive as they were sent.
    pub(super) fn keeps_paths(&self) -> bool {
        !matches!(self.way, Way::Deployment(_, Origin::HttpApi) | Way::Process(_, Origin::HttpApi))
    }

    /// Sends a request as it is.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Reply {
        let method = request.method().clone();
        let reply = match &self.way {
            Way::Router(router) => {
                let answer = router.clone().oneshot(request.map(Body::from)).await.unwrap();
                let (parts, body) = answer.into_parts();
                let bytes = body.collect().await.unwrap().to_bytes().to_vec();
                Reply { status: parts.status, headers: parts.headers, bytes }
            }
            Way::Socket(socket) => socket.send(request).await,
            Way::Deployment(deployment, origin) => deployment.send(&request, *origin).await,
            Way::Process(process, origin) => {
                event::reply(&process.invoke(&event::of(&request, *origin)).await, *origin)
            }
        };
        let seen = format!("{method} {} {:?}", reply.status, names(&reply));
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        reply
    }

    /// The same on a route of ours: whatever is answered carries the common headers.
    pub(super) async fn ours(&self, request: Request<Bytes>) -> Reply {
        let reply = self.send(request).await;
        assert_eq!(reply.headers["cache-control"], "no-store");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert!(reply.headers["request-id"].to_str().unwrap().starts_with("req_"));
        reply
    }

    /// Sends JSON, or nothing where `body` is null, with a bearer where `key` is not empty.
    pub(super) async fn call(&self, method: &str, path: &str, key: &str, body: Value) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let bytes = if body.is_null() {
            Bytes::new()
        } else {
            request = request.header("content-type", "application/json");
            Bytes::from(body.to_string())
        };
        self.ours(request.body(bytes).unwrap()).await
    }

    /// Sends JSON with the key that has every scope.
    pub(super) async fn api(&self, method: &str, path: &str, body: Value) -> Reply {
        self.call(method, path, &self.key, body).await
    }

    pub(super) async fn get(&self, path: &str) -> Reply {
        self.api("GET", path, Value::Null).await
    }
}

/// Names of the headers that are ours to choose, and the type of the body.
fn names(reply: &Reply) -> BTreeSet<String> {
    let transport = ["date", "content-length", "transfer-encoding", "connection"];
    let ours = reply.headers.iter().filter(|(name, _)| !transport.contains(&name.as_str()));
    ours.map(|(name, value)| match name.as_str() {
        "content-type" | "allow" => format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())),
        _ => name.to_string(),
    })
    .collect()
}
