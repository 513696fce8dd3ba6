"""That the two linters together see the faults that they are here for: a template that lints is no luck."""
import json
import pathlib
import subprocess
import sys

import translate
from samtranslator.model.exceptions import InvalidDocumentException

LINT = pathlib.Path(sys.executable).with_name("cfn-lint")
FAULTS = {
    "a misspelt reference": ("Role: !GetAtt PollRole.Arn", "Role: !GetAtt PolRole.Arn"),
    "a reference in Globals": ("COUNTERSIGN_TABLE: !Ref Table", "COUNTERSIGN_TABLE: !Ref Tabel"),
    "an attribute that is no attribute": ("!GetAtt Api.ApiEndpoint", "!GetAtt Api.Endpoint"),
    "a timeout that no function has": ("Timeout: 29", "Timeout: 901"),
    "an unknown runtime": ("Runtime: provided.al2023", "Runtime: provided.al2024"),
    "an index on an attribute that is not declared": ("- {AttributeName: due_pk, AttributeType: S}\n", "\n"),
}


def test_faults_are_seen(source, tmp_path):
    unseen = {}
    for fault, (right, wrong) in FAULTS.items():
        assert right in source, fault
        try:
            text = translate.dump(translate.translate(source.replace(right, wrong, 1)))
        except InvalidDocumentException:
            continue  # the translator saw it
        file = tmp_path / f"{len(unseen)}.json"
        file.write_text(text)
        unseen[str(file)] = fault
    # One call for all: the linter takes longer to start than to look.
    done = subprocess.run([LINT, "--format", "json", *unseen], capture_output=True, text=True)
    seen = {one["Filename"] for one in json.loads(done.stdout) if one["Level"] == "Error"}
    assert {unseen[file] for file in unseen.keys() - seen} == set()
