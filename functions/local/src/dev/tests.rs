use axum::body::Body;
use axum::http::{Method, header};
use countersign_channels::Outbox;
use countersign_core::credential::OperatorKey;
use countersign_core::id::Front;
use countersign_http::Http;
use countersign_testkit::{TestApp, fallback_ask};
use http_body_util::BodyExt as _;

use super::*;
use crate::queue::background;

struct Server {
    router: Router,
    hooks: Hooks,
    test: TestApp,
}

/// The router over `TestApp`'s engine, with the hooks' own clock and an outbox, its queue at work.
async fn server() -> Server {
    let test = TestApp::start().await;
    let clock = Arc::new(OffsetClock::new(test.clock.clone()));
    let outbox = Arc::new(Outbox::new(clock.clone(), "countersign@localhost".parse().unwrap()));
    let queue = Arc::new(Queue::new());
    let app = App {
        clock: clock.clone(),
        trigger: queue.clone(),
        channels: vec![outbox.clone()],
        ..test.app.clone()
    };
    background(Arc::clone(&queue).work(app.clone()));
    let operator = Arc::new(OperatorKey::mint(app.entropy.bits130()));
    let plain = countersign_http::routes::all(Http { app: app.clone(), operator });
    let hooks = Hooks { app, queue, mail: Mail::Outbox(outbox), clock, faults: test.faults.clone() };
    Server { router: with_hooks(&plain, hooks.clone()), hooks, test }
}

impl Server {
    async fn call(&self, method: Method, path: &str, host: &str, body: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header(header::HOST, host);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn post(&self, path: &str, body: &str) -> (StatusCode, String) {
        self.call(Method::POST, path, "127.0.0.1:8787", body).await
    }

    async fn json(&self, method: Method, path: &str, body: &str) -> Value {
        let (status, text) = self.call(method, path, "localhost:8787", body).await;
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn ask(&self) {
        let (_, token) = self.test.session().await;
        let admission = self.hooks.app.admit_token(&token).await.unwrap();
        self.hooks.app.create(admission, Front::Fallback, fallback_ask("r1", "Send it?")).await.unwrap();
    }
}

#[tokio::test]
async fn the_clock_moves_both_ways_and_tells_how_far() {
    let server = server().await;
    let start = server.test.now();
    let moved = server.json(Method::POST, "/dev/clock", r#"{"advance_ms": 61000}"#).await;
    assert_eq!(moved["offset_ms"], 61_000);
    assert_eq!(moved["now"], start.plus(Duration::from_secs(61)).to_string());
    assert_eq!(
        server.json(Method::POST, "/dev/clock", r#"{"advance_ms": -1000}"#).await["offset_ms"],
        60_000
    );
    assert_eq!(server.hooks.app.clock.now(), start.plus(Duration::from_mins(1)));
}

#[tokio::test]
async fn a_tick_tells_people_and_does_what_is_due() {
    let server = server().await;
    server.ask().await;
    let tick = server.json(Method::POST, "/dev/tick", "{}").await;
    assert_eq!((&tick["unfinished"], &tick["error"]), (&json!(0), &Value::Null), "{tick}");
    let outbox = server.json(Method::GET, "/dev/outbox", "").await;
    let [message] = outbox["messages"].as_array().unwrap().as_slice() else { panic!("{outbox}") };
    assert_eq!((&message["channel"], &message["to"]), (&json!("email"), &json!("you@localhost")));
    for member in ["subject", "text", "reference", "link", "at"] {
        assert!(message[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {message}");
    }
    server.json(Method::POST, "/dev/clock", r#"{"advance_ms": 7200000}"#).await;
    let tick = server.json(Method::POST, "/dev/tick", "").await;
    assert_eq!(tick["sweep"]["expired"], 1, "{tick}");
}

#[tokio::test]
async fn a_tick_answers_though_the_sweep_fails() {
    let server = server().await;
    assert_eq!(server.post("/dev/faults", r#"{"op":"query","kind":"error","times":1000}"#).await.0, 204);
    let tick = server.json(Method::POST, "/dev/tick", "{}").await;
    assert!(tick["sweep"].is_null() && tick["error"].is_string(), "{tick}");
    server.post("/dev/faults", r#"{"op":"query","kind":"error","times":0}"#).await;
    let tick = server.json(Method::POST, "/dev/tick", "{}").await;
    assert!(tick["sweep"].is_object() && tick["error"].is_null(), "{tick}");
}

#[tokio::test]
async fn a_word_that_is_no_fault_is_refused_with_those_that_are() {
    let server = server().await;
    for (body, hint) in [
        (r#"{"op":"delete","kind":"error","times":1}"#, "get, put, update"),
        (r#"{"op":"get","kind":"slow","times":1}"#, "throttle, conflict"),
        (r#"{"op":"get","kind":"error"}"#, "times"),
        (r#"{"op":"get","kind":"error","times":-1}"#, "times"),
        (r#"{"op":"get","kind":"error","times":1,"for":2}"#, "for"),
    ] {
        let (status, text) = server.post("/dev/faults", body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {text}");
        assert!(text.contains(hint), "{body}: {text}");
    }
}

#[test]
fn every_word_of_the_refusals_is_one() {
    for word in OPS.split(", ") {
        assert!(word.parse::<Op>().is_ok(), "{word}");
    }
    for word in KINDS.split(", ") {
        assert!(word.parse::<Fault>().is_ok(), "{word}");
    }
}

#[tokio::test]
async fn another_host_finds_what_it_would_find_without_hooks() {
    let server = server().await;
    let nothing = server.call(Method::POST, "/dev/nothing", "localhost", "{}").await;
    for host in
        ["rebound.example.com", "127.0.0.1.example.com:8787", "192.168.0.1", "", "localhost.example.com"]
    {
        for path in ["/dev/clock", "/dev/tick", "/dev/faults"] {
            let found = server.call(Method::POST, path, host, r#"{"advance_ms": 1}"#).await;
            assert_eq!(found, nothing, "{host} {path}");
        }
    }
    assert_eq!(server.hooks.app.clock.now(), server.test.now());
}

#[test]
fn loopback_has_several_names() {
    let check = |host: &'static str, want: bool| {
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
        assert_eq!(names_loopback(&headers), want, "{host}");
    };
    for host in
        ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8787", "127.9.9.9", "[::1]", "[::1]:8787"]
    {
        check(host, true);
    }
    for host in
        ["", ":8787", "example.com", "localhost.", "127.0.0.1:8787@example.com", "0.0.0.0", "10.0.0.1"]
    {
        check(host, false);
    }
    assert!(!names_loopback(&HeaderMap::new()));
}
