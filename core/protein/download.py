"""Fetch published ESM-2 weights: on request, with progress, to be cancelled, nothing left half.

In: a model's card and a folder. Out: steps of progress and, at the end, a checked file in place.
A dropped connection is taken up where it broke, and so is what a killed process left; a download
that fails or is cancelled leaves nothing.
"""

import errno
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from core.protein.cards import ModelCard, WeightsError
from core.protein.checkpoint import check_file
from core.protein.part_file import part_file

PUBLISHED = "https://dl.fbaipublicfiles.com/fair-esm/models/"
_PIECE = 1 << 20


@dataclass(frozen=True)
class DownloadProgress:
    """`done` of `total` bytes are here (total None: the server did not say); `path` at the end.

    The first `kept` of them were left by a download that was killed.
    """

    done: int
    total: int | None
    path: Path
    finished: bool = False
    kept: int = 0


def download_steps(
    card: ModelCard,
    destination: Path,
    *,
    base_url: str = PUBLISHED,
    offline: bool = False,
    timeout: float = 20.0,
    attempts: int = 4,
) -> Iterator[DownloadProgress]:
    """Download `card.file` to `destination`, piece by piece; close the generator to cancel.

    The file appears under its name only when it is complete and its tensors are this model's.
    Raises WeightsError with a sentence (what, where, what to do), and leaves nothing behind.
    """
    if offline:
        raise WeightsError(
            f"ONE_RECEPTOR_OFFLINE is set, so nothing is downloaded. Put {card.file} in "
            f"{destination.parent}, or unset it."
        )
    url = base_url + card.file
    part = part_file(destination)
    try:
        if part.is_file():
            yield from _after_a_killed_one(url, part, card, destination, timeout, attempts)
        else:
            yield from _fetch(url, part, destination, timeout, attempts)
            _check_arrived(part, card, url, destination)
        os.replace(part, destination)
        yield DownloadProgress(
            destination.stat().st_size, destination.stat().st_size, destination, finished=True
        )
    except OSError as problem:
        raise _explained(problem, url, destination) from problem
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _after_a_killed_one(
    url: str, part: Path, card: ModelCard, destination: Path, timeout: float, attempts: int
) -> Iterator[DownloadProgress]:
    """Go on from what is there; when that does not make a whole file, start over."""
    kept = part.stat().st_size
    for step in _fetch(url, part, destination, timeout, attempts):
        yield replace(step, kept=kept)
    try:
        check_file(part, card)
    except WeightsError:
        part.unlink()
        yield from _fetch(url, part, destination, timeout, attempts)
        _check_arrived(part, card, url, destination)


def _check_arrived(part: Path, card: ModelCard, url: str, destination: Path) -> None:
    """Raise WeightsError about the address unless it sent this model; `part` is removed then."""
    try:
        check_file(part, card)
    except WeightsError as problem:
        raise WeightsError(
            f"What {url} sent ({part.stat().st_size:,} bytes; about {card.size_bytes:,} expected) "
            f"is not the whole file of {card.label}, or it is damaged. Nothing was kept. Try "
            f"again later. {_by_hand(url, destination)}"
        ) from problem


def _by_hand(url: str, destination: Path) -> str:
    return f"You can also fetch {url} yourself and put it in {destination.parent}."


def _fetch(
    url: str, part: Path, destination: Path, timeout: float, attempts: int
) -> Iterator[DownloadProgress]:
    done, total = part.stat().st_size if part.is_file() else 0, None
    for attempt in range(1, attempts + 1):
        try:
            with _open(url, done, timeout) as reply:
                if reply.status != 206:
                    done = 0  # the server starts over: so do we
                total = _total(reply, done)
                _check_room(destination, total)
                for written in _write(reply, part, done):
                    done = written
                    yield DownloadProgress(done, total, destination)
            if total is None or done >= total:
                return
            dropped: Exception = ConnectionError(f"the connection closed at {done:,} bytes")
        except urllib.error.HTTPError as problem:
            if problem.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not done:
                raise
            done, dropped = 0, problem  # there is no more than that: perhaps another file's part
        except (HTTPException, ConnectionError, TimeoutError, urllib.error.URLError) as problem:
            dropped = problem
        if attempt == attempts:
            raise ConnectionError(str(getattr(dropped, "reason", dropped))) from dropped


def _open(url: str, done: int, timeout: float) -> HTTPResponse:
    if not url.startswith(("https://", "http://")):
        raise WeightsError(f"{url} is not a web address.")
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    reply: HTTPResponse = urllib.request.urlopen(request, timeout=timeout)
    return reply


def _total(reply: HTTPResponse, done: int) -> int | None:
    length = reply.headers.get("Content-Length")
    return int(length) + done if length is not None else None


def _check_room(destination: Path, total: int | None) -> None:
    free = shutil.disk_usage(destination.parent).free
    if total is not None and total > free:
        raise WeightsError(
            f"{destination.name} needs {total / 1e6:,.0f} MB and {destination.parent} has "
            f"{free / 1e6:,.0f} MB free: make room or choose another folder."
        )


def _write(reply: HTTPResponse, part: Path, done: int) -> Iterator[int]:
    with part.open("r+b" if done else "wb") as file:
        file.seek(done)
        while piece := reply.read(_PIECE):
            file.write(piece)
            done += len(piece)
            yield done


def _explained(problem: OSError, url: str, destination: Path) -> WeightsError:
    by_hand = _by_hand(url, destination)
    if isinstance(problem, urllib.error.HTTPError):
        return WeightsError(f"{url} answered {problem.code} {problem.reason}. {by_hand}")
    if problem.errno == errno.ENOSPC:
        return WeightsError(
            f"{destination.parent} is full. The partial file was removed: make room or choose "
            "another folder."
        )
    if isinstance(problem, (ConnectionError, TimeoutError)):
        return WeightsError(
            f"{url} could not be fetched ({problem}). Nothing was kept. Try again later. {by_hand}"
        )
    return WeightsError(f"{destination} could not be written: {problem}. {by_hand}")
