"""The evaluator reads requests as DynamoDB does; and what each function really sends is allowed.

The requests below are those of shared/store, shortened. The second engine puts every real request of the acceptance run
before the same evaluator (infra/engine/loopback.py).
"""
import policy
import pytest
from policy import ALLOWED, DENIED, NOT_ALLOWED, asked, attributes_of, judge, refusals, statements

T = "Table"
STATE = {"PK": {"S": "T#demo#E#el_1"}, "SK": {"S": "STATE"}}
SESSION = {"PK": {"S": "T#demo#S#se_1"}, "SK": {"S": "SESSION"}}


def item(pk, *names):
    return {"PK": {"S": pk}, "SK": {"S": "X"}, **{name: {"S": "x"} for name in names}}


def update(key, expression, condition="attribute_exists(#PK)"):
    aliases = {f"#{name}": name for name in policy.re.findall(r"#(\w+)", f"{expression} {condition}")}
    return {
        "TableName": T, "Key": key, "UpdateExpression": expression, "ConditionExpression": condition,
        "ExpressionAttributeNames": aliases, "ExpressionAttributeValues": {},
    }


def put(pk, *names):
    return {"TableName": T, "Item": item(pk, *names), "ConditionExpression": "attribute_not_exists(PK)"}


def transact(*writes):
    def kind(one):
        return "Put" if "Item" in one else "Update" if "UpdateExpression" in one else "ConditionCheck"

    return {"TransactItems": [one if len(one) == 1 else {kind(one): one} for one in writes]}


def check(key, condition):
    one = update(key, "", condition)
    del one["UpdateExpression"]
    return one


def delete(key, condition="attribute_exists(#PK)"):
    return {"Delete": check(key, condition)}


def query(pk, index=None):
    name = "PK" if index is None else f"{index}_pk"
    return {
        "TableName": T, **({"IndexName": index} if index else {}), "KeyConditionExpression": f"#{name} = :pk",
        "ExpressionAttributeNames": {f"#{name}": name}, "ExpressionAttributeValues": {":pk": {"S": pk}},
    }


