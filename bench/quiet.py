"""Whether other processes used the cores while something was measured."""

import os
import resource

TICKS = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """CPU time of the whole machine, idle and waiting left out."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _wait, *rest = (int(word) for word in file.readline().split()[1:9])
    return (user + nice + system + sum(rest)) / TICKS


def own_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Watch:
    def __init__(self):
        self.busy, self.own = busy_seconds(), own_seconds()

    def others(self, seconds):
        """The cores that others used since this watch began."""
        return max(busy_seconds() - self.busy - (own_seconds() - self.own), 0) / seconds
