//! The cases on the probe: what reaches a handler and what comes back, byte by byte, and what a panic does.

use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::id::Bits130;
use countersign_testkit::lambda::{Origin, Process};
use countersign_tests::probe;
use http::Request;
use serde_json::{Value, json};
use std::path::Path;

use super::front::{Front, Socket, Way};
use super::{Case, assert_alike, case, run, with_paths};

const ALL: &[Case] = &[
    case("bytes come back as they went", |front| Box::pin(bytes(front))),
    case("bodies reach the handler as sent", |front| Box::pin(bodies(front))),
    case("cookies both ways", |front| Box::pin(cookies(front))),
    case("repeated headers arrive as a list", |front| Box::pin(repeated(front))),
    case("query strings arrive as sent", |front| Box::pin(queries(front))),
    with_paths("path segments are decoded once", |front| Box::pin(segments(front))),
    case("a panic is answered and the next request works", |front| Box::pin(panic_in_a_route(front))),
];

async fn echoed(front: &Front<'_>, request: http::request::Builder, body: impl Into<Bytes>) -> Value {
    front.send(request.body(body.into()).unwrap()).await.expect(200).json()
}

async fn bytes(front: &Front<'_>) {
    let block: Vec<u8> = Bits130::from_bytes([0xa5; 17]).bytes().iter().copied().chain(0..=255).collect();
    let sent = Bytes::from(block.repeat(400));
    for media_type in ["application/octet-stream", "application/json", "text/plain"] {
        let request = Request::post("/bytes").header("content-type", media_type);
        let reply = front.send(request.body(sent.clone()).unwrap()).await.expect(200);
        assert!(reply.bytes == sent, "{media_type}");
    }
}

async fn bodies(front: &Front<'_>) {
    for body in [&b""[..], b"{}", b"\xff\x00\xfe", "ä 🚀".as_bytes(), b"\r\n"] {
        let request = Request::put("/echo/x").header("content-type", "application/json");
        let seen = echoed(front, request, body).await;
        assert_eq!(seen["body_base64"], STANDARD.encode(body));
        assert_eq!(seen["method"], "PUT");
    }
}

async fn cookies(front: &Front<'_>) {
    let request = Request::get("/echo/x").header("cookie", "s=1; t=\"2\"");
    let reply = front.send(request.body(Bytes::new()).unwrap()).await.expect(200);
    assert_eq!(reply.json()["cookie"], "s=1; t=\"2\"");
    let set: Vec<_> = reply.headers.get_all("set-cookie").iter().collect();
    assert_eq!(set, ["a=1; Path=/", "b=2"]);
}

async fn repeated(front: &Front<'_>) {
    let request =
        Request::get("/echo/x").header("x-many", "1").header("x-many", "2").header("X-Many", "3, 4");
    assert_eq!(echoed(front, request, "").await["x_many"], "1,2,3, 4");
}

async fn queries(front: &Front<'_>) {
    for query in ["a=1&a=2&b=x%20y%2Bz", "a", "a=%ff", "a=b+c&&", "%61=/?:@"] {
        assert_eq!(echoed(front, Request::get(format!("/echo/x?{query}")), "").await["query"], query);
    }
    assert_eq!(echoed(front, Request::get("/echo/x"), "").await["query"], json!(null));
}

async fn segments(front: &Front<'_>) {
    for (sent, want) in [
        ("a%20b", "a b"),
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("a%3Fb%23c", "a?b#c"),
        ("gr%C3%B6%C3%9Fe", "größe"),
        ("a+b", "a+b"),
        ("a;b=c,d", "a;b=c,d"),
        ("%E2%98%83", "☃"),
    ] {
        assert_eq!(echoed(front, Request::get(format!("/echo/{sent}")), "").await["segment"], want, "{sent}");
    }
    front.send(Request::get("/echo/%ff").body(Bytes::new()).unwrap()).await.expect(400);
}

/// What our routers catch is told like any other fault of ours.
async fn panic_in_a_route(front: &Front<'_>) {
    let get = |path| Request::get(path).body(Bytes::new()).unwrap();
    let broken = front.ours(get("/readyz")).await.expect(500);
    assert_eq!(broken.headers["content-type"], "application/problem+json");
    assert_eq!(broken.json()["code"], "internal");
    assert!(!String::from_utf8(broken.bytes).unwrap().contains("as built"));
    front.ours(get("/healthz")).await.expect(200);
}

async fn start() -> Process {
    Process::start(Path::new(env!("CARGO_BIN_EXE_probe")), &[]).await.unwrap()
}

#[tokio::test]
async fn the_fronts_carry_requests_and_answers_alike() {
    let process = start().await;
    let front = |name, way| Front::new(name, way, "", "");
    let router = front("probe, router", Way::Router(probe::router()));
    run(&router, ALL).await;
    let socket = front("probe, socket", Way::Socket(Box::new(Socket::serve(probe::router()).await)));
    run(&socket, ALL).await;
    assert_alike(&router, &socket);
    let url = front("probe, Function URL", Way::Process(&process, Origin::FunctionUrl));
    run(&url, ALL).await;
    assert_alike(&router, &url);
    run(&front("probe, HTTP API", Way::Process(&process, Origin::HttpApi)), ALL).await;
}

/// What nothing of ours catches does not end the process.
#[tokio::test]
async fn a_panic_beyond_our_routers_is_a_502_and_the_next_request_works() {
    let process = start().await;
    let front = Front::new("probe", Way::Process(&process, Origin::FunctionUrl), "", "");
    let get = |path| Request::get(path).body(Bytes::new()).unwrap();
    for _ in 0..2 {
        front.send(get("/panic")).await.expect(502);
        front.send(get("/healthz")).await.expect(200);
    }
}
