//! One list of cases, three fronts: the router, a socket, and the built Lambda binaries behind either of the two things
//! that AWS puts in front of them.

mod cases;
mod front;
mod lambda;
mod paths;
mod probed;

use std::panic::AssertUnwindSafe;

use countersign_testkit::Web;
use countersign_testkit::lambda::{Deployment, Origin, built};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use front::{Front, Socket, Way};

/// One behaviour that all fronts share.
struct Case {
    name: &'static str,
    /// It needs the path as it was sent, which an HTTP API does not hand on.
    needs_paths: bool,
    run: for<'a> fn(&'a Front<'a>) -> BoxFuture<'a, ()>,
}

const fn case(name: &'static str, run: for<'a> fn(&'a Front<'a>) -> BoxFuture<'a, ()>) -> Case {
    Case { name, needs_paths: false, run }
}

const fn with_paths(name: &'static str, run: for<'a> fn(&'a Front<'a>) -> BoxFuture<'a, ()>) -> Case {
    Case { name, needs_paths: true, run }
}

/// Runs every case, says how many hold, and fails where one does not.
async fn run(front: &Front<'_>, cases: &[Case]) {
    let (mut passed, mut failed, mut skipped) = (0, vec![], 0);
    for case in cases {
        if case.needs_paths && !front.keeps_paths() {
            skipped += 1;
            continue;
        }
        front.seen.lock().unwrap().push(case.name.to_owned());
        match AssertUnwindSafe((case.run)(front)).catch_unwind().await {
            Ok(()) => passed += 1,
            Err(_) => failed.push(case.name),
        }
    }
    println!("{}: {passed} passed, {} failed, {skipped} skipped", front.name, failed.len());
    assert!(failed.is_empty(), "{}: {failed:?}", front.name);
}

/// Whether both fronts answered alike, request by request.
fn assert_alike(one: &Front<'_>, other: &Front<'_>) {
    let (one_saw, other_saw) = (one.seen.lock().unwrap(), other.seen.lock().unwrap());
    for (left, right) in one_saw.iter().zip(other_saw.iter()) {
        assert_eq!(left, right, "{} and {}", one.name, other.name);
    }
    assert_eq!(one_saw.len(), other_saw.len(), "{} and {}", one.name, other.name);
}

#[tokio::test]
async fn the_fronts_agree() {
    let (web, served) = (Web::start().await, Web::start().await);
    let deployment = Deployment::start(built()).await;
    let router = Front::new("router", Way::Router(web.router.clone()), &web.key, &web.operator);
    run(&router, cases::ALL).await;
    let socket = Way::Socket(Box::new(Socket::serve(served.router.clone()).await));
    let socket = Front::new("socket", socket, &served.key, &served.operator);
    run(&socket, cases::ALL).await;
    assert_alike(&router, &socket);
    let (key, operator) = (&deployment.web.key, &deployment.web.operator);
    let url = Way::Deployment(&deployment, Origin::FunctionUrl);
    let url = Front::new("lambda, Function URL", url, key, operator);
    run(&url, cases::ALL).await;
    assert_alike(&router, &url);
    let api = Way::Deployment(&deployment, Origin::HttpApi);
    run(&Front::new("lambda, HTTP API", api, key, operator), cases::ALL).await;
    lambda::check_logs(&deployment.end());
}
