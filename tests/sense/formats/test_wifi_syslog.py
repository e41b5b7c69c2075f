"""Lines of Wi-Fi controllers and access points, as they are written in the field."""

from __future__ import annotations

from datetime import datetime

import pytest

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected, microseconds
from louver.sense.formats import Syslog

MAC = "aa:bb:cc:dd:ee:ff"


def at(text: str) -> int:
    return microseconds(datetime.fromisoformat(text))


RECEIVED = at("2026-09-07T20:31:00+00:00")
SEVENTH = at("2026-09-07T20:30:58+00:00")

JOINED = {
    "hostapd behind RFC 3164": (
        f"<30>Sep  7 20:30:58 ap-3 hostapd: wlan1-1: STA {MAC} IEEE 802.11: associated (aid 4)",
        Event(MAC, "ap-3", SEVENTH),
    ),
    "hostapd in a file": (
        f"Sep  7 20:30:58 ap-3 hostapd[812]: wlan0: AP-STA-CONNECTED {MAC}",
        Event(MAC, "ap-3", SEVENTH),
    ),
    "hostapd behind RFC 5424": (
        f'<30>1 2026-09-07T22:30:58.5+02:00 ap-3 hostapd 812 - [x@1 y="z"] wlan0: AP-STA-CONNECTED {MAC}',
        Event(MAC, "ap-3", SEVENTH + 500_000),
    ),
    "a file with ISO times": (
        f"2026-09-07T20:30:58+00:00 ap-3 hostapd: wlan0: AP-STA-CONNECTED {MAC}",
        Event(MAC, "ap-3", SEVENTH),
    ),
    "Cisco 9800": (
        (
            "<191>4711: wlc-1: Sep 7 2026 20:30:58.000 UTC: %CLIENT_ORCH_LOG-7-CLIENT_MOVED_TO_RUN_STATE: R0/0: "
            "wncd: Username (null), MAC: aabb.ccdd.eeff, IP 10.0.0.145 associated to AP (mon-0b-ap-164) with SSID (X)"
        ),
        Event("aabb.ccdd.eeff", "mon-0b-ap-164", SEVENTH),
    ),
    "Cisco 9800, a new address": (
        (
            "*Sep  7 20:30:58.250: %CLIENT_ORCH_LOG-7-CLIENT_IP_UPDATED: wncd: Username (ann), MAC: aabb.ccdd.eeff, "
            "IP fe80::1 associated to AP (AP 7 north) with SSID (MOBILE)"
        ),
        Event("aabb.ccdd.eeff", "AP 7 north", SEVENTH + 250_000),
    ),
    "Cisco IOS access point": (
        (
            "<190>Sep  7 20:30:58 ap-3 9: *Sep  7 20:30:57.123: %DOT11-6-ASSOC: Interface Dot11Radio0, Station laptop "
            "aabb.ccdd.eeff Reassociated KEY_MGMT[WPAv2 PSK]"
        ),
        Event("aabb.ccdd.eeff", "ap-3", SEVENTH),
    ),
    "Aruba controller": (
        (
            f"Sep  7 20:30:58 wcp2 stm[2452]: <501100> <NOTI> <wcp2 10.1.1.2>  Assoc success @ 20:30:58.606562: {MAC}: "
            "AP 10.2.3.4-18:64:72:01:02:03-lib-2-ap-7"
        ),
        Event(MAC, "lib-2-ap-7", SEVENTH),
    ),
    "Aruba authentication": (
        (
            "Sep  7 20:30:58 2026 10.1.1.2 authmgr[3956]: <522008> <NOTI> |authmgr|  User Authentication Successful: "
            f"username=ann MAC={MAC} IP=10.9.8.7 role=staff VLAN=111 AP=lib-2-ap-7 SSID=campus AAA profile=x"
        ),
        Event(MAC, "lib-2-ap-7", SEVENTH),
    ),
    "UniFi access point without a name": (
        (
            "<14>Sep  7 20:30:58 U7PG2,802aa853a30a,v4.0.69.10871: stahtd[16030]: [STA-TRACKER].stahtd_dump_event(): "
            f'{{"message_type":"STA_ASSOC_TRACKER","mac":"{MAC}","vap":"ath5","event_type":"success","assoc_status":"0"}}'
        ),
        Event(MAC, "80:2a:a8:53:a3:0a", SEVENTH),
    ),
    "UniFi access point with a name": (
        (
            "<30>Sep  7 20:30:58 U6-Ext 1c6a1b60c3c0,U6-Extender-6.8.2+15592: wevent[1]: wevent.ubnt_custom_event(): "
            f"EVENT_STA_JOIN wifi0ap1: {MAC} / 1"
        ),
        Event(MAC, "U6-Ext", SEVENTH),
    ),
    "UniFi console": (
        (
            "<14>Sep  7 22:30:58 DreamMachine CEF:0|Ubiquiti|UniFi Network|10.4.57|400|WiFi Client Connected|1|"
            f"UNIFIhost=Dream Machine UNIFIconnectedToDeviceName=Hall North 2 UNIFIclientMac={MAC} UNIFIwifiName=IoT "
            "UNIFIutcTime=2026-09-07T20:30:58.271Z msg=phone connected to IoT on Hall North 2."
        ),
        Event(MAC, "Hall North 2", SEVENTH + 271_000),
    ),
}

