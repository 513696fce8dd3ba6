//! The rules of Countersign, pure: no async, no I/O, no clock, no randomness.
//!
//! Everything here is a function of its arguments. Time comes in as a [`time::Timestamp`], random bytes as
//! arguments. Domain types have no `Serialize`: what goes over the wire is `countersign-wire`'s, what lies
//! in the table is `countersign-store`'s.

pub mod ask;
pub mod assurance;
pub mod audience;
pub mod binding;
pub mod credential;
pub mod deadline;
pub mod declines;
pub mod delivery;
pub mod elicitation;
pub mod endpoint;
pub mod event;
pub mod human;
pub mod hygiene;
pub mod id;
pub mod json;
pub mod limits;
pub mod policy;
pub mod quota;
pub mod retry;
pub mod schema;
pub mod seal;
pub mod secret;
pub mod session;
pub mod signature;
pub mod state;
pub mod text;
pub mod time;
pub mod violation;
