"""Kill -9 in the middle of an apply, resume, and ask the fake cloud itself: no duplicates, no
orphans, no disk or interface without its machine."""

import argparse
import collections
import json
import os
import random
import sys
import time
import urllib.request

from binary import Fleet, check
from killing import kill

AZURE = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: rounds-%d, labels: { team: shop } }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 40%% }, burst: { spot: 100%% } }
  instances: { types: [Standard_D2s_v5, Standard_D4s_v5] }
  placement:
    clouds:
      - provider: azure
        regions: [eastus, westus2]
        accounts: [11111111-1111-1111-1111-111111111111, 22222222-2222-2222-2222-222222222222]
    spread: { maxSharePerPool: 60%% }
  budget: { hourlyUsd: 100 }
  template:
    key: { azure: laptop }
    userData: { azure: "#!/bin/sh" }
    subnets:
      azure:
        - /subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/net-eastus/subnets/default
        - /subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/net-westus2/subnets/default
"""

LAMBDA = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: rounds-%d, labels: { team: shop } }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 100%% } }
  instances: { types: [gpu_1x_a10, gpu_1x_gh200] }
  placement:
    clouds:
      - { provider: lambda, regions: [us-east-1, us-west-1] }
  budget: { hourlyUsd: 100 }
  template: { key: { lambda: laptop } }
"""

CLOUDS = {
    # Spec, fewest and most machines, children per machine, variables.
    "azure": (AZURE, 3, 12, 2, {
        "FLEET_AZURE_TOKEN": "fake-token-0123456789",
        "FLEET_AZURE_RESOURCE_GROUP": "fleets",
    }),
    "lambda": (LAMBDA, 1, 3, 0, {"LAMBDA_API_KEY": "secret_fake_0123456789"}),
}


# What goes wrong besides, until the kill.
TROUBLES = {
    "azure": [{}, {"answersLost": True}, {"answersBroken": True}, {"hiddenFor": 3}, {"throttled": True}],
    "lambda": [{}, {"answersLost": True}],
}


class Cloud:
    """The fake, asked directly."""

    def __init__(self, endpoint, children):
        self.endpoint = endpoint
        self.children = children

    def state(self):
        with urllib.request.urlopen(f"{self.endpoint}/fake/state") as answer:
            return json.load(answer)

    def faults(self, faults):
        body = json.dumps(faults).encode()
        request = urllib.request.Request(f"{self.endpoint}/fake/faults", data=body, method="PUT")
        urllib.request.urlopen(request).read()

    def live(self):
        return self.state()["live"]


def slot(machine):
    """The slot of a machine, from its tags."""
    tags = machine["tags"]
    if isinstance(tags, list):
        tags = {tag["key"]: tag["value"] for tag in tags}
    return tags["fleet:slot"].rpartition(".")[0]


def renew(fleet, folder, number):
    """Another fleet, for absence proves nothing of machines younger than five minutes."""
    fleet.folder = os.path.join(folder, str(number))
    os.makedirs(fleet.folder)


def is_going(machine):
    return machine.get("properties", {}).get("provisioningState") == "Deleting"


def judge(cloud, target, turn):
    """At every time: one machine per slot. At rest: as many as asked for, with their children."""
    state, going = cloud.state(), []
    for _ in range(60):
        going = [m for m in state["live"] if is_going(m)]
        if target is None or not going:
            break
        # A deletion that a killed run began goes on without it.
        time.sleep(0.25)
        state = cloud.state()
    staying = [m for m in state["live"] if m not in going]
    filled = collections.Counter(slot(machine) for machine in staying)
    twice = {name: n for name, n in filled.items() if n > 1}
    check(not twice, f"round {turn}: slots filled twice: {twice}")
    if target is not None:
        check(not going, f"round {turn}: {len(going)} machines are still going")
        check(len(staying) == target, f"round {turn}: {len(staying)} machines, not {target}")
        children = len(state.get("children", []))
        expect = cloud.children * target
        check(children == expect, f"round {turn}: {children} children, not {expect}")


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--cloud", "--endpoint"):
        args.add_argument(name, required=True)
    args.add_argument("--rounds", type=int, default=10)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--longest", type=float, default=4.0, help="latest kill, in seconds")
    args.add_argument("--amid", action="store_true", help="kill amid changes only")
    args = args.parse_args()
    chance = random.Random(args.seed)
    spec, fewest, most, children, variables = CLOUDS[args.cloud]
    cloud = Cloud(args.endpoint, children)
    endpoints = ("FLEET_AZURE_ENDPOINT", "FLEET_AZURE_PRICES_ENDPOINT", "LAMBDA_CLOUD_ENDPOINT")
    variables |= dict.fromkeys(endpoints, args.endpoint)
    fleet = Fleet(args.fleet, args.dir, variables)
    killed = amid = target = number = 0
    renew(fleet, args.dir, number)
    for turn in range(args.rounds):
        # Up in one or two goes, then down, so that launches and ends are both cut short.
        before = target
        last = turn == args.rounds - 1
        down = target == most or (target > 0 and (last or chance.random() < 0.4))
        target = 0 if down else chance.randint(max(target + 1, fewest), most)
        fleet.write(spec % (number, max(target, fewest)))
        command = ["destroy", "--yes"] if down else ["apply", "--yes"]
        cloud.faults({"latency": 60, **chance.choice(TROUBLES[args.cloud])})
        process = fleet.start(*command)
        was_killed, was_amid = kill(process, fleet.folder, chance, args.longest, args.amid)
        killed, amid = killed + was_killed, amid + was_amid
        judge(cloud, None, turn)
        cloud.faults({"latency": 60})
        fleet.run(*command)
        judge(cloud, target, turn)
        if down:
            number += 1
            renew(fleet, args.dir, number)
        else:
            fleet.run("plan", "--detailed-exitcode")
        print(f"round {turn}: {before} -> {target}", file=sys.stderr, flush=True)
    if target > 0:
        fleet.run("destroy", "--yes")
    judge(cloud, 0, args.rounds)
    print(f"{args.cloud}: {args.rounds} rounds, {killed} killed, {amid} of them amid changes: "
          "0 duplicates, 0 orphans, 0 children left")


if __name__ == "__main__":
    main()
