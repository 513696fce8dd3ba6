//! Where nobody may decide what they asked: one person is one person, whatever they carry.

use countersign_core::signature::SigningSecret;
use countersign_testkit::Reply;
use http::Request;
use serde_json::{Value, json};

use super::put_policy;
use crate::tokens::{Idp, SECRET};

/// A tenant that lets no asker decide, with two issuers, an endpoint that takes answers, Mara (`mara` to the issuers)
/// and somebody else.
struct Office {
    idp: Idp,
    mara: String,
    other: String,
    endpoint: String,
    secret: SigningSecret,
}

impl Office {
    async fn open() -> Self {
        let idp = Idp::start().await;
        let web = &idp.web;
        put_policy(web, json!({"self_approval": "deny"})).await.expect(200);
        let second = json!({"iss": "https://second.example", "shared_secret": SECRET, "algorithm": "HS256",
            "scopes": ["ask", "read", "decide", "manage"]});
        web.api("POST", "/v1/issuers", second).await.expect(201);
        let body = json!({"inbound": {"enabled": true, "actor_kinds": ["approver"]}});
        let made = web.api("POST", "/v1/endpoints", body).await.expect(201).json();
        let people = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
        let id_of = |is_mara: bool| {
            let mut people = people["approvers"].as_array().unwrap().iter();
            let found = people.find(|one| (one["name"] == "Mara") == is_mara).unwrap();
            found["id"].as_str().unwrap().to_owned()
        };
        Self {
            mara: id_of(true),
            other: id_of(false),
            endpoint: made["id"].as_str().unwrap().to_owned(),
            secret: made["inbound_secret"].as_str().unwrap().parse().unwrap(),
            idp,
        }
    }

    fn token(&self) -> String {
        self.idp.token("mara", json!({"scope": "ask read decide"}))
    }

    fn token_of_second(&self) -> String {
        let claims = json!({"iss": "https://second.example", "scope": "ask read decide manage"});
        self.idp.token("mara", claims)
    }

    async fn ask(&self, bearer: &str) -> String {
        let asked = self.idp.web.call("POST", "/v1/elicitations", bearer, json!({"message": "Pay?"})).await;
        asked.expect(201).json()["id"].as_str().unwrap().to_owned()
    }

    async fn accept(&self, bearer: &str, question: &str) -> Reply {
        let path = format!("/v1/elicitations/{question}/respond");
        self.idp.web.call("POST", &path, bearer, json!({"action": "accept"})).await
    }

    /// A signed answer in the name of `approver`.
    async fn sign(&self, approver: &str, question: &str) -> Reply {
        let body =
            json!({"type": "elicitation.respond", "data": {"elicitation": question, "action": "accept",
            "actor": {"kind": "approver", "id": approver}}})
            .to_string();
        let seconds = self.idp.web.test.now().millis() / 1_000;
        let id = format!("msg_{approver}_{question}");
        let request = Request::post(format!("/v1/inbound/{}", self.endpoint))
            .header("webhook-signature", self.secret.sign(&id, seconds, body.as_bytes()))
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-id", id);
        self.idp.web.send(request.body(body.into()).unwrap()).await
    }

    /// A key that asks and decides, made with `bearer`: its id and itself.
    async fn key(&self, bearer: &str) -> (String, String) {
        let body = json!({"name": "k", "scopes": ["ask", "decide", "manage"]});
        let made = self.idp.web.call("POST", "/v1/keys", bearer, body).await.expect(201).json();
        (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
    }

    async fn refuses_mara(&self, question: &str) {
        is_refused(&self.sign(&self.mara, question).await.expect(403));
        self.sign(&self.other, question).await.expect(200);
    }
}

fn is_refused(reply: &Reply) {
    assert_eq!(reply.json()["code"], "self_approval");
}

#[tokio::test]
async fn who_asks_by_token_does_not_answer_by_a_signed_request() {
    let office = Office::open().await;
    let question = office.ask(&office.token()).await;
    office.refuses_mara(&question).await;
}

#[tokio::test]
async fn who_asks_by_token_does_not_answer_by_the_token_of_another_issuer() {
    let office = Office::open().await;
    let question = office.ask(&office.token()).await;
    is_refused(&office.accept(&office.token_of_second(), &question).await.expect(403));
}

#[tokio::test]
async fn who_made_the_session_by_token_does_not_answer_what_is_asked_in_it() {
    let office = Office::open().await;
    let web = &office.idp.web;
    let session = web.call("POST", "/v1/sessions", &office.token(), json!({})).await.expect(201).json();
    let path = format!("/t/{}/api/v1/elicitations", session["ask_token"].as_str().unwrap());
    let body = json!({"message": "Pay?", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let asked = web.call("POST", &path, "", body).await.expect(201).json();
    office.refuses_mara(asked["_meta"]["com.countersign/elicitation-id"].as_str().unwrap()).await;
}

#[tokio::test]
async fn who_made_a_key_is_one_person_with_it() {
    let office = Office::open().await;
    let (_, key) = office.key(&office.token_of_second()).await;
    office.refuses_mara(&office.ask(&key).await).await;
    let own = office.ask(&office.token()).await;
    is_refused(&office.accept(&key, &own).await.expect(403));
    let (_, of_key) = office.key(&key).await;
    is_refused(&office.accept(&of_key, &own).await.expect(403));
}

#[tokio::test]
async fn who_rotated_a_key_is_one_person_with_it() {
    let office = Office::open().await;
    let root = office.idp.web.key.clone();
    let (id, _) = office.key(&root).await;
    let path = format!("/v1/keys/{id}/rotate");
    let rotated = office.idp.web.call("POST", &path, &office.token_of_second(), json!({})).await;
    let key = rotated.expect(200).json()["key"].as_str().unwrap().to_owned();
    let own = office.ask(&office.token()).await;
    is_refused(&office.accept(&key, &own).await.expect(403));
}

#[tokio::test]
async fn a_key_that_nobody_known_made_is_nobodys() {
    let office = Office::open().await;
    let root = office.idp.web.key.clone();
    let (_, key) = office.key(&root).await;
    let question = office.ask(&office.token()).await;
    office.accept(&key, &question).await.expect(200);
}
