"""`fleet doctor` and `fleet catalog refresh` against moto, through the whole command."""

import argparse
import json

from common import Fleet, Region, check

SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web }
spec:
  capacity: { unit: instances, target: 4, base: { onDemand: 2 }, burst: { spot: 100% } }
  instances: { types: [m5.large, c5.large] }
  placement:
    clouds: [ { provider: aws, regions: [us-east-1, eu-west-1], zones: ["use1-az?", "euw1-az?"] } ]
"""

MISSING_IMAGE = SPEC + "  template: { image: { aws: ami-00000000000000000 } }\n"


def findings(fleet, *args, expect=(0,)):
    told = fleet.json("doctor", *args, expect=expect)
    check(told["formatVersion"] == 1, told)
    found = {}
    for finding in told["fleets"][0]["accounts"][0]["findings"]:
        found.setdefault(finding["subject"], []).append(finding)
    return told, found


def doctor(fleet):
    told, found = findings(fleet)
    check(told["ok"], told)

    def verdict(subject, expect, words=""):
        check(subject in found, f"{subject} was not looked at: {sorted(found)}")
        one = found[subject][0]
        check(one["verdict"] == expect and words in one["words"], f"{subject}: {one}")

    verdict("identity", "good", "123456789012")
    verdict("clock", "good")
    for region in ("us-east-1", "eu-west-1"):
        verdict(region, "good", "zones open")
    both = "eu-west-1, us-east-1"
    verdict("ec2:RunInstances, on-demand", "good", both)
    verdict("ec2:RunInstances, spot", "good", both)
    verdict("ec2:TerminateInstances", "good", both)
    verdict("ec2:DescribeInstances", "good", both)
    verdict("image", "good", "ami-")
    # What moto does not have is not known, and no reason to fail.
    verdict("ec2:GetSpotPlacementScores", "doubtful")
    text = fleet.run("doctor").stdout
    check("✓" in text and "nothing that stops an apply" in text, text)

    policy = json.loads(fleet.run("doctor", "--print-policy").stdout)
    statements = {one["Sid"]: one for one in policy["Statement"]}
    check("HandOverTheRole" not in statements, "a role is handed over that the spec does not name")
    regions = statements["Look"]["Condition"]["StringEquals"]["aws:RequestedRegion"]
    check(regions == ["eu-west-1", "us-east-1"], regions)
    check("123456789012" in statements["EndWhatIsOurs"]["Resource"], statements)

    fleet.write(MISSING_IMAGE)
    told, found = findings(fleet, expect=(1,))
    check(not told["ok"] and found["image"][0]["verdict"] == "bad", found["image"])
    check(found["ec2:DescribeInstances"][0]["verdict"] == "good", "one failure hides the others")
    fleet.write(SPEC)
    return len(found)


def refused(fleet, action):
    """The proxy refuses one action: it is named, and everything else is still looked at."""
    told, found = findings(fleet, expect=(1,))
    bad = [one for many in found.values() for one in many if one["verdict"] == "bad"]
    check(bad and all(f"{action} is missing" in one["words"] for one in bad), bad)
    check(all("--print-policy" in one["hint"] for one in bad), bad)
    check(found["identity"][0]["verdict"] == "good", found["identity"])
    check(fleet.run("doctor", "--print-policy").stdout.startswith("{"), "no policy")


def refresh(fleet, region):
    told = fleet.json("catalog", "refresh", "--provider", "aws", "--region", region.name)
    check(told["regions"] == [region.name], told)
    # moto has no price list: the prices of the catalog stand, and nothing is free.
    check(told["onDemandKept"] > 500, told)
    sold = region.ec2.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone-id"
    )
    sold = sold.build_full_result()["InstanceTypeOfferings"]
    check(told["offers"] == len(sold), f"{told['offers']} of {len(sold)}")
    types = {one["InstanceType"] for one in sold}
    listed = fleet.json("catalog", "list", "--provider", "aws", "--region", region.name, "-n", "0")
    check({one["type"] for one in listed["offers"]} == types, "other types are listed")
    check("aws refreshed" in listed["source"], listed["source"])
    for one in listed["offers"]:
        for price in (one["onDemandHourlyUsd"], one["spotHourlyUsd"]):
            check(price is None or price["min"] > 0, f"{one['type']} is free")
    m5 = next(one for one in listed["offers"] if one["type"] == "m5.large")
    check(m5["onDemandHourlyUsd"]["min"] == 0.096, m5)
    spot = region.ec2.describe_spot_price_history(InstanceTypes=["m5.large"])["SpotPriceHistory"]
    prices = [float(one["SpotPrice"]) for one in spot]
    check(min(prices) <= m5["spotHourlyUsd"]["min"] <= max(prices), (m5, prices))
    p4de = next(one for one in listed["offers"] if one["type"] == "p4de.24xlarge")
    check(p4de["accelerators"]["name"] == "A100-80GB", p4de)
    # A type that both know is the same machine in both.
    embedded = fleet.json("--catalog", "embedded", "catalog", "list", "--provider", "aws", "-n", "0")
    now = {one["type"]: one for one in listed["offers"]}
    same = [one for one in embedded["offers"] if one["type"] in now]
    check(len(same) > 200, f"only {len(same)} types are in both")
    for one in same:
        for fact in ("vcpus", "memoryMiB", "architecture", "accelerators"):
            other = now[one["type"]][fact]
            check(one[fact] == other, f"{one['type']}: {fact} {one[fact]} became {other}")
    elsewhere = fleet.json("catalog", "list", "--provider", "gcp", "-n", "0")
    check(len(elsewhere["offers"]) > 100, "another cloud's offers are gone")
    again = fleet.run("catalog", "refresh", "--provider", "aws", "--region", region.name)
    check("those of the catalog stand" in again.stderr, again.stderr)
    check("0 new, 0 gone" in again.stdout, again.stdout)
    fleet.run("catalog", "refresh", "--provider", "aws", "--region", "mars-*", expect=(1,))
    return told


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args.add_argument("--refused")
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    fleet.write(SPEC)
    if args.refused:
        refused(fleet, args.refused)
        print(f"{args.refused} refused and named")
        return
    subjects = doctor(fleet)
    told = refresh(fleet, Region(args.moto, "us-east-1"))
    print(
        f"{subjects} things looked at; {told['offers']} offers, {told['typesNew']} types new, "
        f"{told['typesChanged']} changed, {told['spotChanged']} spot prices changed"
    )


if __name__ == "__main__":
    main()
