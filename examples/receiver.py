"""A receiver with Python's standard library alone (3.9 or later).

Run: WEBHOOK_SECRET=whsec_... PORT=3000 python3 receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
SECRET = os.environ["WEBHOOK_SECRET"]
if len(SECRET) < 32:
    raise SystemExit("WEBHOOK_SECRET is not set")  # an empty key is one that everybody knows
DATABASE = os.environ.get("CREDITED_DB", "credited.sqlite3")
TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1_048_576


def is_recent(sent_at):
    return abs(time.time() - sent_at) <= TOLERANCE_SECONDS


def is_genuine(headers, raw_body):
    """X-Webhook-Signature: hex HMAC-SHA256 over timestamp + "." + raw body, with the whole secret."""
    sent = headers.get("X-Webhook-Timestamp", "")
    given = headers.get("X-Webhook-Signature", "")
    expected = hmac.new(SECRET.encode(), sent.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.encode()):
        return False
    try:
        sent_at = datetime.strptime(sent, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return False
    return is_recent(sent_at.timestamp())


def is_genuine_standard(headers, raw_body):
    """webhook-signature: the Standard Webhooks form, which carries the old secret's signature too during a rotation."""
    event_id, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (sent.isascii() and sent.isdigit() and len(sent) <= 12 and is_recent(int(sent))):
        return False
    key = base64.b64decode(SECRET[len("whsec_") :])
    digest = hmac.new(key, f"{event_id}.{sent}.".encode() + raw_body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(expected, given.encode()) for given in headers.get("webhook-signature", "").split(" ")[:16])


def credit_once(deposit):
    """True for the first time. The id and the customer's money belong into one transaction of the shop's own database."""
    with sqlite3.connect(DATABASE, timeout=5) as database:
        row = (deposit["id"], deposit["customer_id"], deposit["amount"], deposit["currency"])
        return database.execute("insert into credited values (?, ?, ?, ?) on conflict do nothing", row).rowcount == 1


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # a sender that stalls must not hold a thread for ever

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if self.path != "/webhooks" or not (length.isascii() and length.isdigit() and len(length) <= 9):
            return self.answer(404, "not found")
        if int(length) > MAX_BODY_BYTES:
            return self.answer(413, "too large")
        raw_body = self.rfile.read(int(length))
        if not (is_genuine(self.headers, raw_body) or is_genuine_standard(self.headers, raw_body)):
            return self.answer(400, "bad signature")
        try:
            event = json.loads(raw_body)
            if event["event"] != "deposit.completed":
                return self.answer(200, "ignored")
            return self.answer(200, "credited" if credit_once(event["data"]) else "credited before")
        except sqlite3.Error:
            return self.answer(500, "not credited, try again")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


if __name__ == "__main__":
    with sqlite3.connect(DATABASE) as setup:
        setup.execute("create table if not exists credited (id text primary key, customer_id text, amount text, currency text)")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(f"listening on port {server.server_address[1]}", flush=True)
    server.serve_forever()
