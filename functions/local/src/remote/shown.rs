//! Answers as a person reads them.

use serde_json::Value;

/// How an answer is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    NewTenant,
    Tenants,
    NewKey,
    Keys,
    NewApprover,
    Approvers,
    /// Nothing came back but that it is done.
    Done {
        what: &'static str,
        name: String,
        then: &'static str,
    },
}

/// The answer as text, without a line end.
pub(super) fn table(shown: &Shown, answer: &Value) -> String {
    match shown {
        Shown::NewTenant => format!(
            "Tenant {} is made. Its first key, with every scope, is shown this once:\n\n  {}\n\n\
             Nobody can be asked yet. With that key in COUNTERSIGN_KEY, add a human who may answer:\n\n  \
             countersign approver add --name … --email …",
            cell(answer, "id"),
            cell(answer, "api_key")
        ),
        Shown::NewKey => format!(
            "Key {} ({}) is made. It is shown this once:\n\n  {}\n",
            cell(answer, "id"),
            cell(answer, "name"),
            cell(answer, "key")
        ),
        Shown::NewApprover => format!("Approver {} ({}) is added.", cell(answer, "id"), cell(answer, "name")),
        Shown::Tenants => {
            rows(answer, "tenants", &["id", "name", "status", "created_at"], "There are no tenants.")
        }
        Shown::Keys => {
            let columns = ["id", "name", "scopes", "expires_at", "last_used_at"];
            rows(answer, "keys", &columns, "There are no keys.")
        }
        Shown::Approvers => {
            let columns = ["id", "name", "email", "groups", "channels"];
            let none = "There are no approvers: nobody can be asked. Add one with countersign approver add.";
            rows(answer, "approvers", &columns, none)
        }
        Shown::Done { what, name, then } => format!("The {what} {name} {then}."),
    }
}

/// The entries of a list under a line of column names.
fn rows(answer: &Value, list: &str, columns: &[&str], none: &str) -> String {
    let entries = answer[list].as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return none.to_owned();
    }
    let heads = columns.iter().map(|column| column.replace('_', " ")).collect();
    let body = entries.iter().map(|entry| columns.iter().map(|column| cell(entry, column)).collect());
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(body).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A member as text. What came over the wire may hold anything: controls would reach the terminal.
fn cell(entry: &Value, member: &str) -> String {
    let text = match &entry[member] {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_a_table_whose_columns_line_up() {
        let answer = json!({"keys": [
            {"id": "key_1", "name": "mail agent", "scopes": ["ask"], "expires_at": null},
            {"id": "key_22", "name": "x", "scopes": ["read", "decide"], "last_used_at": "2026-12-01T00:00:00.000Z"}
        ]});
        let want = "id      name        scopes        expires at  last used at\n\
                    key_1   mail agent  ask           -           -\n\
                    key_22  x           read, decide  -           2026-12-01T00:00:00.000Z";
        assert_eq!(table(&Shown::Keys, &answer), want);
        assert_eq!(table(&Shown::Tenants, &json!({"tenants": []})), "There are no tenants.");
    }

    #[test]
    fn what_comes_back_cannot_drive_the_terminal() {
        let answer = json!({"id": "ap_1", "name": "\u{1b}[2Jx"});
        assert_eq!(table(&Shown::NewApprover, &answer), "Approver ap_1 (\u{fffd}[2Jx) is added.");
    }
}
