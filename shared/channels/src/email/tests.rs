use mail_parser::{HeaderValue as Parsed, MessageParser};

use super::*;
use crate::fixture::{from, notice};

/// Every header that a notice has, in no order.
const HEADERS: [&str; 8] =
    ["from", "to", "subject", "message-id", "date", "mime-version", "content-type", "auto-submitted"];

fn raw(notice: &Notice) -> Vec<u8> {
    render(notice, &from()).unwrap().formatted()
}

#[track_caller]
fn refused(email: Option<&str>) {
    let mut notice = notice();
    notice.to.email = email.map(str::to_owned);
    let error = render(&notice, &from()).unwrap_err();
    assert!(matches!(error, SendError::Refused(_)), "{error:?}");
    assert!(!error.to_string().contains("northwind"), "{error}");
}

#[test]
fn a_real_parser_reads_what_was_written() {
    let raw = raw(&notice());
    let mail = MessageParser::default().parse(&raw).unwrap();
    let sender = mail.from().and_then(|from| from.first()).unwrap();
    assert_eq!(sender.name(), Some("Countersign for Northwind Traders"));
    assert_eq!(sender.address(), Some("decisions@countersign.example"));
    assert_eq!(mail.to().and_then(|to| to.first()).unwrap().address(), Some("mara@northwind.example"));
    assert_eq!(mail.subject(), Some("Your decision is needed by 20:14 UTC (K7Q-4MD)"));
    assert_eq!(mail.header("Auto-Submitted").and_then(Parsed::as_text), Some("auto-generated"));
    let letter = Letter::of(&notice());
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), letter.text);
    assert_eq!(mail.body_html(0).unwrap().replace("\r\n", "\n"), letter.html);
    assert!(mail.body_text(0).unwrap().lines().any(|line| line == notice().link));
    assert!(mail.body_html(0).unwrap().contains(&format!("href=\"{}\"", notice().link)));
}

#[test]
fn the_message_id_is_of_the_delivery_and_the_domain() {
    let id = |notice: &Notice| {
        let raw = raw(notice);
        MessageParser::default().parse(&raw).unwrap().message_id().unwrap().to_owned()
    };
    let mut other = notice();
    other.id.push('x');
    assert_eq!(id(&notice()), id(&notice()));
    assert_ne!(id(&notice()), id(&other));
    assert!(id(&notice()).ends_with("@countersign.example"));
}

#[test]
fn no_tenant_name_or_delivery_id_adds_a_header() {
    let ascii = (0_u8..128).map(|byte| format!("a{}Bcc: eve@evil.example", char::from(byte)));
    let breaks = ["\r\n", "\n\n", "\r\n\r\n", "\u{85}", "\u{2028}", "é\r\n", "=?utf-8?b?DQo=?=\r\n "];
    let breaks = breaks.map(|text| format!("a{text}Bcc: eve@evil.example"));
    for hostile in ascii.chain(breaks) {
        let mut notice = notice();
        notice.tenant.clone_from(&hostile);
        notice.id.clone_from(&hostile);
        let raw = raw(&notice);
        let mail = MessageParser::default().parse(&raw).unwrap();
        for header in mail.headers() {
            let name = header.name().to_lowercase();
            assert!(HEADERS.contains(&name.as_str()), "{name} from {hostile:?}");
        }
        assert_eq!(mail.headers().len(), HEADERS.len(), "{hostile:?}");
        assert_eq!(mail.from().unwrap().iter().count(), 1, "{hostile:?}");
        assert_eq!(mail.parts.len(), 3, "{hostile:?}");
    }
}

#[test]
fn a_name_outside_ascii_arrives_whole() {
    let mut notice = notice();
    notice.tenant = "Müller & Søn, 日本 \"x\"".to_owned();
    let raw = raw(&notice);
    assert!(raw.is_ascii());
    let mail = MessageParser::default().parse(&raw).unwrap();
    let sender = mail.from().and_then(|from| from.first()).unwrap();
    assert_eq!(sender.name(), Some("Countersign for Müller & Søn, 日本 \"x\""));
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), Letter::of(&notice).text);
}

#[test]
fn an_address_that_is_missing_or_malformed_is_refused_without_being_repeated() {
    refused(None);
    refused(Some(""));
    refused(Some("northwind"));
    refused(Some("a@b@northwind.example"));
    refused(Some("mara@northwind.example\r\nBcc: eve@evil.example"));
    refused(Some("mara\n@northwind.example"));
    refused(Some("\"mara\r\nBcc: eve@evil.example\"@northwind.example"));
    refused(Some("mara@northwind.example>, <eve@evil.example"));
}

#[test]
fn a_local_address_will_do() {
    let mut notice = notice();
    notice.to.email = Some("you@localhost".to_owned());
    assert!(render(&notice, &from()).is_ok());
}

#[test]
fn an_international_domain_is_left_out_of_the_message_id() {
    let from = Mailbox::new(None, "decisions@bücher.example".parse().unwrap());
    let raw = render(&notice(), &from).unwrap().formatted();
    let mail = MessageParser::default().parse(&raw).unwrap();
    assert!(mail.message_id().unwrap().ends_with("@countersign.invalid"));
}
