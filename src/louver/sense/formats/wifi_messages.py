"""What Wi-Fi controllers and access points say about a device: which one, at which access point, come or gone.

Read are Cisco (9800 controllers and IOS access points), Aruba (controllers), hostapd (OpenWrt and others) and UniFi
(access points, and the CEF lines of its consoles). Each pattern takes bounded steps from a fixed text, so that no line
can make it slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from louver.sense.events import Rejected
from louver.sense.formats.ndjson import value_of

MAC: Final = r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"


class Said(NamedTuple):
    """A device and where it is said to be; `place` is None where the line names no access point but its sender."""

    device: str
    place: str | None
    come: bool
    time: str | None = None


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("<mac>", f"(?P<device>{MAC})"), re.ASCII)


def _searched(pattern: str, gone: Callable[[re.Match[str]], bool]) -> Callable[[str], Said | None]:
    compiled = _pattern(pattern)
    has_place = "(?P<place>" in pattern

    def read(line: str) -> Said | None:
        found = compiled.search(line)
        if found is None:
            return None
        return Said(found["device"], found["place"] if has_place else None, not gone(found))

    return read


def _never(_: re.Match[str]) -> bool:
    return False


def _always(_: re.Match[str]) -> bool:
    return True


def _tracked(line: str) -> Said | None:
    """UniFi's station tracker: an object in JSON."""
    record = value_of(line[line.index("{") :].rstrip()) if "{" in line else None
    if isinstance(record, Rejected) or not isinstance(record, dict) or not isinstance(record.get("mac"), str):
        return None
    if record.get("event_type") not in ("success", "fixup", "sta_roam", "soft failure", "sta_leave"):
        return None
    return Said(record["mac"], None, record["event_type"] != "sta_leave")


_EXTENSION: Final = re.compile(r"(?:^|[ |])(UNIFI\w{1,60})=([^=]{0,400}?)(?= \w{1,60}=|$)", re.ASCII)


def _cef(line: str) -> Said | None:
    """UniFi's consoles: the common event format, in which a value ends where the next name begins."""
    kind = line.split("|", 7)[5] if line.count("|") >= 7 else ""
    if kind not in ("WiFi Client Connected", "WiFi Client Roamed", "WiFi Client Disconnected"):
        return None
    values = dict(_EXTENSION.findall(line))
    if "UNIFIclientMac" not in values:
        return None
    place = values.get("UNIFIconnectedToDeviceName") or values.get("UNIFIroamedToDeviceName") or ""
    return Said(values["UNIFIclientMac"], place, kind != "WiFi Client Disconnected", values.get("UNIFIutcTime"))


_ARUBA_PLACE: Final = r"AP (?:[0-9.]{7,15}-(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}-)?(?P<place>\S{1,256})"
_READERS: Final[tuple[tuple[str, Callable[[str], Said | None]], ...]] = (
    (
        "%CLIENT_ORCH_LOG-",
        _searched(
            r"MAC: <mac>, IP \S{1,64} (?P<how>associated to|disconnected from) AP \((?P<place>[^)]{1,256})\)",
            lambda found: found["how"] == "disconnected from",
        ),
    ),
    (
        "CLIENT_ADDED_TO_RUN_STATE",
        _searched(r"joined with ssid \([^)]{0,64}\) for device with MAC: <mac>(?P<place>)", _never),
    ),
    ("%DOT11-6-ASSOC", _searched(r"Station (?:\S{1,64} )?<mac> (?:Reassociated|Associated)", _never)),
    ("%DOT11-6-ROAMED", _searched(r"Station <mac> Roamed to", _always)),
    ("%DOT11-6-DISASSOC", _searched(r"Station <mac>", _always)),
    ("%DOT11-4-DISASSOC", _searched(r"Station <mac>", _always)),
    ("Assoc success", _searched(rf"Assoc success(?: @ [0-9:.]{{8,15}})?: <mac>: {_ARUBA_PLACE}", _never)),
    ("User Authentication Successful", _searched(r"MAC=<mac> .{0,400}? AP=(?P<place>\S{1,256}) ", _never)),
    ("Deauth ", _searched(r"Deauth (?:to|from) sta: <mac>", _always)),
    ("Disassoc from sta", _searched(r"Disassoc from sta: <mac>", _always)),
    ("IEEE 802.11: associated", _searched(r"STA <mac> IEEE 802\.11: associated", _never)),
    ("IEEE 802.11: disassociated", _searched(r"STA <mac> IEEE 802\.11: disassociated", _always)),
    ("IEEE 802.11: deauthenticated", _searched(r"STA <mac> IEEE 802\.11: deauthenticated", _always)),
    ("AP-STA-CONNECTED", _searched(r"AP-STA-CONNECTED <mac>", _never)),
    ("AP-STA-DISCONNECTED", _searched(r"AP-STA-DISCONNECTED <mac>", _always)),
    ("EVENT_STA_JOIN", _searched(r"EVENT_STA_JOIN \S{1,32}: <mac>", _never)),
    ("EVENT_STA_LEAVE", _searched(r"EVENT_STA_LEAVE \S{1,32}: <mac>", _always)),
    ("STA_ASSOC_TRACKER", _tracked),
    ("CEF:0|Ubiquiti|", _cef),
)


def said(line: str) -> Said | None:
    """What a line says about a device, or None if it is about something else."""
    for key, read in _READERS:
        if key in line:
            found = read(line)
            if found is not None:
                return found
    return None
