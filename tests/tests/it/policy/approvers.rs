//! Approvers and what they are found by.

use countersign_app::records::ExternalKind;
use countersign_testkit::Web;
use serde_json::{Value, json};

use super::{add, id_of, other_tenant, tenant};

async fn found(web: &Web, kind: ExternalKind, id: &str) -> Option<String> {
    let store = web.test.app.store.tenant(&tenant());
    store.approver_by_external(kind, id).await.unwrap().map(|one| one.name)
}

#[tokio::test]
async fn an_approver_is_read_as_it_was_made_and_listed() {
    let web = Web::start().await;
    let body = json!({
        "name": "Mara", "email": "mara@example.com", "groups": ["on-call", "finance", "finance"],
        "external_ids": {"slack": "U1", "sub": "mara"}
    });
    let made = web.api("POST", "/v1/approvers", body).await.expect(201).json();
    assert_eq!(made["groups"], json!(["finance", "on-call"]), "in order, each once");
    assert_eq!(made["external_ids"], json!({"slack": "U1", "sub": "mara"}));
    let path = format!("/v1/approvers/{}", made["id"].as_str().unwrap());
    assert_eq!(web.api("GET", &path, Value::Null).await.expect(200).json(), made);
    let all = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
    assert!(all["approvers"].as_array().unwrap().contains(&made));
}

#[tokio::test]
async fn a_patch_changes_what_it_names_and_null_clears() {
    let web = Web::start().await;
    let body = json!({
        "name": "Mara", "email": "mara@example.com", "groups": ["finance"], "external_ids": {"slack": "U1", "sub": "m"}
    });
    let made = web.api("POST", "/v1/approvers", body).await.expect(201).json();
    let path = format!("/v1/approvers/{}", made["id"].as_str().unwrap());
    let change = json!({"name": "Mara K.", "email": null, "external_ids": {"slack": null, "telegram": "7"}});
    let changed = web.api("PATCH", &path, change).await.expect(200).json();
    let want = json!({
        "id": made["id"], "name": "Mara K.", "groups": ["finance"], "external_ids": {"telegram": "7", "sub": "m"},
        "channels": [], "created_at": made["created_at"]
    });
    assert_eq!(changed, want);
    assert_eq!(web.api("GET", &path, Value::Null).await.expect(200).json(), want);
    let wrong = web.api("PATCH", &path, json!({"groups": ["Finance"]})).await.expect(422).json();
    assert_eq!(wrong["errors"][0]["pointer"], "/groups/0");
}

#[tokio::test]
async fn an_external_id_finds_its_approver_and_follows_every_change() {
    let web = Web::start().await;
    let mara =
        add(&web, json!({"name": "Mara", "email": "M@example.com", "external_ids": {"sub": "u1"}})).await;
    assert_eq!(found(&web, ExternalKind::Sub, "u1").await.as_deref(), Some("Mara"));
    assert_eq!(found(&web, ExternalKind::Slack, "u1").await, None, "another kind");
    assert_eq!(found(&web, ExternalKind::Mail, "m@EXAMPLE.com").await.as_deref(), Some("Mara"));

    let path = format!("/v1/approvers/{mara}");
    let change = json!({"email": "m@example.com", "external_ids": {"sub": "u2"}});
    web.api("PATCH", &path, change).await.expect(200);
    assert_eq!(found(&web, ExternalKind::Sub, "u1").await, None);
    assert_eq!(found(&web, ExternalKind::Sub, "u2").await.as_deref(), Some("Mara"));
    assert_eq!(found(&web, ExternalKind::Mail, "m@example.com").await.as_deref(), Some("Mara"));

    web.api("DELETE", &path, Value::Null).await.expect(204);
    assert_eq!(found(&web, ExternalKind::Sub, "u2").await, None);
    assert_eq!(found(&web, ExternalKind::Mail, "m@example.com").await, None);
}

