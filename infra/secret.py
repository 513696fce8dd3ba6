"""Makes and turns over the secret of a deployment: the operator key and the seal keys, as one JSON document.

Usage, each writing the new document to standard output, and all but `new` reading the old one from standard input:
  secret.py new            a fresh document
  secret.py add ID         with one more seal key, which opens but does not seal yet
  secret.py activate ID    with that seal key first: it seals from now on, the others go on opening
  secret.py drop ID        without that seal key: what it sealed opens no more
  secret.py operator       with a new operator key
"""
import base64
import hashlib
import json
import secrets
import sys

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
OPERATOR_CHARS, CHECK_CHARS = 26, 6


def check(body):
    """The first 30 bits of the SHA-256 of all before them: tells a typing error from a wrong key."""
    bits = int.from_bytes(hashlib.sha256(body.encode()).digest()[:4], "big") >> 2
    return "".join(ALPHABET[bits >> shift & 31] for shift in range(25, -1, -5))


def operator_key():
    body = "csop_" + "".join(secrets.choice(ALPHABET) for _ in range(OPERATOR_CHARS))
    return body + check(body)


def seal_key(name):
    return {"id": name, "secret_base64": base64.b64encode(secrets.token_bytes(32)).decode()}


def new():
    return {"version": 1, "operator_key": operator_key(), "seal_keys": [seal_key("k1")]}


def changed(document, verb, name=None):
    keys = document["seal_keys"]
    named = [one for one in keys if one["id"] == name]
    if verb == "operator":
        return {**document, "operator_key": operator_key()}
    if verb == "add":
        if named or not (name.isalnum() and name.isascii() and len(name) <= 8):
            sys.exit("a seal key's id is new, of 1 to 8 letters and digits")
        return {**document, "seal_keys": [*keys, seal_key(name)]}
    if not named:
        sys.exit(f"there is no seal key {name}")
    others = [one for one in keys if one["id"] != name]
    if verb == "drop" and keys[0]["id"] == name:
        sys.exit(f"{name} is the one that seals: activate another one first")
    return {**document, "seal_keys": named + others if verb == "activate" else others}


def main(arguments):
    match arguments:
        case ["new"]:
            document = new()
        case ["operator"] | ["add" | "activate" | "drop", _]:
            document = changed(json.load(sys.stdin), *arguments)
        case _:
            sys.exit(__doc__)
    print(json.dumps(document))


if __name__ == "__main__":
    main(sys.argv[1:])
