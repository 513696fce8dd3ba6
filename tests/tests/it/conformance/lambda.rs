//! What only the Lambda binaries do: their start, their schedule, their logs.

use countersign_core::id::Front as AskedOn;
use countersign_testkit::lambda::{Deployment, Origin, Outcome, built, event};
use countersign_testkit::native_ask;
use http::Request;
use serde_json::{Value, json};

/// Every line is JSON, routes are templates, and nothing of a request is quoted.
#[track_caller]
pub(super) fn check_logs(logged: &str) {
    for line in logged.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        for secret in ["cst_", "csk_", "csop_", "ph_", "secret plan", "@example.com"] {
            assert!(!line.contains(secret), "{secret} in {line}");
        }
    }
    for template in
        ["POST /t/{token}/api/v1/elicitations answered 201", "GET /v1/elicitations/{id} answered 200"]
    {
        assert!(logged.contains(template), "{template}");
    }
}

#[tokio::test]
async fn a_function_without_keys_does_not_start_and_says_why() {
    let deployment = Deployment::without_functions(built()).await;
    let start = async |variables: &[(&str, &str)]| deployment.launch("poll", variables).await.err().unwrap();
    assert!(start(&[("COUNTERSIGN_SECRETS", "")]).await.contains("COUNTERSIGN_SECRETS is not set"));
    assert!(start(&[("COUNTERSIGN_SECRETS", "keys")]).await.contains("COUNTERSIGN_SECRETS cannot be used"));
    let missing = start(&[("COUNTERSIGN_SECRETS", "file:/nowhere/keys.json")]).await;
    assert!(missing.contains("cannot use the keys in /nowhere/keys.json"), "{missing}");
    assert!(start(&[("COUNTERSIGN_BASE_URL", "")]).await.contains("COUNTERSIGN_BASE_URL is not set"));
}

#[tokio::test]
async fn a_store_that_does_not_answer_fails_no_start() {
    let deployment = Deployment::without_functions(built()).await;
    let closed = [("COUNTERSIGN_DYNAMODB_ENDPOINT", "http://127.0.0.1:9")];
    let poll = deployment.launch("poll", &closed).await.unwrap();
    let get = |path| event::of(&Request::get(path).body("".into()).unwrap(), Origin::FunctionUrl);
    let reply = |outcome| event::reply(&outcome, Origin::FunctionUrl);
    reply(poll.invoke(&get("/healthz")).await).expect(200);
    reply(poll.invoke(&get("/readyz")).await).expect(503);
    let logged = poll.end();
    let is_told = ["the store does not answer yet", "the store did not answer within"]
        .map(|text| logged.contains(text));
    assert!(is_told.contains(&true), "{logged}");
}

#[tokio::test]
async fn the_schedule_sweeps_and_tells_what_it_did() {
    let deployment = Deployment::without_functions(built()).await;
    let test = &deployment.web.test;
    let admission = test.app.admit_key(&test.key, None).await.unwrap();
    test.app.create(admission, AskedOn::Native, native_ask("Delete?")).await.unwrap();
    let sweep = deployment.launch("sweep", &[]).await.unwrap();
    let schedule = json!({
        "version": "0", "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa", "detail-type": "Scheduled Event",
        "source": "aws.events", "account": "123456789012", "time": "2026-11-30T20:00:00Z", "region": "eu-central-1",
        "resources": ["arn:aws:events:eu-central-1:123456789012:rule/sweep"], "detail": {}
    });
    let swept = async || match sweep.invoke(&schedule).await {
        Outcome::Response(bytes) => serde_json::from_slice::<Value>(&bytes).unwrap(),
        other => panic!("{other:?}: {}", sweep.logged()),
    };
    let counts = |due: u32, expired: u32| json!({"due": due, "expired": expired, "planned": 0, "sent": 0, "postponed": 0, "failed": 0, "purged": 0, "troubled": 0});
    assert_eq!(swept().await, counts(1, 1), "its deadline is long over");
    assert_eq!(swept().await, counts(0, 0));
}
