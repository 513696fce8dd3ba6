"""The roles, and that these checks see what is wrong with roles."""
import policy
import pytest
from rules import BULK, DECISION, DECIDES, MAY_EVER_DECIDE, faults


def test_the_roles_are_what_they_may_be(template):
    assert faults(template) == []


def test_today_no_more_functions_decide_than_may_ever():
    assert DECIDES <= MAY_EVER_DECIDE


def role(template, function):
    return template["Resources"][f"{function.capitalize()}Role"]["Properties"]


def own(template, function):
    return role(template, function)["Policies"][0]["PolicyDocument"]["Statement"]


def statement(template, function, sid):
    return next(one for one in own(template, function) if one["Sid"] == sid)


def deny(template):
    return template["Resources"]["NoDecisions"]["Properties"]["PolicyDocument"]["Statement"][0]


def bulk(template):
    return template["Resources"]["NoBulk"]["Properties"]["PolicyDocument"]["Statement"][0]


def no_scan(template):
    return template["Resources"]["NoScan"]["Properties"]["PolicyDocument"]["Statement"][0]


def swap(of, key, old, new):
    of[key][new] = of[key].pop(old)


MUTANTS = {
    "any action": lambda t: statement(t, "poll", "Read").update(Action="dynamodb:*"),
    "some actions": lambda t: statement(t, "poll", "Read").update(Action=["dynamodb:Get*"]),
    "any resource": lambda t: statement(t, "create", "Read").update(Resource="*"),
    "any index": lambda t: statement(t, "poll", "List").update(Resource={"Fn::Sub": "${Table.Arn}/index/*"}),
    "any log": lambda t: statement(t, "poll", "Log").update(Resource="*"),
    "another log": lambda t: statement(t, "poll", "Log").update(Resource={"Fn::GetAtt": ["SweepLog", "Arn"]}),
    "any secret": lambda t: statement(t, "poll", "Secrets").update(Resource="arn:aws:secretsmanager:*"),
    "wildcard of the schedule": lambda t: role(t, "schedule")["Policies"][0]["PolicyDocument"]["Statement"][0].update(Resource="*"),
    "all but one action": lambda t: own(t, "sweep").append(
        {"Sid": "X", "Effect": "Allow", "NotAction": "iam:PassRole", "Resource": {"Fn::GetAtt": ["Table", "Arn"]}}
    ),
    "a policy of AWS": lambda t: role(t, "pages")["ManagedPolicyArns"].append("arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess"),
    "a shared role": lambda t: t["Resources"]["PollFunction"]["Properties"].update(Role={"Fn::GetAtt": ["CreateRole", "Arn"]}),
    "another's index": lambda t: statement(t, "poll", "List").update(Resource={"Fn::Sub": "${Table.Arn}/index/due"}),
    "one action more": lambda t: statement(t, "pages", "Inbox").update(Action=["dynamodb:GetItem", "dynamodb:Query"]),
    "pages may delete questions": lambda t: own(t, "pages").remove(statement(t, "pages", "KeepRecords")),
    "pages may delete codes": lambda t: statement(t, "pages", "SignOut")["Condition"]["ForAllValues:StringLike"][
        "dynamodb:LeadingKeys"
    ].append("T#*#CODE#*"),
    "pages may make keys": lambda t: statement(t, "pages", "SignIn")["Condition"]["ForAllValues:StringLike"][
        "dynamodb:LeadingKeys"
    ].append("T#*#K#*"),
    "pages cannot decide": lambda t: role(t, "pages")["ManagedPolicyArns"].append({"Ref": "NoDecisions"}),
    "one action less": lambda t: statement(t, "manage", "Read").update(Action=["dynamodb:GetItem"]),
    "poll may put": lambda t: own(t, "poll").append(
        {"Sid": "X", "Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": {"Fn::GetAtt": ["Table", "Arn"]}}
    ),
    "create may make keys": lambda t: statement(t, "create", "Ask")["Condition"]["ForAllValues:StringLike"][
        "dynamodb:LeadingKeys"
    ].append("T#*#K#*"),
    "keys that hold where there are none": lambda t: statement(t, "create", "Ask")["Condition"].pop("Null"),
    "one key that fits is enough": lambda t: swap(
        statement(t, "create", "Ask"), "Condition", "ForAllValues:StringLike", "ForAnyValue:StringLike"
    ),
    "poll may name other attributes": lambda t: statement(t, "poll", "NoteRead")["Condition"].pop("ForAllValues:StringEquals"),
    "no deny at all": lambda t: t["Resources"]["NoDecisions"]["Properties"]["PolicyDocument"].update(Statement=[]),
    "a deny without effect": lambda t: deny(t).update(Effect="Allow"),
    "a deny that all names must fit": lambda t: swap(deny(t), "Condition", "ForAnyValue:StringEquals", "ForAllValues:StringEquals"),
    "a deny of puts alone": lambda t: deny(t).update(Action=["dynamodb:PutItem"]),
    "a deny of another resource": lambda t: deny(t).update(Resource={"Fn::Sub": "${Table.Arn}/index/due"}),
    "no bulk deny of respond": lambda t: role(t, "respond").update(ManagedPolicyArns=[{"Ref": "NoDeletes"}]),
    "respond may delete": lambda t: role(t, "respond")["ManagedPolicyArns"].remove({"Ref": "NoDeletes"}),
    "manage may delete questions": lambda t: own(t, "manage").remove(statement(t, "manage", "KeepRecords")),
    "manage keeps records only where all keys are": lambda t: swap(
        statement(t, "manage", "KeepRecords"), "Condition", "ForAnyValue:StringLike", "ForAllValues:StringEquals"
    ),
    "respond checks any row": lambda t: statement(t, "respond", "Standing").pop("Condition"),
    "respond cannot decide": lambda t: role(t, "respond")["ManagedPolicyArns"].append({"Ref": "NoDecisions"}),
    "an index may be scanned": lambda t: no_scan(t).update(Resource=[{"Fn::GetAtt": ["Table", "Arn"]}]),
    "poll may scan": lambda t: role(t, "poll")["ManagedPolicyArns"].remove({"Ref": "NoScan"}),
    "a poll may change keys": lambda t: statement(t, "poll", "NoteUse")["Condition"].pop("ForAllValues:StringEquals"),
    "another function is open to all": lambda t: t["Resources"]["ManageByApi"]["Properties"].update(Principal="*"),
    **{
        f"{function} is without its deny": lambda t, f=function: role(t, f)["ManagedPolicyArns"].remove({"Ref": "NoDecisions"})
        for function in policy.FUNCTIONS
        if function not in ("respond", "pages")
    },
    **{
        f"the deny forgets {name}": lambda t, n=name: deny(t)["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"].remove(n)
        for name in DECISION
    },
    **{f"the deny forgets {name}": lambda t, n=name: bulk(t)["Action"].remove(f"dynamodb:{n}") for name in BULK if name != "Scan"},
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_seen(template, mutant):
    MUTANTS[mutant](template)
    try:
        found = faults(template)
    except ValueError as refused_to_judge:
        found = [str(refused_to_judge)]
    assert found, "no check saw it"
