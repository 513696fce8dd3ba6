//! What people see and do (PROTOCOL.md section 4; RELIABILITY.md rows 3 and 11 to 22).

mod answering;
mod signing_in;

use countersign_testkit::Web;
use countersign_testkit::person::Person;
use serde_json::{Value, json};

/// A deployment with one person, `you`, who is signed in.
async fn scene() -> (Web, Person) {
    let web = Web::start().await;
    let you = Person::you(&web).await;
    (web, you)
}

/// A question, planned, and the path of its page.
async fn asked(web: &Web, body: Value) -> (Value, String) {
    let created = web.api("POST", "/v1/elicitations", body).await.expect(201).json();
    web.test.drain().await;
    let path = format!("/d/demo/{}", created["reference"].as_str().unwrap());
    (created, path)
}

async fn view(web: &Web, created: &Value) -> Value {
    let path = format!("/v1/elicitations/{}", created["id"].as_str().unwrap());
    web.api("GET", &path, Value::Null).await.expect(200).json()
}

/// Makes questions of every tier need `assurance`.
async fn needs(web: &Web, assurance: &str) {
    let tier = json!({ "assurance": assurance });
    let policy = json!({"tiers": {"read": tier, "write": tier, "commit": tier, "external": tier},
                        "self_approval": true});
    web.api("PUT", "/v1/policy", policy).await.expect(200);
}
