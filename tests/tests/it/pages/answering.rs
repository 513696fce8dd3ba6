use countersign_testkit::person::{Person, hidden};
use http::StatusCode;
use serde_json::{Value, json};

use super::{asked, needs, scene, view};

/// Nine kinds of field, each with a value that a browser would send.
fn every_kind() -> Value {
    let options = json!([{"const": "a", "title": "Alpha"}, {"const": "b", "title": "Beta"}]);
    json!({
        "type": "object",
        "properties": {
            "note": {"type": "string", "title": "Note", "maxLength": 40},
            "mail": {"type": "string", "format": "email"},
            "day": {"type": "string", "format": "date"},
            "site": {"type": "string", "format": "uri"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "share": {"type": "number"},
            "keep": {"type": "boolean"},
            "one": {"type": "string", "oneOf": options},
            "many": {"type": "array", "items": {"anyOf": options}},
        },
        "required": ["note", "count", "one"],
    })
}

const FILLED: [(&str, &str); 10] = [
    ("f.note", "line one"),
    ("f.mail", "a@example.org"),
    ("f.day", "2026-12-24"),
    ("f.site", "https://example.org/x"),
    ("f.count", "3"),
    ("f.share", "0.5"),
    ("f.keep", "true"),
    ("f.one", "b"),
    ("f.many", "a"),
    ("f.many", "b"),
];

#[tokio::test]
async fn what_was_approved_is_what_the_asker_gets() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?", "tier": "external"})).await;
    let reply = you.answer(&web, &path, "accept", &[]).await.expect(303);
    assert_eq!(reply.headers["location"], path.as_str());
    let seen = view(&web, &created).await;
    assert_eq!((&seen["status"], &seen["decided_by"]["name"]), (&json!("accept"), &json!("You")));
    let page = you.get(&web, &path).await.expect(200).text();
    assert!(page.contains("You approved") && hidden(&page, "csrf").is_none(), "{page}");
}

#[tokio::test]
async fn a_form_of_every_kind_of_field_arrives_typed() {
    let (web, you) = scene().await;
    let (created, path) =
        asked(&web, json!({"message": "Fill it in", "requested_schema": every_kind()})).await;
    you.answer(&web, &path, "accept", &FILLED).await.expect(303);
    let expected = json!({
        "note": "line one", "mail": "a@example.org", "day": "2026-12-24", "site": "https://example.org/x",
        "count": 3, "share": 0.5, "keep": true, "one": "b", "many": ["a", "b"],
    });
    assert_eq!(view(&web, &created).await["content"], expected);
}

#[tokio::test]
async fn each_mistake_is_told_beside_its_field_and_nothing_typed_is_lost() {
    let (web, you) = scene().await;
    let (created, path) =
        asked(&web, json!({"message": "Fill it in", "requested_schema": every_kind()})).await;
    let mut form = FILLED.to_vec();
    form[4] = ("f.count", "12");
    form[1] = ("f.mail", "nobody");
    let page = you.answer(&web, &path, "accept", &form).await.expect(422).text();
    assert_eq!(page.matches("aria-invalid=\"true\"").count(), 2, "{page}");
    for kept in ["value=\"12\"", "value=\"nobody\"", "value=\"line one\"", "value=\"2026-12-24\""] {
        assert!(page.contains(kept), "{kept}");
    }
    assert_eq!(view(&web, &created).await["status"], "pending");
    let token = hidden(&page, "csrf").unwrap();
    let again = [&[("csrf", token.as_str()), ("action", "accept")], &FILLED[..]].concat();
    you.post(&web, &path, &again).await.expect(303);
}

#[tokio::test]
async fn declining_needs_no_field_and_keeps_the_reason() {
    let (web, you) = scene().await;
    let (created, path) =
        asked(&web, json!({"message": "Fill it in", "requested_schema": every_kind()})).await;
    you.answer(&web, &path, "decline", &[("reason", "wrong  sum")]).await.expect(303);
    let seen = view(&web, &created).await;
    assert_eq!((&seen["status"], &seen["reason"]), (&json!("decline"), &json!("wrong  sum")));
}

#[tokio::test]
async fn people_pick_from_the_reasons_of_their_tenant() {
    let (web, you) = scene().await;
    let policy = json!({"reasons": ["Wrong account", "<b>Too late</b>"], "self_approval": "allow"});
    web.api("PUT", "/v1/policy", policy).await.expect(200);
    let (created, path) = asked(&web, json!({"message": "Pay it?"})).await;
    let page = you.get(&web, &path).await.expect(200).text();
    assert!(page.contains("Wrong account") && !page.contains("Talk to me first") && !page.contains("<b>Too"));
    let form = [("reason_preset", "Wrong account"), ("reason", "ask Ana")];
    you.answer(&web, &path, "decline", &form).await.expect(303);
    assert_eq!(view(&web, &created).await["reason"], "Wrong account. ask Ana");
}

#[tokio::test]
async fn a_form_without_a_button_decides_nothing() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    for action in ["", "approve", "ACCEPT", "cancel "] {
        you.post(&web, &path, &[("csrf", token.as_str()), ("action", action)]).await.expect(200);
    }
    you.post(&web, &path, &[("csrf", token.as_str())]).await.expect(200);
    assert_eq!(view(&web, &created).await["status"], "pending");
}

