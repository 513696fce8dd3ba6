//! Callers by the tokens of a tenant's own identity provider (PROTOCOL.md sections 0 and 2.5). What no token may get
//! past is in `countersign-identity`; this is what a good one may do.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_testkit::Web;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const SECRET: &str = "a shared secret of thirty-2 bytes";
const ISS: &str = "https://id.acme.example";

/// A deployment with an issuer, and an approver whom it calls `mara`.
pub(crate) struct Idp {
    pub(crate) web: Web,
    issuer: String,
}

impl Idp {
    pub(crate) async fn start() -> Self {
        let web = Web::start().await;
        let body = json!({"iss": ISS, "shared_secret": SECRET, "algorithm": "HS256", "scopes": ["ask", "read", "decide"],
            "acr": {"code": ["mfa"], "passkey": ["hwk"]}});
        let made = web.api("POST", "/v1/issuers", body).await.expect(201).json();
        assert_eq!(made["audience"], "http://127.0.0.1:8787/demo");
        let approver = json!({"name": "Mara", "email": "mara@example.com", "external_ids": {"sub": "mara"}});
        web.api("POST", "/v1/approvers", approver).await.expect(201);
        Self { web, issuer: made["id"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn token(&self, sub: &str, more: Value) -> String {
        let now = self.web.test.now().millis() / 1_000;
        let mut claims = json!({"iss": ISS, "aud": "http://127.0.0.1:8787/demo", "sub": sub, "exp": now + 300,
            "scope": "read decide"});
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        signed(&claims)
    }

    async fn ask(&self, tier: &str) -> String {
        let body = json!({"message": "Delete 3 messages?", "tool": "delete", "tier": tier});
        let asked = self.web.api("POST", "/v1/elicitations", body).await.expect(201).json();
        format!("/v1/elicitations/{}", asked["id"].as_str().unwrap())
    }
}

/// A JWT of these claims, signed with the shared secret.
pub(crate) fn signed(claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({"alg": "HS256"})), part(claims));
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac))
}

#[tokio::test]
async fn a_token_decides_as_the_approver_that_its_subject_is() {
    let idp = Idp::start().await;
    let path = idp.ask("write").await;
    let token = idp.token("mara", json!({}));
    let view = idp.web.call("POST", &format!("{path}/respond"), &token, json!({"action": "accept"})).await;
    let view = view.expect(200).json();
    assert_eq!(
        (view["decided_by"]["name"].as_str(), view["decided_by"]["method"].as_str()),
        (Some("Mara"), Some("api"))
    );
    assert!(view["decided_by"]["approver_id"].as_str().unwrap().starts_with("ap_"));
}

#[tokio::test]
async fn a_token_of_nobody_we_know_reads_and_does_not_decide() {
    let idp = Idp::start().await;
    let path = idp.ask("write").await;
    let token = idp.token("stranger", json!({}));
    idp.web.call("GET", &path, &token, Value::Null).await.expect(200);
    let refused = idp.web.call("POST", &format!("{path}/respond"), &token, json!({"action": "accept"})).await;
    assert_eq!(refused.expect(403).json()["code"], "not_an_approver");
}

#[tokio::test]
async fn a_token_may_what_its_claim_and_its_issuers_ceiling_both_say() {
    let idp = Idp::start().await;
    let path = idp.ask("write").await;
    let reader = idp.token("mara", json!({"scope": "read"}));
    idp.web.call("POST", &format!("{path}/respond"), &reader, json!({"action": "accept"})).await.expect(403);
    let manager = idp.token("mara", json!({"scope": "manage read"}));
    idp.web.call("GET", "/v1/keys", &manager, Value::Null).await.expect(403);
    let asker = idp.token("mara", json!({"scope": ["ask"]}));
    let body = json!({"message": "Send it?"});
    let made = idp.web.call("POST", "/v1/elicitations", &asker, body).await.expect(201).json();
    let own = format!("/v1/elicitations/{}", made["id"].as_str().unwrap());
    idp.web.call("GET", &own, &asker, Value::Null).await.expect(200);
    idp.web.call("GET", &path, &asker, Value::Null).await.expect(404);
}

#[tokio::test]
async fn an_acr_raises_the_assurance_that_the_policy_asks_for() {
    let idp = Idp::start().await;
    let policy = idp.web.api("GET", "/v1/policy", Value::Null).await.expect(200).json();
    let mut changed = policy.clone();
    changed["tiers"]["commit"]["assurance"] = json!("code");
    for member in ["version", "updated_at"] {
        changed.as_object_mut().unwrap().remove(member);
    }
    idp.web.api("PUT", "/v1/policy", changed).await.expect(200);
    let path = format!("{}/respond", idp.ask("commit").await);
    let tap = idp.token("mara", json!({}));
    let refused = idp.web.call("POST", &path, &tap, json!({"action": "accept"})).await.expect(403);
    assert_eq!(refused.json()["code"], "assurance_too_low");
    let code = idp.token("mara", json!({"acr": "mfa"}));
    idp.web.call("POST", &path, &code, json!({"action": "accept"})).await.expect(200);
}

