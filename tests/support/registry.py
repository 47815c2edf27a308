#!/usr/bin/env python3
"""A registry of images, for tests: read-only, without TLS, on a port of loopback that it prints.

    tests/support/registry.py LAYOUT      serves the OCI layout in that folder under every name, as it is at each question
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYOUT = Path(sys.argv[1])
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


def blob(digest):
    match = DIGEST.fullmatch(digest)
    path = LAYOUT / "blobs" / "sha256" / match[1] if match else None
    return path.read_bytes() if path and path.is_file() else None


def digest_of(reference):
    """Of the manifest that a tag names now; a digest is one already."""
    if DIGEST.fullmatch(reference):
        return reference
    for manifest in json.loads((LAYOUT / "index.json").read_text())["manifests"]:
        if manifest["annotations"]["org.opencontainers.image.ref.name"] == reference:
            return manifest["digest"]
    return ""


class Handler(BaseHTTPRequestHandler):
    def answer(self, with_body):
        match = re.fullmatch(r"/v2/.+/(manifests|blobs)/([^/]+)", self.path)
        if self.path == "/v2/":
            return self.say(200, b"{}", "application/json", "", with_body)
        digest = digest_of(match[2]) if match else ""
        body = blob(digest)
        if body is None:
            return self.say(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}', "application/json", "", with_body)
        kind = json.loads(body).get("mediaType", MANIFEST) if match[1] == "manifests" else "application/octet-stream"
        return self.say(200, body, kind, digest, with_body)

    def say(self, status, body, kind, digest, with_body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if digest:
            self.send_header("Docker-Content-Digest", digest)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"port {server.server_port} ", flush=True)
server.serve_forever()
