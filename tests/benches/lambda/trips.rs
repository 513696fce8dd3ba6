//! Store round trips of each route: calls, and those of them that follow one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use countersign_testkit::person::{Person, hidden};
use countersign_testkit::{Reply, TestApp, Web};
use serde_json::{Value, json};

#[derive(Default)]
struct Counts {
    calls: AtomicU64,
    /// Calls that began while none was under way.
    waits: AtomicU64,
    under_way: AtomicU64,
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

struct Trips {
    web: Web,
    counts: Arc<Counts>,
}

impl Trips {
    /// Sends a request, prints what it cost under `name`, and answers its body.
    async fn row(&self, name: &str, method: &str, path: &str, body: Value) -> Value {
        self.row_by(name, method, path, &self.web.key, body).await
    }

    async fn row_by(&self, name: &str, method: &str, path: &str, key: &str, body: Value) -> Value {
        let reply = self.counted(name, self.web.call(method, path, key, body)).await;
        serde_json::from_slice(&reply.bytes).unwrap_or_default()
    }

    async fn counted(&self, name: &str, sent: impl Future<Output = Reply>) -> Reply {
        let read = || [&self.counts.waits, &self.counts.calls].map(|count| count.load(Ordering::Relaxed));
        let before = read();
        let reply = sent.await;
        let after = read();
        println!("| {name} | {} | {} |", after[0] - before[0], after[1] - before[1]);
        reply
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().expect("text")
}

/// Prints the table.
pub(super) async fn print() {
    let counts = Arc::<Counts>::default();
    let of = Arc::clone(&counts);
    let test = TestApp::with_table(move |inner| Arc::new(Counting { inner, counts: of })).await;
    let trips = Trips { web: Web::over(test), counts };
    println!("\n| route | sequential waits | calls |\n|---|---|---|");
    let session = trips.row("`POST /v1/sessions`", "POST", "/v1/sessions", json!({})).await;
    asker(&trips, &session).await;
    native(&trips).await;
    person(&trips).await;
    managing(&trips, &session).await;
}

async fn asker(trips: &Trips, session: &Value) {
    let path = format!("/t/{}/api/v1/elicitations", text(session, "ask_token"));
    let body = json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let created = "`POST /t/{token}/api/v1/elicitations`";
    let asked = trips.row_by(created, "POST", &path, "", body.clone()).await;
    trips.row_by("the same, repeated", "POST", &path, "", body).await;
    let handle = format!("{path}/{}", text(&asked, "requestId"));
    let poll = "`GET /t/{token}/api/v1/elicitations/{id}`";
    trips.row_by(&format!("{poll}, first of a minute"), "GET", &handle, "", Value::Null).await;
    trips.row_by(poll, "GET", &handle, "", Value::Null).await;
    trips.row_by(&format!("{poll}, seal broken"), "GET", &format!("{handle}x"), "", Value::Null).await;
    let own = format!("/api/v1/elicitations/{}", text(&asked, "requestId"));
    trips.row("`GET /api/v1/elicitations/{id}`", "GET", &own, Value::Null).await;
    let respond = "`PATCH /api/v1/elicitations/{id}/respond`";
    trips.row(respond, "PATCH", &format!("{own}/respond"), json!({"action_type": "accept"})).await;
    trips.row_by(&format!("{poll}, first after the answer"), "GET", &handle, "", Value::Null).await;
}

async fn native(trips: &Trips) {
    let ask = json!({"message": "Delete?"});
    let asked = trips.row("`POST /v1/elicitations`", "POST", "/v1/elicitations", ask.clone()).await;
    let path = format!("/v1/elicitations/{}", text(&asked, "id"));
    trips.row("`GET /v1/elicitations/{id}`", "GET", &path, Value::Null).await;
    trips
        .row("`GET /v1/elicitations?status=pending`", "GET", "/v1/elicitations?status=pending", Value::Null)
        .await;
    let accept = json!({"action": "accept"});
    trips
        .row("`POST /v1/elicitations/{id}/respond`", "POST", &format!("{path}/respond"), accept.clone())
        .await;
    let other = trips.web.api("POST", "/v1/elicitations", ask.clone()).await.json();
    let by_reference = format!("/v1/elicitations/{}/respond", text(&other, "reference"));
    trips.row("the same, by reference", "POST", &by_reference, accept).await;
    let third = trips.web.api("POST", "/v1/elicitations", ask).await.json();
    let withdraw = format!("/v1/elicitations/{}/withdraw", text(&third, "id"));
    trips.row("`POST /v1/elicitations/{id}/withdraw`", "POST", &withdraw, Value::Null).await;
}

async fn person(trips: &Trips) {
    let (web, you) = (&trips.web, Person::you(&trips.web).await);
    let asked = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.json();
    web.test.drain().await;
    let path = format!("/d/demo/{}", text(&asked, "reference"));
    trips.counted("`GET /inbox`", you.get(web, "/inbox")).await;
    let page = trips.counted("`GET /d/{tenant}/{reference}`", you.get(web, &path)).await.expect(200).text();
    let token = hidden(&page, "csrf").expect("an open question");
    let form = [("csrf", token.as_str()), ("action", "accept")];
    trips.counted("`POST /d/{tenant}/{reference}`", you.post(web, &path, &form)).await.expect(303);
    trips.counted("`GET /d/{tenant}/{reference}`, after it", you.get(web, &path)).await.expect(200);
}

async fn managing(trips: &Trips, session: &Value) {
    let at = format!("/v1/sessions/{}", text(session, "name"));
    trips.row("`GET /v1/sessions/{session}`", "GET", &at, Value::Null).await;
    trips.row("`POST /v1/sessions/{session}/tokens`", "POST", &format!("{at}/tokens"), json!({})).await;
    let token = format!("{at}/tokens/{}", text(session, "ask_token_id"));
    trips.row("`DELETE /v1/sessions/{session}/tokens/{token_id}`", "DELETE", &token, Value::Null).await;
    trips.row("`POST /v1/sessions/{session}/resume`", "POST", &format!("{at}/resume"), json!({})).await;
    trips.row("`POST /v1/sessions/{session}/archive`", "POST", &format!("{at}/archive"), Value::Null).await;
    trips.row("`GET /v1/approvers`", "GET", "/v1/approvers", Value::Null).await;
    let bo = json!({"name": "Bo", "email": "bo@example.com"});
    trips.row("`POST /v1/approvers`", "POST", "/v1/approvers", bo).await;
    trips.row("`GET /healthz`", "GET", "/healthz", Value::Null).await;
    trips.row("`GET /readyz`", "GET", "/readyz", Value::Null).await;
    let signed_out = "`GET /d/{tenant}/{reference}`, not signed in";
    trips.row(signed_out, "GET", "/d/demo/K7Q-4MD", Value::Null).await;
    let before = trips.counts.waits.load(Ordering::Relaxed);
    trips.web.test.app.sweep().await.expect("a sweep");
    let waits = trips.counts.waits.load(Ordering::Relaxed) - before;
    println!("| sweep, nothing due | {waits} | {waits} |");
}
