//! What a person is asked, and what they have answered.

use countersign_core::ask::Content;
use countersign_core::elicitation::Elicitation;
use countersign_core::limits::{INBOX_HISTORY, INBOX_OPEN};
use countersign_core::state::State;

use crate::App;
use crate::humans::Visitor;
use crate::ports::StoreError;

/// A question with its content.
pub type Question = (Elicitation, Content);

impl App {
    /// The open questions that were routed to this person and that they may answer at present, the soonest deadline
    /// first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn inbox(&self, visitor: &Visitor) -> Result<Vec<Question>, StoreError> {
        let now = self.clock.now();
        let store = self.store.tenant(&visitor.tenant.id);
        let ids = store.routed(visitor.approver.id, Some(now), 2 * INBOX_OPEN).await?;
        let mut found = store.questions(&ids).await?;
        found.retain(|(one, _)| self.is_open_to(visitor, one));
        found.sort_by_key(|(one, _)| (one.deadlines.decide_by, one.id));
        found.truncate(INBOX_OPEN);
        Ok(found)
    }

    fn is_open_to(&self, visitor: &Visitor, one: &Elicitation) -> bool {
        let now = self.clock.now();
        let admits = one.audience.admits(visitor.approver.id, &visitor.approver.groups);
        admits && one.state_at(now) == State::Pending && now < one.deadlines.decide_by
    }

    /// What this person has decided, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn answered(&self, visitor: &Visitor) -> Result<Vec<Question>, StoreError> {
        let store = self.store.tenant(&visitor.tenant.id);
        let ids = store.routed(visitor.approver.id, None, 4 * INBOX_HISTORY).await?;
        let mut found = store.questions(&ids).await?;
        let decided = |one: &Elicitation| match &one.stored {
            State::Decided(by) if by.by.approver == Some(visitor.approver.id) => Some(by.at),
            State::Decided(_) | State::Pending | State::Withdrawn { .. } | State::Expired(_) => None,
        };
        found.retain(|(one, _)| decided(one).is_some());
        found.sort_by_key(|(one, _)| std::cmp::Reverse(decided(one)));
        found.truncate(INBOX_HISTORY);
        Ok(found)
    }

    /// Where questions stand that this person's page shows already; those that they may not see are left out.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn standing(
        &self,
        visitor: &Visitor,
        shown: &[countersign_core::id::Reference],
    ) -> Result<Vec<Elicitation>, StoreError> {
        let store = self.store.tenant(&visitor.tenant.id);
        let ids = shown.iter().map(|reference| store.by_reference(reference));
        let ids: Vec<_> = futures_util::future::try_join_all(ids).await?.into_iter().flatten().collect();
        let found = store.questions(&ids).await?;
        let may = |one: &Elicitation| one.audience.admits(visitor.approver.id, &visitor.approver.groups);
        Ok(found.into_iter().map(|(one, _)| one).filter(may).collect())
    }
}
