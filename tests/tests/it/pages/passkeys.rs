use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_embedded::faults::{Fault, Op};
use countersign_identity::passkey::PasskeyAlgorithm;
use countersign_testkit::Web;
use countersign_testkit::authenticator::Authenticator;
use countersign_testkit::person::{Person, hidden};
use countersign_testkit::web::Reply;
use serde_json::{Value, json};

use super::{asked, by_device, needs, scene, view};

/// What the script is told to have signed: `to` is `use` or `create`.
fn challenge(page: &str, to: &str) -> Vec<u8> {
    let (_, rest) = page.split_once(&format!("data-passkey=\"{to}\"")).expect("a passkey is asked for");
    let (_, rest) = rest.split_once("data-challenge=\"").unwrap();
    URL_SAFE_NO_PAD.decode(rest.split('"').next().unwrap()).unwrap()
}

fn new() -> Authenticator {
    Authenticator::new(PasskeyAlgorithm::Es256)
}

/// The token of the form about passkeys: the last on the page.
fn token(page: &str) -> String {
    let at = page.find("action=\"/me/passkey\"").unwrap();
    hidden(&page[at..], "csrf").unwrap()
}

/// Adds `made`; `proof` is one that is there.
async fn add(web: &Web, you: &Person, made: &Authenticator, proof: Option<&Authenticator>) -> Reply {
    let page = you.get(web, "/me").await.expect(200).text();
    let passkey = made.create(&challenge(&page, "create")).to_string();
    let proof = proof.map(|one| one.get(&challenge(&page, "use")).to_string()).unwrap_or_default();
    let form = [("csrf", token(&page)), ("passkey", passkey), ("proof", proof)];
    you.post(web, "/me/passkey", &form.each_ref().map(|(name, value)| (*name, value.as_str()))).await
}

async fn approve(web: &Web, you: &Person, path: &str, with: &Authenticator) -> Reply {
    let page = you.get(web, path).await.expect(200).text();
    let passkey = with.get(&challenge(&page, "use")).to_string();
    let csrf = hidden(&page, "csrf").unwrap();
    you.post(web, path, &[("csrf", &csrf), ("action", "accept"), ("passkey", &passkey)]).await
}

/// Somebody with a passkey, and a question that takes one.
async fn enrolled() -> (Web, Person, Authenticator, Value, String) {
    let (web, you) = scene().await;
    needs(&web, "passkey").await;
    let key = new();
    add(&web, &you, &key, None).await.expect(303);
    let (created, path) = asked(&web, json!({"message": "Wire it?", "tier": "external"})).await;
    (web, you, key, created, path)
}

#[tokio::test]
async fn a_passkey_approves_what_takes_one_and_the_answer_says_so() {
    for algorithm in PasskeyAlgorithm::ALL {
        let (web, you) = scene().await;
        needs(&web, "passkey").await;
        let key = Authenticator::new(algorithm);
        add(&web, &you, &key, None).await.expect(303);
        let (created, path) = asked(&web, json!({"message": "Wire it?", "tier": "external"})).await;
        approve(&web, &you, &path, &key).await.expect(303);
        let seen = view(&web, &created).await;
        assert_eq!((&seen["status"], &seen["decided_by"]["method"]), (&json!("accept"), &json!("passkey")));
    }
}

#[tokio::test]
async fn without_a_passkey_nothing_is_approved_and_declining_takes_none() {
    let (web, you) = scene().await;
    needs(&web, "passkey").await;
    let (created, path) = asked(&web, json!({"message": "Wire it?"})).await;
    let page = you.get(&web, &path).await.expect(200).text();
    assert!(page.contains("needs a passkey") && page.contains("href=\"/me\""), "{page}");
    assert!(!page.contains("value=\"accept\""));
    let form = [("reason", "not yet")];
    let page = you.answer(&web, &path, "accept", &form).await.expect(422).text();
    assert!(page.contains("takes your passkey") && page.contains("not yet"), "{page}");
    assert_eq!(view(&web, &created).await["status"], "pending");
    you.answer(&web, &path, "decline", &[]).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "decline");
}

#[tokio::test]
async fn an_answer_of_a_passkey_is_good_for_one_form_of_one_question() {
    let (web, you, key, created, path) = enrolled().await;
    let (other, other_path) = asked(&web, json!({"message": "Wire more?"})).await;
    let page = you.get(&web, &path).await.text();
    let passkey = key.get(&challenge(&page, "use")).to_string();
    let csrf_of = async |path: &str| hidden(&you.get(&web, path).await.text(), "csrf").unwrap();
    let send = async |path: &str, csrf: &str| {
        you.post(&web, path, &[("csrf", csrf), ("action", "accept"), ("passkey", &passkey)]).await
    };
    send(&other_path, &csrf_of(&other_path).await).await.expect(422);
    send(&path, &csrf_of(&path).await).await.expect(422);
    assert_eq!(view(&web, &other).await["status"], "pending");
    assert_eq!(view(&web, &created).await["status"], "pending");
    send(&path, &hidden(&page, "csrf").unwrap()).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "accept");
}

