"""Drives a controller with a client that openapi-python-client made from docs/openapi.json."""

import sys

from fleet_client import Client
from fleet_client.api.act import freeze, thaw
from fleet_client.api.look import get_plan, list_fleets
from fleet_client.models import FreezeRequest, ThawRequest

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)

overview = list_fleets.sync(client=client)
assert [fleet.fleet for fleet in overview.fleets] == ["quickstart"], overview
assert overview.fleets[0].machines == 7, overview

plan = get_plan.sync("quickstart", client=client)
assert plan.summary.keep == 7 and plan.summary.create == 0, plan.summary

frozen = freeze.sync("quickstart", client=client, body=FreezeRequest(reason="a generated client"))
assert frozen.frozen is True and frozen.reason == "a generated client", frozen

thawed = thaw.sync("quickstart", client=client, body=ThawRequest(reason="done"))
assert thawed.frozen is False, thawed

missing = get_plan.sync("nope", client=client)
assert missing.kind == "error" and "nope" in missing.error, missing

print("listed, planned, frozen and thawed")
