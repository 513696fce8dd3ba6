//! The composition root: the only crate that reads the environment, the clock and the machine's randomness.
//!
//! [`Config`] is read once at the start of a process, [`compose()`] puts the use-cases on top of whatever the process
//! brings. What is particular to one binary lies in that binary.

#[cfg(feature = "lambda")]
mod aws;
mod clock;
mod compose;
mod config;
mod entropy;
mod hooks;
mod jwks;
#[cfg(feature = "lambda")]
pub mod lambda;
mod logging;
mod variables;

pub use clock::SystemClock;
pub use compose::{Parts, compose};
pub use config::{BadConfig, BadValue, Config, SecretsAt};
pub use entropy::OsEntropy;
pub use hooks::GuardedHooks;
pub use jwks::GuardedJwks;
pub use logging::{LogFormat, start_logging};
pub use variables::{VARIABLES, Variable, help_list, markdown_table};
