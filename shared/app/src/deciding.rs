//! How a signed-in person decides: as an approver, with the assurance that they have shown for this very question.

use countersign_core::assurance::Assurance;
use countersign_core::credential::Scope;
use countersign_core::elicitation::{Elicitation, Tier};
use countersign_core::human::FormToken;
use countersign_core::id::{CodeId, Principal};
use countersign_core::limits::{FORM_TTL, MATCH_TRIES, NONCE_GRACE, REPORT_MUTE};
use countersign_core::secret::Secret;
use countersign_core::session::Session;
use countersign_core::state::Method;

use crate::App;
use crate::authority::{Caller, Deciding, Proof, Target};
use crate::humans::{SignInError, Visitor};
use crate::inbox::Question;
use crate::ports::StoreError;
use crate::records::{Nonce, Wanted};

/// What a code that a person typed is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeCheck {
    /// It is the right one.
    Right,
    /// It is not; so many tries are left.
    Wrong {
        /// Tries that are left; none closes approving by code.
        left: u32,
    },
    /// Too many wrong ones were typed.
    Locked,
}

/// Whether accepting it takes more than a device that is remembered.
pub(crate) const fn needs_fresh(question: &Elicitation) -> bool {
    matches!(question.tier, Tier::Commit | Tier::External)
}

impl App {
    /// The question that a person's page is about, if it exists and they may answer it or have answered it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn question_for(
        &self,
        visitor: &Visitor,
        target: &Target,
    ) -> Result<Option<Question>, StoreError> {
        let found = self.question(&visitor.tenant.id, target).await?;
        let approver = &visitor.approver;
        Ok(found.filter(|(one, _)| one.audience.admits(approver.id, &approver.groups)))
    }

    /// Leave to decide a question on a page. The form's token is spent by the decision.
    pub fn admit_person(
        &self,
        visitor: &Visitor,
        question: Question,
        assurance: Assurance,
        form_token: &str,
    ) -> Deciding {
        let method = match assurance {
            Assurance::Tap => Method::Tap,
            Assurance::Code => Method::Code,
            Assurance::Passkey => Method::Passkey,
        };
        let proof = Proof {
            principal: Principal::approver(visitor.approver.id),
            scopes: vec![Scope::Decide],
            assurance,
            method,
        };
        let until = self.clock.now().plus(FORM_TTL + NONCE_GRACE);
        Deciding {
            caller: Caller::proven(visitor.tenant.id.clone(), &visitor.approver, proof),
            tenant: visitor.tenant.clone(),
            approver: Some(visitor.approver.clone()),
            question: Some(question),
            once: Some(Nonce { id: FormToken::spent_by(form_token), until }),
            // A passkey has just shown who they are.
            is_fresh: visitor.session.is_fresh || assurance == Assurance::Passkey,
        }
    }

    /// Whether this session is too little for a question: what cannot be undone or leaves needs a person who has shown
    /// who they are, not only a device that is remembered.
    pub fn needs_fresh_sign_in(visitor: &Visitor, question: &Elicitation) -> bool {
        needs_fresh(question) && !visitor.session.is_fresh
    }

    /// How many tries of a code a person has left for a question.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn code_tries_left(
        &self,
        visitor: &Visitor,
        question: &Elicitation,
    ) -> Result<u32, StoreError> {
        let store = self.store.tenant(&visitor.tenant.id);
        let wrong = store.wrong_codes(question.id, visitor.approver.id).await?;
        Ok(MATCH_TRIES.saturating_sub(wrong))
    }

    /// Looks at the digits that a person typed for a question: the match code, or those that were mailed to them. A try
    /// is counted before it is compared, so that many at once are no more tries; a right one is taken back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check_code(
        &self,
        visitor: &Visitor,
        question: &Elicitation,
        typed: &str,
        mailed: Option<CodeId>,
    ) -> Result<CodeCheck, StoreError> {
        let (tenant, approver) = (&visitor.tenant.id, visitor.approver.id);
        let store = self.store.tenant(tenant);
        let Some(wrong) = store.count_wrong_code(question.id, approver, MATCH_TRIES).await? else {
            return Ok(CodeCheck::Locked);
        };
        let shown = question.match_code.clone().map(Secret::new);
        let is_match = shown.is_some_and(|code| code.matches(typed.as_bytes()));
        let is_right = match mailed.filter(|_| !is_match && typed.len() == 6) {
            None => is_match,
            Some(id) => match self.tried(tenant, id, typed, Some(question.id)).await {
                Ok(code) => code.approver == Some(approver),
                Err(SignInError::Store(error)) => return Err(error),
                Err(_) => false,
            },
        };
        if is_right {
            store.forgive_code(question.id, approver).await?;
            return Ok(CodeCheck::Right);
        }
        Ok(match MATCH_TRIES.saturating_sub(wrong) {
            0 => CodeCheck::Locked,
            left => CodeCheck::Wrong { left },
        })
    }

    /// Mails a person a code for a question.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn request_question_code(
        &self,
        visitor: &Visitor,
        question: &Elicitation,
    ) -> Result<CodeId, StoreError> {
        let now = self.clock.now();
        self.new_code(&visitor.tenant.id, Some(visitor.approver.id), Some(question.id), now).await
    }

    /// A person says that a session misbehaves: it asks nothing for a while, and the question stays as it is.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn report(&self, visitor: &Visitor, question: &Elicitation) -> Result<(), StoreError> {
        let until = self.clock.now().plus(REPORT_MUTE);
        if let Some(session) = question.session {
            self.store.tenant(&visitor.tenant.id).report_session(session, until).await?;
        }
        tracing::warn!(
            tenant.id = %visitor.tenant.id, reference = %question.reference, approver.id = %visitor.approver.id,
            "a person reported the session behind question {}", question.reference
        );
        Ok(())
    }
}

impl App {
    /// The session of a question, for whoever is shown who asks.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn session_of(
        &self,
        visitor: &Visitor,
        question: &Elicitation,
    ) -> Result<Option<Session>, StoreError> {
        let Some(id) = question.session else { return Ok(None) };
        let wanted = Wanted { session: Some(id), ..Wanted::default() };
        Ok(self.store.tenant(&visitor.tenant.id).read(&wanted).await?.session)
    }
}
