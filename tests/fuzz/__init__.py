"""Fuzz harness: damaged input files of every format, each read in a process of its own.

``python -m tests.fuzz --help`` says how to run it; ``make fuzz`` runs it for an hour.
"""
