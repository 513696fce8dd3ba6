//! The deployment that `template.yaml` describes is the one that the tests run: its routes, its table, its variables.
//!
//! Read from the translation, which `.ci/translate` holds against the template, so that no Python is needed here.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::KeySchemaElement;
use countersign_embedded::engine::{Engine, TABLE};
use countersign_http::routes::{ROUTES, Route};
use countersign_runtime::VARIABLES;
use serde_json::{Map, Value, json};

/// Variables that no deployed function is told: each keeps its default, or belongs to another kind of deployment.
const LEFT_OUT: [&str; 1] = ["COUNTERSIGN_DYNAMODB_ENDPOINT"];

/// Routes that are there to be refused: PROTOCOL.md wants 405, and a gateway that knows no route says 404.
const REFUSED: [(&str, &str); 2] = [
    ("GET /t/{token}/api/v1/elicitations", "CreateFunction"),
    ("GET /api/v1/elicitations", "CreateFunction"),
];

fn template() -> Value {
    serde_json::from_str(include_str!("../../../infra/template.generated.json"))
        .expect("the template is JSON")
}

fn of_type<'a>(template: &'a Value, kind: &str) -> Vec<(&'a str, &'a Map<String, Value>)> {
    let resources = template["Resources"].as_object().expect("resources").iter();
    let properties = |(name, one): (&'a String, &'a Value)| {
        (one["Type"] == kind).then(|| (name.as_str(), one["Properties"].as_object().expect("properties")))
    };
    resources.filter_map(properties).collect()
}

/// `POST /v1/sessions` to `ManageFunction`, through its integration.
fn deployed_routes(template: &Value) -> BTreeSet<(String, String)> {
    let integration = |target: &str| {
        let name = target.strip_prefix("integrations/${").and_then(|rest| rest.strip_suffix('}'));
        let uri = &template["Resources"][name.expect("an integration")]["Properties"]["IntegrationUri"];
        uri["Fn::GetAtt"][0].as_str().expect("a function").to_owned()
    };
    let route = |(_, route): (&str, &Map<String, Value>)| {
        let target = route["Target"]["Fn::Sub"].as_str().expect("a target");
        (route["RouteKey"].as_str().expect("a route key").to_owned(), integration(target))
    };
    of_type(template, "AWS::ApiGatewayV2::Route").into_iter().map(route).collect()
}

#[test]
fn the_deployed_routes_are_those_of_the_router() {
    let served = ROUTES.iter().map(|one| (format!("{} {}", one.method, one.path), function_name(one)));
    let served =
        served.chain(REFUSED.iter().map(|(key, function)| ((*key).to_owned(), (*function).to_owned())));
    let served = served.collect::<BTreeSet<_>>();
    let deployed = deployed_routes(&template());
    let none = BTreeSet::new();
    assert_eq!(served.difference(&deployed).cloned().collect::<BTreeSet<_>>(), none, "not deployed");
    assert_eq!(deployed.difference(&served).cloned().collect::<BTreeSet<_>>(), none, "not served");
    assert_eq!(served.len(), ROUTES.len() + REFUSED.len());
}

fn function_name(route: &Route) -> String {
    format!("{:?}Function", route.function)
}

#[test]
fn a_refused_route_is_of_the_function_that_knows_its_path() {
    for (key, function) in REFUSED {
        let path = key.split_once(' ').unwrap().1;
        let known = ROUTES.iter().any(|one| one.path == path && function_name(one) == function);
        assert!(known, "{function} does not know {path}");
    }
}

/// Keys of the table under an empty name, and of each index under its own, with what it projects.
type Shape = BTreeMap<String, (Value, Option<String>)>;

fn deployed_table(template: &Value) -> Map<String, Value> {
    let tables = of_type(template, "AWS::DynamoDB::Table");
    assert_eq!(tables.len(), 1, "one table");
    tables[0].1.clone()
}

fn deployed_shape(table: &Map<String, Value>) -> Shape {
    let keys = |schema: &Value| {
        let pair = |one: &Value| json!([one["AttributeName"], one["KeyType"]]);
        Value::Array(schema.as_array().expect("keys").iter().map(pair).collect())
    };
    let index = |one: &Value| {
        let name = one["IndexName"].as_str().expect("a name").to_owned();
        let projection = one["Projection"]["ProjectionType"].as_str().map(str::to_owned);
        (name, (keys(&one["KeySchema"]), projection))
    };
    let indexes = table["GlobalSecondaryIndexes"].as_array().expect("indexes").iter().map(index);
    indexes.chain([(String::new(), (keys(&table["KeySchema"]), None))]).collect()
}

fn keys_of(schema: &[KeySchemaElement]) -> Value {
    schema.iter().map(|one| json!([one.attribute_name(), one.key_type().as_str()])).collect()
}

#[tokio::test]
async fn the_deployed_table_is_the_one_that_the_tests_use() {
    let engine = Engine::memory().await.unwrap();
    let client = engine.client();
    let made = client.describe_table().table_name(TABLE).send().await.unwrap().table.unwrap();
    let index = |one: &aws_sdk_dynamodb::types::GlobalSecondaryIndexDescription| {
        let projection = one.projection().and_then(|one| one.projection_type());
        let projection = projection.map(|kind| kind.as_str().to_owned());
        (one.index_name().unwrap().to_owned(), (keys_of(one.key_schema()), projection))
    };
    let indexes = made.global_secondary_indexes().iter().map(index);
    let shape: Shape = indexes.chain([(String::new(), (keys_of(made.key_schema()), None))]).collect();
    let deployed = deployed_table(&template());
    assert_eq!(deployed_shape(&deployed), shape);
    assert!(!deployed.contains_key("LocalSecondaryIndexes"));

    let types = made.attribute_definitions().iter();
    let types: BTreeSet<_> = types.map(|one| (one.attribute_name(), one.attribute_type().as_str())).collect();
    let declared = deployed["AttributeDefinitions"].as_array().unwrap().iter();
    let declared: BTreeSet<_> = declared
        .map(|one| (one["AttributeName"].as_str().unwrap(), one["AttributeType"].as_str().unwrap()))
        .collect();
    assert_eq!(declared, types);

    let ttl = client.describe_time_to_live().table_name(TABLE).send().await.unwrap();
    let ttl = ttl.time_to_live_description.unwrap().attribute_name.unwrap();
    assert_eq!(deployed["TimeToLiveSpecification"], json!({ "AttributeName": ttl, "Enabled": true }));
}

#[test]
fn functions_are_told_variables_that_are_read_and_together_all_of_them() {
    let template = template();
    let mut told = BTreeSet::new();
    for (_, function) in of_type(&template, "AWS::Lambda::Function") {
        told.extend(function["Environment"]["Variables"].as_object().unwrap().keys().map(String::as_str));
    }
    let known = VARIABLES.iter().map(|one| one.name).filter(|name| !LEFT_OUT.contains(name)).collect();
    assert_eq!(told, known);
}
