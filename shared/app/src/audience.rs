//! Who is asked: the policy says, and an asker may narrow it where the policy lets it (RELIABILITY.md row 9).

use countersign_core::audience::{Audience, AudienceEntry};
use countersign_core::elicitation::Tier;

use crate::records::{Route, Tenant};

/// Why the audience that an asker names is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AudienceError {
    /// The policy does not let askers choose.
    #[error("the policy does not let an asker choose who is asked")]
    NotAllowed,
    /// These entries, by their place in the list, mean nobody.
    #[error("an entry means nobody")]
    Unknown(Vec<usize>),
}

/// Whether an asker may name `wanted`.
pub(crate) fn check(tenant: &Tenant, wanted: Option<&[AudienceEntry]>) -> Result<(), AudienceError> {
    let Some(wanted) = wanted else { return Ok(()) };
    if !tenant.policy.policy.asker_may_choose {
        return Err(AudienceError::NotAllowed);
    }
    let exists =
        |entry: &AudienceEntry| tenant.routes.iter().any(|route| entry.admits(route.approver, &route.groups));
    let unknown = wanted.iter().enumerate().filter(|(_, entry)| !exists(entry)).map(|(at, _)| at);
    let unknown: Vec<_> = unknown.collect();
    if unknown.is_empty() { Ok(()) } else { Err(AudienceError::Unknown(unknown)) }
}

/// The rule for a question: each list narrows. What an asker chose counts only while the policy lets it choose.
pub(crate) fn rule(
    tenant: &Tenant,
    tier: Tier,
    of_session: Option<&[AudienceEntry]>,
    of_question: Option<&[AudienceEntry]>,
) -> Audience {
    let policy = &tenant.policy.policy;
    let chosen = [of_session, of_question].into_iter().flatten().filter(|_| policy.asker_may_choose);
    let of_policy = policy.tier(tier).audience.as_deref();
    Audience::new(of_policy.into_iter().chain(chosen).map(<[AudienceEntry]>::to_vec))
}

/// Whom `rule` means at present, each with the channels that the policy allows for `tier`.
pub(crate) fn eligible(tenant: &Tenant, tier: Tier, rule: &Audience) -> Vec<Route> {
    let allowed = tenant.policy.policy.tier(tier);
    let meant = tenant.routes.iter().filter(|route| rule.admits(route.approver, &route.groups));
    meant.map(|route| Route { channels: allowed.allowed(&route.channels), ..route.clone() }).collect()
}
