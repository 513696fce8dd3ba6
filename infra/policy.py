"""What IAM says to a request: the policies of a translated template, and as much of IAM's evaluation as they use.

An operator, an action or an expression that is not known here raises: what cannot be judged is never waved through.
"""
import fnmatch
import json
import re

ACCOUNT = "000000000000"
REGION = "eu-central-1"
FUNCTIONS = ("create", "poll", "respond", "manage", "pages", "sweep")

ALLOWED, DENIED, NOT_ALLOWED = "allowed", "denied", "not allowed"


def arn_of(template, name, table):
    """The ARN of a resource of the template, as AWS would make it."""
    kind = template["Resources"][name]["Type"]
    return {
        "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}",
        "AWS::KMS::Key": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{name}",
        "AWS::SQS::Queue": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}",
        "AWS::Lambda::Function": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}",
        # The ARN of a log group ends in a wildcard: the streams in it are named by Lambda.
        "AWS::Logs::LogGroup": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}:*",
        "AWS::ApiGatewayV2::Api": name,
    }[kind]


def resolve(template, node, table="Table"):
    """The text that CloudFormation would put in the place of `node`."""
    if isinstance(node, str):
        return node
    (function, of), = node.items()
    if function == "Ref":
        return f"<{of}>"
    if function == "Fn::GetAtt":
        name, attribute = of
        return arn_of(template, name, table) if attribute == "Arn" else f"<{name}.{attribute}>"
    if function == "Fn::Sub":
        def put(match):
            name, _, attribute = match[1].partition(".")
            return resolve(template, {"Fn::GetAtt": [name, attribute]} if attribute else {"Ref": name}, table)
        return re.sub(r"\$\{([^}]+)\}", put, of)
    raise ValueError(f"cannot resolve {function}")


def as_list(value):
    return value if isinstance(value, list) else [value]


def statements_of_document(template, document, table="Table"):
    for statement in as_list(document["Statement"]):
        resources = [resolve(template, one, table) for one in as_list(statement.get("Resource", []))]
        yield {**statement, "Action": as_list(statement.get("Action", [])), "Resource": resources}


def statements(template, function, table="Table"):
    """All statements of a function's role: its own and those of the policies that are attached to it."""
    resources = template["Resources"]
    role = resources[f"{function.capitalize()}Function"]["Properties"]["Role"]["Fn::GetAtt"][0]
    properties = resources[role]["Properties"]
    documents = [one["PolicyDocument"] for one in properties.get("Policies", [])]
    for attached in properties.get("ManagedPolicyArns", []):
        if not isinstance(attached, dict):
            raise ValueError(f"cannot judge a policy from elsewhere: {attached}")
        documents.append(resources[attached["Ref"]]["Properties"]["PolicyDocument"])
    return [one for document in documents for one in statements_of_document(template, document, table)]


def holds(condition, context):
    return all(
        holds_one(operator, wanted, context.get(key))
        for operator, keys in condition.items()
        for key, wanted in keys.items()
    )


def holds_one(operator, wanted, found):
    wanted = [str(one) for one in as_list(wanted)]
    if operator == "Null":
        return ("true" if found is None else "false") in [one.lower() for one in wanted]
    quantifier, _, test = operator.rpartition(":")
    if test not in ("StringEquals", "StringLike"):
        raise ValueError(f"cannot judge the operator {operator}")

    def fits(value):
        if test == "StringEquals":
            return value in wanted
        return any(re.fullmatch(fnmatch.translate(one.replace("[", "[[]")), value) for one in wanted)

    if quantifier == "ForAllValues":
        return all(fits(one) for one in found or [])  # holds where there is none
    if quantifier == "ForAnyValue":
        return any(fits(one) for one in found or [])
    if quantifier:
        raise ValueError(f"cannot judge the quantifier {quantifier}")
    return found is not None and len(found) == 1 and fits(found[0])


