"""Under which addresses and names other machines of the network reach this one. Nobody is asked for that."""

import ipaddress
import re
import socket

_NETWORKS = tuple(map(ipaddress.IPv4Network, ("192.168.0.0/16", "10.0.0.0/8", "172.16.0.0/12")))
"""The ranges that homes and offices use (RFC 1918)."""
_INSIDE = re.compile(
    r"docker|br-|veth(?!ernet)|virbr|vmnet|vnet|vboxnet|lxc|lxd|cni|podman|virtualbox|vmware"
    r"|vethernet \((default switch|wsl|docker|nat)",  # others of Hyper-V's may hold the address of the whole machine
    re.I,
)
"""Networks between this machine and the machines in it: other devices are not there."""
_TUNNEL = re.compile(r"tun|tap|utun|wg|zt|ppp|ipsec|nordlynx|.*(tailscale|zerotier|wireguard|wintun|vpn|warp)", re.I)


def addresses_here() -> tuple[str, ...]:
    """The IPv4 addresses of this machine in the networks that are up, the one that others likely reach first."""
    import psutil  # here: the window shows sooner

    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    found = [
        (_rank(name, ipaddress.IPv4Address(entry.address)), entry.address)
        for name, entries in psutil.net_if_addrs().items()
        for entry in entries
        if name in up and entry.family == socket.AF_INET and not _INSIDE.match(name)
    ]
    return tuple(dict.fromkeys(address for rank, address in sorted(found, key=lambda pair: pair[0]) if rank >= 0))


def _rank(interface: str, address: ipaddress.IPv4Address) -> int:
    """How unlikely it is that others reach it; negative: they never do."""
    if address.is_loopback or address.is_unspecified:
        return -1
    if address.is_link_local:  # what a machine gives itself where nobody gives it one
        return 3
    if _TUNNEL.match(interface) or interface.startswith("vEthernet"):
        return 2
    return 0 if any(address in network for network in _NETWORKS) else 1


def names_here() -> tuple[str, ...]:
    """The names that others may call this machine by: its own, alone and in ``.local`` (mDNS, RFC 6762)."""
    name = socket.gethostname().lower().rstrip(".")
    label = name.partition(".")[0]
    return tuple(dict.fromkeys((name, label, f"{label}.local"))) if label not in ("", "localhost") else ()
