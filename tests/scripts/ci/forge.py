#!/usr/bin/env python3
"""GitHub and GitLab, as far as the workflows in examples/ci use them: comments that are listed, made and changed.

Installed as `gh` and as `curl`. Keeps its comments in the file that FORGE names; `jq` of the machine does the
filters of `gh`. What it does not know it refuses, as the real ones do.
"""

import json
import os
import re
import subprocess
import sys

FILE = os.environ["FORGE"]
ME = {"gh": "github-actions[bot]", "curl": "project_1_bot"}


def load():
    if not os.path.exists(FILE):
        return []
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)


def save(comments):
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(comments, file)


def fail(what):
    print(f"forge: {what}", file=sys.stderr)
    sys.exit(22)


def serve(method, path, body, me):
    """One request; what it answers."""
    comments = load()
    listed = r"(repos/[^/]+/[^/]+/issues/\d+/comments|.*/projects/\d+/merge_requests/\d+/notes)(\?.*)?"
    single = r"(repos/[^/]+/[^/]+/issues/comments|.*/projects/\d+/merge_requests/\d+/notes)/(\d+)"
    if method == "GET" and re.fullmatch(listed, path):
        return comments
    if body is None or not body.strip():
        fail("a comment needs a body")
    if len(body) > 65536:
        fail("the body is too long")
    if method == "POST" and re.fullmatch(listed, path):
        comments.append({"id": 100 + len(comments), "user": {"login": me}, "body": body, "edits": 0})
        save(comments)
        return comments[-1]
    found = re.fullmatch(single, path)
    if method in ("PATCH", "PUT") and found:
        for comment in comments:
            if comment["id"] == int(found[2]) and comment["user"]["login"] == me:
                comment["body"] = body
                comment["edits"] += 1
                save(comments)
                return comment
    return fail(f"404: {method} {path}")


def text_of(field):
    """`body=@FILE` and `body@FILE`: the text of a file."""
    name, _, file = field.partition("@")
    if name.rstrip("=") != "body":
        fail(f"unknown field {field}")
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def gh(args):
    if not os.environ.get("GH_TOKEN"):
        fail("set GH_TOKEN")
    if args[:1] != ["api"]:
        fail(f"unknown command {args}")
    method, path, body, query, silent = "GET", None, None, None, False
    rest = iter(args[1:])
    for arg in rest:
        if arg == "--method":
            method = next(rest)
        elif arg == "-F":
            body = text_of(next(rest))
        elif arg == "--jq":
            query = next(rest)
        elif arg == "--silent":
            silent = True
        elif arg == "--paginate":
            pass
        elif arg.startswith("-") or path is not None:
            fail(f"unknown argument {arg}")
        else:
            path = arg
    answer = json.dumps(serve(method, path, body, ME["gh"]))
    if query:
        subprocess.run(["jq", "--raw-output", query], input=answer, text=True, check=True)
    elif not silent:
        print(answer)


def curl(args):
    method, path, body, token, out = "GET", None, None, None, None
    rest = iter(args)
    for arg in rest:
        if arg == "--request":
            method = next(rest)
        elif arg == "--data-urlencode":
            body = text_of(next(rest))
        elif arg == "--header":
            token = next(rest)
        elif arg == "--output":
            out = next(rest)
        elif arg in ("--fail", "--silent", "--show-error"):
            pass
        elif arg.startswith("-") or path is not None:
            fail(f"unknown argument {arg}")
        else:
            path = arg
    if not token or not re.fullmatch(r"PRIVATE-TOKEN: \S+", token):
        fail("401")
    answer = json.dumps(serve(method, path, body, ME["curl"]))
    if out is None:
        print(answer)


if __name__ == "__main__":
    {"gh": gh, "curl": curl}[os.path.basename(sys.argv[0])](sys.argv[1:])
