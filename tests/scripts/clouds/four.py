"""One fleet over AWS, GCP, Azure and Lambda: apply, lose a cloud, plan anew, find it again, converge,
destroy. Counts, tags and markets are read from outside, by the vendors' own clients."""

import argparse
import collections
import json
import os
import sys
import time
import urllib.request

import boto3
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.compute import ComputeManagementClient
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1

from binary import Fleet, check

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
NETWORK = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network"
AZURE_TOKEN, LAMBDA_KEY = "fake-token-0123456789", "secret_fake_0123456789"
PROJECT, GROUP = "test-project", "fleets"
AWS_REGIONS = ["us-east-1", "us-west-2"]

SPEC = f"""
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: four, labels: {{ team: ml }} }}
spec:
  capacity: {{ unit: gpus, target: %d, base: {{ onDemand: 50%% }}, burst: {{ spot: 100%% }} }}
  instances:
    types: [g5.xlarge, g4dn.xlarge, g2-standard-4, a2-highgpu-1g, Standard_NC24ads_A100_v4, gpu_8x_a100_80gb_sxm4]
  placement:
    clouds:
      - {{ provider: aws, regions: [us-east-1, us-west-2] }}
      - {{ provider: gcp, regions: [us-central1, us-east1] }}
      - {{ provider: azure, regions: [eastus, westus2] }}
      - {{ provider: lambda, regions: [us-east-1, us-west-1] }}
    spread: {{ maxSharePerProvider: %d%% }}
  budget: {{ hourlyUsd: 300 }}
  template:
    key: {{ azure: laptop, lambda: laptop }}
    subnets:
      azure:
        - {NETWORK}/virtualNetworks/net-eastus/subnets/default
        - {NETWORK}/virtualNetworks/net-westus2/subnets/default
"""

GPUS = {"gpu_8x_a100_80gb_sxm4": 8}

Machine = collections.namedtuple("Machine", "cloud id kind spot tags")


def gpus(machines):
    return sum(GPUS.get(machine.kind, 1) for machine in machines)


def by_cloud(machines):
    held = collections.defaultdict(list)
    for machine in machines:
        held[machine.cloud].append(machine)
    return {cloud: gpus(of) for cloud, of in sorted(held.items())}


class Amazon:
    def __init__(self, endpoint):
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self.regions = [
            boto3.client("ec2", endpoint_url=endpoint, region_name=name, **keys)
            for name in AWS_REGIONS
        ]

    def machines(self):
        live = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        for ec2 in self.regions:
            for page in ec2.get_paginator("describe_instances").paginate(Filters=live):
                for instance in (i for r in page["Reservations"] for i in r["Instances"]):
                    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
                    spot = instance.get("InstanceLifecycle") == "spot"
                    kind = instance["InstanceType"]
                    yield Machine("aws", instance["InstanceId"], kind, spot, tags)

    def take_back(self, machines):
        for ec2 in self.regions:
            here = {m.id for m in machines} & {
                i["InstanceId"]
                for r in ec2.describe_instances()["Reservations"]
                for i in r["Instances"]
            }
            if here:
                ec2.terminate_instances(InstanceIds=sorted(here))


class Google:
    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.client = compute_v1.InstancesClient(
            credentials=AnonymousCredentials(),
            transport="rest",
            client_options=ClientOptions(api_endpoint=endpoint),
        )

    def machines(self):
        for _, zone in self.client.aggregated_list(project=PROJECT):
            for one in zone.instances:
                spot = one.scheduling.provisioning_model == "SPOT"
                kind = one.machine_type.rpartition("/")[2]
                yield Machine("gcp", one.name, kind, spot, dict(one.labels))

    def faults(self, **faults):
        body = json.dumps(faults).encode()
        request = urllib.request.Request(f"{self.endpoint}/fake/faults", data=body, method="POST")
        urllib.request.urlopen(request).read()


class Bearer(SansIOHTTPPolicy):
    """The client's own policy sends no tokens over plain http, loopback or not."""

    def get_token(self, *scopes, **kwargs):
        return AccessToken(AZURE_TOKEN, 4102444800)

    def on_request(self, request):
        request.http_request.headers["Authorization"] = f"Bearer {AZURE_TOKEN}"


class Microsoft:
    def __init__(self, endpoint):
        self.client = ComputeManagementClient(
            Bearer(), SUBSCRIPTION, base_url=endpoint, authentication_policy=Bearer()
        )

    def machines(self):
        for vm in self.client.virtual_machines.list_all():
            kind = vm.hardware_profile.vm_size
            yield Machine("azure", vm.name, kind, vm.priority == "Spot", vm.tags or {})


