//! Notifying in this process: what was committed waits here until a task has told people. Nothing is lost with it:
//! the sweep finds in the rows what was not done.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use countersign_app::App;
use countersign_app::ports::{Clock, Trigger};
use countersign_core::id::{CodeId, ElicitationId, TenantId};
use countersign_embedded::engine::Garbage;
use tokio::sync::watch;
use tokio::time::timeout;

/// What waits at most; more than this is left to the sweep.
const MAX_WAITING: usize = 10_000;
/// What is done at a time: one slow mail server or endpoint must not hold up the rest.
const MAX_RUNNING: usize = 32;
/// What one notice may take; after that the sweep has it.
const NOTIFY_LIMIT: Duration = Duration::from_mins(1);
/// Between two sweeps.
const SWEEP_EVERY: Duration = Duration::from_mins(1);
/// Between two collections of garbage.
const COLLECT_EVERY: Duration = Duration::from_hours(1);
/// What one sweep may take, with each mail of many being slow.
const SWEEP_LIMIT: Duration = Duration::from_mins(10);

/// What was committed and not told yet.
pub(crate) struct Queue(watch::Sender<State>);

/// What was committed: a question, or a code to be mailed.
#[derive(Debug, Clone, Copy)]
enum Work {
    Question(ElicitationId),
    Code(CodeId),
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(TenantId, Work)>,
    running: usize,
    done: u64,
}

impl State {
    fn unfinished(&self) -> usize {
        self.waiting.len() + self.running
    }
}

impl Trigger for Queue {
    fn stored(&self, tenant: &TenantId, elicitation: ElicitationId) {
        self.add(tenant, Work::Question(elicitation));
    }

    fn code_wanted(&self, tenant: &TenantId, code: CodeId) {
        self.add(tenant, Work::Code(code));
    }
}

impl Queue {
    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(State::default()))
    }

    fn add(&self, tenant: &TenantId, work: Work) {
        self.0.send_modify(|state| {
            if state.waiting.len() < MAX_WAITING {
                state.waiting.push_back((tenant.clone(), work));
            }
        });
    }

    /// Tells people, for as long as the process lives.
    pub(crate) async fn work(self: Arc<Self>, app: App) {
        let mut state = self.0.subscribe();
        let is_ready = |state: &State| !state.waiting.is_empty() && state.running < MAX_RUNNING;
        // The sender is in `self`, so the wait ends only when there is work.
        while state.wait_for(is_ready).await.is_ok() {
            if let Some((tenant, work)) = self.begin() {
                background(notify(app.clone(), tenant, work, Running(Arc::clone(&self))));
            }
        }
    }

    fn begin(&self) -> Option<(TenantId, Work)> {
        let mut next = None;
        self.0.send_modify(|state| {
            next = state.waiting.pop_front();
            state.running += usize::from(next.is_some());
        });
        next
    }

    /// Waits until nothing is left to do, but no longer than `limit`; what is left then.
    pub(crate) async fn drained(&self, limit: Duration) -> usize {
        let mut state = self.0.subscribe();
        let idle = timeout(limit, state.wait_for(|state| state.unfinished() == 0));
        drop(idle.await);
        self.0.borrow().unfinished()
    }

    /// How many were done since the start.
    pub(crate) fn done(&self) -> u64 {
        self.0.borrow().done
    }
}

/// One of the running; counts itself as done when it ends, however it ends.
struct Running(Arc<Queue>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| {
            state.running -= 1;
            state.done += 1;
        });
    }
}

async fn notify(app: App, tenant: TenantId, work: Work, running: Running) {
    let told = async {
        match work {
            Work::Question(id) => app.notify(&tenant, id).await,
            Work::Code(id) => app.mail_code(&tenant, id).await,
        }
    };
    match timeout(NOTIFY_LIMIT, told).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(tenant.id = %tenant, "a notice is left to the sweep: {error}"),
        Err(_) => tracing::warn!(tenant.id = %tenant, "a notice took too long and is left to the sweep"),
    }
    drop(running);
}

