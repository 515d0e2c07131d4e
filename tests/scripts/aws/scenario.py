"""A hundred machines in three regions: applied, looked at from outside, planned again, ended."""

import argparse

from common import REGIONS, Fleet, Region, check, slot

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: hundred, labels: { team: shop } }
spec:
  capacity: { unit: instances, target: 100, base: { onDemand: 40 }, burst: { spot: 100% } }
  instances: { types: [m5.large, c5.large, r5.large] }
  placement:
    strategy: price-capacity-optimized
    clouds:
      - { provider: aws, regions: [us-east-1, us-west-2, eu-west-1], zones: ["use1-az?", "usw2-az?", "euw1-az?"] }
    spread: { maxSharePerPool: 10%, maxSharePerRegion: 40% }
  budget: { hourlyUsd: 100 }
  template:
    disk: { aws: { sizeGiB: 20 } }
    tags: { owner: tests }
"""


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    regions = [Region(args.moto, name) for name in REGIONS]
    fleet.write(SPEC)

    fleet.run("apply", "--yes")
    told = {machine["id"]: machine for machine in fleet.json("status")["fleets"][0]["machines"]}
    seen = {}
    for region in regions:
        for instance in region.live():
            seen[instance["InstanceId"]] = (region, instance)
    check(len(seen) == 100, f"{len(seen)} instances, not 100")
    check(told.keys() == seen.keys(), "status and EC2 name different instances")
    for id, (region, instance) in seen.items():
        machine, tags = told[id], instance["tags"]
        market = "spot" if instance.get("InstanceLifecycle") == "spot" else "on-demand"
        zone = region.zone_id[instance["Placement"]["AvailabilityZone"]]
        check(machine["region"] == region.name, f"{id}: region {machine['region']}")
        check(machine["zone"] == zone, f"{id}: zone {machine['zone']} is {zone}")
        check(machine["type"] == instance["InstanceType"], f"{id}: type {machine['type']}")
        check(machine["market"] == market, f"{id}: market {machine['market']} is {market}")
        of_slot = slot(instance).rpartition(".")[0]
        check(machine["slot"] in (of_slot, slot(instance)), f"{id}: slot {machine['slot']} is {of_slot}")
        check(tags["fleet:name"] == "hundred", f"{id}: {tags}")
        check(tags["team"] == "shop" and tags["owner"] == "tests", f"{id}: {tags}")
        check(tags["fleet:token"] == instance["ClientToken"], f"{id}: token")
        check(instance["MetadataOptions"]["HttpTokens"] == "required", f"{id}: IMDSv1")
    slots = {slot(instance) for _, instance in seen.values()}
    check(len(slots) == 100, f"{len(slots)} slots for 100 machines")
    used = {region.name for region, _ in seen.values()}
    check(used == set(REGIONS), f"only {used} are used")
    spot = sum(1 for _, i in seen.values() if i.get("InstanceLifecycle") == "spot")
    check(spot == 60, f"{spot} spot machines, not 60")
    for region in regions:
        for volume in region.ec2.describe_volumes()["Volumes"]:
            tags = {tag["Key"] for tag in volume.get("Tags", [])}
            check(volume["Encrypted"], f"{volume['VolumeId']} is not encrypted")
            check(volume["Size"] == 20, f"{volume['VolumeId']} has {volume['Size']} GiB")
            check("fleet:uid" in tags, f"{volume['VolumeId']} has no owner")

    fleet.run("plan", "--detailed-exitcode")
    fleet.run("destroy", "--yes")
    left = sum(len(region.live()) for region in regions)
    check(left == 0, f"{left} instances are left")
    zones = {machine["zone"] for machine in told.values()}
    print(f"100 machines, {spot} spot, {len(used)} regions, {len(zones)} zones; none left")


if __name__ == "__main__":
    main()
