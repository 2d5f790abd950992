"""The files that a person gave to the page, in the temporary folder of the server."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from pyrocco.app.security import stored_name

__all__ = ["TooLargeError", "Upload", "Uploads"]

# Names of cells and genes that programs of 10x Genomics write beside a Matrix Market file.
_BESIDE = tuple(
    f"{name}.tsv{ending}" for name in ("barcodes", "features", "genes") for ending in ("", ".gz")
)


class TooLargeError(ValueError):
    """A file is larger than the limit; the message says so, in one line."""


@dataclass(frozen=True)
class Upload:
    """A file that was given to the page."""

    id: str
    path: Path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name


class Uploads:
    """Stores files, each in a folder of its own, up to a limit of their size.

    Parameters
    ----------
    folder : Path
        Where the files are stored.
    max_bytes : int
        The largest size of a file.
    """

    def __init__(self, folder: Path, max_bytes: int):
        self.folder, self.max_bytes = folder, max_bytes
        self._known: dict[str, Upload] = {}
        folder.mkdir()

    def find(self, file_id: object) -> Upload | None:
        """Return a file by its id; None if there is none."""
        return self._known.get(file_id) if isinstance(file_id, str) else None

    async def store(self, name: str, size: int | None, chunks: AsyncIterator[bytes]) -> Upload:
        """Store a new file while it arrives; `size` is what the browser says it will be."""
        file_id = secrets.token_hex(8)
        upload = Upload(file_id, self.folder / file_id / stored_name(name))
        self._check_size(upload.name, size or 0)
        upload.path.parent.mkdir()
        try:
            await self._write(upload.path, chunks)
        except BaseException:
            upload.path.parent.rmdir()
            raise
        self._known[file_id] = upload
        return upload

    async def store_beside(
        self, upload: Upload, name: str, size: int | None, chunks: AsyncIterator[bytes]
    ) -> None:
        """Store the names of rows or columns of a Matrix Market file beside it."""
        path = upload.path.with_name(stored_name(name, _BESIDE))
        self._check_size(path.name, size or 0)
        await self._write(path, chunks)

    async def _write(self, path: Path, chunks: AsyncIterator[bytes]) -> None:
        n_bytes = 0
        with path.open("xb") as file:  # never replaces a file
            try:
                async for chunk in chunks:
                    n_bytes += len(chunk)
                    self._check_size(path.name, n_bytes)
                    file.write(chunk)
            except BaseException:
                path.unlink()
                raise

    def _check_size(self, name: str, n_bytes: int) -> None:
        if n_bytes > self.max_bytes:
            raise TooLargeError(
                f"{name} is larger than {self.max_bytes / 1e6:g} MB, the limit of this page. "
                "Start pyrocco app with --max-size 2GB to accept larger files, or leave out rows "
                "or columns that vary little."
            )
