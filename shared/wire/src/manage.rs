//! Tenants (PROTOCOL.md section 2.5).

use countersign_core::id::TenantId;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields};
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

/// All tenants.
#[derive(Serialize)]
pub struct TenantPage {
    tenants: Vec<TenantEntry>,
}

#[derive(Serialize)]
struct TenantEntry {
    id: String,
}

impl TenantPage {
    /// The answer.
    pub fn of(ids: &[TenantId]) -> Self {
        Self { tenants: ids.iter().map(|id| TenantEntry { id: id.to_string() }).collect() }
    }
}
