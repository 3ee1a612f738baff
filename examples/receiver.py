"""A receiver with Python's standard library alone (3.9 or later).

Copy this file and the verifier, which the gateway serves:
curl -O https://GATEWAY/sdk/gateway_webhook.py
WEBHOOK_SECRET=whsec_... PORT=3000 python3 receiver.py
"""

import os
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gateway_webhook import WebhookVerificationError, verify_webhook

# During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
SECRET = os.environ.get("WEBHOOK_SECRET", "")
# A 400 is final: a receiver that cannot verify anything must not answer at all.
if not SECRET.startswith("whsec_"):
    raise SystemExit("Set WEBHOOK_SECRET to the secret of your endpoint (whsec_...): the gateway showed it when the endpoint was made.")
DATABASE = os.environ.get("CREDITED_DB", "credited.sqlite3")
MAX_BODY_BYTES = 1_048_576


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
        try:
            event = verify_webhook(raw_body, self.headers, SECRET)
            if event["event"] != "deposit.completed":
                return self.answer(200, "ignored")
            return self.answer(200, "credited" if credit_once(event["data"]) else "credited before")
        except WebhookVerificationError as error:
            return self.answer(400, error.code)
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
