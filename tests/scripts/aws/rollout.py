"""Another template for 60 machines: a canary that fails, and nothing else is touched; then one that does
not. EC2 is looked at from outside all the time: never fewer ready than allowed, never more than the surge."""

import argparse
import os
import threading

from common import Fleet, Region, check

REGION = "us-east-1"
TARGET, SURGE = 60, 6
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: rollout }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 100%% } }
  instances: { types: [m5.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az4] }] }
  template: { key: %s }
  health:
    command: [sh, -c, 'test ! -e good || grep -qx "$FLEET_MACHINE" good']
    readyWithin: 15s
    unhealthyAfter: 0s
  updates: { canary: 1, maxSurge: 10%%, maxUnavailable: 0 }
"""


class Samples:
    """The machines of a region, again and again: how many are ready, and how many stand."""

    def __init__(self, moto, bad):
        self.region, self.bad = Region(moto, REGION), bad
        self.least, self.most, self.looks = 10**6, 0, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.is_set():
            live = [i for i in self.region.live() if i["State"]["Name"] != "shutting-down"]
            running = [i for i in live if i["State"]["Name"] == "running"]
            ready = [i for i in running if not self.bad or i["InstanceId"] in self.bad]
            self.least, self.most = min(self.least, len(ready)), max(self.most, len(live))
            self.looks += 1
            self.over.wait(0.2)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet, region = Fleet(args.fleet, args.dir, args.endpoint), Region(args.moto, REGION)
    for key in ("one", "two", "three"):
        region.ec2.create_key_pair(KeyName=key)

    def live():
        return {instance["InstanceId"]: instance["KeyName"] for instance in region.live()}

    fleet.write(SPEC % (TARGET, "one"))
    fleet.run("apply", "--yes")
    fleet.run("apply", "--yes")
    first = live()
    check(len(first) == TARGET and set(first.values()) == {"one"}, f"{first}")

    # Only the machines of now pass their check: the canary never does.
    good = os.path.join(args.dir, "good")
    with open(good, "w") as file:
        file.writelines(f"{id}\n" for id in first)
    fleet.write(SPEC % (TARGET, "two"))
    with Samples(args.moto, set(first)) as failing:
        said = fleet.run("apply", "--yes", expect=(3,))
    check("new machine failed" in said.stdout + said.stderr, said.stdout + said.stderr)
    check(live() == first, "a canary that fails leaves everything as it was")
    check(failing.least == TARGET, f"{failing.least} ready")
    check(failing.most == TARGET + 1, f"{failing.most} stood: one canary")

    # Another template, and a check that passes.
    os.remove(good)
    fleet.write(SPEC % (TARGET, "three"))
    with Samples(args.moto, None) as passing:
        said = fleet.run("apply", "--yes").stdout
    check("60 launched, 60 destroyed" in said, said)
    last = live()
    check(len(last) == TARGET and set(last.values()) == {"three"}, f"{last}")
    check(not set(first) & set(last), "all are new")
    check(passing.least >= TARGET, f"{passing.least} ready at least")
    check(passing.most <= TARGET + SURGE, f"{passing.most} stood at most")
    fleet.run("plan", "--detailed-exitcode")

    # And back, with one command and the same spec.
    fleet.run("rollout", "undo", "rollout")
    said = fleet.run("apply", "--yes").stdout
    check(set(live().values()) == {"one"}, f"{set(live().values())}")
    fleet.run("destroy", "--yes")
    check(not region.live(), "machines are left")
    print(
        f"canary failed: {failing.looks} looks, {failing.least} ready at least, {failing.most} stood at most; "
        f"rollout: {passing.looks} looks, {passing.least} ready at least, {passing.most} stood at most; undone"
    )


if __name__ == "__main__":
    main()
