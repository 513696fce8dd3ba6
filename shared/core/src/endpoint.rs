//! Endpoints: a tenant's own systems that are told of events, and that may answer for a person by signed request
//! (PROTOCOL.md section 2.6).

use std::fmt;
use std::str::FromStr;

use crate::id::{BadId, Bits130, TenantId};

/// `ep_<tenant>.<bits>`: an endpoint. It names its tenant, because a signed request carries nothing else that does;
/// it is no secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which.
    pub bits: Bits130,
}

impl EndpointId {
    /// What every such id starts with.
    pub const PREFIX: &'static str = "ep_";
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}.{}", Self::PREFIX, self.tenant, self.bits)
    }
}

impl FromStr for EndpointId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = BadId("endpoint id");
        let (tenant, bits) =
            text.strip_prefix(Self::PREFIX).and_then(|rest| rest.split_once('.')).ok_or(bad)?;
        Ok(Self { tenant: tenant.parse().map_err(|_| bad)?, bits: bits.parse().map_err(|_| bad)? })
    }
}

/// What an endpoint may subscribe to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A question was stored.
    ElicitationCreated,
    /// A question ended.
    ElicitationSettled,
    /// The asker read how it ended.
    ElicitationCollected,
    /// An accept was used.
    ElicitationClaimed,
    /// A session waits.
    SessionBlocked,
    /// A session waits no more.
    SessionUnblocked,
    /// A session lost its question.
    SessionLost,
    /// An endpoint cannot be reached.
    EndpointUnreachable,
    /// An endpoint can be reached again.
    EndpointRecovered,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ElicitationCreated,
        Self::ElicitationSettled,
        Self::ElicitationCollected,
        Self::ElicitationClaimed,
        Self::SessionBlocked,
        Self::SessionUnblocked,
        Self::SessionLost,
        Self::EndpointUnreachable,
        Self::EndpointRecovered,
    ];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ElicitationCreated => "elicitation.created",
            Self::ElicitationSettled => "elicitation.settled",
            Self::ElicitationCollected => "elicitation.collected",
            Self::ElicitationClaimed => "elicitation.claimed",
            Self::SessionBlocked => "session.blocked",
            Self::SessionUnblocked => "session.unblocked",
            Self::SessionLost => "session.lost_elicitation",
            Self::EndpointUnreachable => "endpoint.unreachable",
            Self::EndpointRecovered => "endpoint.recovered",
        }
    }
}

impl FromStr for EventKind {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or(BadId("event type"))
    }
}

/// How a signed request names the person who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActorKind {
    /// By approver id.
    Approver,
    /// By Slack user id.
    Slack,
    /// By Telegram user id.
    Telegram,
    /// By the `sub` of the tenant's own identity provider.
    Sub,
}

impl ActorKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Approver, Self::Slack, Self::Telegram, Self::Sub];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approver => "approver",
            Self::Slack => "slack",
            Self::Telegram => "telegram",
            Self::Sub => "sub",
        }
    }
}

impl FromStr for ActorKind {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or(BadId("actor kind"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_id_reads_back_with_its_tenant() {
        let id = EndpointId { tenant: "acme-2".parse().unwrap(), bits: Bits130::from_bytes([3; 17]) };
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "ep_", "ep_acme", "ep_acme.x", "ep_A.00000000000000000000000000", "acme.0"] {
            assert!(bad.parse::<EndpointId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn words_read_back() {
        assert!(EventKind::ALL.into_iter().all(|kind| kind.word().parse() == Ok(kind)));
        assert!(ActorKind::ALL.into_iter().all(|kind| kind.word().parse() == Ok(kind)));
    }
}
