from __future__ import annotations

from pathlib import Path

import pytest

from louver.errors import LouverError
from louver.local import Report, Survey, append_reports, read_reports

SURVEY = Survey("Where?", ['by "bus", mostly', "auf dem Weg é", "a"], epsilon=1)


@pytest.mark.parametrize("name", ["reports.csv", "reports.jsonl", "reports.ndjson"])
def test_reports_are_added_and_read_again(tmp_path: Path, name: str) -> None:
    sent = SURVEY.reports(list(SURVEY.answers) * 5)
    for number in range(0, 15, 5):
        append_reports(tmp_path / name, sent[number : number + 5])
    assert list(read_reports([tmp_path / name])) == sent
    assert list(read_reports([tmp_path / name, tmp_path / name])) == sent * 2


def test_a_csv_file_has_its_head_once(tmp_path: Path) -> None:
    for _ in range(2):
        append_reports(tmp_path / "r.csv", SURVEY.reports(["a"]))
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0] == "survey,number,said"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("r.csv", b"x,0123456789abcdef\n"),
        ("r.csv", b"x,12,a\n"),
        ("r.csv", b"x,0123456789abcdeg,a\n"),
        ("r.csv", b"x,0123456789abcdef,\n"),
        ("r.csv", b'x,0123456789abcdef,"a\n'),
        ("r.csv", b'"' + b"x" * 200_000 + b'"\n'),
        ("r.csv", b"x,0123"),
        ("r.csv", b"\xff\xfe\n"),
        ("r.jsonl", b"{}\n"),
        ("r.jsonl", b"[1,2,3]\n"),
        ("r.jsonl", b'{"survey": "x", "number": 12, "said": "a"}\n'),
        ("r.jsonl", b'{"survey": "x"\n'),
        ("r.jsonl", b"x" * 2**20),
        ("r.jsonl", b"[" * 100_000 + b"\n"),
    ],
)
def test_a_line_that_is_no_report_spoils_no_other_one(tmp_path: Path, name: str, line: bytes) -> None:
    sent = SURVEY.reports(["a", "a", 'by "bus", mostly', "auf dem Weg é"])
    append_reports(tmp_path / name, sent[:1])
    with (tmp_path / name).open("ab") as file:
        file.write(line)
    append_reports(tmp_path / name, sent[1:])
    assert list(read_reports([tmp_path / name])) == [sent[0], None, *sent[1:]]


def test_a_file_that_does_not_begin_with_its_head_has_its_reports(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("anything\n")
    sent = SURVEY.reports(["a"])
    append_reports(tmp_path / "r.csv", sent)
    assert list(read_reports([tmp_path / "r.csv"])) == [None, *sent]


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    for attempt in (
        lambda: list(read_reports([tmp_path / "nowhere.csv"])),
        lambda: list(read_reports([tmp_path / "r.txt"])),
        lambda: append_reports(tmp_path / "r.txt", [Report("x", "0" * 16, "a")]),
        lambda: append_reports(tmp_path / "no" / "r.csv", [Report("x", "0" * 16, "a")]),
    ):
        with pytest.raises(LouverError, match=r"^[^\n]*\.$"):
            attempt()


def test_an_empty_file_has_no_reports(tmp_path: Path) -> None:
    for name in ("r.csv", "r.jsonl"):
        (tmp_path / name).write_text("")
        assert list(read_reports([tmp_path / name])) == []
