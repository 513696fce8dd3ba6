//! The port of the use-cases, spelled out: what each call does lies in the file of its access pattern.

use async_trait::async_trait;
use countersign_app::endpoints::{Endpoint, EndpointOutcome};
use countersign_app::events::ToldOf;
use countersign_app::humans::{HumanRow, HumanRows, MailedCode, SignIn};
use countersign_app::inbox::Question;
use countersign_app::issuers::Registration;
use countersign_app::keys::{KeyOutcome, KeyRecord};
use countersign_app::passkeys::Passkey;
use countersign_app::ports::{StoreError, TenantStore};
use countersign_app::records::{
    Approver, ApproverChange, ApproverOutcome, AttemptEnd, CreateOutcome, ExternalKind, Idempotency,
    NewElicitation, Nonce, Planned, PolicyVersion, Purged, Rows, SessionOutcome, Settled, Settlement, Tenant,
    Wanted,
};
use countersign_core::delivery::{Delivery, DeliveryKey};
use countersign_core::elicitation::Elicitation;
use countersign_core::endpoint::EndpointId;
use countersign_core::event::{EventDelivery, EventKey};
use countersign_core::id::{
    ApiKeyId, ApproverId, AskTokenId, CodeId, ElicitationId, HumanSessionId, IssuerId, Reference, RequestId,
    SessionId,
};
use countersign_core::json::Sha256;
use countersign_core::quota::{Bucket, Quota};
use countersign_core::retry::Budget;
use countersign_core::seal::KeyedHash;
use countersign_core::session::{Session, TokenFacts};
use countersign_core::time::Timestamp;

use crate::scoped::TenantRows;

type Listed = Vec<(String, ElicitationId)>;

#[async_trait]
impl TenantStore for TenantRows {
    async fn read(&self, wanted: &Wanted) -> Result<Rows, StoreError> {
        self.read_rows(wanted).await
    }

    async fn elicitation(&self, id: ElicitationId) -> Result<Option<Elicitation>, StoreError> {
        self.read_state_once(id).await
    }

    async fn by_request_id(&self, request_id: &RequestId) -> Result<Vec<ElicitationId>, StoreError> {
        self.find_request(request_id).await
    }

    async fn by_reference(&self, reference: &Reference) -> Result<Option<ElicitationId>, StoreError> {
        self.find_reference(reference).await
    }

    async fn create(&self, new: &NewElicitation, budget: Budget) -> Result<CreateOutcome, StoreError> {
        self.create_rows(new, budget).await
    }

    async fn settle(
        &self,
        elicitation: &Elicitation,
        settlement: &Settlement,
        budget: Budget,
    ) -> Result<Settled, StoreError> {
        self.settle_rows(elicitation, settlement, budget).await
    }

    async fn renew_lease(&self, id: ElicitationId, now: Timestamp) -> Result<(), StoreError> {
        self.renew(id, now).await
    }

    async fn collected(&self, question: &Elicitation, now: Timestamp) -> Result<(), StoreError> {
        self.collect(question, now).await
    }

    async fn claim_hold(
        &self,
        id: ElicitationId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.hold(id, until, now).await
    }

    async fn pending(&self, after: Option<String>, limit: usize) -> Result<Listed, StoreError> {
        self.list_pending(after.as_deref(), limit).await
    }

    async fn of_session(
        &self,
        session: SessionId,
        after: Option<String>,
        limit: usize,
    ) -> Result<Listed, StoreError> {
        self.list_session(session, after.as_deref(), limit).await
    }

    async fn create_session(
        &self,
        session: &Session,
        idempotency: Option<&Idempotency>,
    ) -> Result<SessionOutcome, StoreError> {
        self.put_session(session, idempotency).await
    }

    async fn add_token(
        &self,
        session: SessionId,
        token: &TokenFacts,
        expired: &[AskTokenId],
    ) -> Result<bool, StoreError> {
        self.put_token(session, token, expired).await
    }

    async fn remove_token(&self, session: SessionId, token: AskTokenId) -> Result<(), StoreError> {
        self.drop_token(session, token).await
    }

    async fn archive(&self, session: SessionId, now: Timestamp) -> Result<(), StoreError> {
        self.end_creates(session, now).await
    }

    async fn resume(&self, session: SessionId, overdue: &[ElicitationId]) -> Result<(), StoreError> {
        self.clear_block(session, overdue).await
    }

