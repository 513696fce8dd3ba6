//! What lies in the table: answers and shared secrets never in the open (DESIGN.md section 4).

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use axum::Router;
use countersign_app::App;
use countersign_core::id::TenantId;
use countersign_core::seal::{KeyRing, SealKey};
use countersign_embedded::engine::TABLE;
use countersign_http::{Http, routes};
use countersign_store::DynamoStore;
use countersign_store::vault::{DataKey, KeyWrap, RingWrap, WrapError};
use countersign_testkit::Web;
use countersign_testkit::app::SEAL_KEY;
use serde_json::{Value, json};

pub(crate) type Row = HashMap<String, AttributeValue>;

/// Every row of the table, as the engine has it.
pub(crate) async fn dump(web: &Web) -> Vec<Row> {
    let client = web.test.engine.as_ref().unwrap().client();
    client.scan().table_name(TABLE).send().await.unwrap().items.unwrap()
}

/// Every byte of every row: bytes that are text show as text.
pub(crate) fn readable(rows: &[Row]) -> String {
    fn show(value: &AttributeValue) -> String {
        match value {
            AttributeValue::S(text) | AttributeValue::N(text) => text.clone(),
            AttributeValue::B(bytes) => String::from_utf8_lossy(bytes.as_ref()).into_owned(),
            AttributeValue::L(list) => list.iter().map(show).collect::<Vec<_>>().join("\n"),
            AttributeValue::M(map) => map.values().map(show).collect::<Vec<_>>().join("\n"),
            _ => String::new(),
        }
    }
    rows.iter().flat_map(|row| row.values().map(show)).collect::<Vec<_>>().join("\n")
}

