//! Passkeys: what an approver proves with a device of their own, for one question or for a change of their passkeys.
//!
//! No challenge is stored: it follows from the token of the form that asks, which is bound to a session and to what the
//! form is for, has an end, and is spent with what it does. So an answer is good for this form, once.
//!
//! The first passkey takes a sign-in by code; every change after it takes one of the passkeys that are there. Whoever
//! has only the mailbox cannot put theirs in its place; who has lost all of them asks a manager.

use countersign_core::elicitation::Elicitation;
use countersign_core::human::FormToken;
use countersign_core::id::ApproverId;
use countersign_core::json::Sha256;
use countersign_core::limits::{FORM_TTL, MATCH_TRIES, NONCE_GRACE, PASSKEYS_MAX};
use countersign_core::time::Timestamp;
use countersign_identity::passkey::{self, Ceremony, Posted};
pub use countersign_identity::passkey::{Credential, PasskeyAlgorithm, PasskeyRefused, encode};
use url::Url;

use crate::App;
use crate::approvers::ApproverError;
use crate::authority::Caller;
use crate::deciding::CodeCheck;
use crate::humans::Visitor;
use crate::ports::StoreError;
use crate::records::Nonce;

/// A passkey of an approver's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// Whose it is.
    pub approver: ApproverId,
    /// What it signs with.
    pub credential: Credential,
    /// Since when.
    pub created_at: Timestamp,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
    /// What the browser called itself that made it, in short.
    pub label: String,
}

impl Passkey {
    /// Its name in keys and forms: the hash of its credential's id.
    pub fn name(&self) -> Sha256 {
        Sha256::of(&self.credential.id)
    }
}

/// What a passkey is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// To be made.
    Create,
    /// To be used.
    Use,
}

/// A form about one's own passkeys.
#[derive(Debug, Clone, Copy)]
pub struct PasskeyForm<'a> {
    /// The form's token, which was looked at.
    pub token: &'a str,
    /// What the browser says of the new one; empty where one goes.
    pub made: &'a str,
    /// What one that is there answered; empty where there is none.
    pub proof: &'a str,
}

