//! Errors of the native API: `application/problem+json` (RFC 9457).

use countersign_core::violation::Violation;
use serde::Serialize;

use crate::native::Winner;
use crate::rejected::Rejected;

/// The media type of a [`Problem`].
pub const MEDIA_TYPE: &str = "application/problem+json";
/// What every `type` starts with. A URN, since a page that does not exist yet must not be promised: the `code` behind
/// it is the stable name.
const TYPE_PREFIX: &str = "urn:countersign:problem:";
const UNPROCESSABLE: u16 = 422;

/// An error answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    r#type: String,
    title: String,
    status: u16,
    detail: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Pointed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<Winner>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Pointed {
    pointer: String,
    message: String,
}

impl Problem {
    /// A problem of this status; `title` names its kind, `detail` says what happened and what to do.
    pub fn new(status: u16, code: &'static str, title: impl Into<String>, detail: impl Into<String>) -> Self {
        let (title, detail) = (title.into(), detail.into());
        Self {
            r#type: format!("{TYPE_PREFIX}{code}"),
            title,
            status,
            detail,
            code,
            errors: Vec::new(),
            winner: None,
        }
    }

    /// The problem of a body that is refused.
    pub fn rejected(rejected: &Rejected) -> Self {
        Self::new(UNPROCESSABLE, rejected.code, rejected.title(), rejected.to_string())
            .with_errors(&rejected.violations)
    }

    /// The same with what is wrong where.
    #[must_use]
    pub fn with_errors(self, violations: &[Violation]) -> Self {
        let pointed =
            |one: &Violation| Pointed { pointer: one.pointer.clone(), message: one.message.clone() };
        Self { errors: violations.iter().map(pointed).collect(), ..self }
    }

    /// The same with the decision that came first.
    #[must_use]
    pub fn with_winner(self, winner: Winner) -> Self {
        Self { winner: Some(winner), ..self }
    }

    /// The HTTP status.
    pub const fn status(&self) -> u16 {
        self.status
    }
}
