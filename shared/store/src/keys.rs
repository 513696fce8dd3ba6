//! Every key of the table. Whoever reads or writes a row names it here.
//!
//! All but three start with `T#<tenant>#`, so that a role can be held to one tenant (`dynamodb:LeadingKeys`): the
//! `due` index, which only the sweep reads, and the list of tenants, which only the operator reads.

use countersign_app::records::ExternalKind;
use countersign_core::delivery::DeliveryKey;
use countersign_core::endpoint::EndpointId;
use countersign_core::event::EventKey;
use countersign_core::id::{
    ApiKeyId, ApproverId, CodeId, DeviceId, ElicitationId, HumanSessionId, IssuerId, Reference, RequestId,
    SessionId, TenantId,
};
use countersign_core::json::Sha256;
use countersign_core::time::Timestamp;

use crate::table::Key;

/// Partitions that pending questions are spread over, in the `due` and the `list` index.
pub const SHARDS: u8 = 8;
/// The index of what becomes due.
pub const DUE_INDEX: &str = "due";
/// The index of lists: what is pending in a tenant, and all of a session.
pub const LIST_INDEX: &str = "list";
/// The index of what was routed to an approver.
pub const MINE_INDEX: &str = "mine";
/// What the sort keys of events start with.
const EVENT: &str = "V#";
/// What the sort keys of passkeys start with.
pub(crate) const PASSKEY: &str = "K#";
/// The partition that lists the tenants.
pub const TENANTS: &str = "TENANTS";

/// The keys of one tenant's rows.
#[derive(Debug, Clone)]
pub struct Keys {
    tenant: TenantId,
}

impl Keys {
    /// The keys of `tenant`.
    pub const fn new(tenant: TenantId) -> Self {
        Self { tenant }
    }

    /// Whose they are.
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    fn key(&self, pk: &str, sk: impl Into<String>) -> Key {
        Key { pk: format!("T#{}#{pk}", self.tenant), sk: sk.into() }
    }

    /// The state of a question.
    pub fn state(&self, id: ElicitationId) -> Key {
        self.key(&format!("E#{id}"), "STATE")
    }

    /// The content of a question.
    pub fn body(&self, id: ElicitationId) -> Key {
        self.key(&format!("E#{id}"), "BODY")
    }

    /// A delivery of a question.
    pub fn delivery(&self, key: &DeliveryKey) -> Key {
        let sk = format!("D#{}#{}#{}", key.channel.word(), key.approver, key.kind.word());
        self.key(&format!("E#{}", key.elicitation), sk)
    }

    /// The partition of a question, and what its deliveries' sort keys start with.
    pub fn deliveries(&self, id: ElicitationId) -> Key {
        self.key(&format!("E#{id}"), "D#")
    }

    /// The lookup of a reference.
    pub fn reference(&self, reference: &Reference) -> Key {
        self.key(&format!("REF#{reference}"), "REF")
    }

    /// The partition of a request-id's lookups. The id is the asker's text: its hash is shorter and says nothing.
    pub fn request(&self, request_id: &RequestId) -> String {
        format!("T#{}#RID#{}", self.tenant, Sha256::of(request_id.as_str().as_bytes()).hex())
    }

    /// A session.
    pub fn session(&self, id: SessionId) -> Key {
        self.key(&format!("S#{id}"), "SESSION")
    }

    /// The tenant itself.
    pub fn tenant_row(&self) -> Key {
        self.key("TENANT", "TENANT")
    }

    /// What the tenant has asked.
    pub fn bucket(&self) -> Key {
        self.key("QUOTA", "BUCKET")
    }

    /// An API key.
    pub fn api_key(&self, id: ApiKeyId) -> Key {
        self.key(&format!("K#{id}"), "KEY")
    }

    /// The entry of an API key in the tenant's list.
    pub fn api_key_entry(&self, id: ApiKeyId) -> Key {
        self.key("KEYS", id.to_string())
    }

    /// The partition that lists the API keys.
    pub fn api_key_list(&self) -> String {
        format!("T#{}#KEYS", self.tenant)
    }

    /// An approver.
    pub fn approver(&self, id: ApproverId) -> Key {
        self.key("APPROVERS", id.to_string())
    }

    /// What an approver is found by. Ids are people's own: their hash says nothing. The sort key of an id that
    /// several may share is the approver's.
    pub fn external(&self, kind: ExternalKind, id: &str, approver: ApproverId) -> Key {
        let sk = match kind {
            ExternalKind::Mail => approver.to_string(),
            ExternalKind::Slack | ExternalKind::Telegram | ExternalKind::Sub => "XID".to_owned(),
        };
        Key { pk: self.external_partition(kind, id), sk }
    }

