"""Translates the SAM template into plain CloudFormation, as AWS does on deployment.

Usage: translate.py [--check] TEMPLATE OUTPUT. With --check nothing is written: it fails where OUTPUT is not the translation.
"""
import json
import pathlib
import sys

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

REGION = "eu-central-1"
CODE = "s3://code/bootstrap.zip"  # where `sam deploy` would have put it


class NoManagedPolicies:
    """The template names no policy of AWS by name."""

    def load(self):
        return {}


def parameters(template):
    return {name: str(one["Default"]) for name, one in template["Parameters"].items() if "Default" in one}


def translate(text):
    template = yaml_parse(text)
    template["Globals"]["Function"]["CodeUri"] = CODE
    return transform(template, parameters(template), NoManagedPolicies())


def dump(translated):
    return json.dumps(translated, indent=1) + "\n"


def main(arguments):
    check = "--check" in arguments
    template, output = (pathlib.Path(one) for one in arguments if one != "--check")
    text = dump(translate(template.read_text()))
    if check:
        if output.read_text() != text:
            sys.exit(f"{output} is not the translation of {template}: run .ci/translate --write")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


if __name__ == "__main__":
    import os

    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    main(sys.argv[1:])