#[tokio::test]
async fn a_token_ends_by_its_own_clock_and_with_its_issuer() {
    let idp = Idp::start().await;
    let token = idp.token("mara", json!({}));
    let list = "/v1/elicitations?status=pending";
    idp.web.call("GET", list, &token, Value::Null).await.expect(200);
    idp.web.api("DELETE", &format!("/v1/issuers/{}", idp.issuer), Value::Null).await.expect(204);
    idp.web.call("GET", list, &token, Value::Null).await.expect(401);
    let again = Idp::start().await;
    let token = again.token("mara", json!({}));
    again.web.test.clock.advance(Duration::from_secs(330));
    again.web.call("GET", list, &token, Value::Null).await.expect(401);
}

#[tokio::test]
async fn a_token_of_one_tenant_is_nothing_in_another() {
    let idp = Idp::start().await;
    let web = &idp.web;
    web.call("POST", "/v1/tenants", &web.operator, json!({"name": "other"})).await.expect(201);
    let list = "/v1/elicitations?status=pending";
    let theirs = idp.token("mara", json!({"aud": "http://127.0.0.1:8787/other"}));
    web.call("GET", list, &theirs, Value::Null).await.expect(401);
    let both =
        idp.token("mara", json!({"aud": ["http://127.0.0.1:8787/other", "http://127.0.0.1:8787/demo"]}));
    web.call("GET", list, &both, Value::Null).await.expect(401);
    let nobody = idp.token("mara", json!({"aud": "http://127.0.0.1:8787/nobody"}));
    web.call("GET", list, &nobody, Value::Null).await.expect(401);
}

#[tokio::test]
async fn an_issuer_is_given_no_more_than_its_maker_has_and_its_secret_is_never_shown() {
    let idp = Idp::start().await;
    let key = json!({"name": "m", "scopes": ["manage"]});
    let key = idp.web.api("POST", "/v1/keys", key).await.expect(201).json();
    let body = json!({"iss": "https://other.example", "shared_secret": SECRET, "algorithm": "HS256", "scopes": ["decide"]});
    let refused = idp.web.call("POST", "/v1/issuers", key["key"].as_str().unwrap(), body.clone()).await;
    assert_eq!(refused.expect(403).json()["code"], "beyond_own_rights");
    for path in ["/v1/issuers".to_owned(), format!("/v1/issuers/{}", idp.issuer)] {
        let shown = idp.web.api("GET", &path, Value::Null).await.expect(200).bytes;
        assert!(!String::from_utf8(shown).unwrap().contains(SECRET));
    }
    let mut again = body;
    again["iss"] = json!(ISS);
    assert_eq!(idp.web.api("POST", "/v1/issuers", again).await.expect(409).json()["code"], "issuer_exists");
}

#[tokio::test]
async fn an_issuer_that_cannot_be_is_refused_with_a_pointer() {
    let web = Web::start().await;
    for (body, pointer) in [
        (json!({"iss": ISS, "shared_secret": "short", "algorithm": "HS256"}), "/shared_secret"),
        (json!({"iss": ISS, "jwks_url": "http://id.acme.example/jwks", "algorithm": "RS256"}), "/jwks_url"),
        (json!({"iss": ISS, "jwks_url": "https://id.acme.example/jwks", "algorithm": "HS256"}), "/algorithm"),
        (json!({"iss": ISS, "public_key": "hello", "algorithm": "RS256"}), "/public_key"),
        (json!({"iss": ISS}), "/jwks_url"),
    ] {
        let refused = web.api("POST", "/v1/issuers", body.clone()).await.expect(422).json();
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn keys_that_cannot_be_had_are_told_from_a_token_that_is_wrong() {
    let idp = Idp::start().await;
    let body =
        json!({"iss": "https://jwks.example", "jwks_url": "https://jwks.example/keys", "algorithm": "EdDSA"});
    idp.web.api("POST", "/v1/issuers", body).await.expect(201);
    let now = idp.web.test.now().millis() / 1_000;
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(json!({"alg": "EdDSA", "kid": "k1"}));
    let claims =
        part(json!({"iss": "https://jwks.example", "aud": "http://127.0.0.1:8787/demo", "sub": "mara",
        "exp": now + 300, "scope": "read"}));
    let token = format!("{head}.{claims}.{}", URL_SAFE_NO_PAD.encode([1; 64]));
    let list = "/v1/elicitations?status=pending";
    let refused = idp.web.call("GET", list, &token, Value::Null).await.expect(503);
    assert_eq!(refused.json()["code"], "issuer_unavailable");
    assert_eq!(refused.headers["retry-after"], "60");
    idp.web.test.jwks.publish("https://jwks.example/keys", br#"{"keys": []}"#.to_vec());
    idp.web.test.clock.advance(Duration::from_mins(1));
    idp.web.call("GET", list, &token, Value::Null).await.expect(401);
}
