//! Cases on what a path may hold. A request-id is any text, and a fallback client may poll with it.

use serde_json::Value;

use super::cases::{ask, session};
use super::front::Front;

/// Asks as `request_id`, and polls at that id as `encoded`.
async fn polls_as(front: &Front<'_>, request_id: &str, encoded: &str) {
    let (_, path) = session(front).await;
    front.call("POST", &path, "", ask(request_id)).await.expect(201);
    let reply = front.call("GET", &format!("{path}/{encoded}"), "", Value::Null).await.expect(200);
    assert_eq!(reply.json()["action"], "pending", "{request_id:?} as {encoded}");
}

pub(super) async fn encoded_letter(front: &Front<'_>) {
    polls_as(front, "request-a", "request-%61").await;
    polls_as(front, "größe", "gr%C3%B6%C3%9Fe").await;
}

pub(super) async fn slash_at_the_end(front: &Front<'_>) {
    polls_as(front, "r1", "r1/").await;
}

pub(super) async fn no_text(front: &Front<'_>) {
    let odd = front.get("/v1/elicitations/%ff").await.expect(404);
    assert_eq!(odd.json()["code"], "not_found");
    front.get("/api/v1/elicitations/%00").await.expect(404);
}

pub(super) async fn space(front: &Front<'_>) {
    polls_as(front, "a b", "a%20b").await;
}

pub(super) async fn reserved(front: &Front<'_>) {
    polls_as(front, "a?b", "a%3Fb").await;
    polls_as(front, "a#b", "a%23b").await;
    polls_as(front, "100%", "100%25").await;
    polls_as(front, "a%2Fb", "a%252Fb").await;
    polls_as(front, "a+b&c=d;e:f@g", "a+b&c=d;e:f@g").await;
    polls_as(front, "{[|]}\\^\"<>`", "%7B%5B%7C%5D%7D%5C%5E%22%3C%3E%60").await;
}

pub(super) async fn slash(front: &Front<'_>) {
    polls_as(front, "a/b", "a%2Fb").await;
    let (_, path) = session(front).await;
    front.call("GET", &format!("{path}/a/b"), "", Value::Null).await.expect(404);
}
