//! `docs/openapi.json` is held against the code: its routes, its schemas, its examples and its error codes, so that it
//! cannot drift from what is served.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use countersign_http::routes::ROUTES;
use serde_json::{Map, Value, json};

/// Routes that the document leaves out: a trailing slash is told in the text of the route without it.
const LEFT_OUT: [&str; 2] = ["/t/{token}/api/v1/elicitations/{id}/", "/api/v1/elicitations/{id}/"];
/// Which schema a golden file belongs to, by what its name starts with; the first that fits counts.
const GOLDEN: [(&str, &str); 15] = [
    ("approvers", "ApproverPage"),
    ("approver", "Approver"),
    ("event_", "Event"),
    ("fallback_created", "FallbackCreated"),
    ("fallback_error", "FallbackError"),
    ("fallback_", "FallbackPolled"),
    ("page", "ElicitationPage"),
    ("policy", "Policy"),
    ("problem", "Problem"),
    ("session_created", "SessionCreated"),
    ("session_repeated", "SessionRepeated"),
    ("session_view", "Session"),
    ("tried", "EndpointTried"),
    ("view_created", "ElicitationCreated"),
    ("view_", "Elicitation"),
];
/// Every file that gives an error its code.
const ERROR_TABLES: [&str; 9] = [
    "http/src/body.rs",
    "http/src/error.rs",
    "http/src/error/deciding.rs",
    "http/src/error/issuers.rs",
    "http/src/error/managing.rs",
    "http/src/error/seen.rs",
    "http/src/error/people.rs",
    "http/src/error/signed.rs",
    "wire/src/rejected.rs",
];

fn document() -> Value {
    serde_json::from_str(include_str!("../../../docs/openapi.json")).expect("the document is JSON")
}

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path)
}

fn source(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The golden files by name, without `hints`, which is a table of texts and no body.
fn golden() -> BTreeMap<String, Value> {
    let files =
        fs::read_dir(shared("wire/golden")).expect("the golden files").map(|file| file.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&source(&path)).expect("a golden file is JSON"))
    };
    files.map(read).filter(|(name, _)| name != "hints").collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Calls `visit` with every object of the document and where it stands.
fn walk<'a>(value: &'a Value, at: &str, visit: &mut impl FnMut(&str, &'a Map<String, Value>)) {
    let member = |key: &str| format!("{at}/{key}");
    match value {
        Value::Object(map) => {
            visit(at, map);
            map.iter().for_each(|(key, value)| walk(value, &member(key), visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, &member("-"), visit)),
        _ => {}
    }
}

/// JSON Schema as far as the document needs it. An object whose fields are listed has no others unless
/// `additionalProperties` says so: answers are open for their readers, and closed for us.
struct Checker<'a>(&'a Value);

impl<'a> Checker<'a> {
    fn resolve(&self, value: &'a Value) -> &'a Value {
        let Some(target) = value.get("$ref").and_then(Value::as_str) else { return value };
        self.resolve(
            self.0.pointer(&target[1..]).unwrap_or_else(|| panic!("{target} is not in the document")),
        )
    }

    fn schema(&self, name: &str) -> &'a Value {
        &self.0["components"]["schemas"][name]
    }

    /// What of `value` does not fit `schema`.
    fn faults(&self, schema: &'a Value, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        let mut fields = Vec::new();
        self.collect(schema, &mut fields);
        self.check_unknown(&fields, value, "", &mut found);
        found
    }

    /// The parts that say something of an object's fields: the schema itself, and those of `allOf`.
    fn collect(&self, schema: &'a Value, parts: &mut Vec<&'a Value>) {
        let schema = self.resolve(schema);
        parts.push(schema);
        schema["allOf"].as_array().into_iter().flatten().for_each(|part| self.collect(part, parts));
    }

    fn check(&self, schema: &'a Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let schema = self.resolve(schema);
        let mut demand = |holds: bool, what: &str| {
            if !holds {
                found.push(format!("{at}: {what}"));
            }
        };
        demand(is_type(&schema["type"], value), "the type");
        demand(schema.get("const").is_none_or(|only| only == value), "const");
        demand(schema["enum"].as_array().is_none_or(|options| options.contains(value)), "enum");
        let fits = |option: &&'a Value| self.faults(option, value).is_empty();
        let fitting = |key: &str| schema[key].as_array().map(|options| options.iter().filter(fits).count());
        demand(fitting("oneOf").is_none_or(|count| count == 1), "oneOf");
        demand(fitting("anyOf").is_none_or(|count| count > 0), "anyOf");
        if let Value::Object(map) = value {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required.for_each(|name| demand(map.contains_key(name), &format!("{name} is missing")));
        }
        schema["allOf"].as_array().into_iter().flatten().for_each(|part| self.check(part, value, at, found));
        self.check_members(schema, value, at, found);
    }

