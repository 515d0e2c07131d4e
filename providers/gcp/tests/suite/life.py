"""The life of some machines, told to the fake by Google's own client."""

import sys

from google.api_core.client_options import ClientOptions
from google.api_core.exceptions import Conflict, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1

PROJECT, REGION, ZONE = "test-project", "us-central1", "us-central1-a"


def client(kind, endpoint):
    options = ClientOptions(api_endpoint=endpoint)
    return kind(credentials=AnonymousCredentials(), transport="rest", client_options=options)


def properties(image, full):
    """A machine, by links for `insert` and by bare names for `bulkInsert`."""
    kind = compute_v1.Instance if full else compute_v1.InstanceProperties
    at = f"zones/{ZONE}/" if full else ""
    machine = kind(
        machine_type=f"{at}machineTypes/n2-standard-4" if full else "n2-standard-4",
        labels={"team": "witness"},
        network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")],
        disks=[
            compute_v1.AttachedDisk(
                boot=True,
                auto_delete=True,
                initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=image),
            )
        ],
        scheduling=compute_v1.Scheduling(
            provisioning_model="SPOT",
            instance_termination_action="DELETE",
            automatic_restart=False,
        ),
    )
    return machine


def main():
    endpoint = sys.argv[1]
    instances = client(compute_v1.InstancesClient, endpoint)
    images = client(compute_v1.ImagesClient, endpoint)
    regions = client(compute_v1.RegionsClient, endpoint)
    disks = client(compute_v1.DisksClient, endpoint)
    operations = client(compute_v1.ZoneOperationsClient, endpoint)

    region = regions.get(project=PROJECT, region=REGION)
    assert any(quota.metric == "CPUS" and quota.limit > 0 for quota in region.quotas), region
    image = images.get_from_family(project="debian-cloud", family="debian-12")
    link = f"projects/debian-cloud/global/images/{image.name}"

    def ended(operation):
        """Waits for an operation. The client's own waiting knows no other address than Google's."""
        while operation.status != compute_v1.Operation.Status.DONE:
            operation = operations.wait(project=PROJECT, zone=ZONE, operation=operation.name)
        assert not operation.error.errors, operation.error
        return operation

    machine = properties(link, full=True)
    machine.name = "one"
    made = ended(instances.insert_unary(project=PROJECT, zone=ZONE, instance_resource=machine))
    assert made.operation_type == "insert" and made.target_id > 0, made
    try:
        instances.insert_unary(project=PROJECT, zone=ZONE, instance_resource=machine)
        raise AssertionError("the same name twice")
    except Conflict:
        pass

    bulk = compute_v1.BulkInsertInstanceResource(
        count=3,
        min_count=1,
        per_instance_properties={f"many-{n}": {} for n in range(3)},
        instance_properties=properties(link, full=False),
    )
    made = ended(
        instances.bulk_insert_unary(
            project=PROJECT, zone=ZONE, bulk_insert_instance_resource_resource=bulk
        )
    )
    status = made.instances_bulk_insert_operation_metadata.per_location_status
    assert status[f"zones/{ZONE}"].created_vm_count == 3, status

    asked = compute_v1.ListInstancesRequest(
        project=PROJECT, zone=ZONE, filter="labels.team=witness", max_results=2
    )
    listed = {machine.name: machine for machine in instances.list(asked)}
    assert set(listed) == {"one", "many-0", "many-1", "many-2"}, set(listed)
    every = instances.aggregated_list(project=PROJECT)
    found = [m.name for scope, items in every for m in items.instances]
    assert sorted(found) == sorted(listed), found

    one = instances.get(project=PROJECT, zone=ZONE, instance="one")
    assert one.status == "RUNNING", one.status
    assert one.scheduling.provisioning_model == "SPOT", one.scheduling
    assert one.id == listed["one"].id and one.id > 0
    assert instances.get(project=PROJECT, zone=ZONE, instance=str(one.id)).name == "one"
    assert len(list(disks.list(project=PROJECT, zone=ZONE))) == 4

    for name in listed:
        ended(instances.delete_unary(project=PROJECT, zone=ZONE, instance=name))
    try:
        instances.get(project=PROJECT, zone=ZONE, instance="one")
        raise AssertionError("it is still there")
    except NotFound:
        pass
    assert not list(disks.list(project=PROJECT, zone=ZONE)), "disks are left"
    print("content: 4 machines made, listed, looked at and ended")


if __name__ == "__main__":
    main()
