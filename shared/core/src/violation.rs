//! One thing that is wrong with an input, told so that a program or a model can mend it.

use std::fmt;

/// Where an input breaks a rule and what would mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// RFC 6901 pointer into the input, `""` for the whole of it.
    pub pointer: String,
    /// What is wrong and what would be right, in one short phrase without a full stop.
    pub message: String,
}

impl Violation {
    /// A violation at `pointer`.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// The same violation seen from the object that holds the input under `prefix` (a pointer).
    #[must_use]
    pub fn under(self, prefix: &str) -> Self {
        Self { pointer: format!("{prefix}{}", self.pointer), message: self.message }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

/// `segment` as one reference token of an RFC 6901 pointer.
pub fn pointer_token(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
