//! Approvers, groups, the policy, who may answer, and how often people are asked again.

mod approvers;
mod crowd;
mod decline;
mod document;
mod eligibility;
mod people;

use countersign_app::approvers::NewApprover;
use countersign_app::authority::{Caller, Proof, Target};
use countersign_app::records::{Approver, ExternalIds};
use countersign_app::respond::{Pressed, RespondError};
use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ApproverId, ElicitationId, Principal, TenantId};
use countersign_core::state::{Answer, Method};
use countersign_testkit::{Reply, TestApp, Web, pressed};
use serde_json::{Value, json};

/// A second tenant with an approver, and its key.
async fn other_tenant(web: &Web) -> String {
    let made = web.call("POST", "/v1/tenants", &web.operator, json!({"name": "acme"})).await.expect(201);
    made.json()["api_key"].as_str().unwrap().to_owned()
}

/// A policy in which `more` differs from that of one person on their own machine.
async fn put_policy(web: &Web, more: Value) -> Reply {
    let tap = json!({"assurance": "tap"});
    let mut policy = json!({
        "tiers": {"read": tap, "write": tap, "commit": tap, "external": tap}, "self_approval": "allow"
    });
    for (key, value) in more.as_object().unwrap() {
        policy[key] = value.clone();
    }
    web.api("PUT", "/v1/policy", policy).await
}

fn id_of(reply: &Reply) -> String {
    reply.json()["id"].as_str().unwrap().to_owned()
}

async fn add(web: &Web, body: Value) -> ApproverId {
    id_of(&web.api("POST", "/v1/approvers", body).await.expect(201)).parse().unwrap()
}

async fn ask(web: &Web, body: Value) -> Reply {
    web.api("POST", "/v1/elicitations", body).await
}

fn tenant() -> TenantId {
    "demo".parse().unwrap()
}

fn proof(principal: &str, assurance: Assurance) -> Proof {
    Proof {
        principal: Principal::stored(principal),
        scopes: vec![Scope::Decide],
        assurance,
        method: Method::Api,
    }
}

/// The approver as they call once they have signed in.
fn signed_in(id: ApproverId, assurance: Assurance) -> Caller {
    let record = Approver {
        id,
        name: "Mara".into(),
        email: None,
        groups: vec![],
        external_ids: ExternalIds::default(),
        created_at: countersign_testkit::app::START,
        revision: 1,
    };
    Caller::proven(tenant(), &record, proof(&format!("issuer {id}"), assurance))
}

/// Answers a question as `caller`.
async fn answer(
    test: &TestApp,
    caller: Caller,
    id: &str,
    content: Option<Answer>,
) -> Result<Elicitation, RespondError> {
    let id: ElicitationId = id.parse().unwrap();
    let page = test.app.admit_verified(caller, &Target::Id(id)).await.unwrap();
    test.app.respond(page, pressed(Pressed::Accept, content)).await
}

async fn row(test: &TestApp, id: &str) -> Elicitation {
    test.app.store.tenant(&tenant()).elicitation(id.parse().unwrap()).await.unwrap().unwrap()
}

fn new(name: &str) -> NewApprover {
    NewApprover { name: name.into(), ..NewApprover::default() }
}
