"""When to kill a run: at any time, or right when it writes down that it is about to change something."""

import glob
import os
import time


def journals(folder):
    """The records of every journal in a folder, without those still being written (`NAME#1`), which go
    away while one looks at them."""
    files = glob.glob(os.path.join(folder, ".fleet", "fleets", "*", "journal", "*"))
    return [file for file in files if "#" not in os.path.basename(file)]


def amid(folder):
    """Whether a journal ends in a round that meant to change something and did not say how it went."""
    for record in sorted(journals(folder), reverse=True):
        with open(record) as file:
            text = file.read()
        if '"roundEnded"' in text:
            return False
        if '"createIntended"' in text or '"destroyIntended"' in text:
            return True
    return False


def kill(process, folder, chance, longest, always_amid=False):
    """Kills -9, half of the time or always amid changes; says whether there was something to kill, and
    whether it was about to change something."""
    if always_amid:
        # One of the first three requests, which are slow here.
        wanted = len(journals(folder)) + chance.randint(1, 3)
        while process.poll() is None and not (len(journals(folder)) >= wanted and amid(folder)):
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.4))
    elif chance.random() < 0.5:
        time.sleep(chance.uniform(0, longest))
    else:
        # The intent is on record and its request is on the way, out there, or answered.
        wanted = len(journals(folder)) + chance.randint(1, 6)
        while process.poll() is None and len(journals(folder)) < wanted:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.4))
    alive = process.poll() is None
    if alive:
        process.kill()
    process.wait()
    return alive, alive and amid(folder)
