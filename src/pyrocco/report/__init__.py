"""The report: one HTML page about a fit that opens offline in any browser."""

from pyrocco.report.page import Page, make_report, write_report

__all__ = ["Page", "make_report", "write_report"]
