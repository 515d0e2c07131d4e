#!/bin/sh
# Ends the work on a runner that is to go: no further job, and the present one is finished.
set -eu
ssh -o BatchMode=yes "runner@$FLEET_PRIVATE_IP" 'sudo systemctl stop --no-block runner && while pgrep -x Runner.Worker; do sleep 2; done'