#[tokio::test]
async fn an_external_id_is_one_approvers() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "external_ids": {"slack": "U1"}})).await;
    let second = json!({"name": "Bo", "groups": ["a"], "external_ids": {"slack": "U1"}});
    let taken = web.api("POST", "/v1/approvers", second).await.expect(409).json();
    assert_eq!(
        (&taken["code"], &taken["errors"][0]["pointer"]),
        (&json!("external_id_taken"), &json!("/external_ids/slack"))
    );
    let bo = add(&web, json!({"name": "Bo"})).await;
    let steal = json!({"external_ids": {"slack": "U1"}});
    web.api("PATCH", &format!("/v1/approvers/{bo}"), steal.clone()).await.expect(409);
    let all = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
    assert_eq!(all["approvers"].as_array().unwrap().len(), 3, "nothing of what was refused is stored");
    web.api("DELETE", &format!("/v1/approvers/{mara}"), Value::Null).await.expect(204);
    web.api("PATCH", &format!("/v1/approvers/{bo}"), steal).await.expect(200);
    assert_eq!(found(&web, ExternalKind::Slack, "U1").await.as_deref(), Some("Bo"));
}

#[tokio::test]
async fn a_mail_address_that_two_share_finds_neither() {
    let web = Web::start().await;
    for name in ["Mara", "Bo"] {
        add(&web, json!({"name": name, "email": "team@example.com"})).await;
    }
    assert_eq!(found(&web, ExternalKind::Mail, "team@example.com").await, None);
}

#[tokio::test]
async fn a_removed_approver_is_gone_for_good() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara", "email": "mara@example.com"})).await;
    let path = format!("/v1/approvers/{mara}");
    web.api("DELETE", &path, Value::Null).await.expect(204);
    for method in ["GET", "DELETE", "PATCH"] {
        web.api(method, &path, json!({})).await.expect(404);
    }
    let asked = super::ask(&web, json!({"message": "Delete?"})).await.expect(201).json();
    let routes = asked["reachable"]["approvers"].as_array().unwrap();
    assert!(routes.iter().all(|one| one["approver_id"] != mara.to_string()), "{routes:?}");
}

#[tokio::test]
async fn a_repeated_create_of_a_removed_approver_finds_nothing() {
    let web = Web::start().await;
    let request = || {
        http::Request::post("/v1/approvers")
            .header("authorization", format!("Bearer {}", web.key))
            .header("idempotency-key", "k1")
            .body(json!({"name": "Mara", "external_ids": {"sub": "m"}}).to_string().into())
            .unwrap()
    };
    let made = id_of(&web.send(request()).await.expect(201));
    assert_eq!(id_of(&web.send(request()).await.expect(201)), made, "its own id is not taken");
    web.api("DELETE", &format!("/v1/approvers/{made}"), Value::Null).await.expect(204);
    web.send(request()).await.expect(404);
}

#[tokio::test]
async fn two_tenants_have_their_own_groups_and_external_ids() {
    let web = Web::start().await;
    let key = other_tenant(&web).await;
    let body = json!({"name": "Mara", "groups": ["finance"], "external_ids": {"slack": "U1", "sub": "u1"}});
    let ours = add(&web, body.clone()).await;
    let theirs = id_of(&web.call("POST", "/v1/approvers", &key, body).await.expect(201));
    let absent =
        web.call("GET", "/v1/approvers/ap_00000000000000000000000000", &key, Value::Null).await.expect(404);
    let path = format!("/v1/approvers/{ours}");
    for (method, body) in [("GET", Value::Null), ("PATCH", json!({"name": "x"})), ("DELETE", Value::Null)] {
        assert_eq!(web.call(method, &path, &key, body).await.expect(404).bytes, absent.bytes, "{method}");
    }
    web.call("DELETE", &format!("/v1/approvers/{theirs}"), &key, Value::Null).await.expect(204);
    assert_eq!(found(&web, ExternalKind::Sub, "u1").await.as_deref(), Some("Mara"), "ours stays");
}

#[tokio::test]
async fn an_approver_that_is_changed_by_two_at_once_keeps_both_changes() {
    let web = Web::start().await;
    let mara = add(&web, json!({"name": "Mara"})).await;
    let path = format!("/v1/approvers/{mara}");
    let change = |body| web.api("PATCH", &path, body);
    let (one, two) =
        tokio::join!(change(json!({"groups": ["a"]})), change(json!({"external_ids": {"sub": "u"}})));
    assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200));
    let now = web.api("GET", &path, Value::Null).await.expect(200).json();
    assert_eq!((&now["groups"], &now["external_ids"]["sub"]), (&json!(["a"]), &json!("u")));
}
