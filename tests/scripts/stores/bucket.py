"""Makes a bucket or container with the vendor's own client: bucket.py s3|azure NAME ENDPOINT."""

import os
import sys

kind, name, endpoint = sys.argv[1:]
if kind == "s3":
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    client.create_bucket(Bucket=name)
else:
    from azure.storage.blob import ContainerClient

    account, key = os.environ["AZURE_STORAGE_ACCOUNT_NAME"], os.environ["AZURE_STORAGE_ACCOUNT_KEY"]
    ContainerClient(
        f"{endpoint}/{account}", name, credential={"account_name": account, "account_key": key}
    ).create_container()
