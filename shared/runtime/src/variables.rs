//! The environment variables that a process reads: one table, from which help and documentation are made.

use std::fmt::Write as _;

/// One environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The value that stands in where it is unset or blank; `None` where nothing does.
    pub default: Option<&'static str>,
    /// What it is for.
    pub meaning: &'static str,
}

pub(crate) const BASE_URL: &str = "COUNTERSIGN_BASE_URL";
pub(crate) const POLL_BASE_URL: &str = "COUNTERSIGN_POLL_BASE_URL";
pub(crate) const TABLE: &str = "COUNTERSIGN_TABLE";
pub(crate) const DYNAMODB_ENDPOINT: &str = "COUNTERSIGN_DYNAMODB_ENDPOINT";
pub(crate) const EXPIRATION_MINUTES: &str = "ELICITATION_EXPIRATION_MINUTES";
pub(crate) const RETENTION_DAYS: &str = "COUNTERSIGN_RETENTION_DAYS";
pub(crate) const SECRETS: &str = "COUNTERSIGN_SECRETS";
pub(crate) const KMS_KEY: &str = "COUNTERSIGN_KMS_KEY";
pub(crate) const SMTP_URL: &str = "COUNTERSIGN_SMTP_URL";
pub(crate) const MAIL_FROM: &str = "COUNTERSIGN_MAIL_FROM";
pub(crate) const LOG: &str = "COUNTERSIGN_LOG";

/// All of them.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: BASE_URL,
        default: None,
        meaning: "Where askers and people reach this server, http or https. Unset, the local binary uses the \
                  address that it listens on.",
    },
    Variable {
        name: POLL_BASE_URL,
        default: None,
        meaning: "Where tool servers poll. Unset, the same as COUNTERSIGN_BASE_URL.",
    },
    Variable {
        name: TABLE,
        default: Some("countersign"),
        meaning: "The DynamoDB table. The local binary has a database of its own and ignores it.",
    },
    Variable {
        name: DYNAMODB_ENDPOINT,
        default: None,
        meaning: "Another DynamoDB than that of AWS, as a URL. The local binary ignores it.",
    },
    Variable {
        name: EXPIRATION_MINUTES,
        default: Some("60"),
        meaning: "How long a question waits that names no deadline: 1 to 10080 minutes. Anything but a positive \
                  whole number is logged and ignored.",
    },
    Variable {
        name: RETENTION_DAYS,
        default: Some("30"),
        meaning: "How long a question is kept after its deadline: 1 to 3650 days.",
    },
    Variable {
        name: SECRETS,
        default: None,
        meaning: "Where a Lambda function finds its keys: secretsmanager:NAME-OR-ARN, or file:/PATH. The local binary \
                  keeps its keys in its data folder and ignores it.",
    },
    Variable {
        name: KMS_KEY,
        default: None,
        meaning: "The AWS KMS key that wraps the tenants' data keys: id, alias or ARN. Unset, a key derived from the seal \
                  keys does. The local binary ignores it.",
    },
    Variable {
        name: SMTP_URL,
        default: None,
        meaning: "The mail server: smtps://user:password@host, or smtp://host?tls=required. Unset, the local \
                  binary keeps mail in its outbox; set, nothing goes to the outbox.",
    },
    Variable {
        name: MAIL_FROM,
        default: Some("countersign@localhost"),
        meaning: "The address that mail comes from.",
    },
    Variable {
        name: LOG,
        default: Some("warn,countersign=info"),
        meaning: "What is logged, as a filter of levels and targets.",
    },
];

/// The table for the documentation, in Markdown.
pub fn markdown_table() -> String {
    let mut table = String::from("| Variable | Default | Meaning |\n|---|---|---|\n");
    for Variable { name, default, meaning } in VARIABLES {
        let default = default.map(|text| format!("`{text}`")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| `{name}` | {default} | {meaning} |");
    }
    table
}

/// The table for `--help`, wrapped to `width` characters.
pub fn help_list(width: usize) -> String {
    const INDENT: &str = "          ";
    let mut list = String::new();
    for Variable { name, default, meaning } in VARIABLES {
        let default = default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
        let _ = write!(list, "  {name}");
        let mut column = usize::MAX;
        for word in format!("{meaning}{default}").split_whitespace() {
            if column.saturating_add(1 + word.len()) > width {
                let _ = write!(list, "\n{INDENT}{word}");
                column = INDENT.len() + word.len();
            } else {
                let _ = write!(list, " {word}");
                column += 1 + word.len();
            }
        }
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_hold_every_variable() {
        for text in [markdown_table(), help_list(80)] {
            for variable in VARIABLES {
                assert!(text.contains(variable.name), "{} in {text}", variable.name);
            }
        }
    }

    #[test]
    fn a_markdown_row_is_one_line_of_three_cells() {
        for row in markdown_table().lines() {
            assert_eq!(row.matches('|').count(), 4, "{row}");
        }
    }

    #[test]
    fn help_keeps_to_the_width() {
        assert!(help_list(80).lines().all(|line| line.len() <= 80), "{}", help_list(80));
    }
}
