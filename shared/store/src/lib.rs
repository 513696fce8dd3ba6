//! DynamoDB, one table (DESIGN.md section 4).
//!
//! [`table`] is the few operations that we use of it, [`dynamo`] does them through the SDK, [`keys`] is the only
//! place that spells a key, `rows` the only one that spells an attribute. [`DynamoStore`] implements the ports of
//! `countersign-app` on top, one file per access pattern.

mod api_keys;
mod approvers;
mod attempts;
mod create;
mod due;
pub mod dynamo;
mod endpoints;
mod events;
mod humans;
mod idempotency;
mod inbox;
mod issuers;
pub mod keys;
mod lists;
mod passkeys;
mod policies;
mod port;
mod purge;
mod quota;
mod reads;
mod rows;
pub mod schema;
mod scoped;
mod sealing;
mod sessions;
mod settle;
pub mod table;
mod tenants;
pub mod vault;

pub use scoped::{DynamoStore, TenantRows};
