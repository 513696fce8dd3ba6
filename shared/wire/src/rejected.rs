//! A request that is not taken, told so that whoever sent it can mend it.

use std::fmt;

use countersign_core::violation::Violation;

/// The body has a wrong shape.
pub const INVALID_REQUEST: &str = "invalid_request";
/// The requested schema is not of the supported subset.
pub const INVALID_SCHEMA: &str = "invalid_schema";
/// The requested schema asks for a secret.
pub const SENSITIVE_FIELD: &str = "sensitive_field";
/// The binding contradicts itself, the preview or the schema.
pub const INVALID_BINDING: &str = "invalid_binding";
/// The answer does not fit.
pub const INVALID_CONTENT: &str = "invalid_content";
/// The asker may not name a callback.
pub const CALLBACK_NOT_ALLOWED: &str = "callback_not_allowed";

/// Violations that the sentence repeats; the list has them all.
const SPOKEN: usize = 3;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The stable code, one of this module's.
    pub code: &'static str,
    /// What is wrong, with pointers into the body; at most [`countersign_core::schema::VIOLATIONS`].
    pub violations: Vec<Violation>,
}

impl Rejected {
    /// A refusal for a single violation.
    pub fn one(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, violations: vec![Violation::new(pointer, message)] }
    }

    /// What kind of refusal this is, in a few words.
    pub fn title(&self) -> &'static str {
        match self.code {
            INVALID_REQUEST => "The request has the wrong shape",
            INVALID_SCHEMA => "The requested schema is not supported",
            SENSITIVE_FIELD => "A form must not ask for a secret",
            INVALID_BINDING => "The binding does not hold together",
            INVALID_CONTENT => "The content does not fit",
            CALLBACK_NOT_ALLOWED => "The asker may not name a callback",
            _ => "The request is refused",
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())?;
        for (index, violation) in self.violations.iter().take(SPOKEN).enumerate() {
            write!(f, "{}{violation}", if index == 0 { ": " } else { "; " })?;
        }
        match self.violations.len().saturating_sub(SPOKEN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Rejected {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(violations: usize, want: &str) {
        let violations = (0..violations).map(|n| Violation::new(format!("/{n}"), "must be text")).collect();
        assert_eq!(Rejected { code: INVALID_REQUEST, violations }.to_string(), want);
    }

    #[test]
    fn the_sentence_repeats_the_first_violations_and_counts_the_rest() {
        check(0, "The request has the wrong shape");
        check(1, "The request has the wrong shape: /0: must be text");
        check(
            5,
            "The request has the wrong shape: /0: must be text; /1: must be text; /2: must be text; and 2 more",
        );
    }
}
