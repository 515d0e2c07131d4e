"""An apply through a storm of throttling: what was asked for comes, and little more is asked."""

import argparse

from common import Fleet, Region, check

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: storm }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 100%% } }
  instances: { types: [m5.large, c5.large, r5.large, m5.xlarge, c5.xlarge, r5.xlarge] }
  placement:
    strategy: diversified
    clouds: [{ provider: aws, regions: [us-east-1, us-west-2], zones: ["use1-az?", "usw2-az?"] }]
    spread: { maxSharePerPool: 3%% }
  budget: { hourlyUsd: 1000 }
"""


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args.add_argument("--target", type=int, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    fleet.write(SPEC % args.target)
    fleet.run("apply", "--yes")
    live = sum(len(Region(args.moto, name).live()) for name in ("us-east-1", "us-west-2"))
    check(live == args.target, f"{live} instances, not {args.target}")
    print(f"{live} machines")


if __name__ == "__main__":
    main()
