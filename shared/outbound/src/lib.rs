//! Outbound HTTP: the only crate that opens a connection to an address that somebody else named.
//!
//! A tenant's admin chooses where webhooks go and where keys are fetched from. Without a guard such a URL is a way into
//! whatever this process can reach: the Lambda runtime API on loopback, instance metadata, the private network
//! (RELIABILITY.md row 25). So: https, two ports, every address that the name resolves to vetted, and then connected
//! to, without asking again. No redirects, no proxies, no cookies, nothing inflated, everything capped.

mod address;
mod client;
mod error;
mod resolver;
mod target;
#[cfg(test)]
mod tests;

pub use address::vet;
pub use client::{Client, Limits, Over, Reply, Request};
pub use error::OutboundError;
pub use resolver::{Resolver, SystemResolver};
pub use target::Reach;
