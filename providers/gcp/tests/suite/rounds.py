"""Kill -9 in the middle of an apply, resume, and look from outside with Google's own client: no
duplicates, no orphans, no disks left behind."""

import argparse
import collections
import os
import random
import sys
import time

from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../tests/scripts/clouds"))
from binary import Fleet, check  # noqa: E402
from killing import kill  # noqa: E402

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: rounds-%d, labels: { team: shop } }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 30%% }, burst: { spot: 100%% } }
  instances: { types: [n2-standard-4, e2-standard-4] }
  placement:
    clouds: [{ provider: gcp, regions: [us-central1, us-east1, us-west1] }]
    spread: { maxSharePerPool: 20%% }
  budget: { hourlyUsd: 100 }
"""

PROJECT = "test-project"
MOST = 24
# Fewer could not be spread: one machine of four is more than a fifth.
FEWEST = 5


class Google:
    """The fake, as Google's own client sees it."""

    def __init__(self, endpoint):
        options = {
            "credentials": AnonymousCredentials(),
            "transport": "rest",
            "client_options": ClientOptions(api_endpoint=endpoint),
        }
        self.instances = compute_v1.InstancesClient(**options)
        self.disks = compute_v1.DisksClient(**options)

    def live(self):
        scopes = self.instances.aggregated_list(project=PROJECT)
        return [machine for _, items in scopes for machine in items.instances]

    def disk_count(self):
        return sum(len(items.disks) for _, items in self.disks.aggregated_list(project=PROJECT))


def slot(machine):
    """The slot of a machine, worked out from name and labels as docs/gcp.md describes."""
    labels, part = machine.labels, 1
    text = labels["fleet-slots"]
    while f"fleet-slots-{part}" in labels:
        text += labels[f"fleet-slots-{part}"]
        part += 1
    words, slots = text.split("_"), []
    for name, generation in zip(words[::2], words[1::2]):
        generation, _, count = generation.partition("x")
        group, _, ordinal = name.rpartition("-")
        slots += [f"{group}-{int(ordinal) + step}" for step in range(int(count or 1))]
    return slots[int(machine.name.rpartition("-")[2])]


def judge(google, target, turn):
    """At every time: one machine per slot. At rest: as many as asked for, and a disk for each."""
    live = [machine for machine in google.live() if machine.status != "STOPPING"]
    filled = collections.Counter(slot(machine) for machine in live)
    twice = {name: n for name, n in filled.items() if n > 1}
    check(not twice, f"round {turn}: slots filled twice: {twice}")
    if target is not None:
        check(len(live) == target, f"round {turn}: {len(live)} machines, not {target}")
    return live


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint"):
        args.add_argument(name, required=True)
    args.add_argument("--rounds", type=int, default=100)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--longest", type=float, default=5.0, help="latest kill, in seconds")
    args = args.parse_args()
    chance = random.Random(args.seed)
    variables = {"FLEET_GCP_ENDPOINT": args.endpoint, "FLEET_GCP_PROJECT": PROJECT}
    fleet = Fleet(args.fleet, args.dir, variables)
    google = Google(args.endpoint)
    killed = amid = target = cycle = 0
    for turn in range(args.rounds):
        # Up in one or two goes, then down, so that launches and ends are both cut short.
        before = target
        down = target == MOST or (target > 0 and chance.random() < 0.4)
        target = 0 if down else chance.randint(max(target + 1, FEWEST), MOST)
        fleet.write(SPEC % (cycle, max(target, FEWEST)))
        command = ["destroy", "--yes"] if down else ["apply", "--yes"]
        process = fleet.start(*command)
        was_killed, was_amid = kill(process, fleet.folder, chance, args.longest)
        killed, amid = killed + was_killed, amid + was_amid
        judge(google, None, turn)
        fleet.run(*command)
        time.sleep(0.3)
        live = judge(google, target, turn)
        disks = google.disk_count()
        check(disks == len(live), f"round {turn}: {disks} disks for {len(live)} machines")
        print(f"round {turn}: {before} -> {target}", file=sys.stderr, flush=True)
        if down:
            # Google lists no machine that is gone, and of machines this young absence proves
            # nothing to the engine: what comes next is another fleet.
            cycle += 1
            fleet.folder = os.path.join(args.dir, str(cycle))
            os.mkdir(fleet.folder)
            continue
        fleet.run("plan", "--detailed-exitcode")
        told = fleet.json("status")["fleets"][0]["machines"]
        told = {machine["id"] for machine in told if machine["state"] != "terminated"}
        seen = {f"{machine.zone.rpartition('/')[2]}/{machine.id}" for machine in live}
        check(told == seen, f"round {turn}: status and Google differ by {told ^ seen}")
    if target:
        fleet.run("destroy", "--yes")
    time.sleep(0.3)
    left = len(google.live()), google.disk_count()
    check(left == (0, 0), f"{left[0]} machines and {left[1]} disks are left")
    print(f"{args.rounds} rounds, {killed} killed, {amid} of them amid changes: "
          "0 duplicates, 0 orphans, 0 leaked disks")


if __name__ == "__main__":
    main()