#[tokio::test]
async fn a_token_of_another_question_or_person_decides_nothing_and_keeps_what_was_typed() {
    let (web, you) = scene().await;
    let (created, path) =
        asked(&web, json!({"message": "This one?", "requested_schema": every_kind()})).await;
    let (_, other) = asked(&web, json!({"message": "Another?"})).await;
    let elsewhere = hidden(&you.get(&web, &other).await.text(), "csrf").unwrap();
    let theirs = hidden(&Person::you(&web).await.get(&web, &path).await.text(), "csrf").unwrap();
    for token in [elsewhere.as_str(), theirs.as_str(), "", "x"] {
        let form = [&[("csrf", token), ("action", "accept")], &FILLED[..]].concat();
        let page = you.post(&web, &path, &form).await.expect(403).text();
        assert!(page.contains("value=\"line one\""), "{page}");
    }
    assert_eq!(view(&web, &created).await["status"], "pending");
}

#[tokio::test]
async fn a_match_code_guards_approval_and_ends_after_five_wrong_ones() {
    let (web, you) = scene().await;
    needs(&web, "code").await;
    let (created, path) = asked(&web, json!({"message": "Wire it?", "tier": "commit"})).await;
    let code = created["match_code"].as_str().unwrap().to_owned();
    assert!(
        !you.get(&web, &path).await.text().contains(&format!(">{code}<")),
        "a page does not show the code"
    );
    let wrong = if code == "11" { "12" } else { "11" };
    for _ in 0..5 {
        you.answer(&web, &path, "accept", &[("match_code", wrong)]).await.expect(422);
    }
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    let right = [("csrf", token.as_str()), ("action", "accept"), ("match_code", code.as_str())];
    you.post(&web, &path, &right).await.expect(422);
    assert_eq!(view(&web, &created).await["status"], "pending");
    you.answer(&web, &path, "decline", &[]).await.expect(303);
}

#[tokio::test]
async fn the_right_match_code_approves() {
    let (web, you) = scene().await;
    needs(&web, "code").await;
    let (created, path) = asked(&web, json!({"message": "Wire it?", "tier": "commit"})).await;
    you.answer(&web, &path, "accept", &[]).await.expect(422);
    let code = created["match_code"].as_str().unwrap();
    you.answer(&web, &path, "accept", &[("match_code", code)]).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "accept");
}

#[tokio::test]
async fn of_two_presses_the_second_is_told_what_the_first_did() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    you.post(&web, &path, &[("csrf", &token), ("action", "decline")]).await.expect(303);
    let late = you.post(&web, &path, &[("csrf", &token), ("action", "accept")]).await;
    assert!(late.status.is_success() || late.status == StatusCode::CONFLICT, "{}", late.status);
    assert!(late.text().contains("You declined"), "{}", late.text());
    assert_eq!(view(&web, &created).await["status"], "decline");
}

#[tokio::test]
async fn a_tap_after_the_deadline_is_told_so() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?", "expires_in_seconds": 60})).await;
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    web.test.clock.advance(std::time::Duration::from_mins(2));
    let reply = you.post(&web, &path, &[("csrf", &token), ("action", "accept")]).await;
    assert!(reply.text().contains("Time ran out"), "{}", reply.text());
    assert_eq!(view(&web, &created).await["status"], "expired");
}

#[tokio::test]
async fn a_withdrawn_question_says_that_the_agent_took_it_back() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let withdraw = format!("/v1/elicitations/{}/withdraw", created["id"].as_str().unwrap());
    web.api("POST", &withdraw, json!({"reason": "done by hand"})).await.expect(200);
    let page = you.get(&web, &path).await.expect(200).text();
    assert!(page.contains("withdr") && hidden(&page, "csrf").is_none(), "{page}");
}

#[tokio::test]
async fn a_robot_with_a_link_decides_nothing_and_with_a_session_it_does() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let nobody = Person { cookies: String::new() };
    for _ in 0..3 {
        nobody.get(&web, &path).await.expect(303);
        nobody.post(&web, &path, &[("action", "accept")]).await.expect(401);
    }
    assert_eq!(view(&web, &created).await["status"], "pending");
    you.answer(&web, &path, "accept", &[]).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "accept");
}

#[tokio::test]
async fn a_question_of_others_looks_like_none() {
    let (web, you) = scene().await;
    let list = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
    let policy = json!({"tiers": {"write": {"assurance": "tap", "audience": [list["approvers"][0]["id"]]}}, "self_approval": "allow"});
    web.api("PUT", "/v1/policy", policy).await.expect(200);
    let (_, path) = asked(&web, json!({"message": "Send it?"})).await;
    let ada = json!({"name": "ada", "email": "ada@example.org"});
    let ada = web.api("POST", "/v1/approvers", ada).await.expect(201).json();
    let caller = web.test.caller().await;
    let ada = Person::sign_in(&web, caller.tenant(), ada["id"].as_str().unwrap().parse().unwrap()).await;
    let absent = ada.get(&web, "/d/demo/AAAA-AAAA").await.expect(404).text();
    let foreign = ada.get(&web, &path).await.expect(404).text();
    assert_eq!(absent.replace("AAAA-AAAA", ""), foreign.replace(path.rsplit('/').next().unwrap(), ""));
    you.get(&web, &path).await.expect(200);
}

#[tokio::test]
async fn muting_a_session_declines_nothing_and_is_told_to_the_asker() {
    let (web, you) = scene().await;
    let (opened, _) = web.session().await;
    let body = json!({"message": "Send it?", "session": opened["name"]});
    let (created, path) = asked(&web, body).await;
    you.answer(&web, &path, "report", &[]).await.expect(200);
    assert_eq!(view(&web, &created).await["status"], "pending");
    let next = json!({"message": "And this?", "session": opened["name"]});
    let refused = web.api("POST", "/v1/elicitations", next).await.expect(422).json();
    assert_eq!(refused["code"], "muted");
    assert!(refused["detail"].as_str().unwrap().contains("reported"), "{refused}");
}
