//! Lambda on this machine: built binaries as processes under a Runtime API, behind what AWS puts in front of them.
//!
//! [`Process`] is one execution environment, [`event`] the two payloads of format 2.0, [`Deployment`] all functions
//! over one embedded engine behind a gateway, [`built()`] makes the binaries.

mod api;
mod build;
mod deployment;
pub mod event;
mod process;

pub use api::Outcome;
pub use build::{binary_folder, built};
pub use deployment::{BINARIES, Deployment};
pub use event::Origin;
pub use process::Process;
