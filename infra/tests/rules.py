"""What the roles may be, as a list of faults: empty for the template, not empty for every mutant of it."""
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import policy  # noqa: E402
from policy import ALLOWED, DENIED, FUNCTIONS  # noqa: E402

DECISION = ("verdict", "content", "decided_by", "decided_at", "reason")
BULK = ("BatchWriteItem", "Scan", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")
# DESIGN.md section 4: no other function may ever write a decision.
MAY_EVER_DECIDE = {"respond", "pages", "manage"}
# What the code does today: manage only withdraws.
DECIDES = {"respond", "pages"}

# Who walks the table and removes whatever a deleted tenant left.
PURGES = {"sweep"}
# Who else may delete anything at all; and what nobody may delete: what people were asked and did, and the policies it was under.
DELETES = {"manage", "pages"}
RECORDS = ("T#demo#E#el_1", "T#demo#S#se_1", "T#demo#A#2026-01-01#3", "T#demo#REF#K7Q-4MD", "T#demo#RID#abc", "T#demo#POLICY")

TABLE = f"arn:aws:dynamodb:{policy.REGION}:{policy.ACCOUNT}:table/Table"
KEY = f"arn:aws:kms:{policy.REGION}:{policy.ACCOUNT}:key/DataKey"
QUEUE = f"arn:aws:sqs:{policy.REGION}:{policy.ACCOUNT}:SweepFailures"

# Wildcards that AWS leaves no way around: statement, resource, why.
WILDCARDS = {
    ("Log", "arn:aws:logs:*:log-group:*Log:*"): "Lambda names the streams of a log group",
}


def log_of(function):
    return f"arn:aws:logs:{policy.REGION}:{policy.ACCOUNT}:log-group:{function.capitalize()}Log:*"


def grants(function):
    """Each function's permissions, by its own code: action, resource, and the kinds of keys that it may write."""
    read = {(f"dynamodb:{one}", TABLE, None) for one in ("GetItem", "BatchGetItem", "Query")}
    put, update = ("dynamodb:PutItem", TABLE), ("dynamodb:UpdateItem", TABLE)
    question, session, audit = "T#*#E#*", "T#*#S#*", "T#*#A#*"
    code, human = "T#*#CODE#*", "T#*#H#*"
    approvers, external, key = "T#*#APPROVERS", "T#*#XID#*", "T#*#K#*"
    own = {
        "create": {
            *(one for one in read if one[0] != "dynamodb:Query"),
            *(("dynamodb:Query", f"{TABLE}/index/{name}", None) for name in ("list", "mine")),
            (*put, (question, "T#*#REF#*", "T#*#RID#*", session, audit)), (*update, (question, session, "T#*#QUOTA")), (*update, (key,)),
        },
        "poll": {*read, ("dynamodb:Query", f"{TABLE}/index/list", None), (*update, (question,)), (*update, (key,))},
        "respond": {
            *read, (*put, (audit, "T#*#N#*")), (*update, (question, session)), (*update, (key,)),
            ("dynamodb:ConditionCheckItem", TABLE, (approvers,)),
        },
        "manage": {
            *read, (*update, (session, key, "T#*#TENANT", "TENANTS", question)),
            (*put, (session, "T#*#I#*", key, "T#*#KEYS", "T#*#TENANT", approvers, external, "T#*#POLICY", "T#*#ENDPOINTS", "T#*#ISSUERS", "TENANTS", audit)),
            ("dynamodb:DeleteItem", TABLE, (approvers, external, key, "T#*#KEYS", "T#*#ENDPOINTS", "T#*#ISSUERS", human)),
        },
        "pages": {
            *read, ("dynamodb:Query", f"{TABLE}/index/mine", None), (*put, (audit, "T#*#N#*")), (*update, (question, session)),
            (*put, (code, human)), (*update, (code, human, "T#*#RATE#*")), ("dynamodb:DeleteItem", TABLE, (human,)),
            ("dynamodb:ConditionCheckItem", TABLE, (approvers,)),
        },
        "sweep": {
            *read, ("dynamodb:Query", f"{TABLE}/index/due", None), (*put, (question, "T#*#ENDPOINTS")), (*update, (question, session)),
            ("sqs:SendMessage", QUEUE, None), ("dynamodb:Scan", TABLE, None), ("dynamodb:DeleteItem", TABLE, ("T#*", "TENANTS")),
            (*update, ("TENANTS",)), (*update, (code,)),
        },
    }[function]
    log = {(f"logs:{one}", log_of(function), None) for one in ("CreateLogStream", "PutLogEvents")}
    data_keys = {"manage": ("Decrypt", "Encrypt")}.get(function, ("Decrypt",))
    own |= {(f"kms:{one}", KEY, None) for one in data_keys}
    return own | log | {("secretsmanager:GetSecretValue", "<SecretArn>", None)}


def granted(statements):
    found = set()
    for one in statements:
        if one["Effect"] == "Allow":
            keys = one.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys")
            keys = tuple(keys) if keys else None
            found |= {(action, resource, keys) for action in one["Action"] for resource in one["Resource"]}
    return found


def documents(template):
    """Every policy of the template, with the name of its resource."""
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        for one in properties.get("Policies", []):
            yield name, one["PolicyDocument"]
        if "PolicyDocument" in properties:
            yield name, properties["PolicyDocument"]


def wildcard_faults(template):
    for name, document in documents(template):
        for statement in policy.statements_of_document(template, document):
            sid = statement.get("Sid")
            for word in ("NotAction", "NotResource", "NotPrincipal"):
                if word in statement:
                    yield f"{name}/{sid}: {word}"
            for action in statement["Action"]:
                if "*" in action or "?" in action:
                    yield f"{name}/{sid}: the action {action}"
            for resource in statement["Resource"]:
                known = any(sid == of and policy.fnmatch.fnmatchcase(resource, like) for of, like in WILDCARDS)
                if ("*" in resource or "?" in resource) and not known:
                    yield f"{name}/{sid}: the resource {resource}"


def role_faults(template):
    """One role each, with policies of this template alone."""
    resources = template["Resources"]
    roles = {}
    for function in FUNCTIONS:
        role = resources[f"{function.capitalize()}Function"]["Properties"]["Role"].get("Fn::GetAtt", [None])[0]
        if role in roles.values():
            yield f"{function} shares its role"
        roles[function] = role
    for name, resource in resources.items():
        if resource["Type"] == "AWS::Lambda::Permission" and resource["Properties"]["Principal"] == "*":
            if resource["Properties"]["FunctionName"] != {"Ref": "PollFunction"}:
                yield f"{name}: open to all"


def grant_faults(template):
    for function in FUNCTIONS:
        found, wanted = granted(policy.statements(template, function)), grants(function)
        yield from (f"{function}: not its own: {one}" for one in sorted(found - wanted, key=str))
        yield from (f"{function}: misses {one}" for one in sorted(wanted - found, key=str))


def key_faults(template):
    """A grant to write names the kinds of rows, and holds nothing where the keys are not known."""
    for function in FUNCTIONS:
        of_role = policy.statements(template, function)
        for action in ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"):
            if policy.judge(of_role, action, TABLE, {"dynamodb:Attributes": ["PK"]}) == ALLOWED:
                yield f"{function}: {action} without known keys"
            lists_tenants = function == "manage" or function in PURGES
            if function in PURGES and action == "dynamodb:DeleteItem":
                continue
            for key in ("T#demo#NEW#1",) if lists_tenants else ("T#demo#NEW#1", "TENANTS"):
                context = {"dynamodb:LeadingKeys": [key], "dynamodb:Attributes": ["PK"]}
                if policy.judge(of_role, action, TABLE, context) == ALLOWED:
                    yield f"{function}: {action} of {key}"


def attribute_faults(template):
    """Whoever notes the use of a key writes that and nothing else of it."""
    for function in (one for one in FUNCTIONS if one != "manage"):
        context = {"dynamodb:LeadingKeys": ["T#demo#K#key_1"], "dynamodb:Attributes": ["PK", "SK", "scopes"]}
        if policy.judge(policy.statements(template, function), "dynamodb:UpdateItem", TABLE, context) == ALLOWED:
            yield f"{function}: may change keys"


def decision_faults(template):
    """Whoever may not decide is refused by a deny, which no grant can undo."""
    every_key = {"dynamodb:LeadingKeys": ["T#demo#E#el_1"]}
    for function in FUNCTIONS:
        of_role = policy.statements(template, function)
        open_role = [*of_role, {"Effect": "Allow", "Action": ["dynamodb:*"], "Resource": [TABLE, f"{TABLE}/index/due"]}]
        for action in ("dynamodb:PutItem", "dynamodb:UpdateItem"):
            for attribute in DECISION:
                context = {**every_key, "dynamodb:Attributes": ["PK", "SK", "status", attribute]}
                verdict = policy.judge(open_role, action, TABLE, context)
                if function not in DECIDES and verdict != DENIED:
                    yield f"{function}: {action} of {attribute} is not denied"
            harmless = {**every_key, "dynamodb:Attributes": ["PK", "SK", "status"]}
            if policy.judge(open_role, action, TABLE, harmless) != ALLOWED:
                yield f"{function}: {action} is denied where nothing is decided"
        for action in (one for one in BULK if one != "Scan" or function not in PURGES):
            if policy.judge(open_role, f"dynamodb:{action}", TABLE, {}) != DENIED:
                yield f"{function}: {action} is not denied"
        if function not in PURGES and policy.judge(open_role, "dynamodb:Scan", f"{TABLE}/index/due", {}) != DENIED:
            yield f"{function}: Scan of an index is not denied"
        decides = {**every_key, "dynamodb:Attributes": ["PK", "SK", "status", "verdict", "decided_by", "decided_at"]}
        may = policy.judge(of_role, "dynamodb:UpdateItem", TABLE, decides) == ALLOWED
        if may != (function in DECIDES):
            yield f"{function}: may decide: {may}"
        if may and function not in MAY_EVER_DECIDE:
            yield f"{function} may never decide"


def delete_faults(template):
    """No record is deleted, whatever is granted; and nothing at all by whoever deletes nothing."""
    for function in (one for one in FUNCTIONS if one not in PURGES):
        open_role = [*policy.statements(template, function), {"Effect": "Allow", "Action": ["dynamodb:*"], "Resource": [TABLE]}]
        more = {"manage": (), "pages": ("T#demo#N#1", "T#demo#CODE#1", "T#demo#K#key_1", "T#demo#APPROVERS")}
        keys = (*RECORDS, *more.get(function, ("T#demo#APPROVERS", "T#demo#NEW#1")))
        for key in keys:
            if policy.judge(open_role, "dynamodb:DeleteItem", TABLE, {"dynamodb:LeadingKeys": [key]}) != DENIED:
                yield f"{function}: may delete {key}"


def poll_faults(template):
    """What a poll notes is three attributes, and no others even where they decide nothing."""
    of_role = policy.statements(template, "poll")
    named = ["PK", "SK", "collected_at", "expires_at", "hold_until", "last_polled_at", "status"]
    for attributes, want in ((named, True), ([*named, "ttl"], False), ([*named, "decide_by"], False), (None, False)):
        context = {"dynamodb:LeadingKeys": ["T#demo#E#el_1"]} | ({"dynamodb:Attributes": attributes} if attributes else {})
        if (policy.judge(of_role, "dynamodb:UpdateItem", TABLE, context) == ALLOWED) != want:
            yield f"poll: may update {attributes}: {not want}"


def faults(template):
    return [
        *wildcard_faults(template), *role_faults(template), *grant_faults(template), *key_faults(template),
        *decision_faults(template), *attribute_faults(template), *delete_faults(template), *poll_faults(template),
    ]
