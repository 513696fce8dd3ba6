//! What an approval is bound to: the hash of the arguments, and the key of the resource acted on.
//!
//! Servers compute the same keys themselves, in other languages, so every byte that is hashed is fixed here:
//! the RFC 8785 form of an array whose first element keeps the kinds apart.

use serde_json::{Value, json};

use crate::json::Sha256;

/// The hash that stands for the call `tool(arguments)` on `server`; an absent name is hashed as `null`.
pub fn args_sha256(server: Option<&str>, tool: Option<&str>, arguments: &Value) -> Sha256 {
    Sha256::of_json(&json!(["args", server, tool, arguments]))
}

/// The key of `operation` on a set of targets, in which order and repetition mean nothing.
///
/// Targets are sorted by their UTF-16 code units, as RFC 8785 sorts keys and as JavaScript's `sort()` does.
pub fn resource_key_set(operation: &str, targets: &[String]) -> String {
    let mut sorted: Vec<&String> = targets.iter().collect();
    // Not the order of `str`: U+1F602 comes before U+FB33, since its first code unit is 0xD83D.
    sorted.sort_by(|left, right| left.encode_utf16().cmp(right.encode_utf16()));
    sorted.dedup();
    resource_key(&json!(["set", operation, sorted]))
}

/// The key of `operation` on parts whose place matters, as in a move from one to the other.
pub fn resource_key_ordered(operation: &str, parts: &[String]) -> String {
    resource_key(&json!(["ordered", operation, parts]))
}

fn resource_key(named: &Value) -> String {
    format!("rk_{}", Sha256::of_json(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn owned(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    // The digests below come from Python's hashlib over the canonical text written by hand; those of the sets
    // also from Node's `[...new Set(targets)].sort()`.

    #[test]
    fn a_set_hashes_to_the_fixed_keys() {
        let check = |operation, targets: &[&str], want: &str| {
            assert_eq!(resource_key_set(operation, &owned(targets)), want);
        };
        check(
            "delete",
            &["c", "a", "b", "a"],
            "rk_131310538c1d3d89bf91761d26141b9f0c7732f91aad28abea242eb6c7e47a2b",
        );
        check("delete", &[], "rk_0cbf71be8577adb84e11be40dd89611ec7e45ecf6f3c4528f1b3a293d3cc62f0");
        check(
            "rm",
            &["\u{fb33}", "\u{1f602}"],
            "rk_b1f35e8b7e804ce8fb8c0b19ba12f0cdc90928ba75935bdf4a71a4780bde04a4",
        );
    }

    #[test]
    fn ordered_parts_hash_to_the_fixed_keys() {
        let check = |operation, parts: &[&str], want: &str| {
            assert_eq!(resource_key_ordered(operation, &owned(parts)), want);
        };
        check("move", &["a", "b"], "rk_f1dc276ed2788275b064771a82187500c97d9522ca712e41ffa3ad74189869bf");
        check("move", &["b", "a"], "rk_035f4a06a4cbf5ccf26e5a7c80b7fd3230bd6917922dd33b510e1f5b9c58001f");
        check("a\"b", &["\n€", ""], "rk_8c85c10b32803d4268afcea57fe1865a884df05ab6d27a8ce0716fc49409378d");
    }

    #[test]
    fn arguments_hash_to_the_fixed_digests() {
        let check = |server, tool, arguments: Value, want: &str| {
            assert_eq!(args_sha256(server, tool, &arguments).hex(), want);
        };
        check(
            Some("mail"),
            Some("send"),
            json!({"to": "x@y", "n": 1.0}),
            "5d964c8bcbdd692f2bedd72532765893574a7dcf7a128a0df1d4c3416a8b6b32",
        );
        check(None, None, json!({}), "dbb1554f1a0d1cdf6e9c1d400759b3d54e283c3b21648467f4f9845a3a5d8bd4");
        check(
            None,
            Some("send"),
            Value::Null,
            "e9da3ca23077e6040a25542a252b511172df198871ce6e6c013a1f6516d9d824",
        );
    }

    fn parts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(".{0,4}", 0..6)
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_change_a_set(
            targets in parts(),
            again: prop::sample::Index,
            turn in 0_usize..6,
        ) {
            let mut other = targets.clone();
            if let Some(turn) = turn.checked_rem(targets.len()) {
                other.push(again.get(&targets).clone());
                other.rotate_left(turn);
            }
            prop_assert_eq!(resource_key_set("op", &targets), resource_key_set("op", &other));
        }

        #[test]
        fn order_changes_an_ordered_key(left: String, right: String) {
            let same = left == right;
            let key = resource_key_ordered("op", &[left.clone(), right.clone()]);
            prop_assert_eq!(key == resource_key_ordered("op", &[right, left]), same);
        }

        #[test]
        fn text_that_moves_to_the_next_place_changes_the_key(operation: String, first in ".{1,8}", second: String) {
            let key = resource_key_ordered(&operation, &[first.clone(), second.clone()]);
            let to_operation = format!("{operation}{first}");
            prop_assert_ne!(&key, &resource_key_ordered(&to_operation, std::slice::from_ref(&second)));
            let to_one = [format!("{first}{second}")];
            prop_assert_ne!(&key, &resource_key_ordered(&operation, &to_one));
            let longer = [first.clone(), second.clone(), String::new()];
            prop_assert_ne!(&key, &resource_key_ordered(&operation, &longer));
            prop_assert_ne!(key, resource_key_set(&operation, &[first, second]));
        }

        #[test]
        fn a_name_in_the_other_place_changes_the_arguments_hash(name: String) {
            let arguments = json!({});
            let as_server = args_sha256(Some(&name), None, &arguments);
            prop_assert_ne!(as_server, args_sha256(None, Some(&name), &arguments));
            prop_assert_ne!(as_server, args_sha256(None, None, &arguments));
        }
    }
}
