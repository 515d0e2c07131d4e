"""Other labels in the spec: they reach the machines that run, and nothing is replaced."""

import argparse

from common import Fleet, Region, check

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: labels, labels: { %s } }
spec:
  capacity: { unit: instances, target: 3, base: { onDemand: 100%% } }
  instances: { types: [m5.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az4] }] }
  template: { tags: { aws: { %s } } }
"""


def users(tags):
    """The tags of a machine that are not ours."""
    tags = {tag["Key"]: tag["Value"] for tag in tags}
    check(sum(key.startswith("fleet:") for key in tags) >= 5, f"tags of ours are missing: {tags}")
    return {key: value for key, value in tags.items() if not key.startswith("fleet:")}


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    region = Region(args.moto, "us-east-1")
    fleet = Fleet(args.fleet, args.dir, args.endpoint)

    def carried():
        return [users(instance["Tags"]) for instance in region.live()]

    fleet.write(SPEC % ("team: shop, tier: one", "Name: first, cost: a"))
    fleet.run("apply", "--yes")
    want = {"Name": "first", "team": "shop", "tier": "one", "cost": "a"}
    check(carried() == [want] * 3, f"{carried()}")
    before = {instance["InstanceId"] for instance in region.live()}
    # Somebody else's tag is somebody else's.
    region.ec2.create_tags(Resources=list(before), Tags=[{"Key": "backup", "Value": "daily"}])

    fleet.write(SPEC % ("team: infra", "cost: b"))
    plan = fleet.run("plan", "--detailed-exitcode", expect=(2,)).stdout
    check("labels of 3 machines" in plan and "without tier" in plan, plan)
    said = fleet.run("apply", "--yes").stdout
    check("labels of 3 machines changed" in said, said)
    want = {"Name": "labels", "team": "infra", "cost": "b", "backup": "daily"}
    check(carried() == [want] * 3, f"{carried()}")
    check({instance["InstanceId"] for instance in region.live()} == before, "others stand there")
    fleet.run("plan", "--detailed-exitcode")
    fleet.run("destroy", "--yes")
    check(not region.live(), "machines are left")
    print("3 machines relabelled in place, none replaced; tags of ours and of others stayed; none left")


if __name__ == "__main__":
    main()
