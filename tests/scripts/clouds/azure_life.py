"""A machine's life on an Azure that Microsoft's own client talks to: create, get, list, delete."""

import argparse
import sys

from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.compute import ComputeManagementClient


class Token:
    def __init__(self, token):
        self.token = token

    def get_token(self, *scopes, **kwargs):
        return AccessToken(self.token, 4102444800)


class Bearer(SansIOHTTPPolicy):
    """The client's own policy sends no tokens over plain http, loopback or not."""

    def __init__(self, token):
        self.token = token

    def on_request(self, request):
        request.http_request.headers["Authorization"] = f"Bearer {self.token}"


def check(holds, why):
    if not holds:
        print(f"FAIL: {why}", file=sys.stderr)
        sys.exit(1)


def machine(args, name):
    return {
        "location": "eastus",
        "tags": {"owner": "python"},
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "priority": "Spot",
            "evictionPolicy": "Delete",
            "billingProfile": {"maxPrice": -1},
            "storageProfile": {
                "imageReference": {
                    "publisher": "Canonical", "offer": "ubuntu-24_04-lts",
                    "sku": "server", "version": "latest",
                },
                "osDisk": {
                    "name": f"{name}-disk", "createOption": "FromImage", "deleteOption": "Delete",
                },
            },
            "osProfile": {"computerName": name, "adminUsername": "fleet"},
            "networkProfile": {
                "networkApiVersion": "2020-11-01",
                "networkInterfaceConfigurations": [{
                    "name": f"{name}-nic",
                    "properties": {
                        "primary": True, "deleteOption": "Delete",
                        "ipConfigurations": [{
                            "name": "primary",
                            "properties": {"primary": True, "subnet": {"id": args.subnet}},
                        }],
                    },
                }],
            },
        },
    }


def main():
    args = argparse.ArgumentParser()
    for name in ("--endpoint", "--token", "--group", "--subscription", "--subnet"):
        args.add_argument(name, required=True)
    args = args.parse_args()
    client = ComputeManagementClient(
        Token(args.token),
        args.subscription,
        base_url=args.endpoint,
        authentication_policy=Bearer(args.token),
        polling_interval=1,
    )
    vms = client.virtual_machines
    names = ["life-a", "life-b", "life-c"]
    for name in names:
        made = vms.begin_create_or_update(args.group, name, machine(args, name)).result()
        check(made.name == name, f"made {made.name}")
        check(made.provisioning_state == "Succeeded", f"{name} is {made.provisioning_state}")
    got = vms.get(args.group, names[0])
    check(got.hardware_profile.vm_size == "Standard_D2s_v5", got.hardware_profile.vm_size)
    check(got.tags == {"owner": "python"}, f"tags {got.tags}")
    check(got.priority == "Spot", f"priority {got.priority}")
    check(got.time_created is not None, "no time of creation")
    check(len(got.network_profile.network_interfaces) == 1, "no interface")
    listed = sorted(vm.name for vm in vms.list(args.group))
    check(listed == names, f"listed {listed}")
    check(len(list(vms.list_all())) == 3, "list_all")
    check(len(list(vms.list_by_location("eastus"))) == 3, "list_by_location")
    sizes = [sku.name for sku in client.resource_skus.list(filter="location eq 'eastus'")]
    check("Standard_D2s_v5" in sizes, f"sizes {sizes}")
    usages = {usage.name.value: usage.limit for usage in client.usage.list("eastus")}
    check(usages.get("cores"), f"usages {usages}")
    for name in names:
        vms.begin_delete(args.group, name).result()
    left = [vm.name for vm in vms.list(args.group)]
    check(left == [], f"left {left}")
    print("azure-mgmt-compute: 3 machines created, got, listed, deleted; content")


if __name__ == "__main__":
    main()
