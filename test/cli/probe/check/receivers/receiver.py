"""A receiver with Python's standard library alone, right unless FAULT names what is wrong with it."""

import hashlib
import hmac
import json
import os
import re
import sqlite3
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["SIGNALS_SECRET"].encode()
FAULT = os.environ.get("FAULT", "")
QUEUE = os.environ["JOURNAL"]
DATABASE = QUEUE + ".db"
HEADER = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
LIMIT = 262144


def connect():
    database = sqlite3.connect(DATABASE, timeout=30)
    database.execute("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, body BLOB NOT NULL)")
    return database


def signed_bytes(body):
    if FAULT != "signs-reserialised":
        return body
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()


def is_signed(header, body):
    match = HEADER.fullmatch(header or "")
    if match is None:
        return False
    digest = hmac.new(SECRET, match[1].encode() + b"." + signed_bytes(body), hashlib.sha256).hexdigest()
    age = int(time.time()) - int(match[1])
    return hmac.compare_digest(digest, match[2]) and abs(age) <= 300


def accept(event_id, body):
    """Whether it is new; what is new is queued, here as a line of a file."""
    database = connect()
    try:
        with database:
            is_new = database.execute("INSERT OR IGNORE INTO event VALUES (?, ?)", (event_id, body)).rowcount == 1
    finally:
        database.close()
    if is_new:
        with open(QUEUE, "a", encoding="utf-8") as queue:
            queue.write(json.dumps(event_id) + "\n")
    return is_new


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if length > LIMIT:
            return self.answer(413, {"error": "too large"})
        try:
            signed = is_signed(self.headers.get("X-Service-Signature"), body)
        except ValueError:
            signed = False
        if not signed:
            return self.answer(401, {"error": "bad signature"})
        try:
            event = json.loads(body)
            event_id, kind, data = event["id"], event["type"], event["data"]
        except (ValueError, KeyError, TypeError):
            return self.answer(202, {"kept": True})
        if kind == "webhook.verification" and isinstance(data.get("challenge"), str):
            return self.answer(200, {"challenge": data["challenge"]})
        is_new = accept(str(event_id), body)
        return self.answer(200, {"ok": True} if is_new else {"ok": True, "duplicate": True})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


connect().close()
server = Server(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
