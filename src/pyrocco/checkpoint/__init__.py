"""The state of a fit in a file, so that a fit that was stopped can go on."""

from pyrocco.checkpoint.errors import CheckpointError
from pyrocco.checkpoint.journal import Journal
from pyrocco.checkpoint.keeper import Checkpoint, checkpoint_to, journal_of

__all__ = ["Checkpoint", "CheckpointError", "Journal", "checkpoint_to", "journal_of"]
