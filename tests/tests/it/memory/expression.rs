//! The expressions that the store writes: conditions and updates.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_store::table::{Action, Item, TableError, Write};

type Values = HashMap<String, AttributeValue>;

/// A walk over the words of an expression.
struct Words<'a> {
    text: &'a str,
    left: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if "(),".contains(first) {
                1
            } else {
                rest.find(|c: char| c.is_whitespace() || "(),".contains(c)).unwrap_or(rest.len())
            };
            words.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Self { text, left: words.into_iter().peekable() }
    }

    fn odd<T>(&self) -> Result<T, TableError> {
        Err(TableError::Rejected(format!("cannot read the expression {:?}", self.text)))
    }

    fn next(&mut self) -> Result<&'a str, TableError> {
        match self.left.next() {
            Some(word) => Ok(word),
            None => self.odd(),
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), TableError> {
        if self.next()? == word { Ok(()) } else { self.odd() }
    }

    fn skip(&mut self, word: &str) -> bool {
        self.left.next_if(|next| *next == word).is_some()
    }

    fn value<'v>(&mut self, values: &'v Values) -> Result<&'v AttributeValue, TableError> {
        match values.get(self.next()?) {
            Some(value) => Ok(value),
            None => self.odd(),
        }
    }
}

/// Refuses what the engine refuses before it looks at any item: a value that no expression uses.
pub(super) fn check(write: &Write) -> Result<(), TableError> {
    let update = match &write.action {
        Action::Put(_) | Action::Delete(_) | Action::Check(_) => "",
        Action::Update(_, update) => update,
    };
    let condition = write.condition.as_deref().unwrap_or_default();
    let used: Vec<&str> = [update, condition].iter().flat_map(|text| Words::of(text).left).collect();
    match write.values.keys().find(|name| !used.contains(&name.as_str())) {
        Some(name) => Err(TableError::Rejected(format!("the value {name} is not used"))),
        None => Ok(()),
    }
}

/// Whether `condition` holds on `item`.
pub(super) fn holds(condition: &str, item: Option<&Item>, values: &Values) -> Result<bool, TableError> {
    let mut words = Words::of(condition);
    let outcome = any(&mut words, item, values)?;
    if words.left.peek().is_some() { words.odd() } else { Ok(outcome) }
}

fn any(words: &mut Words<'_>, item: Option<&Item>, values: &Values) -> Result<bool, TableError> {
    let mut outcome = all(words, item, values)?;
    while words.skip("OR") {
        outcome |= all(words, item, values)?;
    }
    Ok(outcome)
}

fn all(words: &mut Words<'_>, item: Option<&Item>, values: &Values) -> Result<bool, TableError> {
    let mut outcome = term(words, item, values)?;
    while words.skip("AND") {
        outcome &= term(words, item, values)?;
    }
    Ok(outcome)
}

fn term(words: &mut Words<'_>, item: Option<&Item>, values: &Values) -> Result<bool, TableError> {
    match words.next()? {
        "(" => {
            let outcome = any(words, item, values)?;
            words.expect(")")?;
            Ok(outcome)
        }
        "attribute_exists" => Ok(argument(words, item)?.is_some()),
        "attribute_not_exists" => Ok(argument(words, item)?.is_none()),
        "begins_with" => {
            words.expect("(")?;
            let found = item.and_then(|item| at(item, words_path(words.next().ok()?)));
            words.expect(",")?;
            let prefix = words.value(values)?;
            words.expect(")")?;
            Ok(matches!((found, prefix), (Some(AttributeValue::S(text)), AttributeValue::S(prefix))
                if text.starts_with(prefix)))
        }
        "contains" => {
            words.expect("(")?;
            let found = item.and_then(|item| at(item, words_path(words.next().ok()?)));
            words.expect(",")?;
            let member = words.value(values)?;
            words.expect(")")?;
            Ok(matches!(found, Some(AttributeValue::L(list)) if list.contains(member)))
        }
        "size" => {
            let size = match argument(words, item)? {
                Some(AttributeValue::M(map)) => Some(AttributeValue::N(map.len().to_string())),
                _ => None,
            };
            compared(words, size.as_ref(), values)
        }
        path => {
            let found = item.and_then(|item| at(item, words_path(path)));
            compared(words, found, values)
        }
    }
}

fn argument<'i>(
    words: &mut Words<'_>,
    item: Option<&'i Item>,
) -> Result<Option<&'i AttributeValue>, TableError> {
    words.expect("(")?;
    let path = words_path(words.next()?);
    words.expect(")")?;
    Ok(item.and_then(|item| at(item, path)))
}