/// Why a passkey is not added or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyError {
    /// What the browser sent is not taken.
    #[error(transparent)]
    Refused(#[from] PasskeyRefused),
    /// The first one takes a sign-in by code.
    #[error("the first passkey takes a fresh sign-in")]
    FreshSignInNeeded,
    /// It takes one that is there.
    #[error("a passkey that is there has to vouch for it")]
    ProofNeeded,
    /// There are as many as may be.
    #[error("{PASSKEYS_MAX} passkeys exist already")]
    TooMany,
    /// The form was used, or the passkey is there already.
    #[error("this form was used before")]
    Spent,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// What the browser is to have signed for the form with `token`.
    pub fn passkey_challenge(ask: Ask, token: &str) -> Sha256 {
        let label = match ask {
            Ask::Create => "countersign passkey create",
            Ask::Use => "countersign passkey use",
        };
        Sha256::of(format!("{label}\0{token}").as_bytes())
    }

    /// The relying party's id: the host of people's pages.
    pub fn rp_id(&self) -> String {
        let url = Url::parse(&self.settings.page_url).ok();
        url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned()
    }

    /// The passkeys of a person, the newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn passkeys(&self, visitor: &Visitor) -> Result<Vec<Passkey>, StoreError> {
        let store = self.store.tenant(&visitor.tenant.id);
        let mut found = store.human_rows(visitor.approver.id).await?.passkeys;
        found.sort_by_key(|one| std::cmp::Reverse(one.created_at));
        Ok(found)
    }

    /// Looks at what a passkey answered for a question. As with codes, a try is counted before it is looked at.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check_passkey(
        &self,
        visitor: &Visitor,
        question: &Elicitation,
        token: &str,
        answered: &str,
    ) -> Result<CodeCheck, StoreError> {
        let store = self.store.tenant(&visitor.tenant.id);
        let approver = visitor.approver.id;
        let Some(wrong) = store.count_wrong_code(question.id, approver, MATCH_TRIES).await? else {
            return Ok(CodeCheck::Locked);
        };
        let known = self.passkeys(visitor).await?;
        if self.vouched(visitor, &known, token, answered).await?.is_ok() {
            store.forgive_code(question.id, approver).await?;
            return Ok(CodeCheck::Right);
        }
        Ok(match MATCH_TRIES.saturating_sub(wrong) {
            0 => CodeCheck::Locked,
            left => CodeCheck::Wrong { left },
        })
    }

    /// Whether one of `known` answered for the form with `token`; its counter moves with it.
    async fn vouched(
        &self,
        visitor: &Visitor,
        known: &[Passkey],
        token: &str,
        answered: &str,
    ) -> Result<Result<(), PasskeyRefused>, StoreError> {
        let checked = Posted::parse(answered).and_then(|posted| {
            let id = posted.id()?;
            let found = known.iter().find(|one| one.credential.id == id);
            let found = found.ok_or(PasskeyRefused::WrongCredential)?;
            let rp_id = self.rp_id();
            let challenge = Self::passkey_challenge(Ask::Use, token).bytes();
            let ceremony = self.ceremony(&rp_id, &challenge);
            Ok((found, passkey::assert(&ceremony, &posted, &found.credential)?))
        });
        let (tenant, approver) = (&visitor.tenant.id, visitor.approver.id);
        let refused = match checked {
            Ok((found, count)) => {
                let now = self.clock.now();
                if self.store.tenant(tenant).use_passkey(found, count, now).await? {
                    return Ok(Ok(()));
                }
                PasskeyRefused::Copied
            }
            Err(refused) => refused,
        };
        tracing::info!(tenant.id = %tenant, approver.id = %approver, "a passkey was refused: {refused}");
        Ok(Err(refused))
    }

    fn ceremony<'a>(&'a self, rp_id: &'a str, challenge: &'a [u8]) -> Ceremony<'a> {
        Ceremony { rp_id, origin: &self.settings.page_url, challenge }
    }

    /// Adds a passkey of a person's own.
    ///
    /// # Errors
    /// [`PasskeyError`].
    pub async fn add_passkey(
        &self,
        visitor: &Visitor,
        form: PasskeyForm<'_>,
        label: &str,
    ) -> Result<(), PasskeyError> {
        let known = self.passkeys(visitor).await?;
        let rp_id = self.rp_id();
        let challenge = Self::passkey_challenge(Ask::Create, form.token).bytes();
        let credential = passkey::register(&self.ceremony(&rp_id, &challenge), &Posted::parse(form.made)?)?;
        if known.len() >= PASSKEYS_MAX {
            return Err(PasskeyError::TooMany);
        }
        self.may_change(visitor, &known, form).await?;
        let now = self.clock.now();
        let approver = visitor.approver.id;
        let made = Passkey { approver, credential, created_at: now, used_at: None, label: label.to_owned() };
        let store = self.store.tenant(&visitor.tenant.id);
        if !store.add_passkey(&made, self.spent(form.token)).await? {
            return Err(PasskeyError::Spent);
        }
        tracing::info!(tenant.id = %visitor.tenant.id, approver.id = %approver, "a passkey was added");
        Ok(())
    }

    /// Removes a passkey of a person's own; one of theirs vouches for it. What is not there is gone.
    ///
    /// # Errors
    /// [`PasskeyError`].
    pub async fn remove_passkey(
        &self,
        visitor: &Visitor,
        form: PasskeyForm<'_>,
        name: Sha256,
    ) -> Result<(), PasskeyError> {
        let known = self.passkeys(visitor).await?;
        let Some(gone) = known.iter().find(|one| one.name() == name) else { return Ok(()) };
        self.may_change(visitor, &known, form).await?;
        let store = self.store.tenant(&visitor.tenant.id);
        if !store.remove_passkey(gone, self.spent(form.token)).await? {
            return Err(PasskeyError::Spent);
        }
        let approver = gone.approver;
        tracing::info!(tenant.id = %visitor.tenant.id, approver.id = %approver, "a passkey was removed");
        Ok(())
    }

    async fn may_change(
        &self,
        visitor: &Visitor,
        known: &[Passkey],
        form: PasskeyForm<'_>,
    ) -> Result<(), PasskeyError> {
        if known.is_empty() {
            return visitor.session.is_fresh.then_some(()).ok_or(PasskeyError::FreshSignInNeeded);
        }
        if form.proof.is_empty() {
            return Err(PasskeyError::ProofNeeded);
        }
        Ok(self.vouched(visitor, known, form.token, form.proof).await??)
    }

    fn spent(&self, token: &str) -> Nonce {
        let until = self.clock.now().plus(FORM_TTL + NONCE_GRACE);
        Nonce { id: FormToken::spent_by(token), until }
    }

    /// Removes every passkey of an approver's, so that they can begin anew.
    ///
    /// # Errors
    /// [`ApproverError::Unknown`], and the store's.
    pub async fn forget_passkeys(&self, caller: &Caller, id: ApproverId) -> Result<(), ApproverError> {
        let approver = self.approver(caller, id).await?;
        let store = self.store.tenant(caller.tenant());
        for one in store.human_rows(approver.id).await?.passkeys {
            store.forget_passkey(&one).await?;
        }
        tracing::info!(
            tenant.id = %caller.tenant(), approver.id = %id, principal.id = caller.principal().as_str(),
            "the passkeys of an approver were removed"
        );
        Ok(())
    }
}
