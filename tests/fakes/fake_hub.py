"""A hub on this machine that speaks the real one's protocol, as far as its client and we use it, and breaks on demand.

Two servers: the hub (information, small files) and the CDN that it redirects large files to. `FakeHub.log` tells what
was asked of which, with which headers.
"""

import contextlib
import hashlib
import json
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit

PAGE = 3
"""Models on one page of a search."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request for the bytes of a file.

    `status`: answer this, with `headers` and `body`. The others serve the file, but: "drop" closes the connection
    after `at` bytes, "stall" stops sending there, "damage" flips a bit in the byte there, "truncate" announces and
    sends only so many, "surplus" sends more than there is, "ignore_range" sends the whole file with 200,
    "wrong_range" lies about where the bytes begin, "chunked" tells no length, "gzip" says the bytes are packed,
    "loop" redirects to itself, "redirect" to `headers`' Location.
    """

    kind: Literal[
        "status", "drop", "stall", "damage", "truncate", "surplus", "ignore_range", "wrong_range", "chunked", "gzip",
        "loop", "redirect",
    ]  # fmt: skip
    at: int = 0
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    host: Literal["hub", "cdn", "any"] = "any"


@dataclass(frozen=True)
class Asked:
    """One request: of which server, how, and how it was answered. `sent`: bytes of the file that went out."""

    host: str
    method: str
    path: str
    headers: Message
    status: int
    sent: int = 0


@dataclass
class FakeRepo:
    """One model. `token`: the only one that may read it; `gated`: whether that is a matter of a licence."""

    id: str
    files: dict[str, bytes]
    commit: str
    gated: bool | str = False
    private: bool = False
    token: str = ""
    info: dict[str, Any] = field(default_factory=dict)

    def is_large(self, path: str) -> bool:
        return path.endswith((".safetensors", ".gguf", ".bin")) or len(self.files[path]) > 2**20

    def etag(self, path: str) -> str:
        content = self.files[path]
        if self.is_large(path):
            return hashlib.sha256(content).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    def as_json(self, *, blobs: bool) -> dict[str, Any]:
        siblings: list[dict[str, Any]] = []
        for path, content in self.files.items():
            sibling: dict[str, Any] = {"rfilename": path}
            if blobs:
                sibling |= {"size": len(content), "blobId": hashlib.sha1(path.encode() + content).hexdigest()}
                if self.is_large(path):
                    sibling["lfs"] = {"sha256": self.etag(path), "size": len(content), "pointerSize": 134}
                else:
                    sibling["blobId"] = self.etag(path)
            siblings.append(sibling)
        basics = {"id": self.id, "modelId": self.id, "sha": self.commit, "private": self.private, "gated": self.gated}
        return basics | {"downloads": 0, "likes": 0, "tags": []} | self.info | {"siblings": siblings}


