//! Names to addresses.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// What turns a name into addresses. Asked once for each request.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of `name`.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