READ = [
    ("GetItem", {"TableName": T, "Key": STATE}),
    ("BatchGetItem", {"RequestItems": {T: {"Keys": [STATE, SESSION]}}}),
]
OVER = "REMOVE #due_pk, #due_sk, #list_pk, #list_sk, #hold_until"
WITHDRAW = transact(
    update(STATE, f"SET #status = :s, #ended_at = :at {OVER}", "#status = :pending AND attribute_not_exists(#collected_at) AND #expires_at > :now"),
    update(SESSION, "REMOVE #open.#el_1 ADD #revision :one"),
    put("T#demo#A#2026-01-01#3", "what", "elicitation", "reference", "principal", "at"),
)
DECIDE = transact(
    update(STATE, f"SET #status = :s, #verdict = :v, #decided_by = :by, #decided_at = :at, #content = :c, #reason = :r {OVER}",
           "#status = :pending AND attribute_not_exists(#collected_at) AND #decide_by > :now"),
    update(SESSION, "REMOVE #open.#el_1, #lost ADD #revision :one"),
    put("T#demo#A#2026-01-01#3", "what", "elicitation", "reference", "principal", "at", "method", "content_sha256"),
)
CODE = {"PK": {"S": "T#demo#CODE#cd_1"}, "SK": {"S": "CODE"}}
RATE = {"PK": {"S": "T#demo#RATE#abc"}, "SK": {"S": "RATE"}}
WRONG = {"PK": {"S": "T#demo#E#el_1"}, "SK": {"S": "W#ap_1"}}
HUMAN = {"PK": {"S": "T#demo#H#ap_1"}, "SK": {"S": "S#hs_1"}}
APPROVER = {"PK": {"S": "T#demo#APPROVERS"}, "SK": {"S": "ap_1"}}
EXTERNAL = {"PK": {"S": "T#demo#XID#sub#abc"}, "SK": {"S": "XID"}}
TENANT = {"PK": {"S": "T#demo#TENANT"}, "SK": {"S": "TENANT"}}
DECLINE = transact(
    update(STATE, f"SET #status = :s, #verdict = :v, #decided_by = :by, #decided_at = :at {OVER}", "#status = :pending AND #decide_by > :now"),
    update(SESSION, "SET #declined.#a = if_not_exists(#declined.#a, :none) + :one, #declined_at.#a = :at, #last_declined_at = :at "
                    "REMOVE #open.#el_1, #lost ADD #revision :one, #declines :one, #answers :one"),
    put("T#demo#A#2026-01-01#3", "what", "elicitation", "reference", "principal", "at", "method", "policy_version"),
    check(APPROVER, "attribute_exists(#PK) AND (contains(#groups, :g1) OR contains(#groups, :g2))"),
)
CREATE = transact(
    put("T#demo#E#el_1", "id", "status", "reference", "expires_at", "decide_by", "due_pk", "due_sk", "list_pk", "list_sk", "ttl"),
    put("T#demo#REF#K7Q-4MD", "elicitation", "ttl"),
    put("T#demo#E#el_1", "body", "list_pk", "list_sk", "ttl"),
    update(SESSION, "SET #open.#el_1 = :d, #tokens.#at_1.#last_used_at = :now REMOVE #lost ADD #revision :one",
           "attribute_exists(#PK) AND attribute_not_exists(#archived_at) AND size(#open) < :room AND attribute_exists(#tokens.#at_1)"),
    put("T#demo#RID#abc", "elicitation", "ttl"),
)
SENT = {
    "create": [*READ, ("Query", query("T#demo#OPEN#3", "list")), ("Query", query("T#demo#MINE#ap_1", "mine")), ("TransactWriteItems", CREATE), ("TransactWriteItems", WITHDRAW),
               ("TransactWriteItems", transact(put("T#demo#S#se_1", "id", "name", "owner", "open", "tokens", "revision")))],
    "poll": [*READ, ("Query", query("T#demo#RID#abc")), ("Query", query("T#demo#OPEN#3", "list")),
             ("UpdateItem", update(STATE, "SET #last_polled_at = :now", "#status = :pending AND #expires_at > :now")),
             ("UpdateItem", update(STATE, "SET #collected_at = :now", "attribute_exists(#PK) AND attribute_not_exists(#collected_at)")),
             ("UpdateItem", update(STATE, "SET #hold_until = :u, #last_polled_at = :now",
                                   "#status = :pending AND (attribute_not_exists(#hold_until) OR #hold_until <= :now)"))],
    "respond": [*READ, ("Query", query("T#demo#RID#abc")), ("TransactWriteItems", DECIDE), ("TransactWriteItems", DECLINE),
                ("TransactWriteItems", WITHDRAW), ("Query", query("T#demo#XID#slack#abc"))],
    "manage": [*READ, ("Query", query("TENANTS")), ("Query", query("T#demo#APPROVERS")), ("TransactWriteItems", WITHDRAW),
               ("TransactWriteItems", transact(put("T#demo#TENANT", "id", "name"), put("T#demo#K#k_1", "id", "hash"), put("TENANTS"), put("T#demo#POLICY", "policy"))),
               ("TransactWriteItems", transact(put("T#demo#S#se_1", "id"), put("T#demo#I#abc", "request_sha256", "object", "ttl"))),
               ("TransactWriteItems", transact(put("T#demo#APPROVERS", "id", "email"), update(TENANT, "SET #routes.#ap_1 = :c"),
                                               put("T#demo#XID#sub#abc", "approver"), delete(EXTERNAL))),
               ("TransactWriteItems", transact(delete(APPROVER, "#revision = :seen"), update(TENANT, "REMOVE #routes.#ap_1"), delete(EXTERNAL))),
               ("TransactWriteItems", transact(update(TENANT, "SET #policy = :p, #policy_version = :n, #policy_updated_at = :now"),
                                               put("T#demo#POLICY", "policy", "policy_version", "policy_updated_at"))),
               ("UpdateItem", update(SESSION, "SET #declines = :none, #declined = :c, #declined_at = :t REMOVE #last_declined_at ADD #revision :one")),
               ("UpdateItem", update(SESSION, "SET #archived_at = if_not_exists(#archived_at, :now) REMOVE #lost ADD #revision :one"))],
    "pages": [*READ, ("GetItem", {"TableName": T, "Key": {"PK": {"S": "READY"}, "SK": {"S": "READY"}}}),
              ("Query", query("T#demo#MINE#ap_1", "mine")), ("Query", query("T#demo#H#ap_1")), ("Query", query("T#demo#XID#mail#abc")),
              ("Query", query("T#demo#ISSUERS")), ("TransactWriteItems", DECIDE), ("TransactWriteItems", DECLINE),
              ("PutItem", put("T#demo#CODE#cd_1", "approver", "key_id", "expires_at", "tries", "sends", "due_pk", "due_sk", "ttl")),
              ("UpdateItem", update(CODE, "ADD #tries :one")), ("UpdateItem", update(RATE, "SET #ttl = :ttl ADD #count :one")),
              ("UpdateItem", update(WRONG, "SET #ttl = :ttl ADD #count :one")),
              ("UpdateItem", update(HUMAN, "SET #seen_at = :now")), ("DeleteItem", check(HUMAN, "attribute_exists(#PK)")),
              ("UpdateItem", update(SESSION, "SET #reported_until = :until ADD #revision :one, #answers :one")),
              ("TransactWriteItems", transact(update(CODE, "SET #is_spent = :yes REMOVE #due_pk, #due_sk"), delete(HUMAN),
                                              put("T#demo#H#ap_1", "approver", "created_at", "seen_at", "expires_at", "ttl"))),
              ("TransactWriteItems", transact(put("T#demo#N#abc", "ttl"), put("T#demo#H#ap_1", "approver", "expires_at", "ttl")))],
    "sweep": [*READ, ("Query", query("DUE#3", "due")), ("Query", query("T#demo#E#el_1")),
              ("TransactWriteItems", transact(update(STATE, "SET #planned_at = :now, #due_sk = :armed, #no_target = :yes"),
                                              put("T#demo#E#el_1", "elicitation", "status", "attempts", "at", "due_pk", "due_sk", "ttl"))),
              ("PutItem", put("T#demo#E#el_1", "mine_pk", "mine_sk", "ttl")), ("UpdateItem", update(CODE, "SET #due_sk = :place, #sends = :next")),
              ("TransactWriteItems", transact(update(STATE, f"SET #status = :s, #cause = :c {OVER}"),
                                              update(SESSION, "SET #lost = :lost REMOVE #open.#el_1 ADD #revision :one", "#revision = :revision")))],
}


