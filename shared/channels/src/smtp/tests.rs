use std::time::Duration;

use mail_parser::MessageParser;
use tokio::net::TcpListener;

use super::fake::{END_OF_MAIL, GREETING, Oddity, Server};
use super::*;
use crate::contract;
use crate::fixture::{from, notice};

const SHORT: Duration = Duration::from_millis(100);

fn smtp(url: &str, limit: Duration) -> Smtp {
    Smtp::new(url, from(), limit).unwrap()
}

fn message_id(raw: &[u8]) -> String {
    MessageParser::default().parse(raw).unwrap().message_id().unwrap().to_owned()
}

/// What comes of a mail to a server with this oddity.
async fn sent(oddity: Oddity, userinfo: &str, limit: Duration) -> Result<(), SendError> {
    let server = Server::start(oddity).await;
    smtp(&format!("smtp://{userinfo}{}", server.address), limit).send(&notice()).await
}

async fn replied(at: &'static str, line: &'static str) -> SendError {
    sent(Oddity::Replies(at, line), "", SEND_LIMIT).await.unwrap_err()
}

#[tokio::test]
async fn the_contract_holds() {
    let server = Server::start(Oddity::None).await;
    let channel = smtp(&format!("smtp://{}", server.address), SEND_LIMIT);
    assert_eq!(channel.kind(), ChannelKind::Email);
    contract::holds(&channel, || server.taken().iter().map(|raw| message_id(raw)).collect()).await;
}

#[tokio::test]
async fn the_server_gets_the_mail_as_rendered() {
    let server = Server::start(Oddity::None).await;
    smtp(&format!("smtp://{}", server.address), SEND_LIMIT).send(&notice()).await.unwrap();
    let [raw] = server.taken().try_into().unwrap();
    let mail = MessageParser::default().parse(&raw).unwrap();
    assert_eq!(mail.subject(), Some("Your decision is needed by 20:14 UTC (K7Q-4MD)"));
    assert!(mail.date().is_some());
    assert!(mail.header("List-Unsubscribe").is_none());
    assert!(mail.body_text(0).unwrap().lines().any(|line| line == notice().link));
    assert!(mail.body_html(0).unwrap().contains(&notice().link));
}

#[tokio::test]
async fn a_permanent_reply_is_final() {
    let refused = |code: &str| SendError::Refused(format!("the mail server replied {code}"));
    assert_eq!(replied("RCPT", "550 no such user mara@northwind.example").await, refused("550"));
    assert_eq!(replied("MAIL", "553 not from there").await, refused("553"));
    assert_eq!(replied(END_OF_MAIL, "554 5.7.1 looks like spam").await, refused("554"));
}

#[tokio::test]
async fn a_transient_or_odd_reply_is_tried_again() {
    let retry = |text: &str| SendError::Retry(text.to_owned());
    assert_eq!(
        replied("RCPT", "451 4.7.1 greylisted mara@northwind.example").await,
        retry("the mail server replied 451")
    );
    assert_eq!(replied(GREETING, "421 too busy").await, retry("the mail server replied 421"));
    assert_eq!(replied("EHLO", "what?").await, retry("the mail server's reply cannot be read"));
}

#[tokio::test]
async fn a_refused_sign_in_is_tried_again_and_names_no_credential() {
    for (at, line) in [
        ("AUTH", "535 wrong password hunter2 for agnes"),
        ("AUTH", "534 5.7.9 an application password is needed"),
        ("AUTH", "538 5.7.11 only over TLS"),
        ("MAIL", "530 5.7.0 sign in first"),
    ] {
        let error = sent(Oddity::Replies(at, line), "agnes:hunter2@", SEND_LIMIT).await.unwrap_err();
        assert_eq!(error, SendError::Retry(format!("the mail server replied {}", &line[..3])), "{line}");
    }
}

#[tokio::test]
async fn silence_ends_at_the_limit() {
    for at in [GREETING, "EHLO", "RCPT", "DATA", END_OF_MAIL] {
        let error = sent(Oddity::Hangs(at), "", SHORT).await.unwrap_err();
        assert_eq!(error, SendError::Retry("the mail server did not finish within 100ms".to_owned()), "{at}");
    }
}

#[tokio::test]
async fn nobody_listening_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = smtp(&format!("smtp://{address}"), SEND_LIMIT).send(&notice()).await.unwrap_err();
    assert_eq!(error, SendError::Retry("the connection to the mail server failed".to_owned()));
}

#[tokio::test]
async fn required_tls_is_not_given_up() {
    let server = Server::start(Oddity::None).await;
    let channel = smtp(&format!("smtp://{}?tls=required", server.address), SEND_LIMIT);
    let error = channel.send(&notice()).await.unwrap_err();
    assert!(matches!(error, SendError::Retry(_)), "{error:?}");
    assert!(server.taken().is_empty());
}

#[track_caller]
fn url(url: &str, usable: bool) {
    let made = Smtp::new(url, from(), SEND_LIMIT);
    assert_eq!(made.is_ok(), usable, "{url}");
    if let Err(error) = made {
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn a_url_names_a_server_and_how_safe_the_way_is() {
    url("smtps://agnes:hunter2@mail.example", true);
    url("smtps://agnes:hunter2@mail.example:2465", true);
    url("smtp://agnes:hunter2@mail.example:587?tls=required", true);
    url("smtp://agnes%40mail.example:hunter2%2F@mail.example/us.example?tls=required", true);
    url("smtp://mail.example?tls=opportunistic", true);
    url("smtp://127.0.0.1:1025", true);
    url("smtp://mailpit:1025", true);
}

#[test]
fn a_url_that_means_less_than_it_says_is_refused() {
    url("", false);
    url("mail.example:25", false);
    url("http://mail.example", false);
    url("smtp://", false);
    url("smtp://mail.example:port", false);
    url("smtp://mail.example?tls=yes", false);
    url("smtp://mail.example?TLS=required", false);
    url("smtp://agnes:hunter2@mail.example?tls=required&tls=opportunistic", false);
    url("smtps://agnes:hunter2@mail.example?tls=opportunistic", false);
    url("smtps://agnes@mail.example", false);
    url("smtp://agnes:hunter2@mail.example ", false);
    url("smtps://agnes:hunter2%ff@mail.example", false);
}

#[test]
fn a_password_goes_in_the_clear_to_this_machine_only() {
    url("smtp://agnes:hunter2@127.0.0.1:1025", true);
    url("smtp://agnes:hunter2@localhost", true);
    url("smtp://agnes:hunter2@mail.example:587", false);
    url("smtp://agnes:hunter2@mail.example?tls=opportunistic", false);
    url("smtp://agnes:hunter2@mail.example/@localhost", false);
    url("smtp://agnes:hunter2@localhost.mail.example", false);
}
