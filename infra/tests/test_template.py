"""The translated template: that the committed translation is current, and what no linter looks at."""
import json
import re

import pytest
import translate
from conftest import INFRA

FUNCTIONS = ("create", "poll", "respond", "manage", "pages", "sweep")


def of_type(template, kind):
    return {name: one["Properties"] for name, one in template["Resources"].items() if one["Type"] == kind}


def function(template, name):
    return template["Resources"][f"{name.capitalize()}Function"]["Properties"]


def test_the_committed_translation_is_current(source):
    committed = (INFRA / "template.generated.json").read_text()
    assert committed == translate.dump(translate.translate(source)), "run .ci/translate --write"


def test_the_table_outlives_mistakes(template):
    resource = template["Resources"]["Table"]
    table = resource["Properties"]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert table["DeletionProtectionEnabled"] is True
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert table["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_runs_within_its_limits(template, name):
    one = function(template, name)
    assert (one["Runtime"], one["Handler"]) == ("provided.al2023", "bootstrap")
    assert one["Timeout"] <= 29, "the HTTP API gives up at 30 s"
    assert one["Architectures"] == [{"Ref": "Architecture"}]
    assert one["LoggingConfig"] == {
        "LogFormat": "JSON", "SystemLogLevel": "WARN", "LogGroup": {"Ref": f"{name.capitalize()}Log"}
    }
    memory = template["Parameters"]["MemorySize"]
    assert one["MemorySize"] == {"Ref": "MemorySize"} and (memory["MinValue"], memory["MaxValue"]) == (256, 512)


def test_logs_end(template):
    groups = of_type(template, "AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 1
    assert all("RetentionInDays" in one for one in groups.values())


def test_access_logs_hold_routes_and_no_paths(template):
    (stage,) = of_type(template, "AWS::ApiGatewayV2::Stage").values()
    logged = set(re.findall(r"\$context\.([\w.]+)", stage["AccessLogSettings"]["Format"]))
    assert logged == {"requestId", "routeKey", "status", "responseLatency", "integrationErrorMessage"}
    assert stage["StageName"] == "$default" and stage["AutoDeploy"] is True


def test_the_sweep_runs_every_minute_and_leaves_what_fails(template):
    (schedule,) = of_type(template, "AWS::Scheduler::Schedule").values()
    count, unit = re.fullmatch(r"rate\((\d+) (\w+)\)", schedule["ScheduleExpression"]).groups()
    assert (count, unit) == ("1", "minute"), "a unit is singular with 1 alone, and no linter looks"
    queue = {"Fn::GetAtt": ["SweepFailures", "Arn"]}
    assert schedule["Target"]["Arn"] == {"Fn::GetAtt": ["SweepFunction", "Arn"]}
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": queue}
    (failing,) = of_type(template, "AWS::Lambda::EventInvokeConfig").values()
    assert failing["DestinationConfig"]["OnFailure"]["Destination"] == queue and failing["MaximumRetryAttempts"] == 0


def test_polls_alone_have_a_url_of_their_own(template):
    (url,) = of_type(template, "AWS::Lambda::Url").values()
    assert url == {"TargetFunctionArn": {"Ref": "PollFunction"}, "AuthType": "NONE", "InvokeMode": "BUFFERED"}
    open_to_all = [one for one in of_type(template, "AWS::Lambda::Permission").values() if one["Principal"] == "*"]
    assert {one["Action"] for one in open_to_all} == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}
    assert all(one["FunctionName"] == {"Ref": "PollFunction"} for one in open_to_all)


def test_a_function_knows_only_the_variables_that_it_reads(template):
    everyone = {
        "COUNTERSIGN_TABLE", "COUNTERSIGN_BASE_URL", "COUNTERSIGN_KMS_KEY", "COUNTERSIGN_SECRETS", "COUNTERSIGN_RETENTION_DAYS",
        "COUNTERSIGN_LOG", "ELICITATION_EXPIRATION_MINUTES",
    }
    own = {
        "create": {"COUNTERSIGN_POLL_BASE_URL"}, "manage": {"COUNTERSIGN_POLL_BASE_URL"},
        "sweep": {"COUNTERSIGN_SMTP_URL", "COUNTERSIGN_MAIL_FROM"},
    }
    for name in FUNCTIONS:
        assert set(function(template, name)["Environment"]["Variables"]) == everyone | own.get(name, set()), name


def test_every_alarm_tells_the_topic(template):
    alarms = of_type(template, "AWS::CloudWatch::Alarm")
    assert set(alarms) == {
        "SweepErrorsAlarm", "SweepHeartbeatAlarm", "SweepFailuresAlarm", "FunctionErrorsAlarm", "FunctionThrottlesAlarm",
        "TableThrottlesAlarm",
    }
    assert all("HasAlarmTopic" in json.dumps(one["AlarmActions"]) for one in alarms.values())
    assert alarms["SweepHeartbeatAlarm"]["TreatMissingData"] == "breaching"


def test_every_function_is_reached_by_its_routes_alone(template):
    integrations = of_type(template, "AWS::ApiGatewayV2::Integration")
    for name in FUNCTIONS[:-1]:
        arn = {"Fn::GetAtt": [f"{name.capitalize()}Function", "Arn"]}
        assert integrations[f"{name.capitalize()}Integration"]["IntegrationUri"] == arn
    assert all(one["PayloadFormatVersion"] == "2.0" for one in integrations.values())
