"""One fleet in two accounts, each looked at with its own role."""

import argparse

import boto3

from common import LIVE, Fleet, check

REGION = "us-east-1"
ACCOUNTS = ["111122223333", "444455556666"]
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: two-accounts }
spec:
  capacity: { unit: instances, target: 10, base: { onDemand: 100% } }
  instances: { types: [m5.large] }
  placement:
    strategy: diversified
    clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az4], accounts: ["111122223333", "444455556666"] }]
    spread: { maxSharePerRegion: 50% }
"""


def client(moto, service, **keys):
    return boto3.client(service, endpoint_url=moto, region_name=REGION, **keys)


def live(moto, account):
    sts = client(moto, "sts", aws_access_key_id="test", aws_secret_access_key="test")
    role = f"arn:aws:iam::{account}:role/fleet"
    keys = sts.assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    ec2 = client(
        moto, "ec2", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"], aws_session_token=keys["SessionToken"],
    )
    found = ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": LIVE}])
    return [i for r in found["Reservations"] for i in r["Instances"]]


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    fleet.write(SPEC)
    fleet.run("apply", "--yes")
    counts = [len(live(args.moto, account)) for account in ACCOUNTS]
    check(counts == [5, 5], f"{counts}, not five in each")
    regions = {machine["region"] for machine in fleet.json("status")["fleets"][0]["machines"]}
    check(regions == {f"{REGION}@{account}" for account in ACCOUNTS}, f"{regions}")
    fleet.run("plan", "--detailed-exitcode")
    fleet.run("destroy", "--yes")
    left = sum(len(live(args.moto, account)) for account in ACCOUNTS)
    check(left == 0, f"{left} instances are left")
    print("10 machines, 5 in each of two accounts; none left")


if __name__ == "__main__":
    main()