def matches(statement, action, resource, context):
    if "NotAction" in statement or "NotResource" in statement:
        raise ValueError("cannot judge NotAction and NotResource")
    return (
        any(fnmatch.fnmatchcase(action.lower(), one.lower()) for one in statement["Action"])
        and any(fnmatch.fnmatchcase(resource, one) for one in statement["Resource"])
        and holds(statement.get("Condition", {}), context)
    )


def judge(of_role, action, resource, context):
    effects = {one["Effect"] for one in of_role if matches(one, action, resource, context)}
    return DENIED if "Deny" in effects else ALLOWED if "Allow" in effects else NOT_ALLOWED


# What a DynamoDB request asks leave for.

WORDS = {
    "SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN", "attribute_exists", "attribute_not_exists",
    "attribute_type", "begins_with", "contains", "size", "if_not_exists", "list_append",
}
EXPRESSIONS = ("UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression")
SINGLE = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
IN_TRANSACTION = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem"}


def names_in(expression, aliases):
    """The top-level attributes that an expression names."""
    for path in re.findall(r"(?<![\w:#.])#?[A-Za-z_]\w*(?:\.#?\w+|\[\d+\])*", expression):
        head = re.split(r"[.\[]", path)[0]
        if head.upper() not in {one.upper() for one in WORDS}:
            yield aliases[head] if head.startswith("#") else head


def attributes_of(request):
    aliases = request.get("ExpressionAttributeNames") or {}
    found = set()
    for member in ("Item", "Key", "AttributeUpdates", "Expected"):
        found.update(request.get(member) or {})
    for member in EXPRESSIONS:
        found.update(names_in(request.get(member) or "", aliases))
    found.update(request.get("AttributesToGet") or [])
    return sorted(found)


def context_of(requests):
    keys = [one[member]["PK"]["S"] for one in requests for member in ("Item", "Key") if "PK" in (one.get(member) or {})]
    for one in requests:
        aliases = one.get("ExpressionAttributeNames") or {}
        alias = re.match(r"(#?\w+) = (:\w+)", one.get("KeyConditionExpression") or "")
        if alias and aliases.get(alias[1], alias[1]) == "PK":
            keys.append(one["ExpressionAttributeValues"][alias[2]]["S"])
    attributes = sorted({name for one in requests for name in attributes_of(one)})
    context = {"dynamodb:LeadingKeys": keys, "dynamodb:Attributes": attributes}
    return {key: values for key, values in context.items() if values}


def asked(operation, body):
    """What a request asks leave for: triples of action, resource and context."""
    request = json.loads(body) if isinstance(body, (str, bytes)) else body

    def table(name):
        return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"

    if operation in SINGLE:
        index = f"/index/{request['IndexName']}" if request.get("IndexName") else ""
        yield f"dynamodb:{operation}", table(request["TableName"]) + index, context_of([request])
    elif operation in ("TransactWriteItems", "TransactGetItems"):
        for item in request["TransactItems"]:
            for kind, one in item.items():
                yield f"dynamodb:{IN_TRANSACTION[kind]}", table(one["TableName"]), context_of([one])
    elif operation == "BatchGetItem":
        for name, wanted in request["RequestItems"].items():
            yield "dynamodb:BatchGetItem", table(name), context_of([{"Key": key} for key in wanted["Keys"]])
    elif operation == "BatchWriteItem":
        for name in request["RequestItems"]:
            yield "dynamodb:BatchWriteItem", table(name), {}
    elif operation == "ExecuteStatement":
        verb, name = re.match(r'\s*(\w+).*?"([\w.-]+)"', request["Statement"], re.S).groups()
        yield f"dynamodb:PartiQL{verb.capitalize()}", table(name), {}
    elif operation in ("DescribeTable", "DeleteTable", "UpdateTable", "UpdateTimeToLive"):
        yield f"dynamodb:{operation}", table(request["TableName"]), {}
    else:
        raise ValueError(f"cannot judge {operation}")


def refusals(of_role, operation, body):
    """What of a request the role does not allow."""
    return [
        (verdict, action, resource, context)
        for action, resource, context in asked(operation, body)
        if (verdict := judge(of_role, action, resource, context)) != ALLOWED
    ]
