//! Tenants (PROTOCOL.md section 2.5).

use countersign_core::id::TenantId;
use countersign_core::limits::MAX_OPEN_PER_TENANT_MAX;
use countersign_core::quota::Quota;
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields};
use crate::limits::{QUOTA_RATE, QUOTA_STORED};
use crate::rejected::Rejected;

/// `POST /v1/tenants`
pub struct TenantBody {
    /// The id that the tenant is to have.
    pub id: TenantId,
}

impl TenantBody {
    /// Reads the body.
    ///
    /// # Errors
    /// [`Rejected`] with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let id = fields.parsed("name", "3 to 40 characters of a-z, 0-9 and -");
        if !fields.has("name") {
            fields.refuse("name", "is required");
        }
        fields.finish();
        id.map(|id| Self { id }).filter(|_| faults.refusal().is_ok()).ok_or_else(|| faults.rejected())
    }
}

/// A new tenant with its first key, which is shown once.
#[derive(Serialize)]
pub struct TenantCreated {
    id: String,
    name: String,
    api_key: String,
}

impl TenantCreated {
    /// The answer.
    pub fn of(id: &TenantId, name: &str, api_key: String) -> Self {
        Self { id: id.to_string(), name: name.to_owned(), api_key }
    }
}

/// `PATCH /v1/tenants/{tenant}`: `{quota: {burst?, per_minute?, max_stored?, max_open?}}`. What is left out stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaBody {
    /// Questions at once.
    pub burst: Option<u32>,
    /// Questions a minute.
    pub per_minute: Option<u32>,
    /// Questions that are stored.
    pub max_stored: Option<u64>,
    /// Questions that wait for an answer at once.
    pub max_open: Option<usize>,
}

impl QuotaBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// [`Rejected`] with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let read = fields.required_object("quota").map(|quota| {
            let small = |key| quota.integer(key, QUOTA_RATE).and_then(|number| u32::try_from(number).ok());
            let read = Self {
                burst: small("burst"),
                per_minute: small("per_minute"),
                max_stored: quota.integer("max_stored", QUOTA_STORED),
                max_open: quota
                    .integer("max_open", 1..=MAX_OPEN_PER_TENANT_MAX as u64)
                    .and_then(|number| usize::try_from(number).ok()),
            };
            quota.finish();
            read
        });
        fields.finish();
        faults.refusal()?;
        read.ok_or_else(|| faults.rejected())
    }
}

/// What a tenant is, for its view.
#[derive(Debug, Clone, Copy)]
pub struct TenantFacts<'a> {
    /// Its id.
    pub id: &'a TenantId,
    /// Its name, for people.
    pub name: &'a str,
    /// When it was made.
    pub created_at: Timestamp,
    /// It may not ask.
    pub suspended: bool,
    /// It is being deleted.
    pub deleting: bool,
    /// What it may ask.
    pub quota: Quota,
}

/// A tenant.
#[derive(Debug, Clone, Serialize)]
pub struct TenantView {
    id: String,
    name: String,
    status: &'static str,
    created_at: String,
    quota: QuotaView,
}

#[derive(Debug, Clone, Serialize)]
struct QuotaView {
    burst: u32,
    per_minute: u32,
    max_stored: u64,
    max_open: usize,
}

impl TenantView {
    /// The answer.
    pub fn of(facts: &TenantFacts<'_>) -> Self {
        let status = match (facts.deleting, facts.suspended) {
            (true, _) => "deleting",
            (false, true) => "suspended",
            (false, false) => "active",
        };
        Self {
            id: facts.id.to_string(),
            name: facts.name.to_owned(),
            status,
            created_at: facts.created_at.to_string(),
            quota: QuotaView {
                burst: facts.quota.burst,
                per_minute: facts.quota.per_minute,
                max_stored: facts.quota.max_stored,
                max_open: facts.quota.max_open,
            },
        }
    }
}

/// All tenants.
#[derive(Debug, Clone, Serialize)]
pub struct TenantPage {
    tenants: Vec<TenantView>,
}

impl TenantPage {
    /// The answer.
    pub const fn of(tenants: Vec<TenantView>) -> Self {
        Self { tenants }
    }
}

/// How far the deletion of a tenant is.
#[derive(Debug, Clone, Serialize)]
pub struct TenantDeletion {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_until: Option<String>,
}

impl TenantDeletion {
    /// Nothing is deleted yet: `code`, sent back in time, does it.
    pub fn to_confirm(code: String, until: Timestamp) -> Self {
        Self { status: "to_confirm", confirm: Some(code), confirm_until: Some(until.to_string()) }
    }

    /// It has begun.
    pub const fn begun() -> Self {
        Self { status: "deleting", confirm: None, confirm_until: None }
    }
}
