//! Foreign text on our pages, read back with a real HTML parser (RELIABILITY.md rows 14 to 17): it brings no element and
//! no attribute of its own.

use std::collections::BTreeMap;

use countersign_testkit::person::Person;
use scraper::{ElementRef, Html};
use serde_json::{Value, json};

use super::{asked, scene};

/// What has broken other pages.
const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "\" autofocus onfocus=\"alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</option></select><svg onload=alert(1)>",
    "<!--><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "javascript:alert(1)",
    "https://evil.example/?a=1&b=2",
    "[click](javascript:alert(1))",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "{{ 7 * 7 }} ${7*7} <%= 7*7 %> {% raw %}",
    "<form action=https://evil.example><input name=csrf>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0>",
    "<style>*{display:none}</style>",
    "<a href=https://evil.example>Approve</a>",
    "\u{202e}<b>gpj.exe\u{202c}",
    "a\u{2028}b<b\u{feff}>c",
    "<\u{200b}script>alert(1)</script>",
    "`${alert(1)}`",
    "<svg/onload=alert(1)//",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "x\" style=\"position:fixed;inset:0",
    "<details open ontoggle=alert(1)>",
];

/// Every element of a page with the names of its attributes, and how often it stands there. Our own marks and notes of
/// hidden and odd characters come with the text that has them, and are left out.
fn skeleton(page: &str) -> BTreeMap<String, usize> {
    let ours = |element: ElementRef<'_>| matches!(element.attr("class"), Some("esc" | "odd" | "watch"));
    let mut seen = BTreeMap::new();
    for element in Html::parse_document(page).root_element().descendent_elements() {
        if ours(element) || element.ancestors().filter_map(ElementRef::wrap).any(ours) {
            continue;
        }
        let mut names: Vec<_> = element.value().attrs().map(|(name, _)| name).collect();
        names.sort_unstable();
        *seen.entry(format!("{} {}", element.value().name(), names.join(" "))).or_default() += 1;
    }
    seen
}

fn question(text: &str) -> Value {
    // Short names are refused when they hold what cannot be seen, so they get the visible part.
    let line: String = text.chars().filter(|char| char.is_ascii_graphic() || *char == ' ').take(60).collect();
    json!({
        "message": text,
        "title": line,
        "consequence": text,
        "tier": "external",
        "server": line,
        "tool": line,
        "irreversible": true,
        "details": [{"label": line, "value": text, "origin": "caller"}],
        "preview": text,
        "warnings": [text],
        "requested_schema": {"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "title": line, "description": text, "maxLength": 90, "default": line},
            "b": {"type": "string", "enum": [line, "other"]},
            "c": {"type": "array", "items": {"type": "string", "enum": [line, "other"]}},
        }},
    })
}

#[tokio::test]
async fn no_text_of_a_caller_becomes_an_element_or_an_attribute() {
    let (web, you) = scene().await;
    let pages = async |text: &str| {
        let (_, path) = asked(&web, question(text)).await;
        let open = you.get(&web, &path).await.expect(200).text();
        let inbox = you.get(&web, "/inbox").await.expect(200).text();
        let bad = you
            .answer(&web, &path, "accept", &[("f.b", &format!("{text}?")), ("reason", text)])
            .await
            .expect(422)
            .text();
        you.answer(&web, &path, "decline", &[("reason", text)]).await.expect(303);
        let settled = you.get(&web, &path).await.expect(200).text();
        let mine = you.get(&web, "/inbox?view=mine").await.expect(200).text();
        (open, inbox, bad, settled, mine)
    };
    let plain = pages("plain words").await;
    for text in CORPUS {
        let hostile = pages(text).await;
        for (mild, sharp) in
            [(&plain.0, &hostile.0), (&plain.1, &hostile.1), (&plain.2, &hostile.2), (&plain.3, &hostile.3)]
        {
            assert_eq!(skeleton(mild), skeleton(sharp), "{text:?}");
        }
        let kinds = |page: &str| skeleton(page).into_keys().collect::<Vec<_>>();
        assert_eq!(kinds(&plain.4), kinds(&hostile.4), "{text:?}");
    }
}

#[tokio::test]
async fn a_page_links_only_to_our_own_pages() {
    let (web, you) = scene().await;
    let (_, path) = asked(&web, question("https://evil.example <a href=https://evil.example>x</a>")).await;
    let page = you.get(&web, &path).await.expect(200).text();
    for node in Html::parse_document(&page).tree.values() {
        let Some(element) = node.as_element() else { continue };
        for name in ["href", "src", "action", "formaction"] {
            let Some(to) = element.attr(name) else { continue };
            assert!(to.starts_with('/') && !to.starts_with("//") || to.starts_with('#'), "{to}");
        }
    }
}

#[tokio::test]
async fn what_signs_in_reflects_nothing_raw() {
    let (web, _) = scene().await;
    let nobody = Person { cookies: String::new() };
    for text in CORPUS {
        for name in ["to", "email", "attempt", "code"] {
            for path in ["/signin/demo", "/signin/demo/code"] {
                let page = nobody.post(&web, path, &[(name, *text)]).await.text();
                let document = Html::parse_document(&page);
                let elements = document.tree.values().filter_map(|node| node.as_element());
                let scripts: Vec<_> =
                    elements.filter(|one| matches!(one.name(), "script" | "img" | "svg")).collect();
                assert!(
                    scripts.iter().all(|one| one.attrs().all(|(name, _)| !name.starts_with("on"))),
                    "{text:?}"
                );
                assert!(!page.contains("alert(1)<") && !page.contains("<img src=x"), "{text:?}");
            }
        }
    }
}
