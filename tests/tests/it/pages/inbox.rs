use std::time::Duration;

use countersign_testkit::person::{Person, hidden};
use serde_json::{Value, json};

use super::{asked, by_device, scene, view};

fn reference(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn open_questions_stand_soonest_first() {
    let (web, you) = scene().await;
    let (_, late) =
        asked(&web, json!({"message": "Late", "title": "Late", "expires_in_seconds": 7200})).await;
    let (_, soon) = asked(&web, json!({"message": "Soon", "title": "Soon", "expires_in_seconds": 600})).await;
    let listed = you.json(&web, "/inbox").await.expect(200).json();
    let order: Vec<_> = listed["open"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(order, [json!(soon), json!(late)]);
    let page = you.get(&web, "/inbox").await.expect(200).text();
    assert!(page.find(reference(&soon)).unwrap() < page.find(reference(&late)).unwrap());
}

#[tokio::test]
async fn a_question_of_which_the_route_is_not_planned_yet_is_nowhere_and_then_there() {
    let (web, you) = scene().await;
    web.api("POST", "/v1/elicitations", json!({"message": "Send it?"})).await.expect(201);
    assert_eq!(you.json(&web, "/inbox").await.json()["open"], json!([]));
    web.test.drain().await;
    assert_eq!(you.json(&web, "/inbox").await.json()["open"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_somebody_else_answered_is_told_to_the_page_that_shows_it() {
    let (web, you) = scene().await;
    let (_, path) = asked(&web, json!({"message": "Send it?"})).await;
    let other = Person::you(&web).await;
    other.answer(&web, &path, "accept", &[]).await.expect(303);
    let news = you.json(&web, &format!("/inbox?shown={}", reference(&path))).await.expect(200).json();
    assert_eq!(news["open"], json!([]));
    assert!(news["shown"][0]["settled"].as_str().unwrap().contains("Approved"), "{news}");
}

#[tokio::test]
async fn only_what_is_final_is_listed_under_final_and_only_my_answers_under_mine() {
    let (web, you) = scene().await;
    let (_, read) = asked(&web, json!({"message": "Look?", "tier": "read"})).await;
    let (_, commit) = asked(&web, json!({"message": "Delete?", "tier": "commit"})).await;
    let last = you.get(&web, "/inbox?view=final").await.expect(200).text();
    assert!(last.contains(reference(&commit)) && !last.contains(reference(&read)));
    you.answer(&web, &read, "decline", &[]).await.expect(303);
    let mine = you.get(&web, "/inbox?view=mine").await.expect(200).text();
    assert!(mine.contains(reference(&read)) && !mine.contains(reference(&commit)), "{mine}");
}

#[tokio::test]
async fn an_inbox_with_two_hundred_open_questions_shows_them_all() {
    let (web, you) = scene().await;
    for number in 0..200 {
        let body = json!({"message": "Send it?", "title": format!("Number {number}")});
        web.api("POST", "/v1/elicitations", body).await.expect(201);
    }
    for _ in 0..20 {
        web.test.drain().await;
    }
    let page = you.get(&web, "/inbox").await.expect(200).text();
    assert_eq!(page.matches("<li class=\"row\"").count(), 200);
}

#[tokio::test]
async fn an_empty_inbox_says_so() {
    let (web, you) = scene().await;
    let page = you.get(&web, "/inbox").await.expect(200).text();
    assert!(page.contains("Nothing waits"), "{page}");
}

async fn batch_of_three() -> (countersign_testkit::Web, Person, Vec<(Value, String)>, String) {
    let (web, you) = scene().await;
    let mut all = Vec::new();
    for title in ["One", "Two", "Three"] {
        let body =
            json!({"message": "Send it?", "title": title, "tier": "write", "server": "mail", "tool": "send"});
        all.push(asked(&web, body).await);
    }
    let query: Vec<_> = all.iter().map(|(_, path)| format!("q={}", reference(path))).collect();
    let page = you.get(&web, &format!("/inbox/batch?{}", query.join("&"))).await.expect(200).text();
    (web, you, all, page)
}

#[tokio::test]
async fn of_several_each_gets_its_own_verdict_and_none_is_preset() {
    let (web, you, all, page) = batch_of_three().await;
    assert!(!page.contains(" checked"), "{page}");
    let names: Vec<_> = all.iter().map(|(_, path)| reference(path).to_owned()).collect();
    let (tokens, verdicts): (Vec<_>, Vec<_>) =
        names.iter().map(|name| (format!("t.{name}"), format!("v.{name}"))).unzip();
    let values: Vec<_> = tokens.iter().map(|name| hidden(&page, name).unwrap()).collect();
    let mut form: Vec<(&str, &str)> =
        tokens.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
    form.extend([(verdicts[0].as_str(), "accept"), (verdicts[1].as_str(), "decline")]);
    you.post(&web, "/inbox/batch", &form).await.expect(200);
    let mut came = Vec::new();
    for (created, _) in &all {
        came.push(view(&web, created).await["status"].clone());
    }
    assert_eq!(came, ["accept", "decline", "pending"]);
}

#[tokio::test]
async fn what_was_selected_and_is_not_in_the_batch_is_told() {
    let (web, you, all, page) = batch_of_three().await;
    assert!(!page.contains("you selected"), "{page}");
    let (_, other) = asked(&web, json!({"message": "Move it?", "server": "mail", "tool": "move"})).await;
    let query = format!("q={0}&q={0}&q={1}", reference(&all[0].1), reference(&other));
    let page = you.get(&web, &format!("/inbox/batch?{query}")).await.expect(200).text();
    assert!(page.contains("One that you selected is not here"), "{page}");
}

#[tokio::test]
async fn a_remembered_device_approves_nothing_final_in_a_batch_either() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Delete?", "tier": "commit"})).await;
    let device = by_device(&web).await;
    let token = hidden(&device.get(&web, &path).await.expect(200).text(), "csrf").unwrap();
    let (field, verdict) = (format!("t.{}", reference(&path)), format!("v.{}", reference(&path)));
    let form = [(field.as_str(), token.as_str()), (verdict.as_str(), "accept")];
    let page = device.post(&web, "/inbox/batch", &form).await.expect(200).text();
    assert_eq!(view(&web, &created).await["status"], "pending", "{page}");
    you.answer(&web, &path, "accept", &[]).await.expect(303);
}

#[tokio::test]
async fn questions_that_ran_out_leave_the_inbox() {
    let (web, you) = scene().await;
    let (_, path) = asked(&web, json!({"message": "Send it?", "expires_in_seconds": 60})).await;
    web.test.clock.advance(Duration::from_mins(2));
    let listed = you.json(&web, &format!("/inbox?shown={}", reference(&path))).await.expect(200).json();
    assert_eq!((&listed["open"], &listed["shown"][0]["status"]), (&json!([]), &json!("expired")));
}
