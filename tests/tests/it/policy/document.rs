//! The policy as a document: versions, and what each setting does.

use countersign_testkit::Web;
use serde_json::{Value, json};
use std::time::Duration;

use super::{ask, id_of, other_tenant, put_policy, row};

#[tokio::test]
async fn a_new_tenant_has_the_first_version_with_the_safe_defaults() {
    let web = Web::start().await;
    let key = other_tenant(&web).await;
    let policy = web.call("GET", "/v1/policy", &key, Value::Null).await.expect(200).json();
    assert_eq!((&policy["version"], &policy["self_approval"]), (&json!(1), &json!("deny")));
    let needed =
        ["read", "write", "commit", "external"].map(|tier| policy["tiers"][tier]["assurance"].clone());
    assert_eq!(needed, ["tap", "tap", "code", "code"]);
    let first = web.call("GET", "/v1/policy?version=1", &key, Value::Null).await.expect(200).json();
    assert_eq!(first, policy);
}

#[tokio::test]
async fn each_change_is_a_version_that_can_be_read_later() {
    let web = Web::start().await;
    let first = web.api("GET", "/v1/policy", Value::Null).await.expect(200).json();
    let second = put_policy(&web, json!({"pull": true})).await.expect(200).json();
    assert_eq!((&second["version"], &second["pull"]), (&json!(2), &json!(true)));
    assert_eq!(
        put_policy(&web, json!({"pull": true})).await.expect(200).json(),
        second,
        "no change, no version"
    );
    let again = web.api("PUT", "/v1/policy", second.clone()).await.expect(200).json();
    assert_eq!(again, second, "what was answered can be sent back");
    let old = web.api("GET", "/v1/policy?version=1", Value::Null).await.expect(200).json();
    assert_eq!(old, first);
    web.api("GET", "/v1/policy?version=3", Value::Null).await.expect(404);
    web.api("GET", "/v1/policy?version=0", Value::Null).await.expect(422);
}

#[tokio::test]
async fn who_read_an_older_version_does_not_overwrite_a_newer_one() {
    let web = Web::start().await;
    put_policy(&web, json!({"version": 1, "pull": true})).await.expect(200);
    let late = put_policy(&web, json!({"version": 1})).await.expect(409).json();
    assert_eq!(late["code"], "policy_changed");
    let policy = web.api("GET", "/v1/policy", Value::Null).await.expect(200).json();
    assert_eq!(policy["pull"], true);
    put_policy(&web, json!({"version": 2})).await.expect(200);
}

#[tokio::test]
async fn of_two_changes_at_once_that_name_a_version_one_is_refused() {
    let web = Web::start().await;
    let (one, two) = tokio::join!(
        put_policy(&web, json!({"version": 1, "pull": true})),
        put_policy(&web, json!({"version": 1, "max_open_per_session": 9}))
    );
    let mut codes = [one.status.as_u16(), two.status.as_u16()];
    codes.sort_unstable();
    assert_eq!(codes, [200, 409]);
}

#[tokio::test]
async fn a_policy_that_is_wrong_somewhere_changes_nothing() {
    let web = Web::start().await;
    let body =
        json!({"pull": true, "tiers": {"write": {"audience": ["finance"]}}, "max_open_per_session": 51});
    let refused = put_policy(&web, body).await.expect(422).json();
    let pointers: Vec<_> =
        refused["errors"].as_array().unwrap().iter().map(|one| one["pointer"].clone()).collect();
    assert_eq!(pointers, ["/tiers/write/audience/0", "/max_open_per_session"]);
    let policy = web.api("GET", "/v1/policy", Value::Null).await.expect(200).json();
    assert_eq!(policy["version"], 1);
}

#[tokio::test]
async fn a_question_records_the_version_it_was_asked_under() {
    let web = Web::start().await;
    let before = id_of(&ask(&web, json!({"message": "One?"})).await.expect(201));
    let tiers = json!({"write": {"assurance": "passkey", "audience": ["group:finance"]}});
    super::add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    put_policy(&web, json!({"tiers": tiers})).await.expect(200);
    let after = id_of(&ask(&web, json!({"message": "Two?"})).await.expect(201));
    let (before, after) = (row(&web.test, &before).await, row(&web.test, &after).await);
    assert_eq!(
        (before.policy_version, before.assurance.word(), before.audience.lists().len()),
        (1, "tap", 0)
    );
    assert_eq!(
        (after.policy_version, after.assurance.word(), after.audience.lists().len()),
        (2, "passkey", 1)
    );
}

#[tokio::test]
async fn the_wait_is_the_requests_then_the_sessions_then_the_policys() {
    let web = Web::start().await;
    put_policy(&web, json!({"default_ttl_seconds": 600})).await.expect(200);
    let session =
        web.api("POST", "/v1/sessions", json!({"default_ttl_seconds": 120})).await.expect(201).json();
    let wait = async |body: Value| {
        let id = id_of(&ask(&web, body).await.expect(201));
        let asked = row(&web.test, &id).await;
        asked.deadlines.expires_at.since(asked.created_at).as_secs()
    };
    assert_eq!(wait(json!({"message": "a"})).await, 600);
    assert_eq!(wait(json!({"message": "b", "session": session["name"]})).await, 120);
    assert_eq!(wait(json!({"message": "c", "session": session["name"], "expires_in_seconds": 90})).await, 90);
    let (_, path) = web.session().await;
    let body = json!({"message": "d", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let asked = web.call("POST", &path, "", body).await.expect(201).json();
    let until = asked["_meta"]["com.pulsemcp/expires-at"].as_str().unwrap();
    let until = countersign_core::time::Timestamp::parse(until).unwrap();
    assert_eq!(until.since(web.test.now()), Duration::from_mins(10));
}

#[tokio::test]
async fn a_session_waits_on_as_many_as_the_policy_allows() {
    let web = Web::start().await;
    put_policy(&web, json!({"max_open_per_session": 2})).await.expect(200);
    let (session, _) = web.session().await;
    let open = async |n: u8| ask(&web, json!({"message": format!("{n}?"), "session": session["name"]})).await;
    open(1).await.expect(201);
    open(2).await.expect(201);
    assert_eq!(open(3).await.expect(422).json()["code"], "too_many_open");
    put_policy(&web, json!({"max_open_per_session": 3})).await.expect(200);
    open(4).await.expect(201);
}

#[tokio::test]
async fn a_policy_needs_the_scope_manage_and_is_its_own_tenants() {
    let web = Web::start().await;
    let key = other_tenant(&web).await;
    put_policy(&web, json!({"pull": true})).await.expect(200);
    let theirs = web.call("GET", "/v1/policy", &key, Value::Null).await.expect(200).json();
    assert_eq!((&theirs["version"], &theirs["pull"]), (&json!(1), &json!(false)));
    web.call("GET", "/v1/policy", "", Value::Null).await.expect(401);
    web.call("PUT", "/v1/policy", &web.operator, json!({})).await.expect(401);
}
