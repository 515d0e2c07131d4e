#!/bin/sh
# First boot of a CI runner.
set -eu
mkdir -p /srv/builds
echo ready > /srv/builds/state