@pytest.mark.parametrize("function", SENT)
def test_what_a_function_sends_is_allowed(template, function):
    of_role = statements(template, function)
    assert [one for operation, body in SENT[function] for one in refusals(of_role, operation, body)] == []


@pytest.mark.parametrize("function", [one for one in SENT if one not in ("respond", "pages")])
def test_a_decision_is_denied_to_all_but_respond_and_pages(template, function):
    verdicts = [verdict for verdict, *_ in refusals(statements(template, function), "TransactWriteItems", DECIDE)]
    assert DENIED in verdicts


def test_a_function_cannot_send_what_another_sends(template):
    refused = {
        (mine, theirs)
        for mine in SENT
        for theirs in SENT
        if any(refusals(statements(template, mine), operation, body) for operation, body in SENT[theirs])
    }
    # Pages decide as respond does, and withdraw nothing more than it.
    same = {("pages", "respond")}
    assert refused | same >= {(mine, theirs) for mine in SENT for theirs in SENT if mine != theirs}
    assert not {(mine, mine) for mine in SENT} & refused


@pytest.mark.parametrize(
    "hidden",
    [
        ("PutItem", {"TableName": T, "Item": item("T#demo#E#el_1", "verdict")}),
        ("UpdateItem", update(STATE, "SET #verdict = :v")),
        ("UpdateItem", {**update(STATE, "SET #x = :v"), "ExpressionAttributeNames": {"#x": "verdict", "#PK": "PK"}}),
        ("UpdateItem", {**update(STATE, "SET verdict = :v")}),
        ("UpdateItem", update(STATE, "SET #decided_by.#name = :v")),
        ("UpdateItem", update(STATE, "REMOVE #verdict")),
        ("UpdateItem", update(STATE, "SET #status = :s", "attribute_not_exists(#content)")),
        ("UpdateItem", {"TableName": T, "Key": STATE, "AttributeUpdates": {"verdict": {"Action": "PUT"}}}),
        ("TransactWriteItems", transact(update(STATE, "SET #status = :s"), update(STATE, "SET #verdict = :v"))),
        ("ExecuteStatement", {"Statement": f'UPDATE "{T}" SET verdict=\'accept\' WHERE PK=\'x\''}),
        ("BatchWriteItem", {"RequestItems": {T: [{"PutRequest": {"Item": item("T#demo#E#el_1", "verdict")}}]}}),
    ],
)
@pytest.mark.parametrize("function", ["create", "poll", "sweep", "manage"])
def test_there_is_no_other_way_to_write_a_decision(template, function, hidden):
    assert DENIED in [verdict for verdict, *_ in refusals(statements(template, function), *hidden)]


