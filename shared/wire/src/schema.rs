//! The requested schema of a create, whichever protocol it came by.

use countersign_core::schema::{Schema, SchemaErrorCode};
use serde_json::Value;

use crate::rejected::{INVALID_SCHEMA, Rejected, SENSITIVE_FIELD};

/// Parses what was sent under `pointer`; nothing is a plain yes or no.
pub(crate) fn parse(source: Option<&Value>, pointer: &str) -> Result<Schema, Rejected> {
    let Some(source) = source else { return Ok(Schema::yes_no()) };
    Schema::parse(source).map_err(|error| Rejected {
        code: match error.code {
            SchemaErrorCode::Invalid => INVALID_SCHEMA,
            SchemaErrorCode::SensitiveField => SENSITIVE_FIELD,
        },
        violations: error.violations.into_iter().map(|violation| violation.under(pointer)).collect(),
    })
}
