"""Whether other processes used the cores while a sample was taken."""

import os
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")
TICK = os.sysconf("SC_CLK_TCK")
CHUNK_SECONDS = 0.15  # long enough for the kernel's 10 ms accounting
ALLOWED_CORES = 0.16  # that others may have kept busy


def busy_seconds(text):
    """Seconds that all cores together were not idle, from /proc/stat's first line."""
    user, nice, system, _, _, irq, softirq, steal, *_ = (int(field) for field in text.split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq + steal) / TICK


def own_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Gate:
    """Counts what it lets through and what it turns away."""

    def __init__(self, allowed=ALLOWED_CORES):
        self.allowed = allowed
        self.measures = STAT.exists()
        self.kept = self.discarded = 0
        self.others = []

    def start(self):
        self.began = time.perf_counter(), own_seconds(), busy_seconds(STAT.read_text()) if self.measures else 0

    def stop(self):
        """True where the machine was this process's own since start()."""
        if not self.measures:  # nothing tells: keep, and say so
            self.kept += 1
            return True
        wall, own, busy = self.began
        elapsed = time.perf_counter() - wall
        others = (busy_seconds(STAT.read_text()) - busy - (own_seconds() - own)) / elapsed
        self.others.append(others)
        quiet = others <= self.allowed
        self.kept += quiet
        self.discarded += not quiet
        return quiet

    def summary(self):
        """For people: how many samples were discarded, and why."""
        if not self.measures:
            return f"{self.kept} samples, none judged: this system does not tell what other processes use"
        total = self.kept + self.discarded
        mean = sum(self.others) / len(self.others) if self.others else 0
        return (
            f"{self.discarded} of {total} samples discarded: other processes used more than {self.allowed} of a core "
            f"(mean {mean:.2f})"
        )
