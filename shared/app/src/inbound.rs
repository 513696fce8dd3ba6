//! Signed requests: a tenant's own gateway passes on what a person answered there (PROTOCOL.md section 2.6).
//!
//! Two steps, so that nothing of the body is looked at before its signature is: [`App::verify_inbound`], then
//! [`App::admit_inbound`]. The webhook-id is spent in the transaction that stores the decision: a request that was
//! refused, or met a store in trouble, may be sent again under its id.

use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use countersign_core::endpoint::{ActorKind, EndpointId};
use countersign_core::id::{ApproverId, Principal, TenantId};
use countersign_core::json::Sha256;
use countersign_core::limits::NONCE_GRACE;
use countersign_core::signature::{Signed, TOLERANCE};
use countersign_core::state::Method;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::{Caller, Deciding, Proof, Target};
use crate::endpoints::Endpoint;
use crate::ports::StoreError;
use crate::records::{Approver, ExternalKind, Nonce, Tenant, Wanted};

/// Namespace of the ids that signed requests spend.
const NAMESPACE: &str = "inbound";

/// Why a signed request is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InboundError {
    /// No such endpoint, not one that takes requests, or not signed by it: not told apart.
    #[error("the endpoint, the signature or the time is not good")]
    Unsigned,
    /// The id was spent on an answer before.
    #[error("this webhook-id was used before")]
    Replayed,
    /// The endpoint may not speak for such a person, or the person is no approver of the tenant.
    #[error("the actor is no approver here")]
    NotAnApprover,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A request that one of the tenant's endpoints signed.
#[derive(Debug, Clone)]
pub struct Inbound {
    tenant: Tenant,
    endpoint: Endpoint,
    nonce: Nonce,
}

impl App {
    /// Whether the endpoint signed the message, and its id is not spent.
    ///
    /// # Errors
    /// See [`InboundError`].
    pub async fn verify_inbound(
        &self,
        id: &EndpointId,
        message: &Signed<'_>,
    ) -> Result<Inbound, InboundError> {
        let now = self.clock.now();
        let nonce = inbound_nonce(id, message.id, now);
        let wanted =
            Wanted { tenant: true, endpoint: Some(id.clone()), nonce: Some(nonce.id), ..Wanted::default() };
        let rows = self.store.tenant(&id.tenant).read(&wanted).await?;
        let endpoint = rows.endpoint.filter(|one| one.inbound && !one.disabled);
        let tenant = rows.tenant.filter(|tenant| !tenant.deleting);
        let (tenant, endpoint) = tenant.zip(endpoint).ok_or(InboundError::Unsigned)?;
        let active = endpoint.inbound_secrets.iter().filter(|one| one.is_active(now));
        message.verify(active.map(|one| &one.secret), now).map_err(|why| {
            tracing::info!(tenant.id = %id.tenant, "a signed request was not let in: {why}");
            InboundError::Unsigned
        })?;
        if rows.nonce { Err(InboundError::Replayed) } else { Ok(Inbound { tenant, endpoint, nonce }) }
    }

    /// Leave to decide the question that a signed request names, as the approver that it names; `None` where there is
    /// no such question.
    ///
    /// # Errors
    /// See [`InboundError`].
    pub async fn admit_inbound(
        &self,
        inbound: Inbound,
        target: &Target,
        actor: (ActorKind, &str),
    ) -> Result<Option<Deciding>, InboundError> {
        let (question, approver) = futures_util::future::try_join(
            self.question(&inbound.tenant.id, target),
            self.actor(&inbound.tenant.id, actor),
        )
        .await?;
        let Some(question) = question else { return Ok(None) };
        let may = inbound.endpoint.actor_kinds.contains(&actor.0);
        let approver = approver.filter(|_| may).ok_or(InboundError::NotAnApprover)?;
        let proof = Proof {
            principal: Principal::approver(approver.id),
            scopes: vec![Scope::Decide],
            assurance: Assurance::Tap,
            method: Method::Webhook,
        };
        let caller = Caller::proven(inbound.tenant.id.clone(), &approver, proof);
        let approver = Some(approver);
        let question = Some(question);
        let (tenant, once) = (inbound.tenant, Some(inbound.nonce));
        Ok(Some(Deciding { caller, tenant, approver, question, once, is_fresh: true }))
    }

    async fn actor(
        &self,
        tenant: &TenantId,
        actor: (ActorKind, &str),
    ) -> Result<Option<Approver>, StoreError> {
        let store = self.store.tenant(tenant);
        let (kind, id) = actor;
        match kind {
            ActorKind::Approver => match id.parse::<ApproverId>() {
                Ok(id) => {
                    let wanted = Wanted { approver: Some(id), ..Wanted::default() };
                    Ok(store.read(&wanted).await?.approver)
                }
                Err(_) => Ok(None),
            },
            ActorKind::Slack => store.approver_by_external(ExternalKind::Slack, id).await,
            ActorKind::Telegram => store.approver_by_external(ExternalKind::Telegram, id).await,
            ActorKind::Sub => store.approver_by_external(ExternalKind::Sub, id).await,
        }
    }
}

/// What the id of a signed request spends. It is remembered longer than its timestamp could be good.
fn inbound_nonce(endpoint: &EndpointId, webhook_id: &str, now: Timestamp) -> Nonce {
    let hash = Sha256::of_json(&serde_json::json!([NAMESPACE, endpoint.to_string(), webhook_id]));
    Nonce { id: hash, until: now.plus(2 * TOLERANCE + NONCE_GRACE) }
}
