"""Addresses and names of this machine, on machines that the tests make up."""

import socket
from collections import namedtuple

import psutil
import pytest

from llama_gui.server.network import addresses_here, names_here
from tests.server.conftest import Serve

Entry = namedtuple("Entry", ["family", "address"])
State = namedtuple("State", ["isup"])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """A machine with these interfaces: name -> addresses; one with "_down" in its name is down."""

    def machine(named: dict[str, list[str]] | None = None, /, **interfaces: list[str]) -> None:
        interfaces |= named or {}
        monkeypatch.setattr(psutil, "net_if_stats", lambda: {name: State("_down" not in name) for name in interfaces})
        monkeypatch.setattr(
            psutil,
            "net_if_addrs",
            lambda: {
                name: [Entry(socket.AF_INET6 if ":" in address else socket.AF_INET, address) for address in addresses]
                for name, addresses in interfaces.items()
            },
        )

    return machine


def test_the_address_in_the_network_comes_first(machine):
    machine(
        lo=["127.0.0.1", "::1"],
        tailscale0=["100.100.1.2"],
        eth1=["169.254.3.4"],
        eth2=["203.0.113.9"],
        wlan0=["192.168.1.20", "fe80::1"],
        eth0=["10.0.0.5"],
    )
    assert addresses_here() == ("192.168.1.20", "10.0.0.5", "203.0.113.9", "100.100.1.2", "169.254.3.4")


def test_what_other_devices_never_reach_is_left_out(machine):
    machine(lo=["127.0.0.1"], docker0=["172.17.0.1"], virbr0=["192.168.122.1"], wlan_down=["192.168.1.20"])
    assert addresses_here() == ()


def test_windows_names_its_networks_in_words(machine):
    inside = {
        "Loopback Pseudo-Interface 1": ["127.0.0.1"],
        "vEthernet (Default Switch)": ["172.28.16.1"],
        "vEthernet (WSL (Hyper-V firewall))": ["172.20.0.1"],
        "VMware Network Adapter VMnet8": ["192.168.80.1"],
        "VirtualBox Host-Only Network": ["192.168.56.1"],
    }
    tunnels = {"OpenVPN TAP-Windows6": ["10.8.0.6"], "ZeroTier One [8056c2e21c000001]": ["10.147.17.5"]}
    machine({**inside, **tunnels, "WLAN": ["192.168.1.20"]})
    assert addresses_here() == ("192.168.1.20", "10.8.0.6", "10.147.17.5")
    # With a switch of Hyper-V that leads outside, the address of the machine is the switch's.
    machine({**inside, "vEthernet (Outside)": ["192.168.1.20"]})
    assert addresses_here() == ("192.168.1.20",)


def test_the_names_are_those_of_this_machine(monkeypatch: pytest.MonkeyPatch):
    for name, names in (
        ("Desk", ("desk", "desk.local")),
        ("desk.local", ("desk.local", "desk")),
        ("desk.lab.example.", ("desk.lab.example", "desk", "desk.local")),
        ("localhost", ()),
        ("localhost.localdomain", ()),
        ("", ()),
    ):
        monkeypatch.setattr(socket, "gethostname", lambda name=name: name)
        assert names_here() == names


def test_only_a_server_for_others_names_addresses_for_them(machine, serve: Serve):
    machine(wlan0=["192.168.1.20"], eth0=["10.0.0.5"])
    assert serve().urls_for_others == ()
    server = serve(host="0.0.0.0")
    urls = [f"http://192.168.1.20:{server.port}/v1", f"http://10.0.0.5:{server.port}/v1"]
    assert list(server.urls_for_others) == urls
    machine(lo=["127.0.0.1"])
    assert server.urls_for_others == ()
