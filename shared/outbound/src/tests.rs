//! The guard against addresses, resolvers, servers and URLs that mean harm.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderMap, Method};
use proptest::prelude::*;
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::target::Target;
use crate::{Client, Limits, OutboundError, Over, Reach, Reply, Request, Resolver, vet};

/// Every row: an address, and whether it is the internet.
const ADDRESSES: &[(&str, bool)] = &[
    ("0.0.0.0", false),
    ("0.255.255.255", false),
    ("1.0.0.0", true),
    ("1.1.1.1", true),
    ("8.8.8.8", true),
    ("9.255.255.255", true),
    ("10.0.0.0", false),
    ("10.255.255.255", false),
    ("11.0.0.0", true),
    ("100.63.255.255", true),
    ("100.64.0.0", false),
    ("100.100.100.200", false),
    ("100.127.255.255", false),
    ("100.128.0.0", true),
    ("126.255.255.255", true),
    ("127.0.0.1", false),
    ("127.255.255.255", false),
    ("128.0.0.0", true),
    ("168.63.129.16", false),
    ("168.63.129.17", true),
    ("169.253.255.255", true),
    ("169.254.0.1", false),
    ("169.254.169.254", false),
    ("169.254.170.2", false),
    ("169.255.0.0", true),
    ("172.15.255.255", true),
    ("172.16.0.0", false),
    ("172.31.255.255", false),
    ("172.32.0.0", true),
    ("192.0.0.0", false),
    ("192.0.0.192", false),
    ("192.0.1.0", true),
    ("192.0.2.1", false),
    ("192.0.3.0", true),
    ("192.88.99.1", false),
    ("192.167.255.255", true),
    ("192.168.0.1", false),
    ("192.168.255.255", false),
    ("192.169.0.0", true),
    ("198.17.255.255", true),
    ("198.18.0.1", false),
    ("198.19.255.255", false),
    ("198.20.0.0", true),
    ("198.51.100.7", false),
    ("203.0.113.7", false),
    ("203.0.114.0", true),
    ("223.255.255.255", true),
    ("224.0.0.1", false),
    ("239.255.255.255", false),
    ("240.0.0.1", false),
    ("255.255.255.255", false),
    ("::", false),
    ("::1", false),
    ("::7f00:1", false),
    ("::ffff:8.8.8.8", false),
    ("::ffff:127.0.0.1", false),
    ("::ffff:169.254.169.254", false),
    ("::ffff:0:127.0.0.1", false),
    ("64:ff9b::7f00:1", false),
    ("64:ff9b::808:808", false),
    ("64:ff9b:1::1", false),
    ("100::1", false),
    ("2001::1", false),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", false),
    ("2001:20::1", false),
    ("2001:1ff:ffff::1", false),
    ("2001:200::1", true),
    ("2001:4860:4860::8888", true),
    ("2001:db8::1", false),
    ("2001:db9::1", true),
    ("2002:7f00:1::1", false),
    ("2002:808:808::1", false),
    ("2003::1", true),
    ("2600:1f14::1", true),
    ("2606:4700::1111", true),
    ("2620:4f:8000::1", false),
    ("3ffe::1", false),
    ("3fff::1", false),
    ("3fff:fff::1", false),
    ("3fff:1000::1", true),
    ("4000::1", false),
    ("5f00::1", false),
    ("fc00::1", false),
    ("fd00:ec2::254", false),
    ("fdff::1", false),
    ("fe00::1", false),
    ("fe80::1", false),
    ("febf::1", false),
    ("fec0::1", false),
    ("ff02::1", false),
    ("ff0e::1", false),
];

#[test]
fn every_address_of_the_table_is_judged_as_it_says() {
    for (address, is_public) in ADDRESSES {
        let found = vet(address.parse().unwrap());
        assert_eq!(found.is_ok(), *is_public, "{address}: {found:?}");
    }
    println!("{} addresses", ADDRESSES.len());
}

#[track_caller]
fn parse(url: &str) -> Result<Target, OutboundError> {
    Target::parse(url, Reach::Public)
}