LEFT = [
    f"Sep  7 20:30:58 ap-3 hostapd: wlan1: STA {MAC} IEEE 802.11: disassociated",
    f"Sep  7 20:30:58 ap-3 hostapd: wlan1: STA {MAC} IEEE 802.11: deauthenticated due to inactivity",
    f"Sep  7 20:30:58 ap-3 hostapd: wlan1: AP-STA-DISCONNECTED {MAC}",
    (
        "Sep  7 20:30:58.000 UTC: %CLIENT_ORCH_LOG-7-CLIENT_DELETED: R0/0: wncd: Username (null), MAC: aabb.ccdd.eeff, "
        "IP 10.0.0.145 disconnected from AP (mon-0b-ap-164) with SSID (MOBILE)"
    ),
    "Sep  7 20:30:58 ap-3 %DOT11-6-DISASSOC: Interface Dot11Radio0, Deauthenticating Station aabb.ccdd.eeff",
    f"Sep  7 20:30:58 wcp2 stm[1]: <501080> <NOTI> Deauth to sta: {MAC}: Ageout AP 10.2.3.4-18:64:72:01:02:03-x",
    f"Sep  7 20:30:58 wcp2 stm[1]: <501102> <NOTI> Disassoc from sta: {MAC}: AP 10.2.3.4-18:64:72:01:02:03-x Reason 8",
    f"Sep  7 20:30:58 x syslog: wevent.ubnt_custom_event(): EVENT_STA_LEAVE ath0: {MAC} / 4",
    f"<14>Sep  7 22:30:58 DM CEF:0|Ubiquiti|UniFi Network|9|401|WiFi Client Disconnected|1|UNIFIclientMac={MAC}",
]


@pytest.mark.parametrize("kind", JOINED)
def test_an_association_is_an_event(kind: str) -> None:
    line, event = JOINED[kind]
    assert Syslog()(line, RECEIVED) == [event]


@pytest.mark.parametrize("line", LEFT)
def test_the_end_of_a_session_is_no_event_and_is_counted(line: str) -> None:
    assert Syslog()(line, RECEIVED) == [Rejected("a departure")]


@pytest.mark.parametrize(
    "line",
    [
        "<30>Sep  7 20:30:58 ap-3 dnsmasq[3394]: DHCPACK(br-lan) 10.0.0.3 aa:bb:cc:dd:ee:ff phone",
        f"<30>Sep  7 20:30:58 ap-3 hostapd: wlan1: STA {MAC} IEEE 802.11: authenticated",
        f'Sep  7 20:30:58 U7 stahtd: {{"message_type":"STA_ASSOC_TRACKER","mac":"{MAC}","event_type":"failure"}}',
        "Sep  7 20:30:58 U7 stahtd: STA_ASSOC_TRACKER {broken",
    ],
)
def test_a_line_about_something_else_is_counted(line: str) -> None:
    assert Syslog()(line, RECEIVED) == [Rejected("unknown message")]


def test_lines_come_one_by_one_or_together() -> None:
    lines = [line for line, _ in JOINED.values()]
    assert Syslog()("\n".join([*lines, *LEFT]), RECEIVED) == [
        *(event for _, event in JOINED.values()),
        *[Rejected("a departure")] * len(LEFT),
    ]


def line(stamp: str) -> str:
    return f"<30>{stamp} ap-3 hostapd: wlan0: AP-STA-CONNECTED {MAC}"