async fn answered(web: &Web) -> String {
    let schema = json!({"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]});
    let body = json!({"message": "What shall I write?", "requested_schema": schema});
    let asked = web.api("POST", "/v1/elicitations", body).await.expect(201).json();
    let id = asked["id"].as_str().unwrap().to_owned();
    let answer = json!({"action": "accept", "content": {"note": "tell nobody of the merger"}, "reason": "as we spoke"});
    web.api("POST", &format!("/v1/elicitations/{id}/respond"), answer).await.expect(200);
    id
}

#[tokio::test]
async fn no_answer_reason_or_shared_secret_lies_in_the_table_in_the_open() {
    let web = Web::start().await;
    let id = answered(&web).await;
    let body = json!({"inbound": {"enabled": true, "actor_kinds": ["sub"]}});
    let endpoint = web.api("POST", "/v1/endpoints", body).await.expect(201).json();
    let text = readable(&dump(&web).await);
    assert!(text.contains("What shall I write?"), "the dump shows nothing at all");
    for secret in ["merger", "as we spoke", "whsec_", &web.key[web.key.len() - 32..]] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(!text.contains(&endpoint["secret"].as_str().unwrap()["whsec_".len()..]));
    let read = web.api("GET", &format!("/v1/elicitations/{id}"), Value::Null).await.expect(200).json();
    assert_eq!(read["content"]["note"], "tell nobody of the merger");
    assert_eq!(read["reason"], "as we spoke");
}

#[tokio::test]
async fn an_answer_that_was_moved_to_another_question_is_no_answer() {
    let web = Web::start().await;
    let (first, second) = (answered(&web).await, answered(&web).await);
    let rows = dump(&web).await;
    let state = |id: &str| {
        let is_it = |row: &&Row| {
            row["SK"] == AttributeValue::S("STATE".into()) && row["id"] == AttributeValue::S(id.into())
        };
        rows.iter().find(is_it).unwrap().clone()
    };
    let mut forged = state(&second);
    forged.insert("content".into(), state(&first)["content"].clone());
    let client = web.test.engine.as_ref().unwrap().client();
    client.put_item().table_name(TABLE).set_item(Some(forged)).send().await.unwrap();
    web.api("GET", &format!("/v1/elicitations/{second}"), Value::Null).await.expect(503);
    web.api("GET", &format!("/v1/elicitations/{first}"), Value::Null).await.expect(200);
}

#[tokio::test]
async fn answers_outlive_a_rotation_of_the_key_that_wraps() {
    let mut web = Web::start().await;
    let id = answered(&web).await;
    let old = SealKey::new(SEAL_KEY.0, SEAL_KEY.1).unwrap();
    let ring = KeyRing::new(SealKey::new("k2", [2; 32]).unwrap(), vec![old]);
    let wrap = RingWrap::new(&ring, web.test.app.entropy.clone());
    web.router = wrapping(&web, Arc::new(wrap));
    let read = web.api("GET", &format!("/v1/elicitations/{id}"), Value::Null).await.expect(200).json();
    assert_eq!(read["content"]["note"], "tell nobody of the merger");
}

/// What the run-book of SECURITY.md says of dropping a seal key where no KMS key is set.
#[tokio::test]
async fn a_tenant_needs_the_key_that_it_was_made_under_for_new_answers_too() {
    let mut web = Web::start().await;
    let asked = web.api("POST", "/v1/elicitations", json!({"message": "Send it?"})).await.expect(201).json();
    let respond = format!("/v1/elicitations/{}/respond", asked["id"].as_str().unwrap());
    let new = || SealKey::new("k2", [2; 32]).unwrap();
    let under = |old| RingWrap::new(&KeyRing::new(new(), old), web.test.app.entropy.clone());
    let (dropped, kept) = (under(vec![]), under(vec![SealKey::new(SEAL_KEY.0, SEAL_KEY.1).unwrap()]));
    let (dropped, kept) = (wrapping(&web, Arc::new(dropped)), wrapping(&web, Arc::new(kept)));
    web.router = dropped.clone();
    let refused = web.api("POST", &respond, json!({"action": "accept"})).await;
    assert!(refused.status.is_server_error(), "{}", refused.status);
    web.router = kept;
    web.api("POST", &respond, json!({"action": "accept"})).await.expect(200);
    web.router = dropped;
    let read = web.api("GET", respond.trim_end_matches("/respond"), Value::Null).await;
    assert!(read.status.is_server_error(), "{}", read.status);
}

/// A key service that is down.
struct Down;

#[async_trait::async_trait]
impl KeyWrap for Down {
    async fn wrap(&self, _: &TenantId, _: &DataKey) -> Result<Vec<u8>, WrapError> {
        Err(WrapError::Unavailable("down".into()))
    }

    async fn unwrap(&self, _: &TenantId, _: &[u8]) -> Result<DataKey, WrapError> {
        Err(WrapError::Unavailable("down".into()))
    }
}

#[tokio::test]
async fn a_key_service_that_is_down_loses_no_answer_and_ends_no_wait() {
    let mut web = Web::start().await;
    let (_, path) = web.session().await;
    let ask = json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let asked = web.call("POST", &path, "", ask).await.expect(201).json();
    let id = asked["_meta"]["com.countersign/elicitation-id"].as_str().unwrap();
    let respond = format!("/v1/elicitations/{id}/respond");
    let poll = format!("{path}/{}", asked["requestId"].as_str().unwrap());
    let (up, down) = (web.router.clone(), wrapping(&web, Arc::new(Down)));
    web.router = down.clone();
    web.api("POST", &respond, json!({"action": "accept"})).await.expect(503);
    web.router = up.clone();
    web.api("POST", &respond, json!({"action": "accept"})).await.expect(200);
    web.router = down;
    let polled = web.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!(polled["action"], "pending");
    web.router = up;
    let polled = web.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!(polled["action"], "accept");
}

/// The routes over the same table by a process of its own, whose data keys `wrap` wraps.
fn wrapping(web: &Web, wrap: Arc<dyn KeyWrap>) -> Router {
    let test = &web.test;
    let store = DynamoStore::new(test.process.clone(), test.clock.clone(), test.app.entropy.clone(), wrap);
    let app = App { store: Arc::new(store), ..test.app.clone() };
    routes::all(Http { app, operator: Arc::new(web.operator.parse().unwrap()) })
}
