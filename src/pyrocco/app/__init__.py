"""A page on this computer for people without a terminal: ``pyrocco app``."""
