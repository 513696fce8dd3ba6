//! Figures of the wire: latency and throughput over loopback sockets, store round trips and capacity per operation.
//!
//! `cargo bench -p countersign-tests` prints them; nothing here judges. Server, engine and load share the cores.

#![expect(clippy::expect_used, reason = "a bench that cannot be set up has failed")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use countersign_core::quota::Quota;
use countersign_embedded::engine::{Engine, TABLE, client_at};
use countersign_store::dynamo::{DynamoTable, Meter};
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use countersign_testkit::app::START;
use countersign_testkit::{MockClock, TestApp, Web};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const OPERATIONS: u64 = 2_000;

/// What the table was asked, as the figures count it.
#[derive(Default)]
struct Counts {
    calls: AtomicU64,
    /// Calls that began while none was under way: waits that follow one another.
    waits: AtomicU64,
    under_way: AtomicU64,
    /// Thousandths of a capacity unit.
    milli_units: AtomicU64,
}

impl Meter for Counts {
    fn called(&self, _: &'static str, capacity_units: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive figure"
        )]
        self.milli_units.fetch_add((capacity_units * 1000.0) as u64, Ordering::Relaxed);
    }
}

struct Counting {
    inner: Arc<dyn Table>,
    counts: Arc<Counts>,
}

impl Counting {
    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, TableError>> + Send,
    ) -> Result<T, TableError> {
        self.counts.calls.fetch_add(1, Ordering::Relaxed);
        if self.counts.under_way.fetch_add(1, Ordering::Relaxed) == 0 {
            self.counts.waits.fetch_add(1, Ordering::Relaxed);
        }
        // What is joined begins together, however fast the engine is.
        tokio::task::yield_now().await;
        let answer = call.await;
        self.counts.under_way.fetch_sub(1, Ordering::Relaxed);
        answer
    }
}

#[async_trait]
impl Table for Counting {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.call(self.inner.get(key)).await
    }
    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.call(self.inner.batch_get(keys)).await
    }
    async fn write(&self, write: &Write) -> Result<(), TableError> {
        self.call(self.inner.write(write)).await
    }
    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        self.call(self.inner.transact(writes)).await
    }
    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.call(self.inner.update(write)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.call(self.inner.scan(scan)).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.call(self.inner.query(query)).await
    }
}

type Http = Client<HttpConnector, Full<Bytes>>;

/// A server on a loopback socket and a client of it.
#[derive(Clone)]
struct Bench {
    http: Http,
    address: SocketAddr,
    key: String,
    operator: String,
    counts: Arc<Counts>,
}

impl Bench {
    async fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.call_by(&self.key, method, path, body).await
    }

    async fn call_by(&self, key: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .expect("a request");
        let answer = self.http.request(request).await.expect("an answer");
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn session(&self) -> String {
        let (_, session) = self.call("POST", "/v1/sessions", &json!({})).await;
        format!("/t/{}/api/v1/elicitations", session["ask_token"].as_str().expect("a token"))
    }
}

fn ask(id: u64) -> Value {
    json!({
        "mode": "form", "message": "About to send an email:\n  To: a@example.com\n  Subject: Quarterly figures",
        "requestedSchema": {"type": "object", "properties": {"confirm": {"type": "boolean", "title": "Send it?"}},
                            "required": ["confirm"]},
        "_meta": {"com.pulsemcp/request-id": format!("bench-{id}"), "com.pulsemcp/tool-name": "send_email"}
    })
}

/// One question per session, so that no session is full: its poll path and its id.
async fn asked(bench: &Bench, sessions: &[String], index: u64) -> (u16, Value) {
    let path = &sessions[usize::try_from(index).expect("small") % sessions.len()];
    bench.call("POST", path, &ask(index)).await
}

struct Figures {
    latencies: Vec<Duration>,
    took: Duration,
    failures: u64,
}

impl Figures {
    fn print(mut self, name: &str, clients: u64) {
        self.latencies.sort();
        let at = |share: usize| self.latencies[(self.latencies.len() - 1) * share / 100].as_secs_f64() * 1e3;
        #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
        let rate = self.latencies.len() as f64 / self.took.as_secs_f64();
        println!("{name:<9} {clients:>7} {:>9.2} {:>9.2} {rate:>10.0} {:>9}", at(50), at(99), self.failures);
    }
}

