//! Outages, rotations and floods of unknown keys.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::time::Timestamp;
use serde_json::json;

use super::{FetchFailed, FetchJwks};
use crate::fixture::{AUDIENCE, NOW, Pair, claims, encode, issuer_of, tenant, token_of};
use crate::{Algorithm, Issuer, Jwks, JwksUrl, Keys, PlainHttp, Refused, Verifier, VerifyError, peek};

/// A published key set that a test changes.
struct Published {
    set: Mutex<Result<Vec<u8>, FetchFailed>>,
    fetches: AtomicUsize,
}

#[async_trait]
impl FetchJwks for Published {
    async fn fetch(&self, _: &str) -> Result<Vec<u8>, FetchFailed> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.set.lock().unwrap().clone()
    }
}

struct Scene {
    published: Arc<Published>,
    verifier: Verifier,
    issuer: Issuer,
    pair: Pair,
}

impl Scene {
    fn new() -> Self {
        let pair = Pair::ed();
        let set = Mutex::new(Ok(set(&[("k1", &pair)])));
        let published = Arc::new(Published { set, fetches: AtomicUsize::new(0) });
        let url = JwksUrl::parse("https://id.acme.example/jwks", PlainHttp::Never).unwrap();
        let keys = Keys::Jwks(Jwks::new(url, Algorithm::EdDsa).unwrap());
        Self { verifier: Verifier::new(published.clone()), issuer: issuer_of(keys), published, pair }
    }

    fn publish(&self, set: Result<Vec<u8>, FetchFailed>) {
        *self.published.set.lock().unwrap() = set;
    }

    fn fetches(&self) -> usize {
        self.published.fetches.load(Ordering::SeqCst)
    }

    /// The verdict on an honest token of that key, so long after the beginning.
    async fn verify(&self, kid: &str, pair: &Pair, after: Duration) -> Result<(), VerifyError> {
        let seconds = i64::try_from(after.as_secs()).unwrap();
        let mut body = claims();
        body["exp"] = json!(NOW + seconds + 300);
        let head = json!({"alg": "EdDSA", "kid": kid}).to_string();
        let token = token_of(&head, &body.to_string(), |message| pair.sign(Algorithm::EdDsa, message));
        let now = Timestamp::from_millis((NOW + seconds) * 1_000);
        let peeked = peek(&token).unwrap();
        self.verifier.verify(&tenant(), &self.issuer, &peeked, AUDIENCE, now).await.map(drop)
    }

    async fn known(&self, after: Duration) -> Result<(), VerifyError> {
        self.verify("k1", &self.pair, after).await
    }
}

fn set(keys: &[(&str, &Pair)]) -> Vec<u8> {
    let key = |(kid, pair): &(&str, &Pair)| {
        let der = pair.der();
        json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "use": "sig", "x": encode(&der[der.len() - 32..])})
    };
    json!({"keys": keys.iter().map(key).collect::<Vec<_>>()}).to_string().into_bytes()
}

const NOW_: Duration = Duration::ZERO;
const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn a_flood_of_unknown_keys_asks_the_issuer_once_a_minute() {
    let scene = Scene::new();
    scene.known(NOW_).await.unwrap();
    for kid in 0..10_000 {
        let refused = scene.verify(&format!("x{kid}"), &scene.pair, MINUTE).await;
        assert_eq!(refused, Err(VerifyError::Refused(Refused::UnknownKey)));
    }
    assert_eq!(scene.fetches(), 2);
    scene.verify("y", &scene.pair, 2 * MINUTE).await.unwrap_err();
    assert_eq!(scene.fetches(), 3);
}

#[tokio::test]
async fn a_key_that_was_added_is_found_and_one_that_was_withdrawn_is_gone_when_the_set_is_old() {
    let scene = Scene::new();
    scene.known(NOW_).await.unwrap();
    let next = Pair::ed();
    scene.publish(Ok(set(&[("k2", &next)])));
    scene.verify("k2", &next, MINUTE).await.unwrap();
    let gone = scene.known(2 * MINUTE).await;
    assert_eq!(gone, Err(VerifyError::Refused(Refused::UnknownKey)));
}

#[tokio::test]
async fn an_issuer_that_is_down_or_garbled_locks_nobody_out_for_an_hour_and_then_says_so() {
    for broken in [Err(FetchFailed("down".into())), Ok(b"<html>".to_vec()), Ok(vec![b' '; 200_000])] {
        let scene = Scene::new();
        scene.known(NOW_).await.unwrap();
        scene.publish(broken);
        scene.known(11 * MINUTE).await.unwrap();
        scene.known(59 * MINUTE).await.unwrap();
        let late = scene.known(61 * MINUTE).await;
        assert!(matches!(late, Err(VerifyError::KeysUnavailable(_))), "{late:?}");
        scene.publish(Ok(set(&[("k1", &scene.pair)])));
        scene.known(63 * MINUTE).await.unwrap();
    }
}

#[tokio::test]
async fn an_issuer_that_never_answered_is_asked_once_a_minute_too() {
    let scene = Scene::new();
    scene.publish(Err(FetchFailed("down".into())));
    for _ in 0..100 {
        let refused = scene.known(NOW_).await;
        assert!(matches!(refused, Err(VerifyError::KeysUnavailable(_))), "{refused:?}");
    }
    assert_eq!(scene.fetches(), 1);
}

#[tokio::test]
async fn fifty_at_once_share_one_fetch() {
    let scene = Scene::new();
    let all = futures_util::future::join_all((0..50).map(|_| scene.known(NOW_))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(scene.fetches(), 1);
}

#[tokio::test]
async fn a_symmetric_key_in_a_set_verifies_nothing() {
    let scene = Scene::new();
    scene.publish(Ok(json!({"keys": [{"kty": "oct", "kid": "k1", "k": encode([1; 32])}]})
        .to_string()
        .into_bytes()));
    assert!(scene.known(NOW_).await.is_err());
}
