from __future__ import annotations

from pathlib import Path

import pytest

from louver.errors import DataError, LouverError
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
    ("name", "content"),
    [
        ("r.csv", "a,b\n1,2\n"),
        ("r.csv", "survey,number,said\nx,0123456789abcdef\n"),
        ("r.csv", "survey,number,said\nx,12,a\n"),
        ("r.csv", "survey,number,said\nx,0123456789abcdeg,a\n"),
        ("r.csv", "survey,number,said\nx,0123456789abcdef,\n"),
        ("r.jsonl", "{}\n"),
        ("r.jsonl", "[1,2,3]\n"),
        ("r.jsonl", '{"survey": "x", "number": 12, "said": "a"}\n'),
        ("r.jsonl", '{"survey": "x"\n'),
        ("r.jsonl", "x" * (2**20 + 1)),
    ],
)
def test_a_line_that_is_no_report_is_refused_in_one_sentence(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=r"^[^\n]*\.$"):
        list(read_reports([tmp_path / name]))


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"survey,number,said\n\xff\xfe")
    for attempt in (
        lambda: list(read_reports([tmp_path / "r.csv"])),
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