    fn check_members(&self, schema: &'a Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let mut member = |schema: Option<&'a Value>, value: &Value, key: &str| {
            let faults = schema.map(|schema| self.faults(schema, value)).unwrap_or_default();
            found.extend(faults.into_iter().map(|fault| format!("{at}/{key}{fault}")));
        };
        match value {
            Value::Array(items) => items.iter().for_each(|item| member(schema.get("items"), item, "-")),
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| member(schema["properties"].get(key), value, key));
            }
            _ => {}
        }
    }

    fn check_unknown(&self, parts: &[&'a Value], value: &Value, at: &str, found: &mut Vec<String>) {
        let Value::Object(map) = value else { return };
        let lists = |part: &&Value| part.get("properties").is_some() || part["additionalProperties"] == false;
        let is_listed = parts.iter().any(lists);
        let others = parts.iter().find_map(|part| part.get("additionalProperties")).unwrap_or(&Value::Null);
        for (key, value) in map.iter().filter(|(key, _)| parts.iter().all(|part| !knows(part, key))) {
            match others {
                Value::Object(_) => {
                    let faults = self.faults(others, value).into_iter();
                    found.extend(faults.map(|fault| format!("{at}/{key}{fault}")));
                }
                _ if is_listed && *others != true => found.push(format!("{at}: {key} is not listed")),
                _ => {}
            }
        }
    }
}

fn knows(schema: &Value, key: &str) -> bool {
    schema["properties"].get(key).is_some()
}

fn is_type(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::Array(options) => options.iter().any(|option| is_type(option, value)),
        Value::String(name) => match name.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => panic!("{name} is no type"),
        },
        _ => true,
    }
}

#[test]
fn the_check_refuses_what_does_not_fit() {
    let document = json!({"leaf": {"type": "string", "enum": ["a"]}});
    let schema = json!({
        "required": ["a"], "properties": {
            "a": {"$ref": "#/leaf"},
            "b": {"type": "array", "items": {"type": ["integer", "null"]}},
            "c": {"oneOf": [{"const": 1}, {"type": "integer"}]},
            "d": {"allOf": [{"properties": {"x": {}}}, {"properties": {"y": {"type": "boolean"}}}]},
            "e": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "f": {"additionalProperties": {"type": "number"}},
        }
    });
    let (document, schema) = (&document, &schema);
    let faults = |value: Value| Checker(document).faults(schema, &value);
    let good =
        json!({"a": "a", "b": [1, null], "c": 2, "d": {"x": 1, "y": true}, "e": null, "f": {"q": 0.5}});
    assert_eq!(faults(good.clone()), Vec::<String>::new());
    for (key, bad, want) in [
        ("a", json!("b"), "/a: enum"),
        ("b", json!([1, "1"]), "/b/-: the type"),
        ("c", json!(1), "/c: oneOf"),
        ("d", json!({"y": 1}), "/d/y: the type"),
        ("d", json!({"z": 1}), "/d: z is not listed"),
        ("e", json!(1), "/e: anyOf"),
        ("f", json!({"q": "1"}), "/f/q: the type"),
        ("g", json!(1), ": g is not listed"),
    ] {
        let mut body = good.clone();
        body[key] = bad;
        assert_eq!(faults(body), [want]);
    }
    assert_eq!(faults(json!({})), [": a is missing"]);
}

#[test]
fn every_route_is_in_the_document_and_nothing_else() {
    let document = document();
    let served = ROUTES.iter().filter(|route| !LEFT_OUT.contains(&route.path));
    let served: BTreeSet<_> = served.map(|route| format!("{} {}", route.method, route.path)).collect();
    let mut told = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        told.extend(keys(item).iter().map(|method| format!("{} {path}", method.to_uppercase())));
    }
    assert_eq!(told, served);
    for path in LEFT_OUT {
        let told = path.trim_end_matches('/');
        assert!(document["paths"][told]["get"].is_object(), "{path} is another spelling of nothing");
        assert!(ROUTES.iter().any(|route| route.path == path), "{path} is not served any more");
    }
}