#[test]
fn only_plain_https_urls_are_called() {
    for good in [
        "https://example.com",
        "https://example.com:8443/x?y=1",
        "https://8.8.8.8/",
        "https://ex%61mple.com/",
    ] {
        assert!(parse(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "example.com",
        "http://example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "gopher://example.com",
        "https://",
        "https://example.com:444",
        "https://example.com:22",
        "https://user@example.com",
        "https://user:password@example.com",
        "https://example.com.",
        "https://[::1",
        "javascript:alert(1)",
        "data:text/html,x",
        "unix:/run/x.sock",
        "https://example.com:99999",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

/// Whether a URL with this host would be connected to anywhere.
fn reaches(host: &str) -> bool {
    let Ok(target) = parse(&format!("https://{host}/")) else { return false };
    let address: IpAddr = match target.host {
        url::Host::Ipv4(address) => address.into(),
        url::Host::Ipv6(address) => address.into(),
        url::Host::Domain(_) => return false, // resolved, and vetted then
    };
    Target::vet_all(&[address], Reach::Public).is_ok()
}

proptest! {
    #[test]
    fn no_way_to_write_a_refused_address_gets_past(index in 0..ADDRESSES.len(), form in 0..12_u8) {
        let (text, is_public) = ADDRESSES[index];
        let IpAddr::V4(address) = text.parse().unwrap() else { return Ok(()) };
        prop_assume!(!is_public);
        let bits = address.to_bits();
        let [a, b, c, d] = address.octets();
        let host = match form {
            0 => format!("{bits}"),
            1 => format!("0x{bits:x}"),
            2 => format!("0{bits:o}"),
            3 => format!("{a}.{b}.{}", u32::from(c) << 8 | u32::from(d)),
            4 => format!("{a}.{}", bits & 0x00ff_ffff),
            5 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
            6 => format!("0x{a:x}.{b}.0{c:o}.0x{d:X}"),
            7 => format!("[::ffff:{address}]"),
            8 => format!("[::{address}]"),
            9 => format!("[64:ff9b::{address}]"),
            10 => format!("{a}%2e{b}%2e{c}%2e{d}"),
            _ => format!("{a}。{b}．{c}｡{d}"),
        };
        prop_assert!(!reaches(&host), "{host}");
    }
}

/// Answers each time with the next of its lists.
struct Rebinding {
    lists: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Rebinding {
    fn new(lists: &[&[&str]]) -> Arc<Self> {
        let list = |list: &&[&str]| list.iter().map(|one| one.parse().unwrap()).collect();
        Arc::new(Self { lists: lists.iter().map(list).collect(), asked: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Resolver for Rebinding {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.lists[turn.min(self.lists.len() - 1)].clone())
    }
}

fn get(url: String) -> Request {
    let limits = Limits { total: Duration::from_mins(1), reply_bytes: 1_000, over: Over::Refuse };
    Request { method: Method::GET, url, headers: HeaderMap::new(), body: vec![], limits }
}

#[tokio::test]
async fn a_name_is_asked_for_once_and_what_was_vetted_is_connected_to() {
    let (address, served) = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec()).await;
    let resolver = Rebinding::new(&[&["127.0.0.1"], &["10.0.0.1"]]);
    let client = Client::with_resolver(Reach::PublicOrLoopback, resolver.clone()).unwrap();
    let reply = client.send(get(format!("http://localhost:{}/", address.port()))).await.unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (200, b"ok".as_slice()));
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    assert!(served.await.unwrap().starts_with("GET / HTTP/1.1"));
}

#[tokio::test]
async fn one_address_that_is_not_the_internet_spoils_all_of_a_name() {
    for list in [["8.8.8.8", "10.0.0.1"], ["fd00:ec2::254", "8.8.8.8"], ["127.0.0.1", "127.0.0.1"]] {
        let resolver = Rebinding::new(&[&list, &["8.8.8.8"]]);
        let client = Client::with_resolver(Reach::Public, resolver.clone()).unwrap();
        let refused = client.send(get("https://rebind.example/".into())).await.unwrap_err();
        assert!(matches!(refused, OutboundError::NotAllowed(_)), "{refused}");
        assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    }
    let client = Client::with_resolver(Reach::Public, Rebinding::new(&[&[]])).unwrap();
    let refused = client.send(get("https://nowhere.example/".into())).await.unwrap_err();
    assert!(matches!(refused, OutboundError::Resolve(_)), "{refused}");
}

/// Answers one connection with `bytes` once a request has come, and gives the request's head.
async fn serve(bytes: Vec<u8>) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the other side of the wire")]
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4_096];
        let length = stream.read(&mut head).await.unwrap();
        drop(stream.write_all(&bytes).await); // whoever has heard enough hangs up
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    (address, served)
}

async fn from(bytes: Vec<u8>) -> Result<Reply, OutboundError> {
    let (address, _served) = serve(bytes).await;
    Client::new(Reach::PublicOrLoopback).unwrap().send(get(format!("http://{address}/x?secret=1"))).await
}

#[tokio::test]
async fn a_redirect_is_a_reply_and_is_not_followed() {
    let reply = from(
        b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n".to_vec(),
    )
    .await;
    assert_eq!(reply.unwrap().status, 302);
}

#[tokio::test]
async fn what_is_compressed_is_handed_over_as_it_came() {
    let reply = from(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00".to_vec(),
    )
    .await;
    assert_eq!(reply.unwrap().body, b"\x1f\x8b\x08\x00");
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit_and_no_further() {
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 4_000_000]].concat();
    assert_eq!(from(endless.clone()).await.unwrap_err(), OutboundError::TooLarge);
    let (address, _served) = serve(endless).await;
    let mut request = get(format!("http://{address}/"));
    request.limits.over = Over::Cut;
    let reply = Client::new(Reach::PublicOrLoopback).unwrap().send(request).await.unwrap();
    assert_eq!((reply.body.len(), reply.was_cut), (1_000, true));
}

#[tokio::test]
async fn huge_heads_and_what_is_no_http_are_no_reply() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(1_000));
    for bytes in
        [long.as_str(), &many, "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx"]
    {
        let error = from(bytes.as_bytes().to_vec()).await.unwrap_err();
        assert!(matches!(error, OutboundError::Protocol(_)), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_end_ends_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Client::new(Reach::PublicOrLoopback).unwrap().send(get(format!("http://{address}/"))).await;
    assert_eq!(asked.unwrap_err(), OutboundError::Timeout);
    drop(listener);
}

#[tokio::test]
async fn what_we_say_of_ourselves_is_ours_to_say() {
    let (address, served) = serve(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()).await;
    let mut request = get(format!("http://{address}/a?b=1"));
    request.method = Method::POST;
    request.body = b"{}".to_vec();
    request.headers.insert("host", "other.example".parse().unwrap());
    request.headers.insert("accept-encoding", "gzip".parse().unwrap());
    request.headers.insert("webhook-id", "msg_1".parse().unwrap());
    Client::new(Reach::PublicOrLoopback).unwrap().send(request).await.unwrap();
    let head = served.await.unwrap();
    assert!(head.starts_with("POST /a?b=1 HTTP/1.1\r\n") && head.ends_with("\r\n\r\n{}"), "{head}");
    for line in
        [&format!("host: {address}"), "accept-encoding: identity", "content-length: 2", "webhook-id: msg_1"]
    {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line}: {head}");
    }
}

/// A TLS server for `name`, and what trusts it.
async fn tls(name: &str) -> (SocketAddr, RootCertStore) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the other side of the wire")]
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = [0; 4_096];
            drop(stream.read(&mut head).await);
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await);
            drop(stream.flush().await);
        }
    });
    (address, roots)
}

