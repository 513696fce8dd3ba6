//! The embedded DynamoDB-compatible engine, and what a developer may do to it: faults and a movable clock.
//!
//! Only the local binary and the tests link this. The store on top is the ordinary one, through the ordinary SDK.

pub mod clock;
pub mod engine;
pub mod faults;
mod in_process;