    async fn unmute(&self, session: SessionId) -> Result<(), StoreError> {
        self.forget_declines(session).await
    }

    async fn approvers(&self) -> Result<Vec<Approver>, StoreError> {
        self.read_approvers().await
    }

    async fn create_tenant(&self, tenant: &Tenant, key: &KeyRecord) -> Result<bool, StoreError> {
        self.put_tenant(tenant, key).await
    }

    async fn create_approver(
        &self,
        approver: &Approver,
        idempotency: Option<&Idempotency>,
    ) -> Result<ApproverOutcome, StoreError> {
        self.put_approver(approver, idempotency).await
    }

    async fn replace_approver(
        &self,
        before: &Approver,
        after: &Approver,
    ) -> Result<ApproverChange, StoreError> {
        self.swap_approver(before, after).await
    }

    async fn remove_approver(&self, approver: &Approver) -> Result<ApproverChange, StoreError> {
        self.drop_approver(approver).await
    }

    async fn approver_by_external(
        &self,
        kind: ExternalKind,
        id: &str,
    ) -> Result<Option<Approver>, StoreError> {
        self.find_external(kind, id).await
    }

    async fn put_policy(&self, next: &PolicyVersion) -> Result<bool, StoreError> {
        self.put_policy_version(next).await
    }

    async fn policy(&self, version: u64) -> Result<Option<PolicyVersion>, StoreError> {
        self.read_policy_version(version).await
    }

    async fn plan(&self, elicitation: &Elicitation, planned: &Planned) -> Result<bool, StoreError> {
        self.plan_rows(elicitation, planned).await
    }

    async fn deliveries(&self, id: ElicitationId) -> Result<Vec<Delivery>, StoreError> {
        self.read_deliveries(id).await
    }

    async fn delivery(&self, key: DeliveryKey) -> Result<Option<Delivery>, StoreError> {
        self.read_delivery(key).await
    }

    async fn begin_attempt(
        &self,
        delivery: &Delivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.count_attempt(delivery, lease, now).await
    }

    async fn end_attempt(
        &self,
        delivery: &Delivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store_end(delivery, end, now).await
    }

    async fn key(&self, id: ApiKeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.read_key_row(id).await
    }

    async fn charge(
        &self,
        read: &Bucket,
        rebase: bool,
        forgotten: &[u64],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.charge_bucket(read, rebase, forgotten, now).await
    }

    async fn refund(&self, now: Timestamp) -> Result<(), StoreError> {
        self.refund_bucket(now).await
    }

    async fn set_quota(&self, quota: &Quota) -> Result<(), StoreError> {
        self.write_quota(quota).await
    }

    async fn set_suspended(&self, suspended: bool) -> Result<(), StoreError> {
        self.write_suspended(suspended).await
    }

    async fn begin_deletion(&self, now: Timestamp) -> Result<(), StoreError> {
        self.mark_deleted(now).await
    }

    async fn purge_page(&self) -> Result<Purged, StoreError> {
        self.remove_page().await
    }

    async fn create_key(
        &self,
        key: &KeyRecord,
        idempotency: Option<&Idempotency>,
    ) -> Result<KeyOutcome, StoreError> {
        self.put_key(key, idempotency).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.list_keys().await
    }

    async fn rotate_key(&self, key: &KeyRecord, before: &KeyedHash) -> Result<bool, StoreError> {
        self.put_hashes(key, before).await
    }

    async fn remove_key(&self, id: ApiKeyId) -> Result<(), StoreError> {
        self.delete_key(id).await
    }

    async fn note_key_use(&self, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        self.touch_key(id, now).await
    }

    async fn create_issuer(&self, issuer: &Registration) -> Result<bool, StoreError> {
        self.put_issuer(issuer).await
    }

    async fn issuers(&self) -> Result<Vec<Registration>, StoreError> {
        self.read_issuers().await
    }

    async fn remove_issuer(&self, id: IssuerId) -> Result<(), StoreError> {
        self.delete_issuer(id).await
    }

    async fn create_endpoint(
        &self,
        endpoint: &Endpoint,
        idempotency: Option<&Idempotency>,
    ) -> Result<EndpointOutcome, StoreError> {
        self.put_endpoint(endpoint, idempotency).await
    }

    async fn replace_endpoint(&self, endpoint: &Endpoint) -> Result<bool, StoreError> {
        self.overwrite_endpoint(endpoint).await
    }

    async fn endpoint(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        self.read_endpoint_row(id).await
    }