class FakeHub:
    """Both servers, their models, the faults to come, and the log. A context manager."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], FakeRepo] = {}
        self.heads: dict[str, FakeRepo] = {}
        self.log: list[Asked] = []
        self.bytes_per_second: float | None = None
        self.api_fault: Fault | None = None
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._hub = _Server(self, "hub")
        self._cdn = _Server(self, "cdn")
        self.endpoint = f"http://127.0.0.1:{self._hub.server_port}"
        # Another name of the same machine: to a client it is another host.
        self.cdn = f"http://localhost:{self._cdn.server_port}"

    def __enter__(self) -> "FakeHub":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cut every connection and end the threads."""
        for server in (self._hub, self._cdn):
            server.stop()

    def add(self, repo_id: str, files: Mapping[str, bytes | str], **fields: Any) -> FakeRepo:
        """A model, or its next revision; earlier ones stay reachable by their commit."""
        content = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        digest = hashlib.sha1(repo_id.encode())
        for path, data in sorted(content.items()):
            digest.update(path.encode() + b"\0" + data)
        repo = FakeRepo(repo_id, content, digest.hexdigest(), **fields)
        with self._lock:
            self.repos[repo_id, repo.commit] = self.heads[repo_id] = repo
        return repo

    def break_next(self, path: str, *faults: Fault) -> None:
        """The next requests for the bytes of `path` go wrong in this order."""
        self._faults[path].extend(faults)

    def next_fault(self, path: str, host: str) -> Fault | None:
        """The fault for a request that begins now."""
        with self._lock:
            waiting = self._faults[path]
            if waiting and waiting[0].host in (host, "any"):
                return waiting.popleft()
        return None

    def note(self, asked: Asked) -> None:
        """Remember a request."""
        with self._lock:
            self.log.append(asked)

    def asked(self, part: str = "", method: str = "GET", host: str = "") -> list[Asked]:
        """The requests whose path holds `part`."""
        with self._lock:
            return [a for a in self.log if part in a.path and a.method == method and host in ("", a.host)]

    def sent(self, part: str = "") -> int:
        """Bytes of files that went out."""
        return sum(a.sent for a in self.asked(part))

    def repo(self, repo_id: str, revision: str) -> FakeRepo | None:
        """The model at a commit or at its head."""
        return self.repos.get((repo_id, revision)) or (self.heads.get(repo_id) if revision == "main" else None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, hub: FakeHub, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), _HANDLERS[kind])
        self.hub = hub
        self.kind = kind
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._workers: list[threading.Thread] = []
        self._thread = threading.Thread(target=lambda: self.serve_forever(0.01), name=f"fake {kind}")
        self._thread.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        worker = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self._workers.append(worker)
        worker.start()

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what the tests are about."""

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for worker in self._workers:
            worker.join(20)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    @property
    def hub(self) -> FakeHub:
        return self.server.hub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        raise NotImplementedError

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def send(self, status: int, headers: Mapping[str, str] | None = None, body: bytes = b"") -> None:
        self.hub.note(Asked(self.server.kind, self.command, self.path, self.headers, status))
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_json(self, value: Any, headers: Mapping[str, str] | None = None) -> None:
        self.send(200, {"Content-Type": "application/json", **(headers or {})}, json.dumps(value).encode())

    def refuse(self, status: int, code: str) -> None:
        self.send(status, {"X-Error-Code": code, "X-Error-Message": code}, json.dumps({"error": code}).encode())

    def send_bytes(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        """`content`, or the part that is asked for, with whatever fault is due."""
        fault = self.hub.next_fault(path, self.server.kind)
        if fault and fault.kind == "status":
            return self.send(fault.status, fault.headers, fault.body)
        if fault and fault.kind in ("loop", "redirect"):
            here = f"http://{self.headers['Host']}{self.path}"
            return self.send(302, {"Location": here, **fault.headers})
        kind, at = (fault.kind, fault.at) if fault else ("", 0)
        start, ranged = self._range(kind)
        if ranged and start >= len(content):
            return self.send(416, {"Content-Range": f"bytes */{len(content)}"})
        if kind == "damage":
            content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        body = content[start:]
        if kind == "truncate":
            body = body[:at]
        if kind == "surplus":
            body += b"surplus"
        self.send_response(206 if ranged else 200)
        for name, value in headers.items():
            self.send_header(name, value)
        if ranged:
            claimed = start + 1 if kind == "wrong_range" else start
            self.send_header("Content-Range", f"bytes {claimed}-{len(content) - 1}/{len(content)}")
        if kind == "gzip":
            self.send_header("Content-Encoding", "gzip")
        if kind == "chunked":
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = self._pour(body, kind, at) if self.command == "GET" else 0
        self.hub.note(Asked(self.server.kind, self.command, self.path, self.headers, 206 if ranged else 200, sent))
        return None

    def _range(self, kind: str) -> tuple[int, bool]:
        asked = self.headers.get("Range", "")
        if not asked.startswith("bytes=") or kind == "ignore_range":
            return 0, False
        return int(asked.removeprefix("bytes=").partition("-")[0]), True

    def _pour(self, body: bytes, kind: str, at: int) -> int:
        end = min(at, len(body)) if kind in ("drop", "stall") else len(body)
        sent, began = 0, time.monotonic()
        try:
            while sent < end:
                piece = body[sent : min(sent + 16 * 1024, end)]
                if self.hub.bytes_per_second:
                    due = began + (sent + len(piece)) / self.hub.bytes_per_second
                    self.server.stopping.wait(max(0.0, due - time.monotonic()))
                sent += len(piece)
                self.wfile.write(piece)
            if kind == "stall":
                self._wait_for_the_client()
            if kind == "drop":
                # close() alone would leave the client waiting for its time-out
                self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.close_connection = True
        return sent

    def _wait_for_the_client(self) -> None:
        self.connection.settimeout(0.02)
        while not self.server.stopping.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return


class _Hub(_Handler):
    def answer(self) -> None:
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        query = parse_qs(url.query)
        fault = self.hub.api_fault
        if parts[0] == "api" and fault is not None:
            return self.send(fault.status, fault.headers, fault.body)
        if parts == ["api", "whoami-v2"]:
            known = {repo.token: repo for repo in self.hub.heads.values() if repo.token}
            return self.send_json({"name": "somebody", "type": "user"}) if self.token in known else self.refuse(401, "")
        if parts == ["api", "models"]:
            return self._list(query)
        if parts[:3] == ["api", "resolve-cache", "models"]:
            return self._resolve("/".join(parts[3:5]), parts[5], "/".join(parts[6:]))
        if parts[:2] == ["api", "models"]:
            return self._info(parts[2:], query)
        if len(parts) >= 5 and parts[2] == "resolve":
            return self._resolve("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        return self.refuse(404, "RepoNotFound")

    def _visible(self, repo_id: str, revision: str) -> FakeRepo | None:
        if repo_id not in self.hub.heads:
            self.refuse(404 if self.token else 401, "RepoNotFound")
            return None
        repo = self.hub.repo(repo_id, revision)
        if repo is None:
            self.refuse(404, "RevisionNotFound")
        elif repo.private and self.token != repo.token:
            self.refuse(404 if self.token else 401, "RepoNotFound")
            return None
        return repo

    def _list(self, query: Mapping[str, list[str]]) -> None:
        words = query.get("search", [""])[0].lower()
        tags = set(query.get("filter", []))
        found = [repo for repo in self.hub.heads.values() if words in repo.id.lower() and not repo.private]
        found = [repo for repo in found if tags <= set(repo.info.get("tags", []))]
        if task := query.get("pipeline_tag", [""])[0]:
            found = [repo for repo in found if repo.info.get("pipeline_tag", "text-generation") == task]
        key = query.get("sort", ["downloads"])[0]
        found.sort(key=lambda repo: repo.info.get(key, 0), reverse=True)
        limit, start = int(query.get("limit", [PAGE])[0]), int(query.get("cursor", ["0"])[0])
        page = [repo.as_json(blobs=False) for repo in found[start : start + limit]]
        headers = {}
        if start + limit < len(found):
            rest = "&".join(f"{k}={v}" for k, vs in query.items() if k != "cursor" for v in vs)
            headers["Link"] = f'<{self.hub.endpoint}/api/models?{rest}&cursor={start + limit}>; rel="next"'
        self.send_json(page, headers)

    def _info(self, parts: list[str], query: Mapping[str, list[str]]) -> None:
        repo_id, revision = "/".join(parts[:2]), parts[3] if len(parts) > 3 else "main"
        repo = self._visible(repo_id, revision)
        if repo is None:
            return None
        if len(parts) > 2 and parts[2] == "tree":
            files = repo.as_json(blobs=True)["siblings"]
            return self.send_json([_tree_item(item) for item in files])
        return self.send_json(repo.as_json(blobs="blobs" in query))

    def _resolve(self, repo_id: str, revision: str, path: str) -> None:
        repo = self._visible(repo_id, revision)
        if repo is None:
            return None
        if repo.gated and self.token != repo.token:
            return self.refuse(403 if self.token else 401, "GatedRepo")
        if path not in repo.files:
            return self.refuse(404, "EntryNotFound")
        headers = {"X-Repo-Commit": repo.commit, "Accept-Ranges": "bytes"}
        etag = f'"{repo.etag(path)}"'
        is_cached = self.path.startswith("/api/resolve-cache/")
        if not repo.is_large(path) and is_cached:
            return self.send_bytes(path, repo.files[path], headers | {"ETag": etag})
        headers |= {"X-Linked-Etag": etag, "X-Linked-Size": str(len(repo.files[path]))}
        if not repo.is_large(path):
            place = f"/api/resolve-cache/models/{repo.id}/{repo.commit}/{quote(path)}"
            return self.send(307, headers | {"Location": place})
        waiting = self.hub._faults[path]
        if self.command == "GET" and waiting and waiting[0].host == "hub":
            return self.send_bytes(path, repo.files[path], headers)
        return self.send(302, headers | {"Location": f"{self.hub.cdn}/{repo.id}/{repo.commit}/{path}?signed=1"})


def _tree_item(sibling: Mapping[str, Any]) -> dict[str, Any]:
    item = {"type": "file", "path": sibling["rfilename"], "size": sibling["size"], "oid": sibling["blobId"]}
    lfs = sibling.get("lfs")
    return item | ({"lfs": {"oid": lfs["sha256"], "size": lfs["size"], "pointerSize": 134}} if lfs else {})


class _Cdn(_Handler):
    def answer(self) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        repo = self.hub.repos.get(("/".join(parts[:2]), parts[2]))
        path = "/".join(parts[3:])
        if repo is None or path not in repo.files:
            return self.send(404)
        return self.send_bytes(path, repo.files[path], {"ETag": '"of-the-cdn"', "Accept-Ranges": "bytes"})


_HANDLERS: dict[str, type[_Handler]] = {"hub": _Hub, "cdn": _Cdn}


def model_files(weights: Iterable[bytes] = (b"weights",), **config: Any) -> dict[str, bytes]:
    """What a repository of a small model holds: what we need, and what we do not."""
    shards = list(weights)
    fields = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **config}
    files = {
        "config.json": json.dumps(fields).encode(),
        "generation_config.json": b"{}",
        "tokenizer.json": b'{"a": 1}',
        "tokenizer_config.json": b'{"b": 2}',
        "README.md": b"---\nlicense: mit\n---\n# A model\n\nIt *answers* [questions](https://example.com).\n",
        "original/consolidated.00.pth": b"pickled",
        "pytorch_model.bin": b"pickled too",
    }
    if len(shards) == 1:
        return files | {"model.safetensors": shards[0]}
    names = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    index = {"weight_map": {f"weight{place}": name for place, name in enumerate(names)}}
    return files | {"model.safetensors.index.json": json.dumps(index).encode()} | dict(zip(names, shards, strict=True))


def weights_file(data: bytes) -> bytes:
    """A safetensors file that holds `data` as one weight."""
    header = f'{{"w":{{"dtype":"U8","shape":[{len(data)}],"data_offsets":[0,{len(data)}]}}}}'.ljust(80).encode()
    return len(header).to_bytes(8, "little") + header + data