#[tokio::test]
async fn a_certificate_of_another_name_or_of_nobody_is_not_trusted() {
    let (address, roots) = tls("localhost").await;
    let url = format!("https://localhost:{}/", address.port());
    let resolver = || Rebinding::new(&[&["127.0.0.1"]]);
    let client = || Client::with_resolver(Reach::PublicOrLoopback, resolver()).unwrap();
    assert_eq!(client().trusting(roots).send(get(url.clone())).await.unwrap().status, 200);
    assert!(matches!(client().send(get(url)).await.unwrap_err(), OutboundError::Tls(_)));
    let (address, roots) = tls("other.example").await;
    let url = format!("https://localhost:{}/", address.port());
    assert!(matches!(client().trusting(roots).send(get(url)).await.unwrap_err(), OutboundError::Tls(_)));
}

#[test]
fn what_is_logged_of_a_request_holds_no_secret() {
    let mut request = get("https://example.com/?token=s3cret".into());
    request.headers.insert("authorization", "Bearer s3cret".parse().unwrap());
    request.body = b"s3cret".to_vec();
    let headers = request.headers.clone();
    let reply = Reply { status: 200, headers, body: b"s3cret".to_vec(), was_cut: false };
    let logged = format!("{request:?} {reply:?}");
    assert!(logged.contains("GET") && logged.contains("200") && !logged.contains("s3cret"), "{logged}");
}
