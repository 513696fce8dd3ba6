//! What a URL may name, before anything is resolved.

use std::net::IpAddr;

use url::{Host, Url};

use crate::address::vet;
use crate::error::OutboundError;

/// How far a client may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The public internet, by https: for what a tenant named.
    Public,
    /// And this machine's loopback, by http too: for trying things out.
    PublicOrLoopback,
    /// Anything, by http or https: for what the person at the terminal typed.
    Anything,
}

const PORTS: [u16; 2] = [443, 8443];

/// A URL that may be called, as far as it tells by itself.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

impl Target {
    pub(crate) fn parse(text: &str, reach: Reach) -> Result<Self, OutboundError> {
        let refused = OutboundError::NotAllowed;
        let url = Url::parse(text).map_err(|error| refused(format!("it is no URL: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("a URL must not carry a user or a password".into()));
        }
        // The parser has read integer, octal, hexadecimal and short forms of IPv4 by now, as a browser does.
        let host = match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() && !name.ends_with('.') => {
                Host::Domain(name.to_owned())
            }
            Some(Host::Ipv4(address)) => Host::Ipv4(address),
            Some(Host::Ipv6(address)) => Host::Ipv6(address),
            Some(Host::Domain(_)) | None => {
                return Err(refused("a URL must name a host, without a dot at its end".into()));
            }
        };
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(refused(format!("the scheme {other} is not https"))),
        };
        let port = url.port_or_known_default().unwrap_or(443);
        let target = Self { url, host, port, is_tls };
        target.allowed(reach)?;
        Ok(target)
    }

    fn allowed(&self, reach: Reach) -> Result<(), OutboundError> {
        let is_here = match (&self.host, reach) {
            (_, Reach::Anything) => return Ok(()),
            (_, Reach::Public) => false,
            (Host::Domain(name), Reach::PublicOrLoopback) => name == "localhost",
            (Host::Ipv4(address), Reach::PublicOrLoopback) => address.is_loopback(),
            (Host::Ipv6(address), Reach::PublicOrLoopback) => address.is_loopback(),
        };
        if is_here {
            return Ok(());
        }
        if !self.is_tls {
            return Err(OutboundError::NotAllowed("only https is called".into()));
        }
        if !PORTS.contains(&self.port) {
            return Err(OutboundError::NotAllowed(format!("port {} is not 443 or 8443", self.port)));
        }
        Ok(())
    }

    /// Whether every address that the host has may be connected to. One that may not spoils them all: a name that mixes
    /// public and private addresses is hostile.
    pub(crate) fn vet_all(addresses: &[IpAddr], reach: Reach) -> Result<(), OutboundError> {
        if addresses.is_empty() {
            return Err(OutboundError::Resolve("the name has no address".into()));
        }
        for address in addresses {
            let is_allowed = match reach {
                Reach::Anything => Ok(()),
                Reach::PublicOrLoopback if address.is_loopback() => Ok(()),
                Reach::Public | Reach::PublicOrLoopback => vet(*address),
            };
            // Which address is not said: whoever named the host would learn what names mean inside.
            is_allowed.map_err(|what| {
                OutboundError::NotAllowed(format!("it leads to an address that is {what}, not the internet"))
            })?;
        }
        Ok(())
    }
}