    async fn endpoints(&self) -> Result<Vec<Endpoint>, StoreError> {
        self.read_endpoints().await
    }

    async fn remove_endpoint(&self, id: &EndpointId) -> Result<(), StoreError> {
        self.delete_endpoint(id).await
    }

    async fn drop_due(&self, id: ElicitationId) -> Result<(), StoreError> {
        self.remove_due(id).await
    }

    async fn open_questions(&self, limit: usize) -> Result<Vec<ElicitationId>, StoreError> {
        self.list_open_once(limit).await
    }

    async fn routed(
        &self,
        approver: ApproverId,
        from: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<ElicitationId>, StoreError> {
        self.list_routed(approver, from, limit).await
    }

    async fn questions(&self, ids: &[ElicitationId]) -> Result<Vec<Question>, StoreError> {
        self.read_questions(ids).await
    }

    async fn put_code(&self, code: &MailedCode) -> Result<(), StoreError> {
        self.write_code(code).await
    }

    async fn code(&self, id: CodeId) -> Result<Option<MailedCode>, StoreError> {
        self.read_code_row(id).await
    }

    async fn try_code(
        &self,
        id: CodeId,
        tries: u32,
        now: Timestamp,
    ) -> Result<Option<MailedCode>, StoreError> {
        self.count_try(id, tries, now).await
    }

    async fn begin_code_mail(&self, code: &MailedCode, lease: Timestamp) -> Result<bool, StoreError> {
        self.begin_mail(code, lease).await
    }

    async fn end_code_mail(&self, id: CodeId) -> Result<(), StoreError> {
        self.end_mail(id).await
    }

    async fn sign_in(&self, sign_in: &SignIn) -> Result<bool, StoreError> {
        self.write_sign_in(sign_in).await
    }

    async fn human_rows(&self, approver: ApproverId) -> Result<HumanRows, StoreError> {
        self.read_human_rows(approver).await
    }

    async fn plan_events(
        &self,
        question: &Elicitation,
        told: ToldOf,
        rows: &[EventDelivery],
        keep_until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.plan_event_rows(question, told, rows, keep_until).await
    }

    async fn events(&self, id: ElicitationId) -> Result<Vec<EventDelivery>, StoreError> {
        self.read_events(id).await
    }

    async fn event(&self, key: EventKey) -> Result<Option<EventDelivery>, StoreError> {
        self.read_event_of(&key).await
    }

    async fn begin_event(
        &self,
        event: &EventDelivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.count_event(event, lease, now).await
    }

    async fn end_event(
        &self,
        event: &EventDelivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store_event_end(event, end, now).await
    }

    async fn add_passkey(&self, passkey: &Passkey, once: Nonce) -> Result<bool, StoreError> {
        self.write_passkey(passkey, &once).await
    }

    async fn use_passkey(&self, passkey: &Passkey, count: u32, now: Timestamp) -> Result<bool, StoreError> {
        self.note_passkey(passkey, count, now).await
    }

    async fn remove_passkey(&self, passkey: &Passkey, once: Nonce) -> Result<bool, StoreError> {
        self.delete_passkey(passkey, &once).await
    }

    async fn forget_passkey(&self, passkey: &Passkey) -> Result<(), StoreError> {
        self.drop_passkey(passkey).await
    }

    async fn remove_human(&self, approver: ApproverId, what: HumanRow) -> Result<(), StoreError> {
        self.delete_human(approver, what).await
    }

    async fn touch_human(
        &self,
        approver: ApproverId,
        id: HumanSessionId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.note_presence(approver, id, now).await
    }

    async fn count(&self, id: Sha256, limit: u32, until: Timestamp) -> Result<bool, StoreError> {
        self.count_one(id, limit, until).await
    }

    async fn wrong_codes(&self, id: ElicitationId, approver: ApproverId) -> Result<u32, StoreError> {
        self.read_wrong_codes(id, approver).await
    }

    async fn count_wrong_code(
        &self,
        id: ElicitationId,
        approver: ApproverId,
        limit: u32,
    ) -> Result<Option<u32>, StoreError> {
        self.add_wrong_code(id, approver, limit).await
    }

    async fn forgive_code(&self, id: ElicitationId, approver: ApproverId) -> Result<(), StoreError> {
        self.forgive_wrong_code(id, approver).await
    }

    async fn report_session(&self, session: SessionId, until: Timestamp) -> Result<(), StoreError> {
        self.note_report(session, until).await
    }
}