#[tokio::test]
async fn only_a_passkey_of_ones_own_vouches_and_five_that_do_not_close_approving() {
    let (web, you, key, created, path) = enrolled().await;
    for left in (1..5).rev() {
        let page = approve(&web, &you, &path, &new()).await.expect(422).text();
        let tries = if left == 1 { "1 try left".to_owned() } else { format!("{left} tries left") };
        assert!(page.contains(&tries), "{page}");
    }
    let page = approve(&web, &you, &path, &new()).await.expect(422).text();
    assert!(page.contains("Approving by passkey is closed") && !page.contains("value=\"accept\""), "{page}");
    let csrf = hidden(&page, "csrf").unwrap();
    let late = key.get(&[0; 32]).to_string();
    let form = [("csrf", csrf.as_str()), ("action", "accept"), ("passkey", &late)];
    you.post(&web, &path, &form).await.expect(422);
    assert_eq!(view(&web, &created).await["status"], "pending");
}

#[tokio::test]
async fn a_counter_that_does_not_grow_is_a_copy() {
    let (web, you) = scene().await;
    needs(&web, "passkey").await;
    let mut key = new();
    key.count = 7;
    add(&web, &you, &key, None).await.expect(303);
    let (_, path) = asked(&web, json!({"message": "One?"})).await;
    approve(&web, &you, &path, &key).await.expect(422);
    key.count = 8;
    approve(&web, &you, &path, &key).await.expect(303);
    let (_, path) = asked(&web, json!({"message": "Two?"})).await;
    key.count = 8;
    approve(&web, &you, &path, &key).await.expect(422);
}

#[tokio::test]
async fn a_remembered_device_approves_with_a_passkey_and_adds_none() {
    let (web, _, key, created, path) = enrolled().await;
    let device = by_device(&web).await;
    let page = add(&web, &device, &new(), None).await.expect(422).text();
    assert!(page.contains("has to vouch for it"), "{page}");
    approve(&web, &device, &path, &key).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "accept");
}

#[tokio::test]
async fn the_first_passkey_takes_a_sign_in_by_code() {
    let (web, _) = scene().await;
    let device = by_device(&web).await;
    let page = add(&web, &device, &new(), None).await.expect(422).text();
    assert!(page.contains("Sign in by code first") && page.contains("You have none yet"), "{page}");
}

#[tokio::test]
async fn a_passkey_that_is_there_vouches_for_the_next_and_for_its_own_end() {
    let (web, you, first, ..) = enrolled().await;
    let (second, foreign) = (new(), new());
    add(&web, &you, &second, None).await.expect(422);
    add(&web, &you, &second, Some(&foreign)).await.expect(422);
    add(&web, &you, &second, Some(&first)).await.expect(303);
    let page = you.get(&web, "/me").await.text();
    assert_eq!(page.matches("name=\"name\"").count(), 2, "{page}");
    let name = hidden(&page, "name").unwrap();
    let remove = async |proof: &str| {
        let csrf = token(&page);
        you.post(&web, "/me/passkey", &[("csrf", &csrf), ("name", &name), ("proof", proof)]).await
    };
    remove("").await.expect(422);
    remove(&foreign.get(&challenge(&page, "use")).to_string()).await.expect(422);
    remove(&second.get(&challenge(&page, "use")).to_string()).await.expect(303);
    assert_eq!(you.get(&web, "/me").await.text().matches("name=\"name\"").count(), 1);
}

#[tokio::test]
async fn a_form_adds_one_passkey_once() {
    let (web, you) = scene().await;
    let page = you.get(&web, "/me").await.text();
    let csrf = token(&page);
    for one in [new(), new()] {
        let passkey = one.create(&challenge(&page, "create")).to_string();
        // The second finds a passkey that would have to vouch for it.
        let sent = you.post(&web, "/me/passkey", &[("csrf", csrf.as_str()), ("passkey", &passkey)]).await;
        assert!([303, 422].contains(&sent.status.as_u16()));
    }
    assert_eq!(you.get(&web, "/me").await.text().matches("name=\"name\"").count(), 1);
    let stale = you.post(&web, "/me/passkey", &[("csrf", "x"), ("passkey", "{}")]).await;
    stale.expect(403);
}

#[tokio::test]
async fn a_manager_removes_the_passkeys_of_somebody_who_lost_them() {
    let (web, you, ..) = enrolled().await;
    let approvers = web.api("GET", "/v1/approvers", Value::Null).await.json();
    let id = approvers["approvers"][0]["id"].as_str().unwrap();
    web.api("DELETE", &format!("/v1/approvers/{id}/passkeys"), Value::Null).await.expect(204);
    web.api("DELETE", &format!("/v1/approvers/{id}/passkeys"), Value::Null).await.expect(204);
    assert!(you.get(&web, "/me").await.text().contains("You have none yet"));
    add(&web, &you, &new(), None).await.expect(303);
}

#[tokio::test]
async fn a_store_that_fails_costs_no_passkey_and_no_answer() {
    let (web, you, key, created, path) = enrolled().await;
    let page = you.get(&web, &path).await.text();
    let passkey = key.get(&challenge(&page, "use")).to_string();
    let csrf = hidden(&page, "csrf").unwrap();
    let form = [("csrf", csrf.as_str()), ("action", "accept"), ("passkey", &passkey), ("reason", "kept")];
    for op in [Op::Update, Op::Transact, Op::Query] {
        web.test.faults.set(op, Fault::Error, u64::MAX);
        let page = you.post(&web, &path, &form).await.expect(503).text();
        assert!(page.contains("kept"), "{page}");
        web.test.faults.set(op, Fault::Error, 0);
    }
    assert_eq!(view(&web, &created).await["status"], "pending");
    approve(&web, &you, &path, &key).await.expect(303);
}