    /// The partition of the approvers that an external id finds. The case of a mail address tells nobody apart.
    pub fn external_partition(&self, kind: ExternalKind, id: &str) -> String {
        let id = match kind {
            ExternalKind::Mail => id.to_lowercase(),
            ExternalKind::Slack | ExternalKind::Telegram | ExternalKind::Sub => id.to_owned(),
        };
        format!("T#{}#XID#{}#{}", self.tenant, kind.word(), Sha256::of(id.as_bytes()).hex())
    }

    /// A version of the policy.
    pub fn policy(&self, version: u64) -> Key {
        self.key("POLICY", format!("{version:010}"))
    }

    /// A question in the inbox of an approver.
    pub fn route(&self, id: ElicitationId, approver: ApproverId) -> Key {
        self.key(&format!("E#{id}"), format!("R#{approver}"))
    }

    /// The partition of an approver in the index of what was routed.
    pub fn mine(&self, approver: ApproverId) -> String {
        format!("T#{}#MINE#{approver}", self.tenant)
    }

    /// Wrong codes that an approver has typed for a question.
    pub fn wrong_codes(&self, id: ElicitationId, approver: ApproverId) -> Key {
        self.key(&format!("E#{id}"), format!("W#{approver}"))
    }

    /// A code that was mailed.
    pub fn code(&self, id: CodeId) -> Key {
        self.key(&format!("CODE#{id}"), "CODE")
    }

    /// The partition of an approver's sessions and devices.
    pub fn humans(&self, approver: ApproverId) -> String {
        format!("T#{}#H#{approver}", self.tenant)
    }

    /// A session of a person's.
    pub fn human_session(&self, approver: ApproverId, id: HumanSessionId) -> Key {
        self.key(&format!("H#{approver}"), format!("S#{id}"))
    }

    /// A device of a person's.
    pub fn device(&self, approver: ApproverId, id: DeviceId) -> Key {
        self.key(&format!("H#{approver}"), format!("V#{id}"))
    }

    /// A passkey of a person's.
    pub fn passkey(&self, approver: ApproverId, name: Sha256) -> Key {
        self.key(&format!("H#{approver}"), format!("{PASSKEY}{}", name.hex()))
    }

    /// An event for an endpoint.
    pub fn event(&self, key: &EventKey) -> Key {
        self.key(&format!("E#{}", key.elicitation), format!("{EVENT}{}#{}", key.kind.word(), key.endpoint))
    }

    /// The first of a question's events.
    pub fn events(&self, id: ElicitationId) -> Key {
        self.key(&format!("E#{id}"), EVENT)
    }

    /// How often something was done in a span of time.
    pub fn rate(&self, id: Sha256) -> Key {
        self.key(&format!("RATE#{}", id.hex()), "RATE")
    }

    /// An endpoint.
    pub fn endpoint(&self, id: &EndpointId) -> Key {
        self.key("ENDPOINTS", id.bits.to_string())
    }

    /// The partition of the endpoints.
    pub fn endpoints(&self) -> String {
        format!("T#{}#ENDPOINTS", self.tenant)
    }

    /// An issuer.
    pub fn issuer(&self, id: IssuerId) -> Key {
        self.key("ISSUERS", id.to_string())
    }

    /// The partition of the issuers.
    pub fn issuers(&self) -> String {
        format!("T#{}#ISSUERS", self.tenant)
    }

    /// Something that is good once.
    pub fn nonce(&self, id: Sha256) -> Key {
        self.key(&format!("N#{}", id.hex()), "NONCE")
    }

    /// An Idempotency-Key of something else than a question.
    pub fn idempotency(&self, id: Sha256) -> Key {
        self.key(&format!("I#{}", id.hex()), "KEY")
    }

    /// An entry of the audit log.
    pub fn audit(&self, at: Timestamp, id: ElicitationId) -> Key {
        let day = &at.to_string()[..10];
        self.key(&format!("A#{day}#{}", shard(id)), format!("{}#{id}", instant(at)))
    }

    /// A shard of the list of what is pending.
    pub fn pending_list(&self, shard: u8) -> String {
        format!("T#{}#OPEN#{shard}", self.tenant)
    }

    /// The list of a session's questions.
    pub fn session_list(&self, id: SessionId) -> String {
        format!("T#{}#S#{id}", self.tenant)
    }

    /// The place of a question in a list.
    pub fn list_place(at: Timestamp, id: ElicitationId) -> String {
        format!("{}#{id}", instant(at))
    }
}

/// The entry of a tenant in the list of tenants.
pub fn tenant_entry(tenant: &TenantId) -> Key {
    Key { pk: TENANTS.into(), sk: tenant.to_string() }
}

/// The shard of a question.
pub fn shard(id: ElicitationId) -> u8 {
    id.bits().bytes()[0] % SHARDS
}

/// A shard of the `due` index.
pub fn due_shard(shard: u8) -> String {
    format!("DUE#{shard}")
}

/// The place of a row in the `due` index.
pub fn due_place(at: Timestamp, key: &Key) -> String {
    format!("{}#{}#{}", instant(at), key.pk, key.sk)
}

