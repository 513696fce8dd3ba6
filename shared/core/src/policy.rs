//! What a tenant has decided once for all its questions (PROTOCOL.md section 2.5).

use std::time::Duration;

use crate::assurance::Assurance;
use crate::audience::AudienceEntry;
use crate::delivery::ChannelKind;
use crate::elicitation::Tier;
use crate::limits::{CLAIM_WINDOW_DEFAULT, COOL_DOWN, MAX_OPEN_PER_APPROVER, MAX_OPEN_PER_SESSION};

/// The rules for questions of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierPolicy {
    /// How sure we must be of the person who decides.
    pub assurance: Assurance,
    /// Who is asked; `None` is every approver.
    pub audience: Option<Vec<AudienceEntry>>,
    /// How people may be told; `None` is every channel.
    pub channels: Option<Vec<ChannelKind>>,
}

impl TierPolicy {
    /// Every approver, on every channel, with this assurance.
    pub const fn everybody(assurance: Assurance) -> Self {
        Self { assurance, audience: None, channels: None }
    }

    /// Those of `channels` that may be used.
    pub fn allowed(&self, channels: &[ChannelKind]) -> Vec<ChannelKind> {
        let may = |kind: &ChannelKind| self.channels.as_ref().is_none_or(|allowed| allowed.contains(kind));
        channels.iter().copied().filter(may).collect()
    }
}

/// A tenant's policy, as a whole: each change makes a new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// For questions that only read.
    pub read: TierPolicy,
    /// For questions that change data.
    pub write: TierPolicy,
    /// For questions about what cannot be undone.
    pub commit: TierPolicy,
    /// For questions about what leaves the tenant.
    pub external: TierPolicy,
    /// The wait of a question for which neither it nor its session names one; `None` is the deployment's.
    pub default_ttl: Option<Duration>,
    /// How long rows outlive their deadline; `None` is the deployment's.
    pub retention: Option<Duration>,
    /// Open questions in one session.
    pub max_open_per_session: usize,
    /// Open questions of one approver: where everybody who could answer has as many, no more are asked.
    pub max_open_per_approver: usize,
    /// An asker may decide its own question.
    pub self_approval: bool,
    /// An asker may narrow who is asked.
    pub asker_may_choose: bool,
    /// The tenant fetches its questions itself: a question that nobody is told of is no mistake.
    pub pull: bool,
    /// How long the same question is not asked again in its session after each decline; the last span is that of all
    /// further declines.
    pub cool_down: Vec<Duration>,
    /// How long an accept can be claimed.
    pub claim_window: Duration,
    /// Origins that a question's callback may have.
    pub callback_origins: Vec<String>,
    /// Reasons that a person picks from; none are those of the page.
    pub reasons: Vec<String>,
}

impl Policy {
    /// The policy of a new tenant: what cannot be taken back needs a code, and nobody decides what they asked.
    pub fn of_new_tenant() -> Self {
        Self {
            read: TierPolicy::everybody(Assurance::Tap),
            write: TierPolicy::everybody(Assurance::Tap),
            commit: TierPolicy::everybody(Assurance::Code),
            external: TierPolicy::everybody(Assurance::Code),
            default_ttl: None,
            retention: None,
            max_open_per_session: MAX_OPEN_PER_SESSION,
            max_open_per_approver: MAX_OPEN_PER_APPROVER,
            self_approval: false,
            asker_may_choose: false,
            pull: false,
            cool_down: COOL_DOWN.to_vec(),
            claim_window: CLAIM_WINDOW_DEFAULT,
            callback_origins: vec![],
            reasons: vec![],
        }
    }

    /// The policy for somebody who tries it on a machine of their own: they ask and decide, with one tap, and may
    /// repeat what they declined once without a wait.
    pub fn of_one_person() -> Self {
        Self {
            commit: TierPolicy::everybody(Assurance::Tap),
            external: TierPolicy::everybody(Assurance::Tap),
            self_approval: true,
            cool_down: vec![Duration::ZERO, COOL_DOWN[1], COOL_DOWN[2]],
            ..Self::of_new_tenant()
        }
    }

    /// The rules for questions of `tier`.
    pub const fn tier(&self, tier: Tier) -> &TierPolicy {
        match tier {
            Tier::Read => &self.read,
            Tier::Write => &self.write,
            Tier::Commit => &self.commit,
            Tier::External => &self.external,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_tenant_needs_a_code_for_what_cannot_be_taken_back() {
        let policy = Policy::of_new_tenant();
        let needed = Tier::ALL.map(|tier| policy.tier(tier).assurance);
        assert_eq!(needed, [Assurance::Tap, Assurance::Tap, Assurance::Code, Assurance::Code]);
        assert!(!policy.self_approval && !policy.asker_may_choose && !policy.pull);
    }

    #[test]
    fn one_person_decides_everything_with_a_tap() {
        let policy = Policy::of_one_person();
        assert!(Tier::ALL.iter().all(|tier| policy.tier(*tier).assurance == Assurance::Tap));
        assert!(policy.self_approval);
        assert_eq!(policy.cool_down.first(), Some(&Duration::ZERO));
    }

    #[test]
    fn channels_are_narrowed_only_where_the_tier_names_some() {
        let every = TierPolicy::everybody(Assurance::Tap);
        assert_eq!(every.allowed(&[ChannelKind::Email]), [ChannelKind::Email]);
        let none = TierPolicy { channels: Some(vec![]), ..every };
        assert_eq!(none.allowed(&[ChannelKind::Email]), []);
    }
}
