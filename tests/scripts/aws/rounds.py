"""Kill -9 in the middle of an apply, resume, and look from outside: no duplicates, no orphans."""

import argparse
import collections
import random
import sys

from common import LIVE, REGIONS, Fleet, Region, check, slots
from killing import kill

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: rounds }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 30%% }, burst: { spot: 100%% } }
  instances: { types: [m5.large, c5.large] }
  placement:
    clouds:
      - { provider: aws, regions: [us-east-1, us-west-2, eu-west-1], zones: ["use1-az?", "usw2-az?", "euw1-az?"] }
    spread: { maxSharePerPool: 20%% }
    fulfilment: %s
  budget: { hourlyUsd: 100 }
"""

MOST = 24
# Fewer could not be spread: one machine of four is more than a fifth.
FEWEST = 5


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args.add_argument("--rounds", type=int, default=100)
    args.add_argument("--fulfilment", default="exact")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--longest", type=float, default=6.0, help="latest kill, in seconds")
    args = args.parse_args()
    chance = random.Random(args.seed)
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    regions = [Region(args.moto, name) for name in REGIONS]
    killed = amid = target = 0
    for turn in range(args.rounds):
        # Up in one or two goes, then down, so that launches and ends are both cut short.
        before = target
        down = target == MOST or (target > 0 and chance.random() < 0.4)
        target = 0 if down else chance.randint(max(target + 1, FEWEST), MOST)
        fleet.write(SPEC % (max(target, FEWEST), args.fulfilment))
        command = ["destroy", "--yes"] if down else ["apply", "--yes"]
        process = fleet.start(*command)
        was_killed, was_amid = kill(process, fleet.folder, chance, args.longest)
        killed, amid = killed + was_killed, amid + was_amid
        judge(regions, None, turn)
        fleet.run(*command)
        judge(regions, target, turn)
        told = fleet.json("status")["fleets"][0]["machines"]
        told = {machine["id"] for machine in told if machine["state"] != "terminated"}
        seen = {i["InstanceId"] for region in regions for i in region.live()}
        print(f"round {turn}: {before} -> {target}", file=sys.stderr, flush=True)
        check(told == seen, f"round {turn}: status and EC2 differ by {told ^ seen}")
    fleet.run("destroy", "--yes")
    left = count(regions)
    check(left == 0, f"{left} instances are left")
    print(f"{args.rounds} rounds, {killed} killed, {amid} of them amid changes: "
          "0 duplicates, 0 orphans")


def count(regions):
    return sum(len(region.live()) for region in regions)


def judge(regions, target, turn):
    """At every time: one machine per slot. At rest: as many as asked for."""
    filled = collections.Counter()
    for region in regions:
        every = region.instances()
        live = {i["InstanceId"] for i in every if i["State"]["Name"] in LIVE}
        named = slots(every)
        check(live <= named.keys(), f"round {turn}: {live - named.keys()} fill no slot")
        filled.update(named[id].rpartition(".")[0] for id in live)
    twice = {name: n for name, n in filled.items() if n > 1}
    check(not twice, f"round {turn}: slots filled twice: {twice}")
    if target is not None:
        live = sum(filled.values())
        check(live == target, f"round {turn}: {live} machines, not {target}")


if __name__ == "__main__":
    main()
