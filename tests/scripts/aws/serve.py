"""Moto, until standard input ends.

That is when the process that started it ends, however it ends: nobody else holds the other side.
"""

import os
import sys
import threading

from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix
from moto.server import main


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


def tags_of(resource):
    """What moto finds for one resource by holding its name against every tag of the account, which
    is most of the time it takes for a thousand machines."""
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource.id), "") if resource.id else ""
    tags = resource.ec2_backend.tags.get(resource.id, {}).copy()
    return [
        {"resource_id": resource.id, "key": key, "value": value, "resource_type": kind}
        for key, value in tags.items()
    ]


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    TaggedEC2Resource.get_tags = tags_of
    main(sys.argv[1:])
