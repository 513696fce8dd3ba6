//! Mailing codes: from the stored row, so that a crash loses none and no answer's time tells who is an approver.

use std::time::Duration;

use countersign_core::delivery::ChannelKind;
use countersign_core::human::mailed_digits;
use countersign_core::id::{CodeId, Reference, TenantId};
use countersign_core::limits::CODE_SENDS;
use countersign_core::secret::Secret;
use countersign_core::time::Timestamp;

use crate::App;
use crate::ports::StoreError;
use crate::records::{Approver, Wanted};

/// A mail that was begun and never ended is taken over after this.
const LEASE: Duration = Duration::from_secs(30);

/// A code on its way to somebody.
#[derive(Debug, Clone)]
pub struct CodeNotice {
    /// The tenant's name, for people.
    pub tenant: String,
    /// To whom.
    pub to: Approver,
    /// The six digits.
    pub digits: Secret<String>,
    /// The question that it is for; `None` for signing in.
    pub reference: Option<Reference>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The same for each attempt.
    pub id: String,
}

impl App {
    /// Mails a code that was asked for, if it was not mailed yet.
    ///
    /// # Errors
    /// [`StoreError`]; the sweep takes over from the row.
    pub async fn mail_code(&self, tenant: &TenantId, id: CodeId) -> Result<(), StoreError> {
        let store = self.store.tenant(tenant);
        let now = self.clock.now();
        let Some(code) = store.code(id).await? else { return Ok(()) };
        let wanted = Wanted {
            tenant: true,
            approver: code.approver,
            elicitation: code.elicitation,
            ..Wanted::default()
        };
        let rows = store.read(&wanted).await?;
        let of = rows.tenant.filter(|one| !one.deleting);
        let is_wanted = !code.is_spent && now < code.expires_at && code.sends < CODE_SENDS;
        let digits = mailed_digits(id, &code.key_id, &self.keys);
        let (Some(of), Some(to), Some(digits), true) = (of, rows.approver, digits, is_wanted) else {
            return store.end_code_mail(id).await;
        };
        if !store.begin_code_mail(&code, now.plus(LEASE)).await? {
            return Ok(()); // another hand has it
        }
        let notice = CodeNotice {
            tenant: of.name,
            to,
            digits: Secret::new(digits),
            reference: rows.elicitation.map(|one| one.reference),
            expires_at: code.expires_at,
            id: id.to_string(),
        };
        let channel = self.channels.iter().find(|one| one.kind() == ChannelKind::Email);
        let Some(channel) = channel else {
            tracing::warn!(tenant.id = %tenant, "a code is not mailed: mail is not configured");
            return Ok(());
        };
        match channel.send_code(&notice).await {
            Ok(()) => store.end_code_mail(id).await,
            Err(error) => {
                tracing::warn!(tenant.id = %tenant, "a code was not mailed: {error}");
                Ok(()) // the lease brings it back
            }
        }
    }
}
