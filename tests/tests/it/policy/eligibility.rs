//! Who is asked, and who may answer.

use countersign_app::authority::Target;
use countersign_app::respond::{Pressed, RespondError};
use countersign_core::assurance::Assurance::{self, Code, Passkey, Tap};
use countersign_core::id::ApproverId;
use countersign_core::state::State;
use countersign_testkit::{TestApp, Web, pressed};
use serde_json::{Value, json};

use super::{add, answer, ask, id_of, new, other_tenant, proof, put_policy, row, signed_in, tenant};

fn to_finance() -> Value {
    json!({"tiers": {"write": {"assurance": "tap", "audience": ["group:finance"]}}})
}

fn told(web: &Web) -> Vec<String> {
    web.test.channel.sent().into_iter().map(|notice| notice.to.name).collect()
}

#[tokio::test]
async fn the_audience_of_the_tier_is_told_and_nobody_else() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "email": "m@example.com", "groups": ["finance"]})).await;
    add(&web, json!({"name": "Bo", "email": "b@example.com", "groups": ["ops"]})).await;
    put_policy(&web, to_finance()).await.expect(200);
    let asked = ask(&web, json!({"message": "Pay?"})).await.expect(201).json();
    let reachable = &asked["reachable"]["approvers"];
    assert_eq!(
        (reachable[0]["approver_id"].as_str(), reachable.as_array().unwrap().len()),
        (Some(&*mara.to_string()), 1)
    );
    web.test.drain().await;
    assert_eq!(told(&web), ["Mara"]);
}

#[tokio::test]
async fn who_is_told_is_looked_at_when_it_is_planned() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "email": "m@example.com", "groups": ["finance"]})).await;
    let bo = add(&web, json!({"name": "Bo", "email": "b@example.com"})).await;
    put_policy(&web, to_finance()).await.expect(200);
    ask(&web, json!({"message": "Pay?"})).await.expect(201);
    web.api("PATCH", &format!("/v1/approvers/{mara}"), json!({"groups": []})).await.expect(200);
    web.api("PATCH", &format!("/v1/approvers/{bo}"), json!({"groups": ["finance"]})).await.expect(200);
    web.test.drain().await;
    assert_eq!(told(&web), ["Bo"]);
}

#[tokio::test]
async fn a_channel_that_the_tier_does_not_allow_tells_nobody() {
    let web = Web::start().await;
    put_policy(&web, json!({"tiers": {"write": {"assurance": "tap", "channels": []}}})).await.expect(200);
    let asked = ask(&web, json!({"message": "Pay?"})).await.expect(201).json();
    assert_eq!(asked["reachable"]["any"], false);
    let refused = ask(&web, json!({"message": "Pay?", "require_reachable": true})).await.expect(409).json();
    assert_eq!(refused["code"], "unreachable");
    let other = ask(&web, json!({"message": "Look?", "tier": "read"})).await.expect(201).json();
    assert_eq!(other["reachable"]["any"], true);
    web.test.drain().await;
    assert_eq!(web.test.channel.sent().len(), 1, "of the tier that allows it");
}

#[tokio::test]
async fn an_audience_without_anybody_is_no_route_unless_the_tenant_pulls() {
    let web = Web::start().await;
    put_policy(&web, to_finance()).await.expect(200);
    let refused = ask(&web, json!({"message": "Pay?"})).await.expect(422).json();
    assert_eq!(refused["code"], "no_route");
    ask(&web, json!({"message": "Look?", "tier": "read"})).await.expect(201);
    let mut pull = to_finance();
    pull["pull"] = json!(true);
    put_policy(&web, pull).await.expect(200);
    let asked = ask(&web, json!({"message": "Pay?"})).await.expect(201).json();
    assert_eq!(asked["reachable"]["any"], false);
}

#[tokio::test]
async fn an_asker_chooses_only_where_the_policy_lets_it_and_only_narrows() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "groups": ["finance", "night"]})).await;
    add(&web, json!({"name": "Bo", "groups": ["night"]})).await;
    let asked = async |body: Value| ask(&web, body).await;
    let night = json!({"message": "Pay?", "audience": ["group:night"]});
    let refused = asked(night.clone()).await.expect(422).json();
    assert_eq!(
        (&refused["code"], &refused["errors"][0]["pointer"]),
        (&json!("audience_not_allowed"), &json!("/audience"))
    );
    let refused =
        web.api("POST", "/v1/sessions", json!({"audience": ["group:night"]})).await.expect(422).json();
    assert_eq!(refused["code"], "audience_not_allowed");

    let mut policy = to_finance();
    policy["asker_may_choose"] = json!(true);
    put_policy(&web, policy).await.expect(200);
    let named = asked(night).await.expect(201).json();
    assert_eq!(
        named["reachable"]["approvers"].as_array().unwrap().len(),
        1,
        "of the policy's audience as well"
    );
    assert_eq!(named["reachable"]["approvers"][0]["approver_id"], mara.to_string());
    let stranger = json!(["group:night", "group:nobody", "ap_00000000000000000000000000"]);
    let unknown = asked(json!({"message": "Pay?", "audience": stranger})).await.expect(422).json();
    let pointers: Vec<_> =
        unknown["errors"].as_array().unwrap().iter().map(|one| one["pointer"].clone()).collect();
    assert_eq!(pointers, ["/audience/1", "/audience/2"]);
    let unknown =
        web.api("POST", "/v1/sessions", json!({"audience": ["group:nobody"]})).await.expect(422).json();
    assert_eq!(unknown["errors"][0]["pointer"], "/audience/0");
}

