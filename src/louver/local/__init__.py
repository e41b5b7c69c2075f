"""Noise before anybody sees the answer: randomized response, surveys by it, and how many people have an answer."""

from louver.local.accuracy import expected_error, least_price
from louver.local.estimate import Estimate
from louver.local.form import form
from louver.local.memory import Memory
from louver.local.randomized_response import Choice, YesNo
from louver.local.reports import Report, append_reports, read_reports
from louver.local.survey import Sifted, Survey, read_survey, write_survey
from louver.local.unary import Unary

__all__ = [
    "Choice",
    "Estimate",
    "Memory",
    "Report",
    "Sifted",
    "Survey",
    "Unary",
    "YesNo",
    "append_reports",
    "expected_error",
    "form",
    "least_price",
    "read_reports",
    "read_survey",
    "write_survey",
]
