from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.attack.figures import Bar, ClassBars
from louver.attack.learned_score import Score
from louver.attack.network import exposed
from louver.attack.network_graph import tree
from louver.attack.network_prior import Friends
from louver.attack.network_spread import alike
from louver.attack.report import FOR_OWNER, Evidence, Report, Table, save
from louver.attack.report_evidence import of_network, of_scores
from louver.errors import ParameterError
from louver.local import YesNo
from tests.table.tools import seeded

NASTY = "<script>alert('x')</script> & \"y\""
FIGURE = ClassBars(NASTY, ("sure",), (Bar(NASTY, (3,)),))
FULL = Report(
    NASTY,
    NASTY,
    (
        Evidence(NASTY, NASTY, Table((NASTY, "n"), ((NASTY, 1.5), (NASTY, None))), FIGURE, holds=True),
        Evidence("Second", "Only words."),
        Evidence("Third", "A figure.", figure=FIGURE),
    ),
    (NASTY,),
    ((NASTY, NASTY),),
)
DASH = "\N{EN DASH}"
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Which elements there are, and whether each is closed by its own end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_escapes_every_text() -> None:
    page = Page(FULL.html())
    assert page.open == []
    assert "script" not in page.tags
    assert NASTY not in FULL.html()


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = FULL.html().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//|src=|href=|@import|<script|<link|<iframe|\son\w+=\"", text)


def test_no_two_parts_of_a_page_have_the_same_name() -> None:
    names = Page(FULL.html()).names
    assert len(names) == len(set(names))


def test_the_page_has_headings_in_order_and_heads_for_rows_and_columns() -> None:
    text = FULL.html()
    assert re.findall(r"<(h\d)", text) == ["h1", "h2", "h2", "h2", "h2"]
    assert text.count('scope="col"') == 2
    assert text.count('scope="row"') == 2
    assert text.count("<figcaption>") == 2


def test_the_page_has_a_dark_theme_with_every_colour_of_the_light_one() -> None:
    style = FULL.html().split("<style>")[1].split("</style>")[0]
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name in ("--paper", "--ink", "--faint", "--line", "--holds", "--broken", ".class-5", ".stroke-5", ".patch"):
        assert name in light
        assert name in dark


def test_whether_a_promise_held_is_said_in_words() -> None:
    assert "promise kept" in FULL.html()
    broken = FULL.with_evidence(Evidence("Fourth", "It broke.", holds=False))
    assert broken.html().count("promise broken") == 2
    assert "promise" not in Report("t", "v").html().split("<body>")[1]


def test_a_report_holds_only_where_every_tested_promise_held() -> None:
    assert FULL.holds is True
    assert FULL.with_evidence(Evidence("Fourth", "It broke.", holds=False)).holds is False
    assert Report("t", "v", (Evidence("e", "s"),)).holds is None


def test_a_report_that_does_not_say_what_was_not_tried_admits_it() -> None:
    assert "What nobody tried may still work." in Report("t", "v").html()


def test_json_says_the_same_and_has_no_number_that_is_not_finite() -> None:
    rows: Any = ((float("nan"), np.float64(0.5), np.int64(3)), (float("inf"), None, "x"))
    table = Table(("a", "b", "c"), rows)
    said = json.loads(FULL.with_evidence(Evidence("e", "s", table)).json())
    assert (said["louver"], said["format"], said["verdict"]) == ("audit", 1, NASTY)
    assert said["evidence"][0]["figure"]["bars"][0]["values"] == [3]
    assert said["evidence"][3]["table"]["rows"] == [[None, 0.5, 3], [None, None, "x"]]
    assert said["not_tried"] == [NASTY]


def test_every_report_says_that_it_is_for_the_owner() -> None:
    report = Report("t", "v")
    assert "Do not publish it." in report.html().split("<body>")[1]
    assert (report.data()["private"], report.data()["for"]) == (False, FOR_OWNER)


def test_a_report_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("before, and longer than what comes after")
    file.chmod(0o644)
    for path in (file, tmp_path / "new.json"):
        save(path, "ünter")
        assert path.read_text(encoding="utf-8") == "ünter"
        assert path.stat().st_mode & 0o777 == 0o600


def test_cells_are_shown_as_people_read_them() -> None:
    table = Table(("a", "b", "c", "d"), ((1234567, 0.123456, "x", None), (1, float("nan"), "y", 2.0)))
    assert table.shown() == [["1,234,567", "0.123", "x", DASH], ["1", DASH, "y", "2"]]
    assert table.numeric() == [True, True, False, True]


def test_a_row_that_does_not_fit_its_heads_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Table(("a",), ((1, 2),))


def test_evidence_of_networks_has_a_row_for_each_look_and_says_what_goes_beyond() -> None:
    mechanism, network, prior = YesNo.coin(bits=seeded(1)), tree(500, 1), Friends(0.3, 0.7)
    truth = alike(network, prior, 1)
    runs = [exposed(network, truth, mechanism.report(truth), mechanism, prior) for _ in range(2)]
    found = of_network({"tree": runs}, mechanism.price)
    assert found.table is not None
    assert [row[1] for row in found.table.rows] == ["nothing", "own answer", "friends' answers", "all answers"]
    assert "a factor of at most 3," in found.sentence
    assert "<svg" in Report("t", "v", (found,)).html()


def test_evidence_of_no_runs_is_refused() -> None:
    with pytest.raises(ParameterError):
        of_network({"tree": []}, YesNo.coin().price)


def test_evidence_of_scores_shows_chance_and_control_beside_each() -> None:
    found = of_scores("t", "s", [Score("who", 0.5, 0.4, 0.6, 0.1, 0.12, 40, 10)])
    assert found.table is not None
    assert found.table.rows == (("who", 0.5, 0.4, 0.6, 0.1, 0.12, 40, 10),)
    assert found.figure is not None
    assert "chance 0.1" in found.figure.svg()
