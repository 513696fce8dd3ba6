//! Passkeys on pages: what the script asks the browser for, and what becomes of its answer.

use countersign_app::App;
use countersign_app::deciding::CodeCheck;
use countersign_app::humans::Visitor;
use countersign_app::passkeys::{Ask, Passkey, encode};
use countersign_core::elicitation::Elicitation;

use super::browser::Posted;
use super::decision::Alert;
use super::signin::tries;
use super::words::{EN, put};
use crate::error::ApiError;

/// What the script asks the browser for, as text for attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PasskeyAsk {
    /// The relying party's id.
    pub(crate) rp: String,
    /// What is to be signed, base64url.
    pub(crate) challenge: String,
    /// The credentials that there are, base64url, with spaces.
    pub(crate) ids: String,
}

impl PasskeyAsk {
    /// To use one of `known` for the form with `token`; `None` where there is none.
    pub(crate) fn to_use(app: &App, known: &[Passkey], token: &str) -> Option<Self> {
        (!known.is_empty()).then(|| Self::of(app, Ask::Use, known, token))
    }

    /// To make one beside `known` for the form with `token`.
    pub(crate) fn to_create(app: &App, known: &[Passkey], token: &str) -> Self {
        Self::of(app, Ask::Create, known, token)
    }

    fn of(app: &App, ask: Ask, known: &[Passkey], token: &str) -> Self {
        let ids = known.iter().map(|one| encode(&one.credential.id));
        Self {
            rp: app.rp_id(),
            challenge: encode(App::passkey_challenge(ask, token).bytes()),
            ids: ids.collect::<Vec<_>>().join(" "),
        }
    }
}

/// Looks at the passkey of an approval; `None` where it vouches for it.
pub(crate) async fn check(
    app: &App,
    visitor: &Visitor,
    question: &Elicitation,
    posted: &Posted,
    token: &str,
) -> Result<Option<Alert>, ApiError> {
    let answered = posted.get("passkey").unwrap_or_default();
    if answered.is_empty() {
        return Ok(Some(Alert::new(EN.own.missing, EN.own.missing_why)));
    }
    Ok(match app.check_passkey(visitor, question, token, answered).await? {
        CodeCheck::Right => None,
        CodeCheck::Wrong { left } => Some(
            Alert::new(&put(EN.own.wrong, &[&tries(left)]), EN.own.wrong_why).leading("/me", EN.own.title),
        ),
        CodeCheck::Locked => Some(locked()),
    })
}

/// Approving takes a passkey, and this person has none.
pub(crate) fn none_yet() -> Alert {
    Alert::calm(EN.passkey_needed, EN.passkey_needed_why).leading("/me", EN.own.add)
}

/// Too often none was taken.
pub(crate) fn locked() -> Alert {
    Alert::calm(EN.own.locked, EN.own.locked_why)
}