#[tokio::test]
async fn the_audience_of_a_session_narrows_its_questions_while_the_policy_lets_it() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    put_policy(&web, json!({"asker_may_choose": true})).await.expect(200);
    let session =
        web.api("POST", "/v1/sessions", json!({"audience": ["group:finance"]})).await.expect(201).json();
    let path = format!("/t/{}/api/v1/elicitations", session["ask_token"].as_str().unwrap());
    let fallback = |n: u8| json!({"message": "Pay?", "_meta": {"com.pulsemcp/request-id": format!("r{n}")}});
    let id = |reply: &Value| reply["_meta"]["com.countersign/elicitation-id"].as_str().unwrap().to_owned();
    let narrowed = id(&web.call("POST", &path, "", fallback(1)).await.expect(201).json());
    let narrowed = row(&web.test, &narrowed).await.audience;
    assert!(narrowed.admits(mara, &["finance".parse().unwrap()]) && !narrowed.admits(mara, &[]));
    put_policy(&web, json!({})).await.expect(200);
    let open = id(&web.call("POST", &path, "", fallback(2)).await.expect(201).json());
    assert!(row(&web.test, &open).await.audience.lists().is_empty(), "the asker chooses no more");
}

#[tokio::test]
async fn an_approver_answers_what_is_meant_for_them_and_nothing_else() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    let bo = add(&web, json!({"name": "Bo", "groups": ["ops"]})).await;
    put_policy(&web, to_finance()).await.expect(200);
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    let refused = answer(&web.test, signed_in(bo, Passkey), &id, None).await;
    assert_eq!(refused, Err(RespondError::NotAnApprover));
    assert_eq!(row(&web.test, &id).await.stored, State::Pending);
    let answered = answer(&web.test, signed_in(mara, Tap), &id, None).await.unwrap();
    let State::Decided(decision) = answered.stored else { panic!("{:?}", answered.stored) };
    assert_eq!(decision.by.approver, Some(mara));
}

#[tokio::test]
async fn a_removed_approver_answers_nothing() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara"})).await;
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    web.api("DELETE", &format!("/v1/approvers/{mara}"), Value::Null).await.expect(204);
    assert_eq!(answer(&web.test, signed_in(mara, Tap), &id, None).await, Err(RespondError::NotAnApprover));
}

#[tokio::test]
async fn who_leaves_the_group_between_page_and_answer_decides_nothing() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    add(&web, json!({"name": "Bo", "groups": ["finance"]})).await;
    put_policy(&web, to_finance()).await.expect(200);
    let (session, _) = web.session().await;
    let caller = web.test.caller().await;
    for body in [json!({"message": "Pay?"}), json!({"message": "Pay?", "session": session["name"]})] {
        move_to(&web, mara, "finance").await;
        let id = id_of(&ask(&web, body).await.expect(201));
        let target = Target::Id(id.parse().unwrap());
        let page = web.test.app.admit_verified(signed_in(mara, Tap), &target).await.unwrap();
        move_to(&web, mara, "ops").await;
        let late = web.test.app.respond(page, pressed(Pressed::Accept, None)).await;
        assert_eq!(late, Err(RespondError::NotAnApprover));
        assert_eq!(row(&web.test, &id).await.stored, State::Pending);
    }
    let waits = web.test.app.session(&caller, session["name"].as_str().unwrap()).await.unwrap();
    assert_eq!(waits.open.len(), 1, "its session waits on");
}

async fn move_to(web: &Web, approver: ApproverId, group: &str) {
    let path = format!("/v1/approvers/{approver}");
    web.api("PATCH", &path, json!({"groups": [group]})).await.expect(200);
}

#[tokio::test]
async fn who_is_removed_between_page_and_answer_decides_nothing() {
    let test = TestApp::start().await;
    let caller = test.caller().await;
    let mara = test.app.add_approver(&caller, new("Mara"), None).await.unwrap().id;
    let web = Web::over(test);
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    let target = Target::Id(id.parse().unwrap());
    let page = web.test.app.admit_verified(signed_in(mara, Tap), &target).await.unwrap();
    web.test.app.remove_approver(&caller, mara).await.unwrap();
    let late = web.test.app.respond(page, pressed(Pressed::Decline, None)).await;
    assert_eq!(late, Err(RespondError::NotAnApprover));
    assert_eq!(row(&web.test, &id).await.stored, State::Pending);
}

