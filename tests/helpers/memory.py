"""What this process takes of memory."""

import psutil


def resident_bytes():
    return psutil.Process().memory_info().rss
