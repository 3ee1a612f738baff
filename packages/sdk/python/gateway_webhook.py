"""Verifies the webhooks of a deposit gateway with Python's standard library alone (3.9 or later).

One file: copy it beside your code.

    from gateway_webhook import WebhookVerificationError, verify_webhook

    try:
        event = verify_webhook(raw_body, headers, secret)
    except WebhookVerificationError as error:
        ...  # answer 400 with error.code and do nothing

A genuine webhook can arrive more than once: use event["data"]["id"] as the key when you credit.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from datetime import datetime, timezone

__all__ = ["WebhookVerificationError", "sign_test_event", "verify_webhook"]

MIN_SECRET_CHARACTERS = 16
MIN_KEY_BYTES = 24  # the least that Standard Webhooks allows
MAX_SIGNATURES = 16  # far more than a rotation ever needs; an attacker's long list costs no time
ISO_TIME = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?Z", re.ASCII)
SECONDS = re.compile(r"\d{1,12}", re.ASCII)


class WebhookVerificationError(Exception):
    """A webhook that must not be trusted: answer 400 and do nothing. `code` says why."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def verify_webhook(raw_body, headers, secret, tolerance_seconds=300, now=None):
    """The event of one webhook, or WebhookVerificationError.

    raw_body: the exact bytes that arrived; JSON that was parsed and printed again has another signature.
    headers: any mapping with names in any case (of http.server, Flask, Django, FastAPI, a dict).
    secret: the whole secret as shown at creation, "whsec_" included; a line end after it counts for nothing.
    now: our time in seconds; the system clock by default.

    Either signature is enough: X-Webhook-Signature, or the Standard Webhooks headers, which during a
    rotation also carry the old secret's signature. Compares in constant time.
    """
    if isinstance(raw_body, str):
        raw_body = raw_body.encode()
    if not isinstance(raw_body, (bytes, bytearray)):
        raise WebhookVerificationError("RAW_BODY_REQUIRED", "raw_body must be the bytes as received, not parsed JSON")
    # An empty or cut-off secret must not verify anything: everybody knows that key.
    secret = secret.strip() if isinstance(secret, str) else ""
    if len(secret) < MIN_SECRET_CHARACTERS:
        raise WebhookVerificationError("SECRET_REQUIRED", "the signing secret is missing or incomplete")
    clock = (time.time() if now is None else now, tolerance_seconds)
    matches = _own_proof(raw_body, headers, secret, clock)
    if matches is None:
        matches = _standard_proof(raw_body, headers, secret, clock)
    if matches is None:
        raise WebhookVerificationError("HEADER_MISSING", "the webhook has no signature headers")
    if not matches:
        raise WebhookVerificationError("SIGNATURE_MISMATCH", "the signature does not match the body and the secret")
    try:
        event = json.loads(bytes(raw_body).decode("utf-8"))
    except (ValueError, RecursionError):
        raise WebhookVerificationError("BODY_INVALID", "the body is not JSON") from None
    if not isinstance(event, dict) or not {"event", "data", "timestamp"} <= event.keys():
        raise WebhookVerificationError("BODY_INVALID", "the body is not an event")
    return event


def sign_test_event(secret, event, data, event_id="00000000-0000-4000-8000-000000000000", now=None):
    """(raw_body, headers) as the gateway would send them, for the tests of a receiver."""
    secret = secret.strip()
    seconds = int(time.time() if now is None else now)
    timestamp = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"event": event, "data": data, "timestamp": timestamp}
    raw_body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    own = _hmac(secret.encode(), f"{timestamp}.", raw_body).hex()
    standard = base64.b64encode(_hmac(_standard_key(secret), f"{event_id}.{seconds}.", raw_body)).decode()
    return raw_body, {
        "Content-Type": "application/json",
        "User-Agent": "Service-Webhook/1.0",
        "X-Webhook-Signature": own,
        "X-Webhook-Timestamp": timestamp,
        "X-Webhook-Id": event_id,
        "X-Webhook-Event": event,
        "X-Webhook-Attempt": "1",
        "webhook-id": event_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{standard}",
    }


def _own_proof(raw_body, headers, secret, clock):
    """Whether the API's own signature matches. None when its headers are absent, or when it fails while the
    other scheme's headers are present: the other one decides then, by its own timestamp."""
    signature = _header(headers, "x-webhook-signature")
    timestamp = _header(headers, "x-webhook-timestamp")
    has_other = _header(headers, "webhook-signature") is not None
    if signature is None or timestamp is None:
        return None
    expected = _hmac(secret.encode(), f"{timestamp}.", raw_body).hex()
    matches = _is_equal(expected, signature.lower())
    if not matches and has_other:
        return None
    _check_time(_seconds_of(timestamp), clock)
    return matches


def _standard_proof(raw_body, headers, secret, clock):
    event_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature")
    if event_id is None or timestamp is None or signatures is None:
        return None
    key = _standard_key(secret)
    # The secret does not decode: an empty key would accept anybody's signature.
    if len(key) < MIN_KEY_BYTES:
        return False
    _check_time(int(timestamp) if SECONDS.fullmatch(timestamp) else None, clock)
    digest = _hmac(key, f"{event_id}.{timestamp}.", raw_body)
    expected = "v1," + base64.b64encode(digest).decode()
    return any([_is_equal(expected, given) for given in signatures.split(" ")[:MAX_SIGNATURES]])


def _check_time(sent, clock):
    now, tolerance = clock
    if sent is None:
        raise WebhookVerificationError("TIMESTAMP_INVALID", "the timestamp header is not a time")
    # Written so that a tolerance that is not a number causes a refusal, not acceptance.
    if not abs(now - sent) <= tolerance:
        raise WebhookVerificationError(
            "TIMESTAMP_OUT_OF_TOLERANCE", "the webhook was sent too long ago, or one of the clocks is wrong"
        )


def _seconds_of(iso):
    found = ISO_TIME.fullmatch(iso)
    if not found:
        return None
    try:
        whole = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return whole.timestamp() + float("0" + (found[2] or ".0"))


def _header(headers, name):
    """One header's value. A repeated header is treated as absent: which value was meant cannot be known."""
    values = [value for key, value in headers.items() if key.lower() == name]
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = values[0]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def _standard_key(secret):
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    text = "".join(text.split())
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _hmac(key, prefix, raw_body):
    return hmac.new(key, _bytes(prefix) + raw_body, hashlib.sha256).digest()


def _is_equal(expected, given):
    return hmac.compare_digest(_bytes(expected), _bytes(given))


def _bytes(text):
    """A header's value may hold anything; what is no text has no right signature either."""
    return text.encode("utf-8", "surrogatepass")
