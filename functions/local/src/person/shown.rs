//! Questions as a terminal shows them: our words plain, theirs behind a bar, and nothing of theirs that drives a terminal.

use countersign_core::hygiene::{Shown, encode};
use serde_json::Value;

const UNTITLED: &str = "A tool asks for your approval";
const SOON_MS: u64 = 60_000;

/// Foreign text on one line.
pub(super) fn plain(text: &str) -> String {
    encode::terminal(&Shown::line(text))
}

fn text(value: &Value) -> String {
    plain(value.as_str().unwrap_or_default())
}

/// Foreign text of many lines, each behind a bar, with what is odd about it below.
fn fenced(text: &str, out: &mut Vec<String>) {
    let shown = Shown::block(text);
    out.extend(encode::terminal(&shown).lines().map(|line| format!("  | {line}")));
    out.extend(shown.notes().into_iter().map(|note| format!("  ! {note}")));
}

/// A span, in its largest unit or two.
pub(super) fn left(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, _) => format!("{minutes} min"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (1, hours, ..) => format!("1 day {hours} h"),
        (days, hours, ..) => format!("{days} days {hours} h"),
    }
}

/// The time of day of an RFC 3339 text in UTC.
fn time(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    let (day, clock) = text.split_once('T').unwrap_or((text, ""));
    format!("{} UTC, {day}", clock.get(..8).unwrap_or(clock))
}

/// The list.
pub(super) fn inbox(answer: &Value) -> String {
    let open = answer["open"].as_array().map(Vec::as_slice).unwrap_or_default();
    if open.is_empty() {
        return "Nothing waits for you.".to_owned();
    }
    let mut lines = vec![match open.len() {
        1 => "1 question waits for you.".to_owned(),
        count => format!("{count} questions wait for you, the soonest first."),
    }];
    for one in open {
        lines.push(String::new());
        lines.extend(row(one));
    }
    lines.extend([String::new(), "Read and answer one: countersign decide REFERENCE".to_owned()]);
    lines.join("\n")
}

/// One question of the list.
pub(super) fn row(one: &Value) -> Vec<String> {
    let ms = one["left_ms"].as_u64().unwrap_or_default();
    let short = if ms < SOON_MS { "!" } else { " " };
    let title = if one["title"].is_null() { UNTITLED.to_owned() } else { text(&one["title"]) };
    let who: Vec<_> =
        [&one["server"], &one["tool"]].into_iter().filter(|one| one.is_string()).map(text).collect();
    let mut about = vec![text(&one["kind"]), needs(&one["assurance"]).to_owned()];
    if !who.is_empty() {
        about.insert(0, who.join(", "));
    }
    if one["asker_gone"] == true {
        about.push("the agent has gone quiet".to_owned());
    }
    vec![
        format!("{short} {:<9} {:>12}  {title}", text(&one["reference"]), left(ms)),
        format!("{:25} {}", "", about.join("; ")),
    ]
}

fn needs(assurance: &Value) -> &'static str {
    match assurance.as_str() {
        Some("code") => "needs a code",
        Some("passkey") => "needs a passkey",
        _ => "one answer",
    }
}

/// The whole of a question.
pub(super) fn question(one: &Value) -> String {
    let title = if one["title"].is_null() { UNTITLED.to_owned() } else { text(&one["title"]) };
    let mut out = vec![format!("{title}  ({})", text(&one["reference"])), text(&one["kind"])];
    let mut from = Vec::new();
    for (label, member) in [("server", "server"), ("tool", "tool")] {
        if one[member].is_string() {
            from.push(format!("{label} {}", text(&one[member])));
        }
    }
    if !from.is_empty() {
        out.push(format!("Asked by {}", from.join(", ")));
    }
    let mut part = |name: &str, value: &Value| {
        if let Some(text) = value.as_str() {
            out.extend([String::new(), name.to_owned()]);
            fenced(text, &mut out);
        }
    };
    part("What happens, as the asking side states it:", &one["consequence"]);
    for warning in one["warnings"].as_array().into_iter().flatten() {
        part("Look out for:", warning);
    }
    for (origin, name) in [
        ("server", "Stated by the tool server:"),
        ("caller", "Supplied by the agent, not checked by anybody:"),
    ] {
        let all = one["details"].as_array().into_iter().flatten();
        let of_origin: Vec<_> = all.filter(|detail| detail["origin"] == origin).collect();
        if !of_origin.is_empty() {
            out.extend([String::new(), name.to_owned()]);
        }
        for detail in of_origin {
            out.push(format!("  {}", text(&detail["label"])));
            fenced(detail["value"].as_str().unwrap_or_default(), &mut out);
        }
    }
    if !one["arguments"].is_null() {
        out.extend([String::new(), "The arguments that an approval binds:".to_owned()]);
        fenced(&format!("{:#}", one["arguments"]), &mut out);
    }
    if let Some(preview) = one["preview"].as_str() {
        out.extend([String::new(), "Preview:".to_owned()]);
        fenced(preview, &mut out);
    }
    out.extend([
        String::new(),
        "Message from the asking side. It can be wrong, and it cannot approve anything:".to_owned(),
    ]);
    fenced(one["message"].as_str().unwrap_or_default(), &mut out);
    out.push(String::new());
    out.push(match one["settled"].as_str() {
        Some(settled) => format!("{}.", plain(settled)),
        None => format!(
            "You answer as {}. Decide by {}, {} from now.",
            text(&one["you"]),
            time(&one["decide_by"]),
            left(one["left_ms"].as_u64().unwrap_or_default())
        ),
    });
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hostile() -> Value {
        json!({
            "reference": "K7Q-4MD", "title": "Pay \u{1b}[2J\u{202e}exe", "server": "mail\u{7}", "tool": "send",
            "kind": "Leaves demo", "assurance": "code", "left_ms": 59_000, "you": "Mara",
            "decide_by": "2026-12-01T20:14:28.000Z", "asker_gone": true,
            "message": "line one\n\u{1b}]0;x\u{7}line two\u{9b}31m", "consequence": null, "warnings": ["\u{200b}"],
            "details": [{"label": "To", "value": "a\rb", "origin": "caller"}], "arguments": {"a": "\u{1b}[1m"},
        })
    }

    #[test]
    fn no_text_of_theirs_drives_the_terminal() {
        let list = inbox(&json!({"open": [hostile()]}));
        for shown in [question(&hostile()), list, plain("\u{1b}[31m\u{85}\u{2028}")] {
            assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
            for hidden in ['\u{202e}', '\u{200b}', '\u{9b}', '\u{2028}'] {
                assert!(!shown.contains(hidden), "{shown:?}");
            }
        }
    }

    #[test]
    fn the_words_of_the_asking_side_stand_behind_a_bar() {
        let shown = question(&hostile());
        assert!(shown.contains("  | line one"), "{shown}");
        assert!(shown.contains("Decide by 20:14:28 UTC, 2026-12-01, 59 s from now."), "{shown}");
    }

    #[test]
    fn an_empty_inbox_says_so() {
        assert_eq!(inbox(&json!({"open": []})), "Nothing waits for you.");
    }

    #[test]
    fn spans_read_as_people_say_them() {
        let spans =
            [(59_999, "59 s"), (60_000, "1 min"), (3_660_000, "1 h 1 min"), (90_000_000, "1 day 1 h")];
        for (ms, want) in spans {
            assert_eq!(left(ms), want);
        }
    }
}
