//! What waits for one person is bounded (RELIABILITY.md row 10).

use countersign_testkit::{Reply, Web};
use serde_json::json;

use super::{add, ask, id_of, put_policy};

/// A tenant whose questions go to finance, which is Mara, two to each at most.
async fn office() -> Web {
    let web = Web::start().await;
    add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    let policy = json!({"tiers": {"write": {"assurance": "tap", "audience": ["group:finance"]}},
        "max_open_per_approver": 2});
    put_policy(&web, policy).await.expect(200);
    web
}

async fn pay(web: &Web) -> Reply {
    let asked = ask(web, json!({"message": "Pay?", "tier": "write"})).await;
    web.test.drain().await;
    asked
}

#[tokio::test]
async fn nobody_is_asked_more_where_everybody_who_could_answer_has_enough() {
    let web = office().await;
    pay(&web).await.expect(201);
    pay(&web).await.expect(201);
    let refused = pay(&web).await.expect(422).json();
    assert_eq!(refused["code"], "too_many_open");
    ask(&web, json!({"message": "Look?", "tier": "read"})).await.expect(201);
}

#[tokio::test]
async fn one_who_has_room_is_enough() {
    let web = office().await;
    pay(&web).await.expect(201);
    pay(&web).await.expect(201);
    add(&web, json!({"name": "Bo", "groups": ["finance"]})).await;
    pay(&web).await.expect(201);
}

#[tokio::test]
async fn what_was_answered_or_is_over_takes_no_room() {
    let web = office().await;
    let first = id_of(&pay(&web).await.expect(201));
    pay(&web).await.expect(201);
    web.api("POST", &format!("/v1/elicitations/{first}/respond"), json!({"action": "decline"}))
        .await
        .expect(200);
    pay(&web).await.expect(201);
    pay(&web).await.expect(422);
    web.test.clock.advance(std::time::Duration::from_hours(8 * 24));
    pay(&web).await.expect(201);
}

#[tokio::test]
async fn a_tenant_that_fetches_its_questions_itself_asks_on() {
    let web = Web::start().await;
    let policy = json!({"tiers": {"write": {"assurance": "tap", "audience": ["group:finance"]}},
        "max_open_per_approver": 1, "pull": true});
    put_policy(&web, policy).await.expect(200);
    for _ in 0..3 {
        pay(&web).await.expect(201);
    }
}
