//! Figures of the Lambda functions: starts, warm invocations, memory and size of the release binaries, and the store
//! round trips of each route.
//!
//! `cargo bench -p countersign-tests --bench lambda` prints the tables of docs/performance.md; nothing here judges. The
//! engine and the Runtime API share the machine with the function; there is no TLS.

#![expect(clippy::expect_used, reason = "a bench that cannot be set up has failed")]

mod trips;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

use axum::body::Bytes;
use countersign_core::quota::Quota;
use countersign_testkit::lambda::{Deployment, Origin, Outcome, Process, built, event};
use countersign_testkit::person::Person;
use countersign_testkit::web::Reply;
use http::Request;
use serde_json::{Value, json};

const STARTS: usize = 30;
const INVOCATIONS: usize = 2_000;

#[expect(clippy::disallowed_methods, reason = "a bench reads the real clock")]
fn now() -> Instant {
    Instant::now()
}

/// Milliseconds at a share of all, in per cent.
fn at(times: &mut [Duration], share: usize) -> f64 {
    times.sort();
    times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3
}

/// A function and what it is asked.
struct Subject {
    name: &'static str,
    /// What is asked in its name for the table.
    act: &'static str,
    events: Vec<Value>,
}

struct Figures {
    first_next: Vec<Duration>,
    first_answer: Vec<Duration>,
    warm: Vec<Duration>,
    rss_kib: u64,
}

async fn invoked(process: &Process, event: &Value) -> Value {
    let outcome = process.invoke(event).await;
    let Outcome::Response(bytes) = &outcome else { panic!("{outcome:?}: {}", process.logged()) };
    let answer: Value = serde_json::from_slice(bytes).expect("JSON");
    assert!(answer["statusCode"].as_u64().is_none_or(|status| status < 300), "{answer}");
    answer
}

impl Subject {
    async fn measure(&self, deployment: &Deployment) -> Figures {
        let quiet = [("COUNTERSIGN_LOG", "warn,countersign=info")];
        let (mut first_next, mut first_answer) = (vec![], vec![]);
        let mut events = self.events.iter();
        for _ in 0..STARTS {
            let began = now();
            let process = deployment.launch(self.name, &quiet).await.expect("a start");
            first_next.push(began.elapsed());
            let answer = invoked(&process, events.next().expect("enough events")).await;
            first_answer.push(began.elapsed());
            self.after(deployment, &answer).await;
        }
        let process = deployment.launch(self.name, &quiet).await.expect("a start");
        let mut warm = vec![];
        for event in events {
            let began = now();
            let answer = invoked(&process, event).await;
            warm.push(began.elapsed());
            self.after(deployment, &answer).await;
        }
        Figures { first_next, first_answer, warm, rss_kib: rss_kib(process.id()) }
    }

    /// A question is taken back before the next is asked: a tenant has few open ones at a time.
    async fn after(&self, deployment: &Deployment, answer: &Value) {
        if self.name != "create" {
            return;
        }
        let body = answer["body"].as_str().unwrap_or_default();
        let created: Value = serde_json::from_str(body).expect("JSON");
        let id = created["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        let test = &deployment.web.test;
        test.app.withdraw(&test.caller().await, id).await.expect("taken back");
    }

    async fn print(&self, deployment: &Deployment, binaries: &Path) {
        let mut figures = self.measure(deployment).await;
        let binary = binaries.join(self.name);
        let size = std::fs::metadata(&binary).expect("a binary").len();
        println!(
            "| {} | {} | {:.1} | {:.1} ({:.1}) | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {} |",
            self.name,
            self.act,
            at(&mut figures.first_next, 0),
            at(&mut figures.first_next, 50),
            at(&mut figures.first_next, 99),
            at(&mut figures.first_answer, 50),
            at(&mut figures.warm, 0),
            at(&mut figures.warm, 50),
            at(&mut figures.warm, 99),
            megabytes(figures.rss_kib * 1024),
            megabytes(size),
            zipped(&binary).map_or_else(|| "no zip here".into(), |size| format!("{:.1}", megabytes(size))),
        );
    }
}

fn rss_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "megabytes of a binary")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Bytes of the binary as it is deployed; `None` where there is no `zip`.
fn zipped(binary: &Path) -> Option<u64> {
    let folder = tempfile::tempdir().ok()?;
    let archive = folder.path().join("function.zip");
    let zip = Command::new("zip").args(["-9", "-q", "-j"]).arg(&archive).arg(binary).status().ok()?;
    zip.success().then(|| std::fs::metadata(&archive).ok().map(|file| file.len()))?
}

