"""The report: one HTML page about a fit that opens offline in any browser."""

from pyrocco.report.page import write_report

__all__ = ["write_report"]