class Lambda:
    """Lambda has no client of its own: its documented call."""

    def __init__(self, endpoint):
        self.request = urllib.request.Request(
            f"{endpoint}/api/v1/instances", headers={"Authorization": f"Bearer {LAMBDA_KEY}"}
        )

    def machines(self):
        # One call a second is all that it takes, from everybody.
        time.sleep(1.2)
        with urllib.request.urlopen(self.request) as answer:
            for one in json.load(answer)["data"]:
                if one["status"] in ("terminating", "terminated"):
                    continue
                tags = {tag["key"]: tag["value"] for tag in one.get("tags", [])}
                yield Machine("lambda", one["id"], one["instance_type"]["name"], False, tags)


def variables(args):
    """What the binary needs to know of its clouds."""
    return {
        "AWS_ENDPOINT_URL": args.aws,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "FLEET_GCP_ENDPOINT": args.gcp,
        "FLEET_GCP_PROJECT": PROJECT,
        "FLEET_AZURE_ENDPOINT": args.azure,
        "FLEET_AZURE_PRICES_ENDPOINT": args.azure,
        "FLEET_AZURE_TOKEN": AZURE_TOKEN,
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "FLEET_AZURE_RESOURCE_GROUP": GROUP,
        "LAMBDA_CLOUD_ENDPOINT": getattr(args, "lambda"),
        "LAMBDA_API_KEY": LAMBDA_KEY,
    }


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--aws", "--moto", "--gcp", "--azure", "--lambda"):
        args.add_argument(name, required=True)
    args.add_argument("--only-look", action="store_true", help="run what changes nothing, and end")
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, variables(args))
    if args.only_look:
        fleet.write(SPEC % (64, 25))
        create = fleet.json("plan", "--out", "plan.json")["summary"]["create"]
        check(create > 0, "nothing is planned")
        for command in ("status", "explain", "sweep"):
            fleet.run(command)
        print(f"four clouds: {create} launches planned")
        return
    amazon, google = Amazon(args.moto), Google(args.gcp)
    clouds = [amazon, google, Microsoft(args.azure), Lambda(getattr(args, "lambda"))]

    def machines(but=()):
        return [m for cloud in clouds if cloud not in but for m in cloud.machines()]

    fleet.write(SPEC % (64, 25))
    fleet.run("apply", "--yes")
    first = machines()
    check(by_cloud(first) == {"aws": 16, "azure": 16, "gcp": 16, "lambda": 16}, by_cloud(first))
    check(gpus(m for m in first if m.spot) == 32, f"spot: {by_cloud(m for m in first if m.spot)}")
    owners = {m.tags.get("fleet:uid") or m.tags.get("fleet-uid") for m in first}
    check(len(owners) == 1 and None not in owners, f"owners: {owners}")
    check(all(m.tags.get("team") == "ml" for m in first), "labels are not on every machine")
    fleet.run("plan", "--detailed-exitcode")

    # A cloud is lost, and so are two spot machines in another; more is wanted meanwhile.
    of_google = sorted(m.id for m in first if m.cloud == "gcp")
    taken = [m for m in first if m.cloud == "aws"][:2]
    google.faults(outage=True)
    amazon.take_back(taken)
    fleet.write(SPEC % (72, 40))
    plan = fleet.json("plan")
    text = json.dumps(plan["fleets"][0]["steps"])
    check("gcp/" not in text, f"the plan touches a cloud that does not answer: {text}")
    gaps = {(gap["provider"], gap["region"]) for gap in plan["fleets"][0]["gaps"]}
    check(gaps == {("gcp", "us-central1"), ("gcp", "us-east1")}, f"gaps: {gaps}")
    # Done as far as it goes, and it says so.
    fleet.run("apply", "--yes", expect=(3,))
    rest = machines(but=[google])
    check(gpus(rest) == 72 - 16, f"beside the lost cloud: {by_cloud(rest)}")
    check(not {m.id for m in taken} & {m.id for m in rest}, "what was taken back is there")

    # It answers again, and nothing in it was touched.
    google.faults()
    again = machines()
    found = sorted(m.id for m in again if m.cloud == "gcp")
    check(found == of_google, f"changed in the lost cloud: {set(found) ^ set(of_google)}")
    fleet.run("apply", "--yes")
    fleet.run("plan", "--detailed-exitcode")
    settled = machines()
    check(gpus(settled) == 72, f"settled: {by_cloud(settled)}")

    fleet.run("destroy", "--yes")
    left = machines()
    check(not left, f"left: {by_cloud(left)}")
    print(f"four clouds: {by_cloud(first)} gpus, half of them spot; without gcp {by_cloud(rest)}; "
          f"settled {by_cloud(settled)}; none left")


if __name__ == "__main__":
    main()
