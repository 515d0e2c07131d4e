"""When to kill a run: at any time, or right when it writes down that it is about to change something."""

import glob
import os
import time


def records(folder):
    """How many records the journals in a folder have."""
    return len(glob.glob(os.path.join(folder, ".fleet", "fleets", "*", "journal", "*")))


def kill(process, folder, chance, longest):
    """Kills -9, half of the time amid changes; says whether there was something to kill."""
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, longest))
    else:
        # The intent is on record and its request is on the way, out there, or answered.
        wanted = records(folder) + chance.randint(1, 6)
        while process.poll() is None and records(folder) < wanted:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.4))
    alive = process.poll() is None
    if alive:
        process.kill()
    process.wait()
    return alive
