"""What the scripts share: the fleet binary, and EC2 as Amazon's own client sees it."""

import os
import re
import sys
import threading

import boto3

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../clouds"))
import binary  # noqa: E402
from binary import check  # noqa: E402,F401

REGIONS = ["us-east-1", "us-west-2", "eu-west-1"]
LIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]


class Fleet(binary.Fleet):
    """The binary, with Amazon's variables."""

    def __init__(self, path, folder, endpoint):
        super().__init__(path, folder, {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
        })


class Region:
    """One region of moto, asked directly and not through the proxy."""

    def __init__(self, moto, name):
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self.name = name
        self.ec2 = boto3.client("ec2", endpoint_url=moto, region_name=name, **keys)
        zones = self.ec2.describe_availability_zones()["AvailabilityZones"]
        self.zone_id = {zone["ZoneName"]: zone["ZoneId"] for zone in zones}

    def live(self):
        """Every live instance, whoever made it."""
        return self.instances(Filters=[{"Name": "instance-state-name", "Values": LIVE}])

    def instances(self, **narrowed):
        """Instances, also those that have ended."""
        pages = self.ec2.get_paginator("describe_instances").paginate(**narrowed)
        found = []
        for page in pages:
            for reservation in page["Reservations"]:
                found += reservation["Instances"]
        for instance in found:
            instance["tags"] = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
        return found


class Watch:
    """Counts the live machines of a region for as long as it lasts, every so many seconds. The most
    that were seen at once."""

    def __init__(self, moto, name, every=0.05):
        self.region = Region(moto, name)
        self.every = every
        self.most = self.looks = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.is_set():
            self.most = max(self.most, len(self.region.live()))
            self.looks += 1
            self.over.wait(self.every)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def allowance(done):
    """The number that the last hint says is to be allowed; `None` if nothing is held for it."""
    said = re.findall(r"allow.*--allow-destroy (\d+)", done.stdout + done.stderr)
    return said[-1] if said else None


def slot(instance):
    """The slot of an instance of RunInstances, worked out from its tags as docs/aws.md describes."""
    return launch_slots(instance)[instance["AmiLaunchIndex"]]


def slots(instances):
    """Slots by instance id, those of CreateFleet as decision 0013 describes. Needs all of a launch."""
    found, waiting, taken = {}, {}, {}
    for instance in instances:
        id, tags = instance["InstanceId"], instance["tags"]
        if tags.get("fleet:by") != "fleet":
            found[id] = slot(instance)
        elif "fleet:slot" in tags:
            found[id] = tags["fleet:slot"]
            taken.setdefault(tags["fleet:token"], set()).add(tags["fleet:slot"])
        else:
            waiting.setdefault(tags["fleet:token"], []).append(instance)
    for token, untagged in waiting.items():
        left = [one for one in launch_slots(untagged[0]) if one not in taken.get(token, set())]
        untagged.sort(key=lambda instance: instance["InstanceId"])
        found |= {instance["InstanceId"]: one for instance, one in zip(untagged, left)}
    return found


def launch_slots(instance):
    """The slots of the launch that made an instance, in order."""
    tags, words, part = instance["tags"], [], 1
    words += tags["fleet:slots"].split(" ")
    while f"fleet:slots.{part}" in tags:
        words += tags[f"fleet:slots.{part}"].split(" ")
        part += 1
    slots = []
    for word in words:
        first, _, count = word.partition("/")
        name, _, generation = first.rpartition(".")
        group, _, ordinal = name.rpartition("-")
        for step in range(int(count or 1)):
            slots.append(f"{group}-{int(ordinal) + step}.{generation}")
    return slots
