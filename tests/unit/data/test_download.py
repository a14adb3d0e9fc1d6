import hashlib
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from huggingface_hub import constants

from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch
from cc_hf.errors import DataError
from tests.helpers.usual import fails, write_text

CONTENT = b"the pinned content\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PLACE = "owner/repository", "c0ffee" * 6 + "abcd", "folder/data.tsv"
FILE = SourceFile(*PLACE, SHA256, len(CONTENT))


class Handler(BaseHTTPRequestHandler):
    answer = "good"
    n_requests = 0
    ranges: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        type(self).n_requests += 1
        if self.answer in ("404", "500"):
            self.send_error(int(self.answer))
            return
        body = CONTENT if self.answer != "other" else b"something else"
        start = int((self.headers["Range"] or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        type(self).ranges.append(start)
        if self.answer == "breaking":  # 7,000 bytes at a time, with ranges
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(CONTENT) - start))
            self.end_headers()
            self.wfile.write(CONTENT[start : start + 7000])
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:100] if self.answer == "early" else body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: Any, tmp_path: Path, socket_enabled: None) -> Iterator[type[Handler]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{running.server_port}"
        monkeypatch.setattr(SourceFile, "url", property(lambda self: f"{url}/{self.path}"))
        monkeypatch.setattr(constants, "HF_HOME", str(tmp_path))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        Handler.answer, Handler.n_requests = "good", 0
        Handler.ranges.clear()
        yield Handler
        running.shutdown()


def files_under(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.parent.name != ".locks")


def test_a_file_is_downloaded_once_and_kept(server: type[Handler], tmp_path: Path) -> None:
    path = fetch(FILE)
    assert path.read_bytes() == CONTENT
    assert fetch(FILE) == path
    assert (server.n_requests, files_under(tmp_path)) == (1, ["data.tsv"])


@pytest.mark.parametrize("answer", ["404", "500", "other"])
def test_failed_downloads_leave_no_file(server: type[Handler], tmp_path: Path, answer: str) -> None:
    server.answer = answer
    with pytest.raises(DataError, match="nothing was kept") as caught:
        fetch(FILE)
    assert "http://127.0.0.1" in str(caught.value)
    assert files_under(tmp_path) == []
    server.answer = "good"
    assert fetch(FILE).read_bytes() == CONTENT


def test_a_download_that_ends_early_is_resumed_later(server: type[Handler], tmp_path: Path) -> None:
    server.answer = "early"
    fails(DataError, "closed after 100 of 19000 bytes", fetch, FILE)
    assert files_under(tmp_path) == [".data.tsv.part"]
    server.answer = "breaking"  # and within one call
    assert fetch(FILE).read_bytes() == CONTENT
    assert (server.ranges, files_under(tmp_path)) == ([0, 100, 100, 7100, 14100], ["data.tsv"])


def test_a_corrupt_partial_file_is_deleted(server: type[Handler], tmp_path: Path) -> None:
    part = tmp_path / "cc_hf" / FILE.repository / FILE.commit / "folder/.data.tsv.part"
    write_text(part, "x" * len(CONTENT))
    fails(DataError, "nothing was kept", fetch, FILE)
    assert files_under(tmp_path) == []
    assert fetch(FILE).read_bytes() == CONTENT


def test_a_whole_file_without_sha256_is_accepted(server: type[Handler], tmp_path: Path) -> None:
    unpinned = SourceFile(*PLACE)
    server.answer = "early"
    fails(DataError, "100 of unknown bytes are kept", fetch, unpinned)
    server.answer = "breaking"
    assert fetch(unpinned).read_bytes() == CONTENT


def test_concurrent_downloads_of_one_file_succeed(server: type[Handler], tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: fetch(FILE), range(8)))
    assert {p.read_bytes() for p in paths} == {CONTENT}
    assert files_under(tmp_path) == ["data.tsv"]


def test_an_altered_or_unwritable_cache_is_refused(server: type[Handler], tmp_path: Path) -> None:
    fetch(FILE).write_bytes(b"altered")
    received = hashlib.sha256(b"altered").hexdigest()
    fails(DataError, f"expected sha256 {SHA256}, received {received}", fetch, FILE)
    shutil.rmtree(tmp_path / "cc_hf")
    (tmp_path / "cc_hf").write_text("a file where a folder should be", encoding="utf-8")
    fails(DataError, r"the cache cannot be written .* Set HF_HOME", fetch, FILE)


def test_offline_errors_name_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path))
    fails(DataError, r"HF_HUB_OFFLINE is set\. Go online once, or set", fetch, FILE)


def test_an_unaltered_local_copy_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fails(DataError, "is not a folder", fetch, FILE, tmp_path / "missing")
    fails(DataError, r"file not found: .*owner/repository/folder/data.tsv", fetch, FILE, tmp_path)
    path = write_text(tmp_path / FILE.repository / FILE.path, "wrong")
    fails(DataError, "expected sha256", fetch, FILE, tmp_path)
    path.write_bytes(CONTENT)
    assert fetch(FILE, tmp_path) == path
    monkeypatch.setenv("CC_HF_DATA_DIR", str(tmp_path))
    assert fetch(FILE) == path


HUB_FILE = SourceFile("owner/dataset", "c0ffee" * 6 + "abcd", "data/test.jsonl", host="hub")


@pytest.fixture
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a Hub cache with the large file, as the Hub's client lays it out."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "datasets--owner--dataset"
    blob = folder / "blobs" / SHA256
    pointer = folder / "snapshots" / HUB_FILE.commit / HUB_FILE.path
    for path in (blob, pointer):
        path.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    pointer.symlink_to(Path("../../../blobs") / blob.name)
    return folder


def test_a_hub_file_is_read_from_the_hub_cache_unless_it_is_altered(hub_cache: Path) -> None:
    path = fetch(HUB_FILE)
    assert path == hub_cache / "snapshots" / HUB_FILE.commit / HUB_FILE.path
    assert path.read_bytes() == CONTENT
    next((hub_cache / "blobs").iterdir()).write_bytes(b"altered")
    fails(
        DataError,
        f"expected sha256 {SHA256}, as the Hub says of {HUB_FILE.url}, received other content",
        fetch,
        HUB_FILE,
    )


def test_a_small_hub_file_without_sha256_is_accepted(hub_cache: Path) -> None:
    pointer = hub_cache / "snapshots" / HUB_FILE.commit / HUB_FILE.path
    blob = hub_cache / "blobs" / ("0" * 40)  # this is git's own hash
    blob.write_bytes(b"small")
    pointer.unlink()
    pointer.symlink_to(Path("../../../blobs") / blob.name)
    assert fetch(HUB_FILE).read_bytes() == b"small"


def test_a_missing_hub_file_offline_raises_an_error_with_a_remedy(hub_cache: Path) -> None:
    other = SourceFile(HUB_FILE.repository, HUB_FILE.commit, "data/other.jsonl", host="hub")
    fails(DataError, r"data/other.jsonl of the dataset owner/dataset is not", fetch, other)


def test_a_missing_local_copy_of_a_hub_file_is_refused_with_its_source(tmp_path: Path) -> None:
    fails(DataError, r"file not found: .*owner/dataset/data/test.jsonl", fetch, HUB_FILE, tmp_path)
    path = write_text(tmp_path / HUB_FILE.repository / HUB_FILE.path, "any content")
    assert fetch(HUB_FILE, tmp_path) == path
