//! What every channel promises. The tests of each call [`holds`].

use countersign_app::ports::{Channel, SendError};

use crate::fixture::notice;

/// Checks `channel`, which must work; `taken` tells apart what it has taken so far, by what the recipient's
/// program goes by: the Message-ID, for mail.
pub(crate) async fn holds(channel: &dyn Channel, taken: impl Fn() -> Vec<String>) {
    takes_a_notice_once(channel, &taken).await;
    repeats_the_identity(channel, &taken).await;
    refuses_a_missing_address(channel, &taken).await;
}

async fn takes_a_notice_once(channel: &dyn Channel, taken: &impl Fn() -> Vec<String>) {
    let before = taken().len();
    channel.send(&notice()).await.unwrap();
    assert_eq!(taken().len(), before + 1, "one notice is one message");
}

async fn repeats_the_identity(channel: &dyn Channel, taken: &impl Fn() -> Vec<String>) {
    channel.send(&notice()).await.unwrap();
    let mut other = notice();
    other.id.push_str("-other");
    channel.send(&other).await.unwrap();
    let taken = taken();
    let [.., first, again, other] = taken.as_slice() else { panic!("{taken:?}") };
    assert_eq!(first, again, "a repeated attempt is recognised");
    assert_ne!(first, other, "another delivery is not");
}

async fn refuses_a_missing_address(channel: &dyn Channel, taken: &impl Fn() -> Vec<String>) {
    let before = taken().len();
    let mut notice = notice();
    notice.to.email = None;
    let error = channel.send(&notice).await.unwrap_err();
    assert!(matches!(error, SendError::Refused(_)), "{error:?}");
    assert_eq!(taken().len(), before, "nothing went out");
}