@pytest.mark.parametrize(
    "hidden",
    [
        ("DeleteItem", {"TableName": T, "Key": STATE}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": {"TableName": T, "Key": STATE}}]}),
    ],
)
@pytest.mark.parametrize("function", ["create", "poll", "respond", "manage", "pages"])
def test_a_question_is_deleted_by_the_purge_alone(template, function, hidden):
    assert DENIED in [verdict for verdict, *_ in refusals(statements(template, function), *hidden)]


def test_pages_touch_no_key_tenant_policy_endpoint_or_issuer(template):
    of_role = statements(template, "pages")
    for pk in ("T#demo#K#k_1", "T#demo#KEYS", "T#demo#TENANT", "TENANTS", "T#demo#APPROVERS", "T#demo#POLICY", "T#demo#ENDPOINTS", "T#demo#ISSUERS"):
        key = {"PK": {"S": pk}, "SK": {"S": "X"}}
        for operation, body in (("PutItem", put(pk, "x")), ("UpdateItem", update(key, "SET #x = :x")), ("DeleteItem", check(key, "attribute_exists(#PK)"))):
            assert refusals(of_role, operation, body), (operation, pk)


def test_a_poll_notes_the_use_of_a_key_and_nothing_else_of_it(template):
    of_role, key = statements(template, "poll"), {"PK": {"S": "T#demo#K#k_1"}, "SK": {"S": "KEY"}}
    assert refusals(of_role, "UpdateItem", update(key, "SET #last_used_at = :now", "attribute_exists(#PK)")) == []
    for changed in ("SET #scopes = :s", "SET #hash = :h", "SET #last_used_at = :now REMOVE #expires_at"):
        assert [one[0] for one in refusals(of_role, "UpdateItem", update(key, changed))] == [NOT_ALLOWED], changed


def test_create_makes_no_key_and_no_tenant(template):
    of_role = statements(template, "create")
    for pk in ("T#demo#K#k_1", "T#demo#TENANT", "T#demo#APPROVERS", "TENANTS", "T#demo#I#x", "T#demo#N#x"):
        assert [one[0] for one in refusals(of_role, "PutItem", put(pk, "hash"))] == [NOT_ALLOWED], pk


def test_every_write_of_a_transaction_is_judged_by_itself():
    actions = [(action, context["dynamodb:LeadingKeys"]) for action, _, context in asked("TransactWriteItems", WITHDRAW)]
    assert actions == [
        ("dynamodb:UpdateItem", ["T#demo#E#el_1"]), ("dynamodb:UpdateItem", ["T#demo#S#se_1"]),
        ("dynamodb:PutItem", ["T#demo#A#2026-01-01#3"]),
    ]


def test_attributes_are_the_top_level_names_of_the_whole_request():
    one = update(STATE, "SET #a.#b = :v, plain[0] = if_not_exists(#c, :w) REMOVE #d ADD #e :one", "size(#f) < :n AND NOT #g IN (:x)")
    assert attributes_of(one) == ["PK", "SK", "a", "c", "d", "e", "f", "g", "plain"]


def test_sets_quantify_as_iam_says():
    def says(operator, found):
        one = {"Effect": "Allow", "Action": ["a:b"], "Resource": ["r"], "Condition": {operator: {"k": ["x", "y"]}}}
        return judge([one], "a:b", "r", {} if found is None else {"k": found}) == ALLOWED

    assert says("ForAllValues:StringEquals", ["x"]) and not says("ForAllValues:StringEquals", ["x", "z"])
    assert says("ForAllValues:StringEquals", None), "a missing key fits all"
    assert says("ForAnyValue:StringEquals", ["z", "x"]) and not says("ForAnyValue:StringEquals", ["z"])
    assert not says("ForAnyValue:StringEquals", None), "a missing key fits none"
    with pytest.raises(ValueError):
        says("ForAnyValue:ArnLike", ["x"])
