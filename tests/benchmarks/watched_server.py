"""Streamlit, with a line in a file for each request that it gets and each message that it sends.

    python tests/benchmarks/watched_server.py LINES run streamlit_app.py [Streamlit's options]

A line is milliseconds by the clock and of processor time, the kind of request or message, and the
message's bytes. A message counts as sent once it is written out for its connection.
"""

import sys
import time
from typing import TextIO

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.web.cli import main


def watch(lines: TextIO) -> None:
    """Write into `lines` from now on."""
    handle, send = AppSession.handle_backmsg, Runtime._send_message

    def line(message, size: int) -> None:
        times = f"{1000 * time.perf_counter():.2f} {1000 * time.process_time():.2f}"
        lines.write(f"{times} {message.WhichOneof('type')} {size}\n")

    def handled(session, message) -> None:
        line(message, 0)
        handle(session, message)

    def sent(runtime, session, message) -> None:
        send(runtime, session, message)
        line(message, message.ByteSize())

    AppSession.handle_backmsg, Runtime._send_message = handled, sent


if __name__ == "__main__":
    with open(sys.argv.pop(1), "a", buffering=1) as file:
        watch(file)
        main(prog_name="streamlit")
