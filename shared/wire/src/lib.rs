//! Public shapes: what goes over the wire, and nothing else. No I/O, no clock, no routes.
//!
//! What comes in is read by hand from a JSON object that [`countersign_core::json`] has read strictly, so that a
//! refusal lists everything that is wrong with pointers. What goes out is a struct with `Serialize`, made from
//! domain values by its constructor; the order of its fields is the order on the wire. Golden files pin every
//! shape. PROTOCOL.md is the specification.

pub mod approver;
pub mod endpoint;
pub mod event;
pub mod fallback;
pub mod fields;
pub mod hint;
pub mod issuer;
pub mod key;
pub mod limits;
pub mod manage;
pub mod native;
pub mod policy;
pub mod problem;
pub mod rejected;
mod schema;
pub mod session;
pub mod submitted;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
