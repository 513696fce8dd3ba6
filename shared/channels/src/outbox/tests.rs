use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};

use mail_parser::MessageParser;
use tempfile::TempDir;

use super::directory::HALF;
use super::*;
use crate::contract;
use crate::fixture::{from, notice};

/// 2026-12-01T19:59:00.007Z.
const START: i64 = 1_796_155_140_007;

/// Each look at it is a millisecond later.
struct Ticking(AtomicI64);

#[async_trait]
impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }

    async fn sleep(&self, _span: Duration) {}
}

/// Always the same.
struct Stopped;

#[async_trait]
impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(START)
    }

    async fn sleep(&self, _span: Duration) {}
}

fn ticking() -> Outbox {
    Outbox::new(Arc::new(Ticking(AtomicI64::new(START))), from())
}

fn stopped() -> Outbox {
    Outbox::new(Arc::new(Stopped), from())
}

fn files(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn make_room_for(outbox: &Outbox, files: usize) {
    outbox.kept().directory.as_mut().unwrap().room = files;
}

#[tokio::test]
async fn the_contract_holds() {
    let directory = TempDir::new().unwrap();
    let outbox = ticking().in_directory(directory.path());
    let id = |raw: &[u8]| MessageParser::default().parse(raw).unwrap().message_id().unwrap().to_owned();
    contract::holds(&outbox, || outbox.messages().iter().map(|message| id(&message.raw)).collect()).await;
    assert_eq!(files(&directory).len(), outbox.messages().len());
}

#[tokio::test]
async fn a_message_can_be_read_in_parts_and_whole() {
    let outbox = stopped();
    outbox.send(&notice()).await.unwrap();
    let [message] = outbox.messages().try_into().unwrap();
    let mail = MessageParser::default().parse(&message.raw).unwrap();
    assert_eq!((message.channel, message.at.millis()), (ChannelKind::Email, START));
    assert_eq!(message.to, "mara@northwind.example");
    assert_eq!(message.reference, Some(notice().reference));
    assert_eq!(message.link, Some(notice().link));
    assert_eq!(mail.subject(), Some(message.subject.as_str()));
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), message.text);
    assert_eq!(mail.body_html(0).unwrap().replace("\r\n", "\n"), message.html);
    assert_eq!(mail.date().unwrap().to_rfc3339(), "2026-12-01T19:59:00Z");
}

#[tokio::test]
async fn the_same_notice_at_the_same_time_is_the_same_mail() {
    let outbox = stopped();
    outbox.send(&notice()).await.unwrap();
    outbox.send(&notice()).await.unwrap();
    let [first, second] = outbox.messages().try_into().unwrap();
    assert_eq!(first, second);
}

#[tokio::test]
async fn memory_holds_the_newest() {
    let mut outbox = ticking();
    outbox.room = 2;
    for _ in 0..3 {
        outbox.send(&notice()).await.unwrap();
    }
    let at: Vec<i64> = outbox.messages().iter().map(|message| message.at.millis()).collect();
    assert_eq!(at, [START + 1, START + 2]);
}

#[tokio::test]
async fn the_file_is_the_mail() {
    let directory = TempDir::new().unwrap();
    let outbox = stopped().in_directory(directory.path().join("made/when/needed"));
    outbox.send(&notice()).await.unwrap();
    let file = directory.path().join(format!("made/when/needed/{START}-K7Q-4MD.eml"));
    assert_eq!(fs::read(file).unwrap(), outbox.messages()[0].raw);
}

#[tokio::test]
async fn mails_of_one_millisecond_do_not_replace_each_other() {
    let directory = TempDir::new().unwrap();
    let outbox = stopped().in_directory(directory.path());
    for _ in 0..3 {
        outbox.send(&notice()).await.unwrap();
    }
    let want = ["-2.eml", "-3.eml", ".eml"].map(|end| format!("{START}-K7Q-4MD{end}"));
    assert_eq!(files(&directory), want);
}

#[tokio::test]
async fn the_directory_holds_the_newest_of_all_runs_and_what_is_not_ours() {
    let directory = TempDir::new().unwrap();
    for name in ["999-AAA-AAA.eml", "1000-AAA-AAA-2.eml", "notes.txt", "1-draft.eml", "x-AAA-AAA.eml"] {
        fs::write(directory.path().join(name), "old").unwrap();
    }
    let outbox = ticking().in_directory(directory.path());
    make_room_for(&outbox, 2);
    outbox.send(&notice()).await.unwrap();
    let newest = format!("{START}-K7Q-4MD.eml");
    let others = ["1-draft.eml", "notes.txt", "x-AAA-AAA.eml"];
    assert_eq!(files(&directory), ["1-draft.eml", "1000-AAA-AAA-2.eml", &newest, others[1], others[2]]);
}

#[tokio::test]
async fn a_clock_that_steps_back_does_not_cost_the_mail_just_written() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(format!("{}-AAA-AAA.eml", START + 9)), "from the future").unwrap();
    let outbox = stopped().in_directory(directory.path());
    make_room_for(&outbox, 1);
    outbox.send(&notice()).await.unwrap();
    assert_eq!(files(&directory), [format!("{START}-K7Q-4MD.eml")]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/dev/full", directory.path().join(HALF)).unwrap();
    let heard = Arc::new(AtomicI64::new(0));
    let counter = Arc::clone(&heard);
    let hook = move |_: &OutboxMessage| {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    let outbox = stopped().in_directory(directory.path()).on_mail(Box::new(hook));

    let error = outbox.send(&notice()).await.unwrap_err();
    let SendError::Retry(text) = error else { panic!("{error:?}") };
    assert!(text.contains("No space left"), "{text}");
    assert!(outbox.messages().is_empty());
    assert_eq!(files(&directory), [""; 0]);
    assert_eq!(heard.load(Ordering::Relaxed), 0);

    outbox.send(&notice()).await.unwrap();
    assert_eq!((files(&directory).len(), outbox.messages().len()), (1, 1));
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_tried_again() {
    let directory = TempDir::new().unwrap();
    let blocked = directory.path().join("file");
    fs::write(&blocked, "in the way").unwrap();
    let outbox = stopped().in_directory(blocked.join("mail"));
    let error = outbox.send(&notice()).await.unwrap_err();
    assert!(matches!(&error, SendError::Retry(text) if text.contains("file/mail")), "{error:?}");
    assert!(outbox.messages().is_empty());

    fs::remove_file(&blocked).unwrap();
    outbox.send(&notice()).await.unwrap();
}

#[tokio::test]
async fn a_half_file_of_a_crash_is_overwritten() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(HALF), "x".repeat(100_000)).unwrap();
    let outbox = stopped().in_directory(directory.path());
    outbox.send(&notice()).await.unwrap();
    let name = format!("{START}-K7Q-4MD.eml");
    assert_eq!(files(&directory), [name.as_str()]);
    assert_eq!(fs::read(directory.path().join(name)).unwrap(), outbox.messages()[0].raw);
}

#[tokio::test]
async fn the_hook_sees_a_message_that_is_kept() {
    let (said, heard) = std::sync::mpsc::channel();
    let hook = move |message: &OutboxMessage| said.send(message.subject.clone()).unwrap();
    let outbox = stopped().on_mail(Box::new(hook));
    outbox.send(&notice()).await.unwrap();
    assert_eq!(heard.try_recv().unwrap(), outbox.messages()[0].subject);
}

#[test]
fn no_clock_makes_the_date_panic() {
    for millis in [i64::MIN, -1, 0, START, 253_402_300_800_000, i64::MAX] {
        let _ = date(Timestamp::from_millis(millis));
    }
}
