//! What an accept is to be good for.

use countersign_core::ask::Binding;
use countersign_core::binding::{args_sha256, resource_key_ordered, resource_key_set};
use countersign_core::json::Sha256;
use countersign_core::schema::FIELD_NAME_CHARS;
use serde_json::Value;

use crate::fields::{Fields, TextRule};
use crate::limits::{NAME_CHARS, TARGET_CHARS, TARGETS};
use crate::rejected::INVALID_BINDING;

const GOOD_HASH: &str = "a SHA-256 as 64 hexadecimal digits";
const RESOURCE_KEY_PREFIX: &str = "rk_";

/// Reads a binding. `server`, `tool` and `preview` are those of the question: the hashes speak of them.
///
/// A `preview_sha256` beside a preview must be the SHA-256 of its UTF-8 bytes, or a person would approve another text
/// than the one that is claimed. Whether the gate names a boolean field is judged with the schema.
pub(super) fn read(
    fields: &Fields<'_>,
    server: Option<&str>,
    tool: Option<&str>,
    preview: Option<&str>,
) -> Binding {
    let args = args(fields);
    let binding = Binding {
        resource_key: resource_key(fields),
        args_sha256: args_hash(fields, args.as_ref(), server, tool),
        args,
        preview_sha256: preview_hash(fields, preview),
        gate: fields.text("gate", TextRule::any(FIELD_NAME_CHARS)),
    };
    fields.finish();
    // Only a bound question may promise "exactly this", so a binding must bind something.
    if fields.is_empty() {
        let message = "binds nothing; give resource_key, resource, args, args_sha256, preview_sha256 or gate";
        fields.refuse_itself_as(INVALID_BINDING, message);
    }
    binding
}

/// Here `null` is not absent: who sends it may believe that the call without arguments is bound.
fn args(fields: &Fields<'_>) -> Option<Value> {
    let args = fields.raw("args");
    if args.is_none() && fields.has("args") {
        fields.refuse("args", "must not be null; send {} for no arguments, or leave it out");
    }
    args.cloned()
}

fn args_hash(
    fields: &Fields<'_>,
    args: Option<&Value>,
    server: Option<&str>,
    tool: Option<&str>,
) -> Option<Sha256> {
    let given = hash(fields, "args_sha256");
    if args.is_some() && given.is_some() {
        fields.refuse_as(INVALID_BINDING, "args_sha256", "must not be given beside args, which we hash");
    }
    args.map(|args| args_sha256(server, tool, args)).or(given)
}

fn preview_hash(fields: &Fields<'_>, preview: Option<&str>) -> Option<Sha256> {
    let given = hash(fields, "preview_sha256")?;
    if preview.is_some_and(|preview| Sha256::of(preview.as_bytes()) != given) {
        let message = "must be the SHA-256 of the preview's UTF-8 bytes";
        fields.refuse_as(INVALID_BINDING, "preview_sha256", message);
    }
    Some(given)
}

fn hash(fields: &Fields<'_>, key: &'static str) -> Option<Sha256> {
    fields.read(key, GOOD_HASH, |value| value.as_str().and_then(Sha256::from_hex))
}

