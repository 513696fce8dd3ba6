//! How sure we are of the person behind a decision (DESIGN.md section 2).

use std::fmt;

/// How sure we are of a person, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assurance {
    /// A signed-in person, or a program with the right credential, said so.
    Tap,
    /// And typed a code that only the right surface shows.
    Code,
    /// And used a passkey for this very question.
    Passkey,
}

impl Assurance {
    /// All of them, weakest first.
    pub const ALL: [Self; 3] = [Self::Tap, Self::Code, Self::Passkey];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::Code => "code",
            Self::Passkey => "passkey",
        }
    }

    /// The assurance that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

impl fmt::Display for Assurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
