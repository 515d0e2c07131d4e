"""One pool says no in words of its own: the whole fleet stands elsewhere after the same apply."""

import argparse

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from common import Fleet, Region, check

REGION = "us-east-1"
TARGET = 12
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: refused }
spec:
  capacity: { unit: instances, target: 12, base: { onDemand: 50% }, burst: { spot: 100% } }
  instances: { types: [m5.large, c5.large] }
  placement:
    clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az1, use1-az4] }]
    spread: { maxSharePerPool: 50% }
  budget: { hourlyUsd: 100 }
"""


def probe(endpoint, name, kind):
    """What the pool answers to somebody else: its status and its code."""
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    once = Config(retries={"total_max_attempts": 1})
    ec2 = boto3.client("ec2", endpoint_url=endpoint, region_name=REGION, config=once, **keys)
    try:
        ec2.run_instances(
            ImageId="ami-12345678", InstanceType=kind, MinCount=1, MaxCount=1,
            ClientToken="probe", Placement={"AvailabilityZone": name},
        )
    except ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]
    return None


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto", "--pool", "--code"):
        args.add_argument(name, required=True)
    args.add_argument("--status", type=int, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    region = Region(args.moto, REGION)
    zone, _, kind = args.pool.partition("/")
    names = {id: name for name, id in region.zone_id.items()}
    said = probe(args.endpoint, names[zone], kind)
    check(said == (args.status, args.code), f"the pool says {said}")

    fleet.write(SPEC)
    planned = [step for step in fleet.json("plan")["fleets"][0]["steps"] if args.pool in step["pool"]]
    check(planned, "nothing is planned in the pool that refuses")
    fleet.run("apply", "--yes")
    live = region.live()
    check(len(live) == TARGET, f"{len(live)} machines, not {TARGET}")
    for one in live:
        stands = f"{region.zone_id[one['Placement']['AvailabilityZone']]}/{one['InstanceType']}"
        check(stands != args.pool, f"{one['InstanceId']} stands where nothing is to be had")
    history = fleet.run("history").stdout
    check(args.code in history, history)
    doubt = fleet.json("status")["fleets"][0]["inDoubt"]
    check(not doubt, f"in doubt: {doubt}")
    fleet.run("plan", "--detailed-exitcode")
    fleet.run("destroy", "--yes")
    check(not region.live(), f"{len(region.live())} machines are left")
    print(f"{args.status} {args.code} in {args.pool}: {len(planned)} launches refused, "
          f"{TARGET} machines elsewhere; none left")


if __name__ == "__main__":
    main()