/// Runs `operation` for each index, spread over `clients`.
async fn load<F, R>(clients: u64, operations: u64, operation: F) -> Figures
where
    F: Fn(u64) -> R + Clone + Send + 'static,
    R: Future<Output = u16> + Send,
{
    let next = Arc::new(AtomicU64::new(0));
    let began = now();
    let mut workers = JoinSet::new();
    for _ in 0..clients {
        let (next, operation) = (next.clone(), operation.clone());
        workers.spawn(async move {
            let (mut latencies, mut failures) = (Vec::new(), 0);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= operations {
                    return (latencies, failures);
                }
                let began = now();
                failures += u64::from(operation(index).await >= 300);
                latencies.push(began.elapsed());
            }
        });
    }
    let done = workers.join_all().await;
    let failures = done.iter().map(|(_, failures)| failures).sum();
    Figures {
        latencies: done.into_iter().flat_map(|(list, _)| list).collect(),
        took: began.elapsed(),
        failures,
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench reads the real clock")]
fn now() -> Instant {
    Instant::now()
}

async fn run(bench: &Bench, clients: u64) {
    let mut sessions = Vec::new();
    for _ in 0..OPERATIONS.div_ceil(4) {
        sessions.push(bench.session().await);
    }
    let sessions = Arc::new(sessions);
    let ids =
        Arc::new(std::sync::Mutex::new(vec![String::new(); usize::try_from(OPERATIONS).expect("small")]));
    let (b, s, i) = (bench.clone(), sessions.clone(), ids.clone());
    let create = load(clients, OPERATIONS, move |index| {
        let (b, s, i) = (b.clone(), s.clone(), i.clone());
        async move {
            let (status, body) = asked(&b, &s, index).await;
            let id = body["requestId"].as_str().unwrap_or_default().to_owned();
            i.lock().expect("not poisoned")[usize::try_from(index).expect("small")] = id;
            status
        }
    });
    create.await.print("create", clients);
    let handles = Arc::new(ids.lock().expect("not poisoned").clone());
    let (b, s, h) = (bench.clone(), sessions.clone(), handles.clone());
    // The first poll of each question writes its lease; these are the ones after it.
    for round in ["", "poll"] {
        let (b, s, h) = (b.clone(), s.clone(), h.clone());
        let poll = load(clients, OPERATIONS, move |index| {
            let index = usize::try_from(index).expect("small");
            let (b, path) = (b.clone(), format!("{}/{}", s[index % s.len()], h[index]));
            async move { b.call("GET", &path, &Value::Null).await.0 }
        })
        .await;
        if !round.is_empty() {
            poll.print(round, clients);
        }
    }
    let b = bench.clone();
    let respond = load(clients, OPERATIONS, move |index| {
        let path =
            format!("/api/v1/elicitations/{}/respond", handles[usize::try_from(index).expect("small")]);
        let b = b.clone();
        async move { b.call("PATCH", &path, &json!({"action_type": "accept"})).await.0 }
    });
    respond.await.print("respond", clients);
}

async fn start(table: DynamoTable, counts: Arc<Counts>) -> Bench {
    let inner = Arc::new(table.metered(counts.clone()));
    let table = Arc::new(Counting { inner, counts: counts.clone() });
    let web = Web::over(TestApp::over(table, Arc::new(MockClock::at(START))).await);
    // What is measured is the work, not the quota; and the clock of this server stands still.
    let ample = Quota { burst: 1_000_000, per_minute: 1, max_stored: 1_000_000_000, max_open: 1_000_000 };
    let demo = "demo".parse().expect("a tenant");
    web.test.app.store.tenant(&demo).set_quota(&ample).await.expect("a quota");
    // Nobody is told, so nobody has too much to answer.
    let pull = json!({"tiers": {"write": {"assurance": "tap", "audience": ["group:nobody"]}}, "pull": true, "self_approval": "allow"});
    web.api("PUT", "/v1/policy", pull).await.expect(200);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = web.router.clone();
    #[expect(clippy::disallowed_methods, reason = "the server under load")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    Bench {
        http: Client::builder(TokioExecutor::new()).build_http(),
        address,
        key: web.key,
        operator: web.operator,
        counts,
    }
}

async fn one(bench: &Bench, name: &str, times: u64, operation: impl AsyncFn(u64)) {
    let counts = &bench.counts;
    let read =
        || [&counts.calls, &counts.waits, &counts.milli_units].map(|count| count.load(Ordering::Relaxed));
    let before = read();
    for index in 0..times {
        operation(index).await;
    }
    let after = read();
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let per = |index: usize| (after[index] - before[index]) as f64 / times as f64;
    println!("{name:<34} {:>7.2} {:>7.2} {:>9.2}", per(1), per(0), per(2) / 1e3);
}