fn resource_key(fields: &Fields<'_>) -> Option<String> {
    let wanted = "rk_ and a SHA-256 as 64 hexadecimal digits";
    let given = fields.read("resource_key", wanted, |value| {
        value.as_str()?.strip_prefix(RESOURCE_KEY_PREFIX).and_then(Sha256::from_hex)
    });
    let given = given.map(|hash| format!("{RESOURCE_KEY_PREFIX}{hash}"));
    let Some(resource) = fields.object("resource") else { return given };
    if given.is_some() {
        fields.refuse_as(INVALID_BINDING, "resource_key", "must not be given beside resource, which we hash");
    }
    let is_ordered =
        resource.required_word("kind", &[false, true], |ordered| if ordered { "ordered" } else { "set" });
    let operation = resource.required_text("operation", TextRule::line(NAME_CHARS));
    let targets = resource.required_texts("targets", 1..=TARGETS, TextRule::any(TARGET_CHARS).or_blank());
    resource.finish();
    let key = if is_ordered? { resource_key_ordered } else { resource_key_set };
    Some(key(&operation, &targets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Faults;
    use crate::rejected::Rejected;
    use serde_json::json;

    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn binding(body: &Value, preview: Option<&str>) -> Result<Binding, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body.as_object().unwrap(), &faults);
        let binding = read(&fields, Some("mail"), Some("send"), preview);
        faults.refusal().map(|()| binding)
    }

    #[track_caller]
    fn refuses(body: &Value, code: &str, pointer: &str) {
        let refused = binding(body, Some("text")).expect_err("read what must be refused");
        assert_eq!((refused.code, refused.violations[0].pointer.as_str()), (code, pointer), "{body}");
    }

    #[test]
    fn arguments_are_hashed_with_server_and_tool_and_kept_to_be_shown() {
        let got = binding(&json!({"args": {"to": "x@y", "n": 1}}), None).unwrap();
        let want = "5d964c8bcbdd692f2bedd72532765893574a7dcf7a128a0df1d4c3416a8b6b32";
        assert_eq!(got.args_sha256.map(Sha256::hex).as_deref(), Some(want));
        assert_eq!(got.args, Some(json!({"to": "x@y", "n": 1})));
        let bare = binding(&json!({"args_sha256": HEX}), None).unwrap();
        assert_eq!((bare.args, bare.args_sha256), (None, Sha256::from_hex(HEX)));
    }

    #[test]
    fn a_resource_gives_the_key_and_a_key_is_kept_in_lower_case() {
        let set =
            json!({"resource": {"kind": "set", "operation": "delete", "targets": ["c", "a", "b", "a"]}});
        let want = "rk_131310538c1d3d89bf91761d26141b9f0c7732f91aad28abea242eb6c7e47a2b";
        assert_eq!(binding(&set, None).unwrap().resource_key.as_deref(), Some(want));
        let ordered = json!({"resource": {"kind": "ordered", "operation": "move", "targets": ["a", "b"]}});
        let want = "rk_f1dc276ed2788275b064771a82187500c97d9522ca712e41ffa3ad74189869bf";
        assert_eq!(binding(&ordered, None).unwrap().resource_key.as_deref(), Some(want));
        let given = json!({"resource_key": format!("rk_{}", HEX.to_uppercase())});
        assert_eq!(binding(&given, None).unwrap().resource_key, Some(format!("rk_{HEX}")));
    }

    #[test]
    fn a_preview_hash_is_that_of_the_preview_where_there_is_one() {
        let good = Sha256::of(b"text").hex();
        assert!(binding(&json!({"preview_sha256": good}), Some("text")).is_ok());
        assert!(binding(&json!({"preview_sha256": HEX}), None).is_ok());
        refuses(&json!({"preview_sha256": HEX}), "invalid_binding", "/preview_sha256");
    }

    #[test]
    fn a_contradiction_or_an_empty_binding_is_refused() {
        let resource = json!({"kind": "set", "operation": "delete", "targets": ["a"]});
        let both = json!({"resource_key": format!("rk_{HEX}"), "resource": resource});
        refuses(&both, "invalid_binding", "/resource_key");
        refuses(&json!({"args": {}, "args_sha256": HEX}), "invalid_binding", "/args_sha256");
        refuses(&json!({}), "invalid_binding", "");
    }

    #[test]
    fn a_wrong_shape_is_pointed_at() {
        for (body, pointer) in [
            (json!({"resource_key": HEX}), "/resource_key"),
            (json!({"resource_key": "rk_12"}), "/resource_key"),
            (json!({"args_sha256": "12"}), "/args_sha256"),
            (json!({"args": null}), "/args"),
            (json!({"resource": {"operation": "a", "targets": ["b"]}}), "/resource/kind"),
            (json!({"resource": {"kind": "bag", "operation": "a", "targets": ["b"]}}), "/resource/kind"),
            (json!({"resource": {"kind": "set", "targets": ["b"]}}), "/resource/operation"),
            (json!({"resource": {"kind": "set", "operation": "a"}}), "/resource/targets"),
            (json!({"resource": {"kind": "set", "operation": "a", "targets": []}}), "/resource/targets"),
            (json!({"resource": {"kind": "set", "operation": "a", "targets": [1]}}), "/resource/targets/0"),
            (json!({"resource": {"kind": "set", "operation": "a", "targets": ["b"], "x": 1}}), "/resource/x"),
            (json!({"gate": 1}), "/gate"),
            (json!({"gate": "ok", "surprise": 1}), "/surprise"),
        ] {
            refuses(&body, "invalid_request", pointer);
        }
    }
}
