//! Decide, and take back: a question ends once, and whoever comes second is told how.

use countersign_core::assurance::Assurance;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, TenantId};
use countersign_core::limits::RESPOND_RETRY_BUDGET;
use countersign_core::retry::Budget;
use countersign_core::state::{Answer, Decider, Decision, Refused, State, Verdict};
use countersign_core::time::Timestamp;
use countersign_core::violation::Violation;

use crate::App;
use crate::authority::{Caller, Deciding};
use crate::deciding::needs_fresh;
use crate::ports::StoreError;
use crate::records::{Nonce, Settled, Settlement};

/// What a person pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// Away with it.
    Cancel,
}

/// What a person sent.
#[derive(Debug, Clone)]
pub struct Response {
    /// What they pressed.
    pub pressed: Pressed,
    /// The form, as filled in; only an accept looks at it.
    pub content: Option<Answer>,
    /// Why.
    pub reason: Option<String>,
}

/// Why a response is not stored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RespondError {
    /// There is no such question for this caller.
    #[error("there is no such question")]
    Unknown,
    /// The caller is an approver who is not among those who may answer this one, or is one no more.
    #[error("the approver is not among those who may answer")]
    NotAnApprover,
    /// We are not sure enough of the caller for this question.
    #[error("the question needs the assurance {needed}")]
    AssuranceTooLow {
        /// What it needs.
        needed: Assurance,
    },
    /// Only a remembered device vouches for the caller, and that is too little to accept this question.
    #[error("the question needs a fresh sign-in")]
    FreshSignInNeeded,
    /// The asker may not decide its own question here.
    #[error("an asker may not decide its own question")]
    SelfApproval,
    /// It has ended; here it is.
    #[error("it is settled already")]
    AlreadySettled(Box<Elicitation>),
    /// The last moment to decide has passed.
    #[error("the time to decide is over")]
    TooLate,
    /// The request that brought it was used before.
    #[error("this request was used before")]
    Spent,
    /// The form does not fit.
    #[error("the answer does not fit the form")]
    InvalidContent(Vec<Violation>),
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Stores a decision. The same answer by the same caller again is answered with the stored one.
    ///
    /// # Errors
    /// See [`RespondError`]; a refused response leaves the question as it was.
    pub async fn respond(&self, deciding: Deciding, response: Response) -> Result<Elicitation, RespondError> {
        let now = self.clock.now();
        let (question, content) = deciding.question.clone().ok_or(RespondError::Unknown)?;
        check_eligible(&deciding, &question, response.pressed)?;
        let by = decider(&deciding.caller);
        let verdict = match response.pressed {
            Pressed::Accept => content.schema.check(response.content.as_ref()).map(Verdict::Accept),
            Pressed::Decline => Ok(Verdict::Decline),
            Pressed::Cancel => Ok(Verdict::Cancel),
        };
        let decision = verdict.map(|verdict| Decision { verdict, by, at: now, reason: response.reason });
        if let Some(ended) = ended(&question, decision.as_ref().ok(), now)? {
            return Ok(ended);
        }
        let decision = decision.map_err(RespondError::InvalidContent)?;
        self.settle_decision(deciding.caller.tenant(), question, decision, deciding.once).await
    }

    async fn settle_decision(
        &self,
        tenant: &TenantId,
        question: Elicitation,
        decision: Decision,
        once: Option<Nonce>,
    ) -> Result<Elicitation, RespondError> {
        let budget = Budget { started: decision.at, total: RESPOND_RETRY_BUDGET };
        let settlement = Settlement::Decided { decision: decision.clone(), once };
        match self.store.tenant(tenant).settle(&question, &settlement, budget).await? {
            Settled::Won => {
                self.trigger.stored(tenant, question.id);
                Ok(Elicitation { stored: State::Decided(decision), ..question })
            }
            Settled::Lost { current } => {
                // The write found it ended, or past its last moment: the row says which.
                let at = self.clock.now().max(decision.at);
                ended(&current, Some(&decision), at)?.ok_or(RespondError::TooLate)
            }
            Settled::Spent => Err(RespondError::Spent),
            Settled::Missing => Err(RespondError::Unknown),
            Settled::NotEligible => Err(RespondError::NotAnApprover),
            Settled::SessionMoved => Err(StoreError::Unavailable("the session kept moving".into()).into()),
        }
    }

    /// Takes a question back.
    ///
    /// # Errors
    /// See [`RespondError`]. Taking back what was taken back is no error.
    pub async fn withdraw(&self, caller: &Caller, id: ElicitationId) -> Result<Elicitation, RespondError> {
        let found = self.store.tenant(caller.tenant()).elicitation(id).await?;
        let own = found.filter(|found| found.is_own(caller.principal()));
        self.withdraw_found(caller.tenant(), own.ok_or(RespondError::Unknown)?).await
    }

    pub(crate) async fn withdraw_found(
        &self,
        tenant: &TenantId,
        found: Elicitation,
    ) -> Result<Elicitation, RespondError> {
        let now = self.clock.now();
        let state = found.state_at(now);
        match state.withdraw(&found.deadlines, now) {
            Ok(_) => {}
            Err(Refused::TooLate) => return Err(RespondError::TooLate),
            Err(Refused::AlreadySettled) => return withdrawn_or_settled(found, &state),
        }
        let budget = Budget { started: now, total: RESPOND_RETRY_BUDGET };
        match self.store.tenant(tenant).settle(&found, &Settlement::Withdrawn { at: now }, budget).await? {
            Settled::Won => {
                self.trigger.stored(tenant, found.id);
                Ok(Elicitation { stored: State::Withdrawn { at: now }, ..found })
            }
            Settled::Lost { current } => {
                let state = current.state_at(self.clock.now().max(now));
                withdrawn_or_settled(*current, &state)
            }
            Settled::Missing => Err(RespondError::Unknown),
            Settled::SessionMoved | Settled::Spent | Settled::NotEligible => {
                Err(StoreError::Unavailable("the session kept moving".into()).into())
            }
        }
    }

    /// Takes back what a newer question replaces. The newer one stands whatever becomes of this.
    pub(crate) async fn withdraw_quietly(&self, tenant: &TenantId, id: ElicitationId) {
        let outcome = match self.store.tenant(tenant).elicitation(id).await {
            Ok(Some(found)) => self.withdraw_found(tenant, found).await.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = outcome {
            tracing::warn!(tenant.id = %tenant, "a superseded question was not withdrawn: {error}");
        }
    }
}

