"""A thousand machines on a server that enforces EC2's rates."""

import argparse
import time

from common import Fleet, Region, check

# More than a hundred pools of ten machines or fewer: as many launches in one region.
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: thousand }
spec:
  capacity: { unit: instances, target: 1000, base: { onDemand: 100% } }
  instances: { families: [m5, c5, r5, m6i, c6i, r6i], vcpus: { max: 16 } }
  placement:
    strategy: diversified
    clouds: [{ provider: aws, regions: [us-east-1], zones: ["use1-az?"] }]
    spread: { maxSharePerPool: 1% }
  budget: { hourlyUsd: 1000 }
"""


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    fleet.write(SPEC)
    start = time.monotonic()
    fleet.run("apply", "--yes")
    took = time.monotonic() - start
    live = len(Region(args.moto, "us-east-1").live())
    check(live == 1000, f"{live} instances, not 1000")
    print(f"1,000 machines, apply took {took:.1f} s in all")


if __name__ == "__main__":
    main()
