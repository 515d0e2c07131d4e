"""Machines that somebody stops: the next apply replaces and ends them, and nothing is left."""

import argparse

from common import Fleet, Region, check

TARGET = 6
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: stopped }
spec:
  capacity: { unit: instances, target: 6, base: { onDemand: 100% } }
  instances: { types: [m5.large, c5.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az1, use1-az4] }] }
  budget: { hourlyUsd: 100 }
"""


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    region = Region(args.moto, "us-east-1")

    def live():
        """Stopped ones, too: their disks cost money."""
        return {instance["InstanceId"] for instance in region.live()}

    fleet.write(SPEC)
    fleet.run("apply", "--yes")
    first = live()
    check(len(first) == TARGET, f"{len(first)} machines, not {TARGET}")

    # One: an apply may end it without being told to.
    victim = sorted(first)[0]
    region.ec2.stop_instances(InstanceIds=[victim])
    check(victim in live(), "it still stands")
    planned = fleet.run("plan", "--detailed-exitcode", expect=(2,)).stdout
    check("shut down" in planned, planned)
    fleet.run("apply", "--yes")
    check(len(live()) == TARGET, f"{len(live())} machines, not {TARGET}")
    check(victim not in live(), f"{victim} is still there")
    check(len(first & live()) == TARGET - 1, "and nothing else was touched")
    fleet.run("plan", "--detailed-exitcode")

    # Three at once: all are replaced, and they go as fast as the destroy limit lets them.
    before = live()
    victims = sorted(before)[:3]
    region.ec2.stop_instances(InstanceIds=victims)
    fleet.run("apply", "--yes", expect=(0, 3))
    running = {i["InstanceId"] for i in region.live() if i["State"]["Name"] in ("pending", "running")}
    applies = 1
    while set(victims) & live() and applies < 6:
        fleet.run("apply", "--yes", expect=(0, 3))
        applies += 1
    check(not set(victims) & live(), f"after {applies} applies {set(victims) & live()} are there")
    check(len(live()) == TARGET, f"{len(live())} machines, not {TARGET}")
    fleet.run("plan", "--detailed-exitcode")

    # One that is stopped when the fleet goes.
    region.ec2.stop_instances(InstanceIds=[sorted(live())[0]])
    fleet.run("destroy", "--yes")
    check(not live(), f"{live()} are left")
    print(f"1 stopped: replaced and ended by 1 apply; 3 stopped: {len(running)} of {TARGET} run after "
          f"1 apply, all ended by {applies}; none left, nor one that was stopped at the end")


if __name__ == "__main__":
    main()
