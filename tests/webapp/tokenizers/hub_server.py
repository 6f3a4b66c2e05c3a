"""A hub on this machine: the files of a few repositories, and the ways in which one can fail."""

from __future__ import annotations

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

SMALL = json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}).encode()
CONFIG = json.dumps({"chat_template": "{{ messages }}", "auto_map": {"AutoTokenizer": "code.Tokenizer"}}).encode()
CODE = b"raise SystemExit('never fetched')"


class Hub:
    """Serves `files` by repository and name. `asked` are the paths that were requested; `go` lets slow answers end."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, bytes]] = {
            "owner/both": {"tokenizer.json": SMALL, "tokenizer_config.json": CONFIG, "code.py": CODE},
            "owner/alone": {"tokenizer.json": SMALL},
            "owner/spm": {"tokenizer.model": b"spm"},
            "owner/weights": {"model.safetensors": b"weights"},
            "owner/large": {"tokenizer.json": b"x" * 3_000_000},
            "owner/slow": {"tokenizer.json": SMALL * 100},
        }
        self.asked: list[str] = []
        self.tokens: list[str | None] = []
        self.go = Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.serve(body=False)

            def do_GET(self) -> None:
                self.serve(body=True)

            def serve(self, body: bool) -> None:
                hub.asked.append(self.path)
                hub.tokens.append(self.headers.get("Authorization"))
                owner, name, *_, file = self.path.lstrip("/").split("/")
                data = hub.files.get(f"{owner}/{name}", {}).get(file)
                if name in STATUS:
                    self.refuse(*STATUS[name])
                elif f"{owner}/{name}" not in hub.files:
                    self.refuse(404, "RepoNotFound")
                elif data is None:
                    self.refuse(404, "EntryNotFound")
                else:
                    self.give(data, body, slow=name == "slow")

            def refuse(self, status: int, code: str) -> None:
                self.send_response(status)
                self.send_header("X-Error-Code", code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def give(self, data: bytes, body: bool, slow: bool) -> None:
                self.send_response(200)
                self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
                self.send_header("X-Repo-Commit", "0" * 40)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if body and slow:
                    self.wfile.write(data[:100])
                    self.wfile.flush()
                    hub.go.wait(30)
                if body:
                    self.wfile.write(data[100 * slow :])

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


STATUS = {"gated": (403, "GatedRepo"), "broken": (418, "Teapot")}
