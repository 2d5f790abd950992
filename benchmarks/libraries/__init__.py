"""Trials of libraries that could replace code of pyrocco."""
