"""Which names of hosts are this machine."""

import ipaddress


def is_this_machine(host: str) -> bool:
    """Whether a host, as addresses name it, is reached without leaving this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
