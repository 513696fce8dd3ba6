use std::cell::RefCell;
use std::collections::BTreeSet;

use super::*;

fn parse(values: &[(&str, &str)]) -> Result<Config, BadConfig> {
    Config::parse(|name| values.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
}

fn good(values: &[(&str, &str)]) -> Config {
    parse(values).unwrap_or_else(|error| panic!("{values:?}: {error}"))
}

#[track_caller]
fn check_bad(name: &'static str, text: &str, word: &str) {
    let BadConfig(bad) = parse(&[(name, text)]).expect_err(text);
    assert_eq!(bad.iter().map(|one| one.name).collect::<Vec<_>>(), [name], "{text}");
    assert!(bad[0].why.contains(word), "{text}: {}", bad[0].why);
}

#[test]
fn what_is_read_is_what_is_documented() {
    let read = RefCell::new(BTreeSet::new());
    let config = Config::parse(|name| {
        read.borrow_mut().insert(name.to_owned());
        None
    });
    assert!(config.is_ok());
    let documented: BTreeSet<_> = VARIABLES.iter().map(|one| one.name.to_owned()).collect();
    assert_eq!(read.into_inner(), documented);
}

#[test]
fn a_documented_default_is_what_an_unset_or_blank_variable_means() {
    let unset = format!("{:?}", good(&[]));
    for variable in VARIABLES {
        assert_eq!(format!("{:?}", good(&[(variable.name, "  ")])), unset, "blank {}", variable.name);
        if let Some(default) = variable.default {
            assert_eq!(format!("{:?}", good(&[(variable.name, default)])), unset, "{}", variable.name);
        }
    }
}

#[test]
fn the_minutes_never_fail_a_start() {
    for (text, minutes, warnings) in
        [("30", 30, 0), (" 90 ", 90, 0), ("99999", 10_080, 0), ("0", 60, 1), ("-5", 60, 1), ("soon", 60, 1)]
    {
        let config = good(&[(EXPIRATION_MINUTES, text)]);
        assert_eq!(config.default_ttl, Duration::from_mins(minutes), "{text}");
        assert_eq!(config.warnings.len(), warnings, "{text}: {:?}", config.warnings);
    }
}

#[test]
fn days_are_counted_in_bounds() {
    assert_eq!(good(&[(RETENTION_DAYS, "7")]).retention, Duration::from_hours(7 * 24));
    for text in ["0", "3651", "-1", "1.5", "a month"] {
        check_bad(RETENTION_DAYS, text, "from 1 to 3650");
    }
}

#[test]
fn polls_go_to_the_base_url_unless_told_otherwise() {
    let of = |values: &[(&str, &str)]| {
        let settings = good(values).settings("http://127.0.0.1:8787", true);
        (settings.base_url, settings.poll_base_url)
    };
    let pair = |base: &str, poll: &str| (base.to_owned(), poll.to_owned());
    assert_eq!(of(&[]), pair("http://127.0.0.1:8787", "http://127.0.0.1:8787"));
    assert_eq!(of(&[(BASE_URL, "https://a.example/")]), pair("https://a.example", "https://a.example"));
    assert_eq!(
        of(&[(POLL_BASE_URL, "https://p.example")]),
        pair("http://127.0.0.1:8787", "https://p.example")
    );
}

#[test]
fn a_value_that_cannot_be_used_says_why() {
    check_bad(BASE_URL, "ask.example.com", "https://");
    check_bad(POLL_BASE_URL, "https://a.example?x", "no query");
    check_bad(DYNAMODB_ENDPOINT, "localhost:8000", "http");
    check_bad(TABLE, "my table", "characters");
    check_bad(MAIL_FROM, "nobody", "mail address");
    check_bad(SMTP_URL, "mail.example:25", "smtp://");
    check_bad(LOG, "countersign=loud", "");
    for text in ["keys.json", "file:keys.json", "ssm:/countersign", "secretsmanager:", "file:"] {
        check_bad(SECRETS, text, "file:/PATH");
    }
}

#[test]
fn keys_lie_in_a_file_or_in_secrets_manager() {
    let at = |text| good(&[(SECRETS, text)]).secrets;
    assert_eq!(at("file:/etc/keys.json"), Some(SecretsAt::File("/etc/keys.json".into())));
    let arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:countersign-AbCdEf";
    assert_eq!(at(&format!("secretsmanager:{arn}")), Some(SecretsAt::SecretsManager(arn.into())));
    assert_eq!(good(&[]).secrets, None);
}

#[test]
fn all_that_is_wrong_is_said_at_once_and_no_secret_with_it() {
    let bad =
        [(BASE_URL, "nonsense"), (SMTP_URL, "smpt://agnes:hunter2@mail.example"), (RETENTION_DAYS, "x")];
    let error = parse(&bad).unwrap_err();
    let text = error.to_string();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(!format!("{:?}", good(&[(SMTP_URL, "smtps://a:hunter2@mail.example")])).contains("hunter2"));
}