/// What the places up to `at`, inclusive, sort before.
pub fn due_until(at: Timestamp) -> String {
    format!("{}$", instant(at)) // `$` follows `#`
}

/// An instant as text that sorts as time does.
pub fn instant(at: Timestamp) -> String {
    format!("{:013}", at.millis().max(0))
}

/// What a key of the `due` index stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueKey {
    /// A question.
    State(TenantId, ElicitationId),
    /// A delivery.
    Delivery(TenantId, DeliveryKey),
    /// An event for an endpoint.
    Event(TenantId, EventKey),
    /// A code to be mailed.
    Code(TenantId, CodeId),
}

/// Reads a key of the `due` index; `None` for what no code of ours writes.
pub fn read_due(key: &Key) -> Option<DueKey> {
    let (tenant, rest) = key.pk.strip_prefix("T#")?.split_once('#')?;
    let tenant: TenantId = tenant.parse().ok()?;
    if let Some(id) = rest.strip_prefix("CODE#") {
        return id.parse().ok().map(|id| DueKey::Code(tenant, id));
    }
    let id: ElicitationId = rest.strip_prefix("E#")?.parse().ok()?;
    if key.sk == "STATE" {
        return Some(DueKey::State(tenant, id));
    }
    if let Some(event) = read_event(id, &key.sk) {
        return Some(DueKey::Event(tenant, event));
    }
    read_delivery(id, &key.sk).map(|delivery| DueKey::Delivery(tenant, delivery))
}

/// The event of `elicitation` that a sort key names.
pub fn read_event(elicitation: ElicitationId, sk: &str) -> Option<EventKey> {
    let (kind, endpoint) = sk.strip_prefix(EVENT)?.split_once('#')?;
    Some(EventKey { elicitation, kind: kind.parse().ok()?, endpoint: endpoint.parse().ok()? })
}

/// The delivery of `elicitation` that a sort key names.
pub fn read_delivery(elicitation: ElicitationId, sk: &str) -> Option<DeliveryKey> {
    let mut parts = sk.strip_prefix("D#")?.split('#');
    let channel = parts.next()?.parse().ok()?;
    let approver = parts.next()?.parse().ok()?;
    let kind = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some(DeliveryKey { elicitation, channel, approver, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::delivery::{ChannelKind, NoticeKind};
    use countersign_core::id::Bits130;

    fn keys() -> Keys {
        Keys::new("demo".parse().unwrap())
    }

    fn elicitation() -> ElicitationId {
        ElicitationId::new(Bits130::from_bytes([9; 17]))
    }

    #[test]
    fn every_key_of_a_tenant_starts_with_the_tenant() {
        let approver = ApproverId::new(Bits130::from_bytes([1; 17]));
        let delivery = DeliveryKey {
            elicitation: elicitation(),
            channel: ChannelKind::Email,
            approver,
            kind: NoticeKind::Asked,
        };
        for pk in [
            keys().state(elicitation()).pk,
            keys().body(elicitation()).pk,
            keys().delivery(&delivery).pk,
            keys().reference(&Reference::from_random([0; 4])).pk,
            keys().request(&"r".parse().unwrap()),
            keys().session(SessionId::new(Bits130::from_bytes([1; 17]))).pk,
            keys().tenant_row().pk,
            keys().api_key(ApiKeyId::new(Bits130::from_bytes([1; 17]))).pk,
            keys().approver(approver).pk,
            keys().external(ExternalKind::Sub, "u1", approver).pk,
            keys().policy(1).pk,
            keys().idempotency(Sha256::of(b"")).pk,
            keys().audit(Timestamp::from_millis(0), elicitation()).pk,
            keys().pending_list(3),
            keys().session_list(SessionId::new(Bits130::from_bytes([1; 17]))),
        ] {
            assert!(pk.starts_with("T#demo#"), "{pk}");
        }
    }

    #[test]
    fn a_due_key_reads_back() {
        let state = keys().state(elicitation());
        assert_eq!(read_due(&state), Some(DueKey::State("demo".parse().unwrap(), elicitation())));
        let key = DeliveryKey {
            elicitation: elicitation(),
            channel: ChannelKind::Email,
            approver: ApproverId::new(Bits130::from_bytes([1; 17])),
            kind: NoticeKind::Asked,
        };
        let read = read_due(&keys().delivery(&key));
        assert_eq!(read, Some(DueKey::Delivery("demo".parse().unwrap(), key)));
        assert_eq!(read_due(&Key { pk: "X".into(), sk: "Y".into() }), None);
    }

    #[test]
    fn what_is_due_at_an_instant_sorts_up_to_it() {
        let at = |millis| due_place(Timestamp::from_millis(millis), &keys().state(elicitation()));
        let until = due_until(Timestamp::from_millis(1_000));
        assert!(at(999) < until && at(1_000) < until && at(1_001) > until);
    }
}
