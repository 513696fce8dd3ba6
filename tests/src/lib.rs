//! What the tests share with the binaries that they start.

pub mod probe;