fn asked(path: &str, method: &str, key: &str, body: &Value) -> Value {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if !key.is_empty() {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    event::of(&request.body(body).expect("a request"), Origin::FunctionUrl)
}

async fn answered(process: &Process, event: &Value) -> Value {
    let reply: Reply = event::reply(&process.invoke(event).await, Origin::FunctionUrl);
    reply.expect(201).json()
}

/// What is measured is the work, not the quota; and nobody is told, so nobody has too much to answer.
async fn ample(deployment: &Deployment) {
    let web = &deployment.web;
    let quota = Quota { burst: 1_000_000, per_minute: 1, max_stored: 1_000_000_000, max_open: 1_000_000 };
    let demo = "demo".parse().expect("a tenant");
    web.test.app.store.tenant(&demo).set_quota(&quota).await.expect("a quota");
    let tiers = json!({"write": {"assurance": "tap", "audience": ["group:nobody"]}});
    let pull = json!({"tiers": tiers, "pull": true, "self_approval": "allow"});
    web.api("PUT", "/v1/policy", pull).await.expect(200);
}

/// Somebody who is signed in looks at a question that was routed to them.
async fn question_page(deployment: &Deployment) -> Value {
    let web = &deployment.web;
    // The functions read the real clock, and a session of long ago lets nobody in.
    let since_1970 = UNIX_EPOCH.elapsed().expect("a clock after 1970");
    let ahead =
        since_1970.saturating_sub(Duration::from_millis(web.test.app.clock.now().millis().unsigned_abs()));
    web.test.clock.advance(ahead);
    let ask = json!({"message": "Delete?", "tier": "read"});
    let reference = web.api("POST", "/v1/elicitations", ask).await.expect(201).json()["reference"].clone();
    let path = format!("/d/demo/{}", reference.as_str().expect("a reference"));
    let request = Request::get(path).header("cookie", Person::you(web).await.cookies);
    event::of(&request.body(Bytes::new()).expect("a request"), Origin::FunctionUrl)
}

/// What each function is asked, often enough: a question of its own for each create and each decision.
async fn subjects(deployment: &Deployment) -> Vec<Subject> {
    let key = &deployment.web.key;
    let manage = deployment.launch("manage", &[]).await.expect("a start");
    let create = deployment.launch("create", &[]).await.expect("a start");
    let total = STARTS + INVOCATIONS;
    let session = asked("/v1/sessions", "POST", key, &json!({}));
    let ask = |n: usize| {
        asked(
            "/v1/elicitations",
            "POST",
            key,
            &json!({"message": format!("Send mail number {n} to a@example.com?")}),
        )
    };
    let opened = answered(&manage, &session).await;
    let path = format!("/t/{}/api/v1/elicitations", opened["ask_token"].as_str().expect("a token"));
    let fallback = json!({
        "mode": "form", "message": "Send the mail?", "_meta": {"com.pulsemcp/request-id": "bench"},
        "requestedSchema": {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
    });
    let handle = answered(&create, &asked(&path, "POST", "", &fallback)).await["requestId"].clone();
    let poll = asked(&format!("{path}/{}", handle.as_str().expect("a handle")), "GET", "", &Value::Null);
    let mut decisions = vec![];
    for n in 0..total {
        let id = answered(&create, &ask(n)).await["id"].clone();
        let path = format!("/v1/elicitations/{}/respond", id.as_str().expect("an id"));
        decisions.push(asked(&path, "POST", key, &json!({"action": "accept"})));
    }
    let page = question_page(deployment).await;
    vec![
        Subject { name: "poll", act: "poll, pending", events: vec![poll; total] },
        // What is open is settled before more is asked.
        Subject { name: "respond", act: "accept", events: decisions },
        Subject { name: "create", act: "native create", events: (total..2 * total).map(ask).collect() },
        Subject { name: "manage", act: "new session", events: vec![session; total] },
        Subject { name: "pages", act: "a question, signed in", events: vec![page; total] },
        Subject { name: "sweep", act: "nothing due", events: vec![json!({"source": "aws.events"}); total] },
    ]
}

#[tokio::main]
async fn main() {
    let binaries = built();
    let deployment = Deployment::without_functions(binaries).await;
    ample(&deployment).await;
    println!(
        "{STARTS} starts and {INVOCATIONS} warm invocations each; ms and MB; targets: first `/next` 7, warm poll 0.7, zip 5\n"
    );
    println!(
        "| function | asked | first `/next` best | p50 (p99) | first answer p50 | warm best | warm p50 | warm p99 | RSS | \
         binary | zip |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for subject in subjects(&deployment).await {
        subject.print(&deployment, binaries).await;
    }
    trips::print().await;
}
