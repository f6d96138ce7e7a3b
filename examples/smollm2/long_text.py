"""A long text of any length, written by rule, with one fact in its middle to ask about."""

from itertools import count

FACT = "The name of the keeper's cat is Marmalade."
QUESTION = "What is the name of the keeper's cat?"

WEATHER = ["fog until noon", "a hard wind from the north", "clear sky", "rain before dawn", "snow on the cliffs"]
WORK = ["polished the lens", "painted the railing", "mended a net", "counted the oil cans", "swept the stairs"]
SIGHTS = [
    "a grey seal below the rocks",
    "two ships far out",
    "a flock of terns",
    "nothing but waves",
    "a small red boat",
]


def days():
    """One day of a lighthouse's log after the other, without end."""
    for day in count(1):
        weather, work, sight = WEATHER[day % 5], WORK[day // 2 % 5], SIGHTS[day // 3 % 5]
        yield f"Day {day}. There was {weather}. The keeper {work} and saw {sight}."


def write(fits):
    """The longest text for which fits(text) holds, the fact in its middle."""
    lines = []
    for day in days():
        grown = [*lines, day]
        if not fits(with_fact(grown)):
            return with_fact(lines)
        lines = grown


def with_fact(lines):
    middle = len(lines) // 2
    return "\n".join([*lines[:middle], FACT, *lines[middle:]])
