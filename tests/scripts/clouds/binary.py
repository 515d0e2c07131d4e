"""The fleet binary, as the scripts here use it."""

import json
import os
import subprocess
import sys


def check(holds, why):
    """Ends the script with a reason, unless something holds."""
    if not holds:
        print(f"FAIL: {why}", file=sys.stderr)
        sys.exit(1)


class Fleet:
    """The binary, in a folder of its own, with no variables but its own."""

    def __init__(self, binary, folder, variables):
        self.binary, self.folder = binary, folder
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "NO_COLOR": "1", **variables}

    def write(self, spec):
        with open(os.path.join(self.folder, "fleet.yaml"), "w") as file:
            file.write(spec)

    def start(self, *args):
        out = subprocess.DEVNULL
        return subprocess.Popen(
            [self.binary, *args], cwd=self.folder, env=self.env, stdout=out, stderr=out
        )

    def run(self, *args, expect=(0,)):
        done = subprocess.run(
            [self.binary, *args], cwd=self.folder, env=self.env, capture_output=True, text=True
        )
        words = f"fleet {' '.join(args)}: exit {done.returncode}"
        check(done.returncode in expect, f"{words}\n{done.stdout}\n{done.stderr}")
        print(words, file=sys.stderr, flush=True)
        return done

    def json(self, *args, expect=(0,)):
        return json.loads(self.run(*args, "-o", "json", expect=expect).stdout)
