use std::time::Duration;

use countersign_testkit::Web;
use countersign_testkit::person::{Person, cookies_of, hidden};
use countersign_testkit::web::Reply;
use http::Request;

use super::{ask_for_code, asked, by_device, mailed, post, remembered, scene};
use crate::at_rest::{dump, readable};

async fn enter(web: &Web, attempt: &str, code: &str) -> Reply {
    post(web, "/signin/demo/code", "", &[("attempt", attempt), ("code", code)]).await
}

fn other_than(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

#[tokio::test]
async fn the_mailed_code_signs_in_once_and_leads_on_to_the_question() {
    let web = Web::start().await;
    let (_, path) = asked(&web, serde_json::json!({"message": "Send it?"})).await;
    let reference = path.rsplit('/').next().unwrap();
    let attempt = ask_for_code(&web, "YOU@localhost").await;
    assert!(web.test.channel.codes().is_empty(), "it is mailed from the stored row, not by the request");
    web.test.drain().await;
    let code = mailed(&web);
    let form = [("attempt", attempt.as_str()), ("code", code.as_str()), ("to", reference)];
    let reply = post(&web, "/signin/demo/code", "", &form).await.expect(303);
    assert_eq!(reply.headers["location"], path.as_str());
    let you = Person { cookies: cookies_of(&reply) };
    you.get(&web, &path).await.expect(200);
    enter(&web, &attempt, &code).await.expect(422);
}

#[tokio::test]
async fn five_wrong_codes_end_the_code_and_no_other() {
    let web = Web::start().await;
    let attempt = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    let code = mailed(&web);
    let wrong = other_than(&code);
    for left in ["4 tries", "3 tries", "2 tries", "1 try"] {
        assert!(enter(&web, &attempt, &wrong).await.expect(422).text().contains(left), "{left}");
    }
    assert!(enter(&web, &attempt, &wrong).await.expect(422).text().contains("no longer works"));
    enter(&web, &attempt, &code).await.expect(422);
    let again = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    enter(&web, &again, &mailed(&web)).await.expect(303);
}

#[tokio::test]
async fn fifty_guesses_at_once_are_five() {
    let web = Web::start().await;
    let attempt = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    let wrong = other_than(&mailed(&web));
    let guesses = (0..50).map(|_| enter(&web, &attempt, &wrong));
    let replies = futures_util::future::join_all(guesses).await;
    let counted = replies.iter().filter(|reply| reply.text().contains("left")).count();
    assert_eq!(counted, 4, "the fifth says that the code is over");
}

#[tokio::test]
async fn a_code_ends_after_ten_minutes() {
    let web = Web::start().await;
    let attempt = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    web.test.clock.advance(Duration::from_mins(10));
    enter(&web, &attempt, &mailed(&web)).await.expect(422);
}

#[tokio::test]
async fn an_address_that_is_nobodys_is_answered_and_counted_alike() {
    let web = Web::start().await;
    let known = post(&web, "/signin/demo", "", &[("email", "you@localhost")]).await.expect(200).text();
    let other = post(&web, "/signin/demo", "", &[("email", "who@localhost")]).await.expect(200).text();
    let attempt = |page: &str| hidden(page, "attempt").unwrap();
    let plain = |page: &str| page.replace(&attempt(page), "").replace("you@", "").replace("who@", "");
    assert_eq!(plain(&known), plain(&other));
    web.test.drain().await;
    assert_eq!(web.test.channel.codes().len(), 1);
    let wrong = enter(&web, &attempt(&other), "000000").await.expect(422).text();
    assert!(wrong.contains("4 tries left"), "{wrong}");
}

#[tokio::test]
async fn a_stranger_who_asks_for_codes_again_and_again_floods_nobody() {
    let web = Web::start().await;
    for _ in 0..30 {
        ask_for_code(&web, "you@localhost").await;
    }
    post(&web, "/signin/demo", "", &[("email", "you@localhost")]).await.expect(429);
    web.test.drain().await;
    assert_eq!(web.test.channel.codes().len(), 5, "of one source to one address in ten minutes");
    web.test.clock.advance(Duration::from_mins(10));
    let attempt = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    enter(&web, &attempt, &mailed(&web)).await.expect(303);
}

#[tokio::test]
async fn a_remembered_device_gets_its_code_whatever_strangers_do() {
    let web = Web::start().await;
    let cookies = remembered(&web).await;
    let device = cookies.split("; ").find(|one| one.starts_with("cs-device=")).unwrap().to_owned();
    for _ in 0..10 {
        ask_for_code(&web, "you@localhost").await;
    }
    web.test.drain().await;
    let before = web.test.channel.codes().len();
    post(&web, "/signin/demo", &device, &[("email", "you@localhost")]).await.expect(200);
    web.test.drain().await;
    assert_eq!(web.test.channel.codes().len(), before + 1);
}

#[tokio::test]
async fn a_remembered_device_signs_in_without_a_mail_until_it_is_forgotten() {
    let web = Web::start().await;
    let cookies = remembered(&web).await;
    web.test.clock.advance(Duration::from_hours(24));
    let signed = post(&web, "/signin/demo/device", &cookies, &[]).await.expect(303);
    let again = Person { cookies: cookies_of(&signed) };
    let devices = again.get(&web, "/me").await.expect(200).text();
    assert!(devices.contains("as a remembered device"));
    let csrf = hidden(&devices, "csrf").unwrap();
    let device = devices.split("value=\"dv_").nth(1).unwrap().split('"').next().unwrap();
    let device = format!("dv_{device}");
    again.post(&web, "/me/revoke", &[("csrf", &csrf), ("device", &device)]).await.expect(303);
    post(&web, "/signin/demo/device", &cookies, &[]).await.expect(422);
}

#[tokio::test]
async fn what_cannot_be_undone_needs_more_than_a_remembered_device() {
    let web = Web::start().await;
    let you = by_device(&web).await;
    let (created, path) = asked(&web, serde_json::json!({"message": "Delete?", "tier": "commit"})).await;
    let page = you.answer(&web, &path, "accept", &[]).await.expect(422).text();
    assert!(page.contains("needs a mailed code to sign in"));
    assert_eq!(super::view(&web, &created).await["status"], "pending");
    you.answer(&web, &path, "decline", &[]).await.expect(303);
    let (created, path) = asked(&web, serde_json::json!({"message": "Look?", "tier": "read"})).await;
    you.answer(&web, &path, "accept", &[]).await.expect(303);
    assert_eq!(super::view(&web, &created).await["status"], "accept");
}

#[tokio::test]
async fn a_session_ends_after_half_an_hour_of_nothing_and_after_twelve_hours() {
    let (web, you) = scene().await;
    web.test.clock.advance(Duration::from_mins(30));
    assert_eq!(you.get(&web, "/inbox").await.expect(303).headers["location"], "/signin/demo");

    let you = Person::you(&web).await;
    for _ in 0..(12 * 60 / 20 - 1) {
        web.test.clock.advance(Duration::from_mins(20));
        you.get(&web, "/inbox").await.expect(200);
    }
    web.test.clock.advance(Duration::from_mins(20));
    you.get(&web, "/inbox").await.expect(303);
}

#[tokio::test]
async fn signing_in_again_ends_the_session_that_the_browser_had() {
    let (web, before) = scene().await;
    let attempt = ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    let code = mailed(&web);
    let form = [("attempt", attempt.as_str()), ("code", code.as_str())];
    let after =
        Person { cookies: cookies_of(&post(&web, "/signin/demo/code", &before.cookies, &form).await) };
    assert_ne!(before.cookies, after.cookies);
    after.get(&web, "/inbox").await.expect(200);
    before.get(&web, "/inbox").await.expect(303);
}

#[tokio::test]
async fn signing_out_ends_the_session_at_once() {
    let (web, you) = scene().await;
    let reply = you.post(&web, "/signout", &[]).await.expect(303);
    assert!(cookies_of(&reply).contains("cs="));
    you.get(&web, "/inbox").await.expect(303);
    you.post(&web, "/signout", &[]).await.expect(401);
}

#[tokio::test]
async fn a_one_time_link_is_a_button_and_its_press_is_spent() {
    let web = Web::start().await;
    let caller = web.test.caller().await;
    let you = web.test.app.approvers(&caller).await.unwrap()[0].clone();
    let link = format!("/signin/demo/link/{}", web.test.app.new_signin_link(caller.tenant(), you.id));
    let get = |path: String| async { web.send(Request::get(path).body("".into()).unwrap()).await };
    for _ in 0..3 {
        get(link.clone()).await.expect(200);
    }
    post(&web, &link, "", &[]).await.expect(303);
    post(&web, &link, "", &[]).await.expect(422);
    let late = format!("/signin/demo/link/{}", web.test.app.new_signin_link(caller.tenant(), you.id));
    web.test.clock.advance(Duration::from_hours(1));
    get(late.clone()).await.expect(422);
    post(&web, &late, "", &[]).await.expect(422);
}

#[tokio::test]
async fn whoever_is_no_approver_any_more_is_signed_out() {
    let (web, you) = scene().await;
    let list = web.api("GET", "/v1/approvers", serde_json::Value::Null).await.expect(200).json();
    let id = list["approvers"][0]["id"].as_str().unwrap().to_owned();
    web.api("DELETE", &format!("/v1/approvers/{id}"), serde_json::Value::Null).await.expect(204);
    you.get(&web, "/inbox").await.expect(303);
}

#[tokio::test]
async fn no_row_of_a_code_holds_its_digits() {
    let web = Web::start().await;
    ask_for_code(&web, "you@localhost").await;
    web.test.drain().await;
    let code = mailed(&web);
    let rows = readable(&dump(&web).await);
    assert!(rows.contains("CODE#"), "no row of a code is there");
    assert!(!rows.contains(&code));
}
