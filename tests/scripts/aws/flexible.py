"""A fleet whose launches leave EC2 the choice of pools, one of which is full: applied, looked at
from outside, planned again, ended with everything that was made for it."""

import argparse

from common import Fleet, Region, check

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: any, labels: { team: shop } }
spec:
  capacity: { unit: instances, target: 24, base: { onDemand: 12 }, burst: { spot: 100% } }
  instances: { types: [m5.large, c5.large, r5.large] }
  placement:
    fulfilment: flexible
    clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az1, use1-az4] }]
    spread: { maxSharePerPool: 20% }
  budget: { hourlyUsd: 100 }
  template:
    tags: { owner: tests }
"""


def templates(region):
    return region.ec2.describe_launch_templates()["LaunchTemplates"]


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto", "--full"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    region = Region(args.moto, "us-east-1")
    fleet.write(SPEC)

    steps = fleet.json("plan")["fleets"][0]["steps"]
    check(len(steps) == 2, f"{len(steps)} requests for two markets")
    check(all(len(step["others"]) > 1 for step in steps), f"no choice: {steps}")
    text = fleet.run("plan").stdout
    check("from any of" in text, text)

    fleet.run("apply", "--yes")
    told = {machine["id"]: machine for machine in fleet.json("status")["fleets"][0]["machines"]}
    seen = {instance["InstanceId"]: instance for instance in region.live()}
    check(len(seen) == 24, f"{len(seen)} instances, not 24")
    check(told.keys() == seen.keys(), "status and EC2 name different instances")
    for id, instance in seen.items():
        machine, tags = told[id], instance["tags"]
        market = "spot" if instance.get("InstanceLifecycle") == "spot" else "on-demand"
        zone = region.zone_id[instance["Placement"]["AvailabilityZone"]]
        check(machine["zone"] == zone, f"{id}: zone {machine['zone']} is {zone}")
        check(machine["type"] == instance["InstanceType"], f"{id}: type {machine['type']}")
        check(machine["market"] == market, f"{id}: market {machine['market']} is {market}")
        check(f"{zone}/{machine['type']}" != args.full, f"{id} stands where nothing is left")
        own = tags["fleet:slot"]
        check(machine["slot"] in (own, own.rpartition(".")[0]), f"{id}: {machine['slot']} is {own}")
        check(tags["fleet:by"] == "fleet" and tags["fleet:name"] == "any", f"{id}: {tags}")
        check(tags["team"] == "shop" and tags["owner"] == "tests", f"{id}: {tags}")
    slots = {instance["tags"]["fleet:slot"] for instance in seen.values()}
    check(len(slots) == 24, f"{len(slots)} slots for 24 machines")
    spot = sum(1 for instance in seen.values() if instance.get("InstanceLifecycle") == "spot")
    check(spot == 12, f"{spot} spot machines, not 12")

    # One for each market: spot requests are tagged by a line that an on-demand launch refuses.
    made = templates(region)
    check(len(made) == 2, f"{len(made)} launch templates for one content in two markets")
    for one in made:
        version = region.ec2.describe_launch_template_versions(
            LaunchTemplateName=one["LaunchTemplateName"]
        )["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        check(version["MetadataOptions"]["HttpTokens"] == "required", f"IMDSv1: {version}")
        check(version["BlockDeviceMappings"][0]["Ebs"]["Encrypted"], f"not encrypted: {version}")
        kinds = {spec["ResourceType"] for spec in version["TagSpecifications"]}
        check("volume" in kinds, f"disks without an owner: {version}")

    fleet.run("plan", "--detailed-exitcode")
    history = fleet.run("history").stdout
    check("InsufficientInstanceCapacity" in history, history)
    fleet.run("destroy", "--yes")
    check(not region.live(), f"{len(region.live())} instances are left")
    check(not templates(region), f"{templates(region)} are left")
    pools = {(machine["zone"], machine["type"], machine["market"]) for machine in told.values()}
    print(f"24 machines, {spot} spot, from {len(pools)} pools around a full one; none left")


if __name__ == "__main__":
    main()
