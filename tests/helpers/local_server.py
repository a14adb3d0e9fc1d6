"""A server on localhost in a thread of this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """A handler that prints nothing and keeps connections open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: the second would wait 40 ms

    def log_message(self, *_: Any) -> None:
        pass

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        """Send an answer, of which HEAD gets the headers alone."""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def serving(handler: type[Handler], **attributes: Any) -> Iterator[str]:
    """Yield the address of a server until the block ends; sockets must be allowed.

    Args:
        handler: answers the requests.
        attributes: what its instances get.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), attributes))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
