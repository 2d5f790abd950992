"""The report: one page about a fit that opens offline, to look at, search and pass on."""

from pyrocco.report.page import write_report

__all__ = ["write_report"]
