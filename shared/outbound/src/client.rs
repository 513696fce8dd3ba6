//! One request, over one connection of its own, to an address that was vetted.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Host;

use crate::error::OutboundError;
use crate::resolver::{Resolver, SystemResolver};
use crate::target::{Reach, Target};

/// Bytes of status line and headers of a reply.
const HEAD_BYTES: usize = 16 * 1024;
/// Headers of a reply.
const HEADERS: usize = 64;
/// Addresses of a host that are tried, and how long each.
const ADDRESSES: usize = 4;
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
const AGENT: &str = concat!("countersign/", env!("CARGO_PKG_VERSION"));

/// What bounds one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// All of it, the resolving included.
    pub total: Duration,
    /// Bytes of the reply's body.
    pub reply_bytes: usize,
    /// What becomes of a longer body.
    pub over: Over,
}

/// What becomes of a body over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// What is over is not read.
    Cut,
    /// There is no reply.
    Refuse,
}

/// A request. Its `Debug` tells no URL, header or body: each may hold a secret.
#[derive(Clone)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its URL.
    pub url: String,
    /// Its headers, beside those that every request has.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
    /// What bounds it.
    pub limits: Limits,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A reply. A redirect is one like any other: it is not followed.
#[derive(Clone)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as it came: nothing is inflated.
    pub body: Vec<u8>,
    /// There was more of it.
    pub was_cut: bool,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Sends requests as far as it may reach.
#[derive(Clone)]
pub struct Client {
    reach: Reach,
    resolver: Arc<dyn Resolver>,
    tls: Arc<ClientConfig>,
}

impl Client {
    /// A client that reaches as far as `reach`.
    ///
    /// # Errors
    /// What the TLS stack says of its own defaults.
    pub fn new(reach: Reach) -> Result<Self, OutboundError> {
        Self::with_resolver(reach, Arc::new(SystemResolver))
    }

    /// The same with names from elsewhere.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_resolver(reach: Reach, resolver: Arc<dyn Resolver>) -> Result<Self, OutboundError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| OutboundError::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { reach, resolver, tls: Arc::new(config) })
    }

    #[cfg(test)]
    pub(crate) fn trusting(mut self, roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        self.tls = Arc::new(config.expect("defaults").with_root_certificates(roots).with_no_client_auth());
        self
    }

    /// Sends `request` to the first of its host's addresses that takes the connection.
    ///
    /// # Errors
    /// See [`OutboundError`].
    pub async fn send(&self, request: Request) -> Result<Reply, OutboundError> {
        let total = request.limits.total;
        timeout(total, self.attempt(request)).await.unwrap_or(Err(OutboundError::Timeout))
    }

    async fn attempt(&self, request: Request) -> Result<Reply, OutboundError> {
        let target = Target::parse(&request.url, self.reach)?;
        let addresses = self.addresses(&target).await?;
        Target::vet_all(&addresses, self.reach)?;
        let stream = connect(&addresses, target.port).await?;
        if !target.is_tls {
            return exchange(stream, &target, request).await;
        }
        let name = match &target.host {
            Host::Domain(name) => ServerName::try_from(name.clone()),
            Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
        };
        let name = name.map_err(|error| OutboundError::Tls(error.to_string()))?;
        let secured = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await;
        exchange(secured.map_err(|error| OutboundError::Tls(error.to_string()))?, &target, request).await
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, OutboundError> {
        match &target.host {
            Host::Ipv4(address) => Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => {
                let found = self.resolver.resolve(name).await;
                found.map_err(|error| OutboundError::Resolve(error.to_string()))
            }
        }
    }
}

async fn connect(addresses: &[IpAddr], port: u16) -> Result<TcpStream, OutboundError> {
    let mut last = String::from("no address");
    for address in addresses.iter().take(ADDRESSES) {
        match timeout(CONNECT_LIMIT, TcpStream::connect(SocketAddr::new(*address, port))).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error.to_string(),
            Err(_) => "nobody answers".clone_into(&mut last),
        }
    }
    Err(OutboundError::Connect(last))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: &Target,
    request: Request,
) -> Result<Reply, OutboundError> {
    let protocol = |error: hyper::Error| OutboundError::Protocol(error.to_string());
    let mut builder = http1::Builder::new();
    let builder = builder.max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(protocol)?;
    let limits = request.limits;
    let outgoing = outgoing(target, request)?;
    let exchanged = async {
        let answer = sender.send_request(outgoing).await.map_err(protocol)?;
        let (head, body) = answer.into_parts();
        let (body, was_cut) = collect(body, limits).await?;
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body, was_cut })
    };
    // Nothing else drives the connection; once the exchange is over it is dropped, and with it the socket.
    let mut connection = std::pin::pin!(connection);
    let mut exchanged = std::pin::pin!(exchanged);
    tokio::select! {
        reply = &mut exchanged => reply,
        _ = &mut connection => exchanged.await,
    }
}

fn outgoing(target: &Target, request: Request) -> Result<http::Request<Full<Bytes>>, OutboundError> {
    let refused = |error: &dyn std::fmt::Display| OutboundError::NotAllowed(error.to_string());
    let url = &target.url;
    let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let host = url.port().map_or_else(|| target.host.to_string(), |port| format!("{}:{port}", target.host));
    let length = HeaderValue::from(request.body.len());
    let mut built = http::Request::builder()
        .method(&request.method)
        .uri(path)
        .body(Full::new(Bytes::from(request.body)))
        .map_err(|error| refused(&error))?;
    let headers = built.headers_mut();
    *headers = request.headers;
    headers.insert(HOST, HeaderValue::from_str(&host).map_err(|error| refused(&error))?);
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CONTENT_LENGTH, length);
    Ok(built)
}

async fn collect(mut body: Incoming, limits: Limits) -> Result<(Vec<u8>, bool), OutboundError> {
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| OutboundError::Protocol(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        let room = limits.reply_bytes - kept.len();
        if data.len() > room {
            kept.extend_from_slice(&data[..room]);
            return match limits.over {
                Over::Cut => Ok((kept, true)),
                Over::Refuse => Err(OutboundError::TooLarge),
            };
        }
        kept.extend_from_slice(&data);
    }
    Ok((kept, false))
}