fn compared(
    words: &mut Words<'_>,
    left: Option<&AttributeValue>,
    values: &Values,
) -> Result<bool, TableError> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let operator = words.next()?;
    let right = words.value(values)?;
    let order = order(left, right);
    let is_equal = order == Some(Equal) || left == Some(right); // maps and bytes have no order
    Ok(match operator {
        "=" => is_equal,
        "<>" => !is_equal,
        "<" => order == Some(Less),
        "<=" => matches!(order, Some(Less | Equal)),
        ">" => order == Some(Greater),
        ">=" => matches!(order, Some(Greater | Equal)),
        "BETWEEN" => {
            words.expect("AND")?;
            let until = self::order(left, words.value(values)?);
            matches!(order, Some(Greater | Equal)) && matches!(until, Some(Less | Equal))
        }
        _ => return words.odd(),
    })
}

fn order(left: Option<&AttributeValue>, right: &AttributeValue) -> Option<std::cmp::Ordering> {
    match (left?, right) {
        (AttributeValue::S(left), AttributeValue::S(right)) => Some(left.cmp(right)),
        (AttributeValue::N(left), AttributeValue::N(right)) => Some(whole(left)?.cmp(&whole(right)?)),
        _ => None,
    }
}

fn whole(number: &str) -> Option<i128> {
    number.parse().ok()
}

fn words_path(word: &str) -> impl Iterator<Item = &str> + Clone {
    word.split('.').map(|part| part.trim_start_matches('#'))
}

fn at<'i, 'p>(item: &'i Item, mut path: impl Iterator<Item = &'p str>) -> Option<&'i AttributeValue> {
    let found = item.get(path.next()?)?;
    path.try_fold(found, |found, part| found.as_m().ok()?.get(part))
}

/// Applies an update expression to `item`. Operands are read from the item as it was.
pub(super) fn update(expression: &str, item: &mut Item, values: &Values) -> Result<(), TableError> {
    let before = item.clone();
    let mut words = Words::of(expression);
    while words.left.peek().is_some() {
        let clause = words.next()?;
        loop {
            let path = words.next()?;
            match clause {
                "SET" => {
                    words.expect("=")?;
                    let value = operand(&mut words, &before, values)?;
                    put(item, path, value)?;
                }
                "REMOVE" => {
                    let (parent, name) = parent(item, path)?;
                    parent.remove(name);
                }
                "ADD" => {
                    let more = words.value(values)?;
                    let sum = add(at(&before, words_path(path)), more)?;
                    put(item, path, sum)?;
                }
                _ => return words.odd(),
            }
            if !words.skip(",") {
                break;
            }
        }
    }
    Ok(())
}

fn operand(words: &mut Words<'_>, before: &Item, values: &Values) -> Result<AttributeValue, TableError> {
    let first = addend(words, before, values)?;
    if words.skip("+") { add(Some(&first), words.value(values)?) } else { Ok(first) }
}

fn addend(words: &mut Words<'_>, before: &Item, values: &Values) -> Result<AttributeValue, TableError> {
    if !words.skip("if_not_exists") {
        return words.value(values).cloned();
    }
    words.expect("(")?;
    let found = at(before, words_path(words.next()?)).cloned();
    words.expect(",")?;
    let otherwise = words.value(values)?.clone();
    words.expect(")")?;
    Ok(found.unwrap_or(otherwise))
}

fn add(found: Option<&AttributeValue>, more: &AttributeValue) -> Result<AttributeValue, TableError> {
    let number = |value: &AttributeValue| value.as_n().ok().and_then(|text| whole(text));
    let odd = || TableError::Rejected("ADD is for numbers here".into());
    let base = found.map_or(Some(0), number).ok_or_else(odd)?;
    Ok(AttributeValue::N((base + number(more).ok_or_else(odd)?).to_string()))
}

fn put(item: &mut Item, path: &str, value: AttributeValue) -> Result<(), TableError> {
    let (parent, name) = parent(item, path)?;
    parent.insert(name.to_owned(), value);
    Ok(())
}

fn parent<'i, 'p>(item: &'i mut Item, path: &'p str) -> Result<(&'i mut Item, &'p str), TableError> {
    let parts: Vec<&str> = words_path(path).collect();
    let odd = || TableError::Rejected(format!("no item at {path}"));
    let (name, above) = parts.split_last().ok_or_else(odd)?;
    let mut map = item;
    for part in above {
        map = match map.get_mut(*part) {
            Some(AttributeValue::M(inner)) => inner,
            _ => return Err(odd()),
        };
    }
    Ok((map, name))
}
