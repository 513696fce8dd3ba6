//! The options of a choice, in their three spellings.

use std::collections::HashSet;

use serde_json::Value;

use super::keywords::{Faults, Keywords, short_text};
use super::{Choice, OPTION_CHARS, OPTIONS};

/// `enum`, with the titles of `enumNames` where they are there.
pub(super) fn plain(keywords: &Keywords<'_>, faults: &mut Faults) -> Vec<Choice> {
    let values = texts(keywords, "enum", faults);
    let titles = texts(keywords, "enumNames", faults);
    let at = keywords.pointer("enum");
    fault_repeats(&values, |index| format!("{at}/{index}"), faults);
    let length = |keyword| keywords.get(keyword).and_then(Value::as_array).map(Vec::len);
    if length("enumNames").is_some_and(|count| Some(count) != length("enum")) {
        faults.add(keywords.pointer("enumNames"), "must have one title for each entry of enum");
    }
    let titles = titles.into_iter().map(Some).chain(std::iter::repeat(None));
    values.into_iter().zip(titles).map(|(value, title)| Choice { value, title }).collect()
}

/// `oneOf` or `anyOf`, as `keyword` says: objects of `const` and `title`.
pub(super) fn titled(keywords: &Keywords<'_>, keyword: &str, faults: &mut Faults) -> Vec<Choice> {
    let at = keywords.pointer(keyword);
    let entries = entries(keywords, keyword, faults).iter().enumerate();
    let choices: Vec<Choice> =
        entries.filter_map(|(index, entry)| titled_option(entry, format!("{at}/{index}"), faults)).collect();
    let values: Vec<String> = choices.iter().map(|choice| choice.value.clone()).collect();
    fault_repeats(&values, |index| format!("{at}/{index}/const"), faults);
    choices
}

fn titled_option(entry: &Value, at: String, faults: &mut Faults) -> Option<Choice> {
    let option = Keywords::open(entry, at, faults)?;
    option.allow_only(&["const", "title"], faults);
    option.require("const", "the text that is answered", faults);
    option.require("title", "the text that is shown", faults);
    let value = option.text("const", OPTION_CHARS, faults)?;
    let title = option.text("title", OPTION_CHARS, faults)?;
    Some(Choice { value, title: Some(title) })
}

fn texts(keywords: &Keywords<'_>, keyword: &str, faults: &mut Faults) -> Vec<String> {
    let at = keywords.pointer(keyword);
    let mut found = Vec::new();
    for (index, entry) in entries(keywords, keyword, faults).iter().enumerate() {
        match short_text(entry, OPTION_CHARS) {
            Some(text) => found.push(text.to_owned()),
            None => faults
                .add(format!("{at}/{index}"), format!("must be text of at most {OPTION_CHARS} characters")),
        }
    }
    found
}

fn entries<'a>(keywords: &Keywords<'a>, keyword: &str, faults: &mut Faults) -> &'a [Value] {
    let wanted = format!("a list of 1 to {OPTIONS} entries");
    let fits = |value: &'a Value| value.as_array().filter(|list| (1..=OPTIONS).contains(&list.len()));
    keywords.read(keyword, &wanted, faults, fits).map_or(&[], Vec::as_slice)
}

fn fault_repeats(values: &[String], pointer: impl Fn(usize) -> String, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for (index, _) in values.iter().enumerate().filter(|(_, value)| !seen.insert(*value)) {
        faults.add(pointer(index), "repeats an earlier option; remove it");
    }
}