@pytest.mark.parametrize(
    ("stamp", "received", "meant"),
    [
        ("Dec 31 23:59:59", "2026-01-01T00:00:01+00:00", "2025-12-31T23:59:59+00:00"),
        ("Jan  1 00:00:05", "2025-12-31T23:59:58+00:00", "2026-01-01T00:00:05+00:00"),
        ("Jan  1 00:00:00", "2026-12-31T00:00:00+00:00", "2027-01-01T00:00:00+00:00"),
        ("Jan  1 00:00:01", "2026-12-31T00:00:00+00:00", "2026-01-01T00:00:01+00:00"),
        ("Mar  2 09:00:00", "2026-03-02T09:00:01+00:00", "2026-03-02T09:00:00+00:00"),
        ("Mar  2 09:00:00", "2027-02-01T00:00:00+00:00", "2026-03-02T09:00:00+00:00"),
        ("Feb 29 12:00:00", "2028-02-29T12:00:01+00:00", "2028-02-29T12:00:00+00:00"),
        ("Feb 29 23:59:59", "2028-03-01T00:00:01+00:00", "2028-02-29T23:59:59+00:00"),
        ("Feb 29 12:00:00", "2029-01-15T00:00:00+00:00", "2028-02-29T12:00:00+00:00"),
        ("Feb 28 23:59:59", "2027-03-01T00:00:01+00:00", "2027-02-28T23:59:59+00:00"),
        ("Feb 29 00:00:01", "2028-02-28T23:59:59+00:00", "2028-02-29T00:00:01+00:00"),
    ],
)
def test_a_time_without_a_year_is_placed_by_when_it_was_received(stamp: str, received: str, meant: str) -> None:
    assert Syslog()(line(stamp), at(received)) == [Event(MAC, "ap-3", at(meant))]


def test_29_february_in_years_that_have_none_is_out_of_range() -> None:
    assert Syslog()(line("Feb 29 12:00:00"), at("2026-03-01T00:00:00+00:00")) == [Rejected("time out of range")]


def test_a_day_that_no_year_has_is_no_time() -> None:
    for stamp in ("Apr 31 12:00:00", "Mar 32 12:00:00", "Mar  2 25:00:00", "Mar  2 12:61:00"):
        assert Syslog()(line(stamp), RECEIVED) == [Rejected("no time")]


def test_a_time_without_a_year_needs_to_know_when_it_was_received() -> None:
    assert Syslog()(line("Mar  2 09:00:00")) == [Rejected("no time")]
    assert Syslog()(line("Mar  2 09:00:00 2026")) == [Event(MAC, "ap-3", at("2026-03-02T09:00:00+00:00"))]


def test_local_times_are_in_the_declared_zone() -> None:
    read = Syslog("Europe/Vienna")
    summer = at("2026-07-01T10:00:10+00:00")
    assert read(line("Jul  1 12:00:00"), summer) == [Event(MAC, "ap-3", summer - 10_000_000)]
    assert read(line("Jul  1 2026 10:00:00 UTC:"), summer) == [Event(MAC, "ap-3", summer - 10_000_000)]
    with pytest.raises(ParameterError, match="no time zone named"):
        Syslog("Mars/North")


def test_an_hour_that_occurs_twice_is_the_one_nearest_to_when_it_was_received() -> None:
    read = Syslog("Europe/Vienna")  # on 25 October 2026 clocks go from 3 back to 2
    for hour in ("2026-10-25T00:30:00+00:00", "2026-10-25T01:30:00+00:00"):
        assert read(line("Oct 25 02:30:00"), at(hour) + 5_000_000) == [Event(MAC, "ap-3", at(hour))]


def test_a_line_that_names_no_access_point_has_no_place() -> None:
    own = f"Thu Aug 17 22:58:44 2023 daemon.info hostapd: wlan1: STA {MAC} IEEE 802.11: associated (aid 7)"
    added = (
        "Sep  7 20:30:58 wlc %CLIENT_ORCH_LOG-6-CLIENT_ADDED_TO_RUN_STATE: Chassis 1 R0/0: wncd: Username entry (ann) "
        "joined with ssid (campus) for device with MAC: aabb.ccdd.eeff"
    )
    assert Syslog()(own, RECEIVED) == [Rejected("no place")]
    assert Syslog()(added, RECEIVED) == [Rejected("no place")]


def test_a_line_without_a_time_has_none() -> None:
    assert Syslog()(f"hostapd: wlan0: AP-STA-CONNECTED {MAC}", RECEIVED) == [Rejected("no time")]
