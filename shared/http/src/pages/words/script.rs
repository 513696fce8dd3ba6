//! What the script adds to a page.

use serde::Serialize;

/// The words that the script puts on a page. They are served with it.
#[derive(Debug, Serialize)]
pub(crate) struct ScriptWords {
    /// Before a time.
    pub(crate) decide_by: &'static str,
    pub(crate) nothing_sent: &'static str,
    pub(crate) see_outcome: &'static str,
    pub(crate) new_question: &'static str,
    pub(crate) new_questions: &'static str,
    pub(crate) show_it: &'static str,
    pub(crate) show_them: &'static str,
    pub(crate) none_wait: &'static str,
    pub(crate) one_waits: &'static str,
    pub(crate) some_wait: &'static str,
    pub(crate) inbox_title: &'static str,
    pub(crate) keys_on: &'static str,
    pub(crate) keys_off: &'static str,
    pub(crate) keys_help: &'static str,
    pub(crate) passkey_stopped: &'static str,
    pub(crate) passkey_stopped_why: &'static str,
    pub(crate) passkey_there: &'static str,
    pub(crate) passkey_there_why: &'static str,
    pub(crate) passkey_cannot: &'static str,
    pub(crate) passkey_cannot_why: &'static str,
}

pub(super) const EN: ScriptWords = ScriptWords {
    decide_by: "decide by ",
    nothing_sent: "Nothing that is typed here can be sent any more.",
    see_outcome: "See what came of it",
    new_question: "1 new question",
    new_questions: "{} new questions",
    show_it: "Show it",
    show_them: "Show them",
    none_wait: "Nothing waits for you",
    one_waits: "1 question waits for you",
    some_wait: "{} questions wait for you",
    inbox_title: "Inbox, {} open · Countersign",
    keys_on: "Keys are on",
    keys_off: "Keys are off",
    keys_help: "j, k: next, previous. Enter: open. Space: select. a, d, x: approve, decline, dismiss. ?: on and off.",
    passkey_stopped: "No passkey was used",
    passkey_stopped_why: "Nothing was sent, and what you typed is still here. Press again when you are ready.",
    passkey_there: "This device has a passkey of yours already",
    passkey_there_why: "It is in the list above. Nothing was sent.",
    passkey_cannot: "This browser cannot use a passkey here",
    passkey_cannot_why: "Open this page in another browser, or on your phone. Nothing was sent.",
};
