"""What pagedrt is measured against. Each module has one class with `name`, and

Peer(problem)       the peer's own form of a problem's arrays; ImportError or Unsupported where it cannot
peer.run()          one decode step, nothing else
peer.result()       [query_heads, head_dim] of the last step, as float64
"""

import importlib
import pkgutil


class Unsupported(Exception):
    """This peer has no such dtype or shape."""


def modules():
    return [importlib.import_module(f"peers.{module.name}") for module in pkgutil.iter_modules(__path__)]
