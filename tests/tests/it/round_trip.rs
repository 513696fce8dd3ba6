//! An agent asks, a person answers, the agent learns it.

use countersign_app::authority::Target;
use countersign_app::poll::Poll;
use countersign_app::respond::Pressed;
use countersign_core::id::Front;
use countersign_core::state::Status;
use countersign_testkit::{TestApp, fallback_ask, pressed};

#[tokio::test]
async fn an_agent_asks_a_person_answers_and_the_agent_learns_it() {
    let test = TestApp::start().await;
    let (_, token) = test.session().await;
    let admission = test.app.admit_token(&token).await.unwrap();
    let created = test.app.create(admission, Front::Fallback, fallback_ask("r1", "Send it?")).await.unwrap();
    test.drain().await;
    assert_eq!(test.channel.sent().len(), 1);
    let handle = created.elicitation.poll_handle.clone().unwrap();
    let Poll::Known { state, .. } = test.app.poll(&token, &handle).await else { panic!("known") };
    assert_eq!(state.status(), Status::Pending);

    let target = Target::Id(created.elicitation.id);
    let deciding = test.app.admit_decider(&test.key, &target).await.unwrap();
    test.app.respond(deciding, pressed(Pressed::Accept, None)).await.unwrap();
    let Poll::Known { state, .. } = test.app.poll(&token, &handle).await else { panic!("known") };
    assert_eq!(state.status(), Status::Accept);
    assert_eq!(state.answer().unwrap()["confirm"], true);
}
