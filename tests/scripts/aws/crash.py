"""Killed amid launches, and then another spec: what nobody wants any more is not launched again."""

import argparse
import time

from common import Fleet, Region, Watch, allowance, check
from killing import amid

REGION = "us-east-1"
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: crash }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 100%% } }
  instances: { types: [m5.large] }
  placement:
    clouds: [{ provider: aws, regions: [us-east-1], zones: ["use1-az?"] }]
    spread: { maxSharePerPool: %d%% }
  budget: { hourlyUsd: %.2f }
"""
BEFORE, SURGE = 12, 1


def crash(fleet, region, lost):
    """Kills -9 when a launch is on record or carried out, and nobody knows how it went."""
    process = fleet.start("apply", "--yes")
    while process.poll() is None and not (amid(fleet.folder) and (lost or region.live())):
        time.sleep(0.005)
    if lost:
        time.sleep(0.2)
    check(process.poll() is None, "it was over before it could be killed")
    process.kill()
    process.wait()
    check(amid(fleet.folder), "no launch is in doubt")


def arrived(region):
    """How many machines there are once what was on its way has arrived: no more come for five seconds."""
    made, since = len(region.live()), time.monotonic()
    while time.monotonic() < since + 5:
        time.sleep(0.5)
        now = len(region.live())
        if now != made:
            made, since = now, time.monotonic()
    return made


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto", "--before"):
        args.add_argument(name, required=True)
    args.add_argument("--share", type=int, required=True, help="per cent of the fleet in one pool")
    args.add_argument("--target", type=int, required=True, help="what is wanted after the crash")
    args.add_argument("--budget", type=float, required=True, help="and for how much")
    args.add_argument("--wanted", type=int, required=True, help="what both come to")
    args.add_argument("--lost", action="store_true", help="no launch before the crash gets in")
    args = args.parse_args()
    region = Region(args.moto, REGION)
    fleet = Fleet(args.fleet, args.dir, args.before)
    fleet.write(SPEC % (BEFORE, args.share, 100))
    crash(fleet, region, args.lost)
    made = arrived(region)
    check((made == 0) == args.lost, f"{made} machines were made")

    fleet.env["AWS_ENDPOINT_URL"] = args.endpoint
    fleet.write(SPEC % (args.target, 100, args.budget))
    bound = max(made, args.wanted + SURGE)
    # It takes minutes, and a machine too many would stand for more than a second.
    with Watch(args.moto, REGION, every=0.25) as watch:
        held = fleet.run("apply", "--yes", expect=(0, 3))
        if number := allowance(held):
            held = fleet.run("apply", "--yes", "--allow-destroy", number, expect=(0, 3))
    check(watch.most <= bound, f"{watch.most} machines, no more than {bound} are wanted")
    stand = len(region.live())
    doubt = fleet.json("status")["fleets"][0]["inDoubt"]
    print(f"{BEFORE} at {args.share}% a pool killed with {made} made, then {args.target} for "
          f"${args.budget}/h: at most {watch.most} at once in {watch.looks} looks, {stand} in the end, "
          f"{len(doubt)} launches wait")
    if args.lost or args.budget > 1:
        check(stand <= args.wanted, f"{stand} machines stay, {args.wanted} are wanted")
    # What is in doubt keeps a destroy waiting for minutes.
    if not doubt:
        check(stand >= args.wanted, f"{stand} machines stay, {args.wanted} are wanted")
        fleet.run("destroy", "--yes")
        check(not region.live(), f"{len(region.live())} machines are left")


if __name__ == "__main__":
    main()