#[test]
fn every_parameter_of_a_path_is_told_and_nothing_else() {
    let document = document();
    let checker = Checker(&document);
    for (path, item) in document["paths"].as_object().expect("paths") {
        let named = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for (method, operation) in item.as_object().expect("operations") {
            let told = operation["parameters"].as_array().into_iter().flatten();
            let told = told.map(|one| checker.resolve(one)).filter(|one| one["in"] == "path");
            let told: BTreeSet<_> = told.map(|one| one["name"].as_str().expect("a name")).collect();
            assert_eq!(told, named, "{method} {path}");
        }
    }
}

#[test]
fn every_golden_file_fits_its_schema() {
    let document = document();
    let checker = Checker(&document);
    for (name, body) in golden() {
        let schema = GOLDEN.iter().find(|(start, _)| name.starts_with(start));
        let (_, schema) = schema.unwrap_or_else(|| panic!("{name} belongs to no schema"));
        assert!(checker.schema(schema).is_object(), "{schema} is not in the document");
        let faults = checker.faults(checker.schema(schema), &body);
        assert!(faults.is_empty(), "{name} is no {schema}: {faults:#?}");
    }
}

#[test]
fn every_hint_and_its_status_and_cause_are_told() {
    let document = document();
    let checker = Checker(&document);
    let rows: Value = serde_json::from_str(&source(&shared("wire/golden/hints.json"))).expect("JSON");
    let rows = rows.as_array().expect("rows");
    for row in rows {
        assert_eq!(checker.faults(checker.schema("Status"), &row[0]), Vec::<String>::new(), "{row}");
        let is_cause = row[1].is_null() || checker.faults(checker.schema("Cause"), &row[1]).is_empty();
        assert!(is_cause, "{row}");
    }
    let hints: Vec<_> = rows.iter().map(|row| row[2].clone()).collect();
    assert_eq!(checker.schema("ModelHint")["examples"], Value::Array(hints));
}

#[test]
fn every_golden_file_is_an_example() {
    let document = document();
    for (name, body) in golden() {
        let example = &document["components"]["examples"][&name]["value"];
        assert_eq!(example, &body, "the example {name} is not what goes out");
    }
}

#[test]
fn every_example_fits_where_it_stands() {
    let document = document();
    let checker = Checker(&document);
    let mut shown = BTreeSet::new();
    walk(&document, "", &mut |at, map| {
        let Some(schema) = map.get("schema") else { return };
        let named = map.get("examples").and_then(Value::as_object).into_iter().flatten();
        let named = named.map(|(name, example)| (name.as_str(), &checker.resolve(example)["value"]));
        for (name, value) in named.chain(map.get("example").map(|value| ("", value))) {
            let faults = checker.faults(schema, value);
            assert!(faults.is_empty(), "{name} at {at}: {faults:#?}");
            shown.insert(name);
        }
    });
    shown.remove("");
    let kept = keys(&document["components"]["examples"]);
    assert_eq!(shown, kept, "an example is shown nowhere");
}

/// The codes that the code can answer: each text of the tables that is one `snake_case` word.
fn codes_of_the_code() -> BTreeSet<String> {
    let is_code =
        |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
    let read = |path: &str| {
        let text = source(&shared(path));
        let (table, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        table.split('"').filter(is_code).map(str::to_owned).collect::<Vec<_>>()
    };
    ERROR_TABLES.into_iter().flat_map(read).collect()
}

#[test]
fn every_error_code_is_told_and_no_other() {
    let document = document();
    let told = document["components"]["schemas"]["ErrorCode"].clone();
    let words = |value: &Value| -> BTreeSet<String> {
        let words = value.as_array().expect("a list").iter();
        words.map(|word| word.as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(words(&told["enum"]), codes_of_the_code());
    let mut answered = BTreeSet::new();
    walk(&document, "", &mut |_, map| {
        if let Some(codes) = map.get("code").and_then(|code| code.get("enum")) {
            answered.extend(words(codes));
        }
    });
    assert_eq!(answered, codes_of_the_code(), "a code is answered nowhere");
    let table = told["description"].as_str().expect("a table");
    for code in &answered {
        assert!(table.contains(&format!("| `{code}` |")), "{code} is not explained");
    }
}

#[test]
fn codes_are_given_in_the_tables_alone() {
    let tables = ERROR_TABLES.map(shared);
    let mut open = vec![shared("http/src"), shared("wire/src")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = source(&path);
        let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        let gives = ["ApiError::new(", "Problem::new(", " code: \""].iter().any(|call| code.contains(call));
        let is_golden = path.ends_with("golden.rs");
        assert!(
            !gives || is_golden || tables.contains(&path),
            "{} gives codes: add it to ERROR_TABLES",
            path.display()
        );
    }
}
