"""The secret's document. That functions take it is shown by the second engine, which starts them on one."""
import base64
import re

import pytest
import secret


def ids(document):
    return [one["id"] for one in document["seal_keys"]]


def test_a_new_document_is_whole():
    document = secret.new()
    assert document["version"] == 1 and ids(document) == ["k1"]
    assert len(base64.b64decode(document["seal_keys"][0]["secret_base64"])) == 32
    key = document["operator_key"]
    assert re.fullmatch(r"csop_[0-9a-hjkmnp-tv-z]{32}", key) and secret.check(key[:-6]) == key[-6:]


def test_no_two_documents_are_alike():
    assert secret.new()["operator_key"] != secret.new()["operator_key"]
    assert secret.new()["seal_keys"] != secret.new()["seal_keys"]


def test_a_seal_key_is_turned_over_in_three_steps():
    first = secret.new()
    added = secret.changed(first, "add", "k2")
    assert ids(added) == ["k1", "k2"] and added["seal_keys"][0] == first["seal_keys"][0]
    active = secret.changed(added, "activate", "k2")
    assert ids(active) == ["k2", "k1"]
    assert ids(secret.changed(active, "drop", "k1")) == ["k2"]
    assert active["operator_key"] == first["operator_key"]


@pytest.mark.parametrize("words", [("add", "k1"), ("add", "k.2"), ("add", "ninechars"), ("activate", "k2"), ("drop", "k2"), ("drop", "k1")])
def test_what_would_break_a_deployment_is_refused(words):
    with pytest.raises(SystemExit):
        secret.changed(secret.new(), *words)


def test_the_operator_key_changes_alone():
    first = secret.new()
    second = secret.changed(first, "operator")
    assert second["operator_key"] != first["operator_key"] and second["seal_keys"] == first["seal_keys"]