/// Whether the caller may answer this question, as far as the read shows it; the write looks again at the approver. A
/// key without a person behind it is a program of the tenant's, and no audience names it.
fn check_eligible(deciding: &Deciding, question: &Elicitation, pressed: Pressed) -> Result<(), RespondError> {
    let caller = &deciding.caller;
    if let Some(id) = caller.approver() {
        let person = deciding.approver.as_ref().filter(|person| person.id == id);
        if !person.is_some_and(|person| question.audience.admits(id, &person.groups)) {
            return Err(RespondError::NotAnApprover);
        }
    }
    if !deciding.tenant.policy.policy.self_approval && caller.is_asker_of(question) {
        return Err(RespondError::SelfApproval);
    }
    // What guards a yes must not stand in the way of a no.
    if pressed == Pressed::Accept && caller.assurance() < question.assurance {
        return Err(RespondError::AssuranceTooLow { needed: question.assurance });
    }
    if pressed == Pressed::Accept && needs_fresh(question) && !deciding.is_fresh {
        return Err(RespondError::FreshSignInNeeded);
    }
    Ok(())
}

fn withdrawn_or_settled(found: Elicitation, state: &State) -> Result<Elicitation, RespondError> {
    match state {
        State::Withdrawn { .. } => Ok(found),
        State::Expired(_) => Err(RespondError::TooLate),
        State::Pending | State::Decided(_) => Err(RespondError::AlreadySettled(Box::new(found))),
    }
}

fn decider(caller: &Caller) -> Decider {
    Decider {
        principal: caller.principal().clone(),
        approver: caller.approver(),
        name: caller.name().to_owned(),
        method: caller.method(),
    }
}

/// What a response meets when the question has ended: the stored answer for a repeat, a refusal for anything else.
fn ended(
    question: &Elicitation,
    decision: Option<&Decision>,
    now: Timestamp,
) -> Result<Option<Elicitation>, RespondError> {
    match question.state_at(now) {
        State::Pending if now >= question.deadlines.decide_by => Err(RespondError::TooLate),
        State::Pending => Ok(None),
        State::Expired(_) => Err(RespondError::TooLate),
        State::Decided(stored) if decision.is_some_and(|new| stored.is_repeated_by(new)) => {
            Ok(Some(question.clone()))
        }
        State::Decided(_) | State::Withdrawn { .. } => {
            Err(RespondError::AlreadySettled(Box::new(question.clone())))
        }
    }
}
