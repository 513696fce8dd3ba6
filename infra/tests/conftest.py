import json
import os
import pathlib
import sys

import pytest

INFRA = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(INFRA))
sys.path.insert(0, str(INFRA / "tests"))
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture(scope="session")
def source():
    return (INFRA.parent / "template.yaml").read_text()


@pytest.fixture(scope="session")
def _translated(source):
    import translate

    return json.dumps(translate.translate(source))


@pytest.fixture
def template(_translated):
    """The translated template, a fresh copy for each test."""
    return json.loads(_translated)
