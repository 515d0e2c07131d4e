"""A fleet's life: up, down, another template, an interruption, the end. Looked at from outside."""

import argparse
import base64
import json
import os
import time

import boto3

from common import Fleet, Region, check

REGION = "us-east-1"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
SPEC = """
apiVersion: fleet/v1
kind: Fleet
metadata: { name: life }
spec:
  capacity: { unit: instances, target: %d, base: { onDemand: 50%% }, burst: { spot: 100%% } }
  instances: { types: [m5.large, c5.large, r5.large] }
  placement:
    clouds: [{ provider: aws, regions: [us-east-1], zones: ["use1-az?"] }]
    spread: { maxSharePerPool: 60%% }
  budget: { hourlyUsd: 100 }
  template: { userData: "#!/bin/sh\\necho %s\\n" }
"""


def user_data(region, instance):
    value = region.ec2.describe_instance_attribute(InstanceId=instance, Attribute="userData")
    return base64.b64decode(value["UserData"]["Value"]).decode()


def main():
    args = argparse.ArgumentParser()
    for name in ("--fleet", "--dir", "--endpoint", "--moto"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    fleet = Fleet(args.fleet, args.dir, args.endpoint)
    region = Region(args.moto, REGION)

    def live():
        return {instance["InstanceId"] for instance in region.live()}

    def apply(target, words, *more):
        fleet.write(SPEC % (target, words))
        fleet.run("apply", "--yes", *more)
        check(len(live()) == target, f"{len(live())} machines, not {target}")
        fleet.run("plan", "--detailed-exitcode")

    apply(12, "one")
    first = live()
    apply(20, "one")
    check(first < live(), "growing ends nothing")
    # Less, in one apply; and a slip of the hand, which takes a person.
    apply(15, "one")
    fleet.write(SPEC % (4, "one"))
    held = fleet.run("apply", "--yes", expect=(3,))
    check("--allow-destroy" in held.stdout + held.stderr, "the way past the limit is named")
    check(len(live()) >= 14, f"{len(live())}: one in ten may go at once")
    apply(15, "one")

    # Another template: replacements come first, then the old ones go.
    before = live()
    apply(15, "two", "--allow-destroy", "15")
    check(not before & live(), "all are new")
    for id in live():
        text = user_data(region, id)
        check(text.startswith("Content-Type: multipart/mixed"), text)
        check("echo two" in text, text)

    # A warning in the queue: the machine is replaced before it is taken.
    queues = boto3.client("sqs", endpoint_url=args.moto, region_name=REGION, **KEYS)
    queue = queues.create_queue(QueueName="events")["QueueUrl"]
    fleet.env["FLEET_AWS_EVENTS_QUEUE"] = queue
    fleet.env["AWS_REGION"] = REGION
    spot = [i for i in region.live() if i.get("InstanceLifecycle") == "spot"]
    taken, risky = spot[0]["InstanceId"], spot[1]["InstanceId"]
    for kind, id in (("Spot Instance Interruption Warning", taken), ("Instance Rebalance Recommendation", risky)):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        event = {"detail-type": f"EC2 {kind}", "time": now, "detail": {"instance-id": id}}
        queues.send_message(QueueUrl=queue, MessageBody=json.dumps(event))
    planned = fleet.run("plan", "--detailed-exitcode", expect=(2,)).stdout
    check("interrupted" in planned, planned)
    check(risky in planned, "a recommendation is told")
    fleet.run("apply", "--yes")
    counted = live() - {taken}
    check(len(counted) == 15, f"{len(counted)} machines besides the one that goes")
    check(risky in counted, "a recommendation alone ends nothing")
    region.ec2.terminate_instances(InstanceIds=[taken])
    fleet.run("apply", "--yes")
    fleet.run("plan", "--detailed-exitcode")
    check(len(live()) == 15, f"{len(live())} machines in the end")

    del fleet.env["FLEET_AWS_EVENTS_QUEUE"]
    fleet.run("destroy", "--yes")
    check(not live(), f"{len(live())} machines are left")
    print("12 -> 20 -> 15 machines, 15 of another template, 1 interrupted; none left")


if __name__ == "__main__":
    main()
