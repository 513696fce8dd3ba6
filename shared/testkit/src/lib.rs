//! What the tests stand on: the whole app on an embedded engine, with a clock, randomness and faults that the test
//! holds in its hand. Dev-only.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up has failed"
)]

pub mod app;
pub mod authenticator;
pub mod channel;
pub mod clock;
pub mod crash;
pub mod entropy;
pub mod hooks;
pub mod jwks;
pub mod lambda;
pub mod person;
pub mod trigger;
pub mod web;

pub use app::{TestApp, fallback_ask, native_ask, pressed};
pub use clock::MockClock;
pub use web::{Reply, Web};
