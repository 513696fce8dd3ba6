//! The people of a case: who may answer, and who comes and goes.

use countersign_app::approvers::{ApproverPatch, NewApprover};
use countersign_app::authority::{Caller, Deciding, Proof, Target};
use countersign_app::records::Approver;
use countersign_core::assurance::Assurance;
use countersign_core::audience::AudienceEntry;
use countersign_core::credential::Scope;
use countersign_core::id::{GroupName, Principal};
use countersign_core::limits::COOL_DOWN;
use countersign_core::policy::{Policy, TierPolicy};
use countersign_core::state::Method;
use countersign_testkit::TestApp;
use proptest::test_runner::TestCaseError;

use super::case::Case;
use super::reference::{Reply, Slot, World, by_person};
use super::steps::Death;

/// Those who may answer: one who is told by mail and stays, and one who answers the odd slots and may come and go.
pub(super) async fn people(test: &TestApp, caller: &Caller) -> Approver {
    let groups = vec![desk()];
    let joins = ApproverPatch { groups: Some(groups.clone()), ..ApproverPatch::default() };
    for one in test.app.approvers(caller).await.expect("a read") {
        test.app.change_approver(caller, one.id, &joins).await.expect("a change");
    }
    let write = TierPolicy {
        audience: Some(vec![AudienceEntry::Group(desk())]),
        ..TierPolicy::everybody(Assurance::Tap)
    };
    let policy = Policy { write, cool_down: COOL_DOWN.to_vec(), ..Policy::of_one_person() };
    test.app.put_policy(caller, &policy, None).await.expect("a policy");
    let new = NewApprover { name: "Mara".into(), groups, ..NewApprover::default() };
    test.app.add_approver(caller, new, None).await.expect("an approver")
}

/// The group of those who may answer.
pub(super) fn desk() -> GroupName {
    "desk".parse().expect("a group name")
}

impl Case {
    /// The person joins those who may answer, or leaves them.
    pub(super) async fn join(&mut self, joins: bool, death: Death) -> Result<(), TestCaseError> {
        let groups = if joins { vec![desk()] } else { vec![] };
        let patch = ApproverPatch { groups: Some(groups), ..ApproverPatch::default() };
        let work = async {
            let changed = self.test.app.change_approver(&self.caller, self.person.id, &patch).await;
            changed.map(|_| Reply::Done).map_err(|error| TestCaseError::fail(error.to_string()))
        };
        let told = self.mortal(death, work).await?;
        let next = World { is_member: joins, ..self.world.clone() };
        self.compare(told, Reply::Done, next).await
    }

    /// The page of a question, for whoever answers that slot.
    pub(super) async fn open_page(&self, slot: Slot) -> Result<Deciding, TestCaseError> {
        let target = Target::Id(self.id(slot));
        let page = if by_person(slot) {
            self.test.app.admit_verified(self.person_calls(), &target).await
        } else {
            self.test.app.admit_decider(&self.test.key, &target).await
        };
        page.map_err(|error| TestCaseError::fail(error.to_string()))
    }

    /// The person, as they call.
    fn person_calls(&self) -> Caller {
        let proof = Proof {
            principal: Principal::stored("issuer mara"),
            scopes: vec![Scope::Decide],
            assurance: Assurance::Tap,
            method: Method::Api,
        };
        Caller::proven(self.token.tenant.clone(), &self.person, proof)
    }
}
