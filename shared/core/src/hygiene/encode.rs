//! A text as each channel takes it. No encoder lets a hidden character through.

use std::fmt::Write as _;

use super::{Piece, Shown, code};
use crate::text::truncate;

/// For a text part of a mail, a file or a log: codes as in `U+202E`. A marked letter is not marked here: show
/// [`Shown::notes`] beside it.
pub fn plain(shown: &Shown) -> String {
    shown.plain()
}

/// For the inside of an HTML element: escaped, with `<span class="esc">` around codes and `<span class="odd">`
/// around marked letters. Put it in a `bdi`, so that its direction stays its own. In an attribute, use [`escape`] on
/// [`Shown::plain`].
pub fn html(shown: &Shown) -> String {
    let mut html = String::new();
    for piece in shown.pieces() {
        // Writing to a String cannot fail.
        let _ = match piece {
            Piece::Text(text) => write!(html, "{}", escape(text)),
            Piece::Hidden(char) => write!(html, "<span class=\"esc\">{}</span>", code(*char)),
            Piece::Odd(char) => write!(html, "<span class=\"odd\">{char}</span>"),
        };
    }
    html
}

/// For a mail subject or a display name: one line of at most `max_chars` characters in which no encoded word
/// (RFC 2047) starts.
pub fn subject(shown: &Shown, max_chars: usize) -> String {
    let line = shown.plain().split_whitespace().collect::<Vec<_>>().join(" ");
    truncate(&line.replace("=?", "= ?"), max_chars).into_owned()
}

/// For a Slack text object: `&`, `<` and `>` as entities, so that no mention, channel or link (`<!here>`, `<@U…>`)
/// starts.
///
/// Slack has no escape for `*`, `_`, `~` and `` ` ``: put it in an object of type `plain_text` with `"emoji": false`,
/// where those are letters like others, never in `mrkdwn`; and leave `link_names` off, so that `@here` stays text.
pub fn slack(shown: &Shown) -> String {
    entities(&shown.plain())
}

/// For a Telegram message with `parse_mode=HTML`: `&`, `<` and `>` as entities.
///
/// Telegram makes links of addresses and `@names` in any text but that of `code` and `pre`.
pub fn telegram(shown: &Shown) -> String {
    entities(&shown.plain())
}

/// For a terminal, and for what its output is piped to: no escape sequence, no control but line feeds and tabs,
/// no change of direction, and no colours of ours.
pub fn terminal(shown: &Shown) -> String {
    shown.plain()
}

fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `text` for an element or for an attribute in quotes of either kind.
pub fn escape(text: &str) -> String {
    entities(text).replace('"', "&quot;").replace('\'', "&#39;")
}
