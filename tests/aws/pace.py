"""A thousand machines on a server that enforces EC2's rates."""

import argparse
import time

from common import Fleet, Region, check

# A hundred pools of ten machines each: a hundred launches in one region.
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: thousand }
spec:
  capacity: { unit: instances, target: 1000, base: { onDemand: 100% } }
  instances:
    types: [m5.large, m5.xlarge, c5.large, c5.xlarge, r5.large, r5.xlarge, m5a.large, m5a.xlarge, c5a.large,
            c5a.xlarge, r5a.large, r5a.xlarge, m4.large, m4.xlarge, c4.large, c4.xlarge, r4.large, r4.xlarge,
            t3.large, t3.xlarge, t3a.large, t3a.xlarge, m6i.large, m6i.xlarge, c6i.large, c6i.xlarge,
            r6i.large, r6i.xlarge]
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
