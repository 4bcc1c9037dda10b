"""Which names of hosts are this machine, and which are near it."""

import ipaddress

_NEARBY = (".local", ".localhost", ".lan", ".home", ".internal", ".home.arpa", ".fritz.box", ".ts.net")
"""Ends of names that people give to machines of their own."""


def is_this_machine(host: str) -> bool:
    """Whether a host, as addresses name it, is reached without leaving this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_nearby(host: str) -> bool:
    """Whether it is this machine or in a network around it, as far as its name or number tells."""
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." not in host or host.endswith(_NEARBY)
