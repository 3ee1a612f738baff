"""What Schemathesis cannot read from the description: values that exist, rules between members, and whom not to call."""

import atexit
import collections
import json
import os
import random
import re
from urllib.parse import urlsplit, urlunsplit

import requests
import schemathesis

INPUT = json.loads(os.environ["FUZZ_INPUT"])
KNOWN = INPUT["known"]
RANDOM = random.Random(INPUT["seed"])
# A merchant has room for 50.
KEPT_ENDPOINTS = 30
SHOWN_FAILURES = 200
# Members of which only one may be given, or which must agree: one is left, so that such requests get further.
ALIASES = [("amount_usd", "amount"), ("share", "amount_usd"), ("share", "amount"), ("events", "enabled_events"), ("currency", "token"), ("customer_id", "email")]
ONE_PLACE = ("page", "starting_after", "ending_before")

# Well-formed requests that are refused for a reason which JSON Schema has no words for: the check, the sentence of the 400, and why.
EXCUSES = [(check, re.compile(pattern), why) for check, pattern, why in INPUT["excuses"]]

statuses = collections.Counter()
phases = collections.Counter()
excused = collections.Counter()
failures = {}
failure_counts = collections.Counter()
made_endpoints = collections.deque()


def is_positive(case, location):
    meta = case.meta
    if meta is None:
        return True
    for key, component in meta.components.items():
        if getattr(key, "value", key) == location:
            return component.mode.is_positive
    return meta.generation.mode.is_positive


def phase_of(case):
    return "none" if case.meta is None else str(getattr(case.meta.phase.name, "value", case.meta.phase.name)).lower()


def collection_of(path):
    return path.split("/{", 1)[0]


def tame(url):
    """Generated addresses must not make the gateway call strangers."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return url
    if not parts.scheme.lower().startswith("http") or not host or host == "127.0.0.1" or host.endswith((".invalid", ".example")):
        return url
    if "." not in host or host[-1].isdigit() or ":" in host:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(host.rsplit(".", 1)[-1], "invalid")))


def put_known(values, names):
    for name in names:
        if isinstance(values.get(name), str) and KNOWN.get(name) and RANDOM.random() < 0.5:
            values[name] = RANDOM.choice(KNOWN[name])


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """A session is named only where nothing else opens a route; it opens the others as well."""
    if "Cookie" in INPUT["headers"]:
        raw_schema["security"] = [{"session": []}]


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if isinstance(body, dict):
        for name in ("url", "webhook_url"):
            if isinstance(body.get(name), str):
                body[name] = tame(body[name])
    if phase_of(case).endswith("stateful") or case.method == "DELETE":
        return
    known = KNOWN.get(collection_of(case.operation.path))
    if known and case.path_parameters and is_positive(case, "path") and RANDOM.random() < 0.6:
        for name in case.path_parameters:
            case.path_parameters[name] = RANDOM.choice(known)
    if isinstance(body, dict) and is_positive(case, "body"):
        for name, alias in ALIASES:
            if body.get(name) and body.get(alias):
                del body[alias if RANDOM.random() < 0.5 or name == "currency" else name]
    if case.query and is_positive(case, "query"):
        places = [name for name in ONE_PLACE if name in case.query]
        for name in places[1:] if RANDOM.random() < 0.5 else places[:-1]:
            if len(places) > 1 and sum(place in case.query for place in ONE_PLACE) > 1:
                del case.query[name]
    if "coverage" in phase_of(case):
        return
    if case.query and is_positive(case, "query"):
        put_known(case.query, ("customer_id", "email", "external_id", "address", "transaction_hash"))
        for name in ("starting_after", "ending_before"):
            if known and name in case.query and RANDOM.random() < 0.7:
                case.query[name] = RANDOM.choice(known)
    if isinstance(body, dict) and is_positive(case, "body"):
        put_known(body, ("customer_id", "payment_token", "url", "webhook_url"))
        if case.operation.path == "/test/expire-payment" and KNOWN.get("payment_token") and RANDOM.random() < 0.5:
            body["token"] = RANDOM.choice(KNOWN["payment_token"])


@schemathesis.hook
def after_call(context, case, response):
    statuses[str(response.status_code)] += 1
    phases[phase_of(case)] += 1
    if response.status_code != 201 or case.method != "POST" or case.operation.path != "/webhook-endpoints":
        return
    made_endpoints.append(response.json()["id"])
    if len(made_endpoints) > KEPT_ENDPOINTS:
        requests.delete(f"{INPUT['api']}/webhook-endpoints/{made_endpoints.popleft()}", headers=INPUT["headers"], timeout=30)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    name = type(failure).__name__
    sentence = f"{case.operation.label} {response.request.method}: {sentence_of(response)}"
    for check, pattern, why in EXCUSES:
        if check == name and pattern.search(sentence):
            excused[f"{name}: {why}"] += 1
            return False
    key = f"{name} {case.operation.label}"
    failure_counts[key] += 1
    if failure_counts[key] <= 5 and len(failures) < SHOWN_FAILURES:
        message = str(failure.message)[:1_500]
        failures[f"{key} #{failure_counts[key]}"] = {"message": message, "request": case.as_curl_command()[:2_000], "answer": f"{response.status_code} {response.text[:600]}", "phase": phase_of(case)}
    return True


def sentence_of(response):
    try:
        body = response.json()
        return f"{body.get('code')} {body.get('error')}"
    except (ValueError, AttributeError):
        return ""


@atexit.register
def write_result():
    with open(INPUT["result"], "w", encoding="utf-8") as file:
        json.dump(
            {
                "requests": sum(statuses.values()),
                "statuses": statuses,
                "phases": phases,
                "excused": excused,
                "failureCounts": failure_counts,
                "failures": failures,
            },
            file,
        )