#[tokio::test]
async fn an_answer_whose_reply_was_lost_is_repeated_even_by_who_has_left_since() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara"})).await;
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    let target = Target::Id(id.parse().unwrap());
    let open = async || web.test.app.admit_verified(signed_in(mara, Tap), &target).await.unwrap();
    let (first, second) = (open().await, open().await);
    let stored = web.test.app.respond(first, pressed(Pressed::Accept, None)).await.unwrap();
    let caller = web.test.caller().await;
    web.test.app.remove_approver(&caller, mara).await.unwrap();
    let again = web.test.app.respond(second, pressed(Pressed::Accept, None)).await.unwrap();
    assert_eq!(again.stored, stored.stored);
}

#[tokio::test]
async fn a_key_is_a_program_and_no_audience_names_it() {
    let web = Web::start().await;
    add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    put_policy(&web, to_finance()).await.expect(200);
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    web.api("POST", &format!("/v1/elicitations/{id}/respond"), json!({"action": "accept"})).await.expect(200);
}

#[tokio::test]
async fn a_question_needs_the_assurance_of_its_tier_as_it_was_asked() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara"})).await;
    let code = json!({"tiers": {"commit": {"assurance": "code"}}});
    put_policy(&web, code).await.expect(200);
    let id = id_of(&ask(&web, json!({"message": "Pay?", "tier": "commit"})).await.expect(201));
    put_policy(&web, json!({})).await.expect(200);
    let path = format!("/v1/elicitations/{id}/respond");
    let refused = web.api("POST", &path, json!({"action": "accept"})).await.expect(403).json();
    assert_eq!(refused["code"], "assurance_too_low");
    let refused = answer(&web.test, signed_in(mara, Tap), &id, None).await;
    assert_eq!(refused, Err(RespondError::AssuranceTooLow { needed: Assurance::Code }));
    assert!(answer(&web.test, signed_in(mara, Code), &id, None).await.is_ok());
}

#[tokio::test]
async fn nobody_decides_what_they_asked_where_the_policy_denies_it() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara"})).await;
    let caller = web.test.caller().await;
    put_policy(&web, json!({"self_approval": "deny"})).await.expect(200);
    let (session, path) = web.session().await;
    let asked = json!({"message": "Pay?", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let asked = web.call("POST", &path, "", asked).await.expect(201).json();
    let in_session = asked["_meta"]["com.countersign/elicitation-id"].as_str().unwrap().to_owned();
    let native = id_of(&ask(&web, json!({"message": "Pay?", "session": session["name"]})).await.expect(201));
    for id in [&in_session, &native] {
        let path = format!("/v1/elicitations/{id}/respond");
        let refused = web.api("POST", &path, json!({"action": "accept"})).await.expect(403).json();
        assert_eq!(refused["code"], "self_approval", "by its principal, or the owner of its session");
        let record = web.test.app.approver(&caller, mara).await.unwrap();
        let same = proof(caller.principal().as_str(), Passkey);
        let same = countersign_app::authority::Caller::proven(tenant(), &record, same);
        assert_eq!(
            answer(&web.test, same, id, None).await,
            Err(RespondError::SelfApproval),
            "whoever carries it"
        );
        assert!(answer(&web.test, signed_in(mara, Tap), id, None).await.is_ok());
    }
}

#[tokio::test]
async fn eligibility_comes_before_what_has_become_of_the_question() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "groups": ["finance"]})).await;
    let bo = add(&web, json!({"name": "Bo"})).await;
    put_policy(&web, to_finance()).await.expect(200);
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    answer(&web.test, signed_in(mara, Tap), &id, None).await.unwrap();
    assert_eq!(answer(&web.test, signed_in(bo, Tap), &id, None).await, Err(RespondError::NotAnApprover));
}

#[tokio::test]
async fn groups_of_one_tenant_mean_nothing_in_another() {
    let web = Web::start().await;
    let key = other_tenant(&web).await;
    let body = json!({"name": "Mara", "groups": ["finance"]});
    let theirs =
        id_of(&web.call("POST", "/v1/approvers", &key, body.clone()).await.expect(201)).parse().unwrap();
    add(&web, body).await;
    put_policy(&web, to_finance()).await.expect(200);
    let id = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
    let refused = answer(&web.test, signed_in(theirs, Passkey), &id, None).await;
    assert_eq!(
        refused,
        Err(RespondError::NotAnApprover),
        "an approver of another tenant, with the same group"
    );
}