/// Sweeps once a minute, for as long as the process lives. `clock` is the real one: a moved clock is swept by hand.
pub(crate) async fn sweep_forever(app: App, clock: Arc<dyn Clock>) {
    loop {
        match timeout(SWEEP_LIMIT, app.sweep()).await {
            Ok(Ok(report)) if report.due > 0 => tracing::info!("swept: {report:?}"),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::error!("the sweep failed and is repeated in a minute: {error}"),
            Err(_) => tracing::error!("the sweep took too long and is repeated in a minute"),
        }
        clock.sleep(SWEEP_EVERY).await;
    }
}

/// Removes rows past their TTL once an hour, for as long as the process lives.
pub(crate) async fn collect_forever(garbage: Garbage, clock: Arc<dyn Clock>) {
    loop {
        match garbage.collect().await {
            Ok(0) => {}
            Ok(rows) => tracing::info!("{rows} rows past their retention were removed"),
            Err(error) => tracing::error!("rows past their retention stay for another hour: {error}"),
        }
        clock.sleep(COLLECT_EVERY).await;
    }
}

/// Runs `work` beside everything else. This process is not frozen between requests, as a Lambda is.
pub(crate) fn background<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    #[expect(clippy::disallowed_methods, reason = "the local server has no frozen environment")]
    tokio::spawn(work)
}

#[cfg(test)]
mod tests {
    use countersign_core::id::{Bits130, Front};
    use countersign_embedded::faults::{Fault, Op};
    use countersign_testkit::{TestApp, fallback_ask};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    async fn test_with_queue() -> (TestApp, App, Arc<Queue>) {
        let test = TestApp::start().await;
        let queue = Arc::new(Queue::new());
        let app = App { trigger: queue.clone(), ..test.app.clone() };
        (test, app, queue)
    }

    async fn ask(test: &TestApp, app: &App, count: usize) {
        for number in 0..count {
            let (_, token) = test.session().await;
            let admission = app.admit_token(&token).await.unwrap();
            app.create(admission, Front::Fallback, fallback_ask(&format!("r{number}"), "Send it?"))
                .await
                .unwrap();
        }
    }

    #[tokio::test]
    async fn what_is_asked_is_told_once_and_draining_waits_for_it() {
        let (test, app, queue) = test_with_queue().await;
        ask(&test, &app, 12).await;
        assert_eq!(queue.drained(Duration::from_millis(1)).await, 12, "nobody works yet");
        background(Arc::clone(&queue).work(app));
        assert_eq!(queue.drained(LONG).await, 0);
        assert_eq!((test.channel.sent().len(), queue.done()), (12, 12));
    }

    #[tokio::test]
    async fn a_failed_notice_ends_its_turn_and_the_next_one_works() {
        let (test, app, queue) = test_with_queue().await;
        background(Arc::clone(&queue).work(app.clone()));
        let (_, token) = test.session().await;
        let admission = app.admit_token(&token).await.unwrap();
        test.faults.set(Op::Query, Fault::Error, 100);
        app.create(admission, Front::Fallback, fallback_ask("r1", "Send it?")).await.unwrap();
        assert_eq!(queue.drained(LONG).await, 0);
        assert!(test.channel.sent().is_empty());
        test.faults.set(Op::Query, Fault::Error, 0);
        ask(&test, &app, 1).await;
        assert_eq!(queue.drained(LONG).await, 0);
        assert_eq!(test.channel.sent().len(), 1);
    }

    #[test]
    fn a_full_queue_leaves_the_rest_to_the_sweep() {
        let queue = Queue::new();
        let id = ElicitationId::new(Bits130::from_bytes([1; Bits130::BYTES]));
        for _ in 0..MAX_WAITING + 5 {
            queue.stored(&"demo".parse().unwrap(), id);
        }
        assert_eq!(queue.0.borrow().unfinished(), MAX_WAITING);
    }
}