async fn round_trips(bench: &Bench) {
    println!("\n{:<34} {:>7} {:>7} {:>9}", "operation", "waits", "calls", "capacity");
    let sessions = [bench.session().await, bench.session().await];
    let id = std::cell::RefCell::new(String::new());
    one(bench, "create", 4, async |index| {
        let (_, body) = asked(bench, &sessions[..1], 1_000_000 + index).await;
        body["requestId"].as_str().expect("a handle").clone_into(&mut id.borrow_mut());
    })
    .await;
    one(bench, "create, repeated", 4, async |_| drop(asked(bench, &sessions[..1], 1_000_000).await)).await;
    let poll = format!("{}/{}", sessions[0], id.borrow());
    one(bench, "poll, first (renews the lease)", 1, async |_| {
        drop(bench.call("GET", &poll, &Value::Null).await);
    })
    .await;
    one(bench, "poll", 50, async |_| drop(bench.call("GET", &poll, &Value::Null).await)).await;
    let bad = format!("{}/{}x", sessions[0], id.borrow());
    one(bench, "poll, handle does not open", 50, async |_| drop(bench.call("GET", &bad, &Value::Null).await))
        .await;
    let respond = format!("/api/v1/elicitations/{}/respond", id.borrow());
    one(bench, "respond", 1, async |_| {
        drop(bench.call("PATCH", &respond, &json!({"action_type": "accept"})).await);
    })
    .await;
    let respond = "/api/v1/elicitations/bench-1000000/respond";
    one(bench, "respond, by request-id", 1, async |_| {
        drop(bench.call("PATCH", respond, &json!({"action_type": "accept"})).await);
    })
    .await;
}

/// A tenant of that name who has somebody to ask: its key.
async fn tenant(bench: &Bench, name: &str) -> String {
    let (_, made) = bench.call_by(&bench.operator, "POST", "/v1/tenants", &json!({ "name": name })).await;
    let key = made["api_key"].as_str().expect("a key").to_owned();
    let approver = json!({"name": "Bo", "email": "bo@example.com"});
    assert_eq!(bench.call_by(&key, "POST", "/v1/approvers", &approver).await.0, 201);
    key
}

/// Twenty quiet tenants, each asking now and then, without and with a flooder beside them.
async fn flood(bench: &Bench) {
    const QUIET: u64 = 20;
    const ASKS: u64 = 600;
    let mut quiet = Vec::new();
    for number in 0..QUIET {
        quiet.push(tenant(bench, &format!("quiet-{number}")).await);
    }
    let quiet = Arc::new(quiet);
    let flooder = tenant(bench, "flooder").await;
    let quota = json!({"quota": {"burst": 60, "per_minute": 300}});
    assert_eq!(bench.call_by(&bench.operator, "PATCH", "/v1/tenants/flooder", &quota).await.0, 200);
    let asks = |name: &'static str| {
        let (bench, quiet) = (bench.clone(), quiet.clone());
        async move {
            let operation = move |index: u64| {
                let (bench, quiet) = (bench.clone(), quiet.clone());
                async move {
                    let key = &quiet[usize::try_from(index % QUIET).expect("small")];
                    bench.call_by(key, "POST", "/v1/elicitations", &json!({"message": "Send it?"})).await.0
                }
            };
            load(2, ASKS, operation).await.print(name, 2);
        }
    };
    println!("\nquiet tenants' creates, {ASKS} by {QUIET} of them");
    asks("alone").await;
    let stopped = Arc::new(AtomicBool::new(false));
    let mut floods = JoinSet::new();
    for _ in 0..2 {
        let (bench, flooder, stopped) = (bench.clone(), flooder.clone(), stopped.clone());
        floods.spawn(async move {
            let (mut taken, mut shed) = (0_u64, 0_u64);
            while !stopped.load(Ordering::Relaxed) {
                let body = json!({"message": "Now?"});
                match bench.call_by(&flooder, "POST", "/v1/elicitations", &body).await.0 {
                    201 => taken += 1,
                    _ => shed += 1,
                }
            }
            (taken, shed)
        });
    }
    asks("flooded").await;
    stopped.store(true, Ordering::Relaxed);
    let (taken, shed) =
        floods.join_all().await.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("the flooder's creates: {taken} taken, {shed} shed");
}

#[tokio::main]
async fn main() {
    println!(
        "ms per operation over loopback sockets; {OPERATIONS} operations each; load and server share the cores"
    );
    let folder = tempfile::tempdir().expect("a folder");
    for place in ["engine on a file, in process", "engine in memory, over loopback HTTP"] {
        println!(
            "\n{place}\n{:<9} {:>7} {:>9} {:>9} {:>10} {:>9}",
            "", "clients", "p50 ms", "p99 ms", "per s", "failed"
        );
        for clients in [1, 64] {
            let on_file = place.contains("file");
            let engine = if on_file {
                Engine::open(&folder.path().join(clients.to_string())).await
            } else {
                Engine::memory().await
            };
            let engine = engine.expect("an engine");
            let client = if on_file {
                engine.client()
            } else {
                let (address, serving) = engine.listen().await.expect("a port");
                #[expect(clippy::disallowed_methods, reason = "the engine under load")]
                tokio::spawn(serving);
                client_at(address)
            };
            let bench = start(DynamoTable::new(client, TABLE), Arc::default()).await;
            run(&bench, clients).await;
            if clients == 64 && on_file {
                round_trips(&bench).await;
                flood(&bench).await;
            }
        }
    }
}
