"""Another template for every machine: at every moment inside the surge and the budget."""

import argparse
import os

from common import Fleet, Region, Watch, check

REGION = "us-east-1"
TARGET, SURGE = 12, 1
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: change }
spec:
  capacity: { unit: instances, target: 12, base: { onDemand: 100%% } }
  instances: { types: [m5.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az1, use1-az4] }] }
  budget: { hourlyUsd: %.4f }
  template: { userData: "#!/bin/sh\\necho %s\\n" }
"""


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    region = Region(args.moto, REGION)

    def live():
        return {instance["InstanceId"] for instance in region.live()}

    # How many machines the budget has room for: many, one more than the target, not one more.
    for room in (100, TARGET + 1, TARGET):
        folder = os.path.join(args.dir, str(room))
        os.makedirs(folder)
        fleet = Fleet(args.fleet, folder, args.endpoint)
        fleet.write(SPEC % (100, "one"))
        # With its address: budgets count what comes beside a machine.
        plan = fleet.json("plan")["fleets"][0]
        price = plan["cost"]["hourlyAfterUsd"] / plan["summary"]["create"]
        # A cent beside it: budgets are no closer than that.
        budget = room * price + 0.01
        fleet.write(SPEC % (budget, "one"))
        with Watch(args.moto, REGION) as watch:
            fleet.run("apply", "--yes")
        first = live()
        check(len(first) == watch.most == TARGET, f"{len(first)}, at most {watch.most} machines")

        fleet.write(SPEC % (budget, "two"))
        most = min(TARGET + SURGE, room)
        with Watch(args.moto, REGION) as watch:
            if room == TARGET:
                # No room for a successor: nothing goes before somebody says that one may be missing.
                fleet.run("apply", "--yes", expect=(3,))
                check(live() == first, "nothing is touched")
                fleet.write(SPEC % (budget, "two") + "  updates: { maxUnavailable: 1 }\n")
            fleet.run("apply", "--yes")
        check(watch.most <= most, f"room for {room}: {watch.most} machines stood at once")
        check(not first & live(), f"room for {room}: {len(first & live())} old ones are left")
        check(len(live()) == TARGET, f"{len(live())} machines, not {TARGET}")
        fleet.run("plan", "--detailed-exitcode")
        fleet.run("destroy", "--yes")
        check(not live(), f"{len(live())} machines are left")
        print(f"room for {room} (${budget:.3f}/h): {TARGET} replaced, at most {watch.most} at once in "
              f"{watch.looks} looks; none left")


if __name__ == "__main__":
    main()
