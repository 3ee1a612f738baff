#!/usr/bin/env node
import { parseArgs } from "node:util";
import { Writable } from "node:stream";
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
import { request } from "node:http";
import { request as request$1 } from "node:https";
// ../../src/base/errors.ts
/**
* The operator asked for something that cannot be done now. The message is a sentence that ends
* with the next action; it is printed without a stack, and the process leaves with exit code 1.
*/
var OperatorError = class extends Error {
	exitCode = 1;
	nextAction;
	/**
	* `problem` says what is wrong, `nextAction` what to do
	* about it; both are printed, neither may hold a secret.
	*/
	constructor(problem, nextAction, options) {
		super(`${endSentence(problem)} ${endSentence(nextAction)}`, options);
		this.name = "OperatorError";
		this.nextAction = nextAction;
	}
};
/** The command line itself is wrong (unknown option, missing argument): exit code 2. */
var UsageError = class extends Error {
	exitCode = 2;
	constructor(message) {
		super(endSentence(message));
		this.name = "UsageError";
	}
};
/** The exit code for anything thrown: the error's own, else 1. */
function exitCodeOf(error) {
	return error instanceof OperatorError || error instanceof UsageError ? error.exitCode : 1;
}
function endSentence(text) {
	const trimmed = text.trim();
	return /[.!?:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
// ../../src/base/terminal.ts
const CONTROLS = /\p{Cc}/gu;
/** What JSON itself does not escape (it does all below a space), and where some readers end a line. */
const LEFT_IN_JSON = /[\u007f-\u009f\u2028\u2029]/g;
/**
* Text from others for one line of a terminal: each control character, which could move
* the cursor, colour or end the line, becomes a dot.
*/
function harmless(text) {
	return text.replace(CONTROLS, "·");
}
/** One line of JSON for the same terminal: the same data when it is parsed. */
function harmlessJson(json) {
	return json.replace(LEFT_IN_JSON, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
/** An object as the one line that `--json` promises, without control characters. */
function jsonLine(value) {
	return `${harmlessJson(JSON.stringify(value))}\n`;
}
// ../../src/cli/stdin.ts
/**
* A secret: from a terminal one line without echo, else everything
* up to the end. Throws an OperatorError when it is too long.
*/
async function readSecret(asked) {
	if (process.stdin.isTTY) return await readHiddenLine(asked.name);
	const parts = [];
	let bytes = 0;
	for await (const part of process.stdin) {
		const chunk = Buffer.from(part);
		bytes += chunk.length;
		if (bytes > asked.maxBytes) throw new OperatorError(`This is too long to be a ${asked.name}`, asked.nextAction);
		parts.push(chunk);
	}
	return Buffer.concat(parts).toString("utf8");
}
async function readHiddenLine(name) {
	const { createInterface } = await import("node:readline/promises");
	process.stderr.write(`${name.charAt(0).toUpperCase()}${name.slice(1)} (not shown): `);
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	const reader = createInterface({
		input: process.stdin,
		output: silent,
		terminal: true
	});
	try {
		return await reader.question("");
	} finally {
		reader.close();
		process.stderr.write("\n");
	}
}
// src/errors.ts
/**
* A request that did not succeed, after all retries that were safe. With `status` 0, a 5xx or
* `INVALID_ANSWER` a POST may have taken effect or not: send it again with `idempotencyKey` and it takes
* effect once. The message holds no key and no secret.
*/
var GatewayError = class extends Error {
	name = "GatewayError";
	/** The HTTP status; 0 where no answer came. */
	status;
	code;
	/** What is wrong with which member of the request. */
	details;
	/** With CUSTOMER_EXISTS: the field that is taken. */
	field;
	/** With AMOUNT_TOO_SMALL: the smallest amount in USD. */
	minimum;
	/** Names the request in the gateway's log. */
	requestId;
	/** Seconds after which the gateway asks the client to try again. */
	retryAfter;
	/** The key of a POST, given or made. */
	idempotencyKey;
	/** How often it was sent. */
	attempts;
	constructor(message, init) {
		super(message, init.cause === void 0 ? {} : { cause: init.cause });
		this.status = init.status;
		this.code = init.code;
		this.details = init.details ?? [];
		this.field = init.field;
		this.minimum = init.minimum;
		this.requestId = init.requestId;
		this.retryAfter = init.retryAfter;
		this.idempotencyKey = init.idempotencyKey;
		this.attempts = init.attempts;
	}
};
// src/transport.ts
const DEFAULT_TIMEOUT_MS = 15e3;
const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 10;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5e3;
/** Whether to wait longer is left to the caller. */
const MAX_RETRY_AFTER_S = 30;
/** No answer of the API comes near this length. */
const MAX_TEXT_PREVIEW = 200;
const MAX_WARNINGS = 20;
/** Answers of what is between us and the API: the request may have arrived. */
const AWAY = /* @__PURE__ */ new Set([
	502,
	503,
	504
]);
/**
* Makes what sends every request. A request is sent again, with the same Idempotency-Key, after a broken
* connection, no answer in time, 429, 502, 503, 504 and the conflict with a request that is still being
* worked on; after nothing else, and at most `maxRetries` times. GET, PUT and DELETE have the same effect
* when they are sent twice. Throws a TypeError for options that cannot work.
*/
function createSend(options) {
	const base = baseOf(options.baseUrl);
	const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES } = options;
	if (!/^sk_(live|test)_[!-~]+$/.test(apiKey)) throw new TypeError("apiKey must be a key of the gateway: sk_live_… or sk_test_…");
	if (apiKey.startsWith("sk_live_") && "document" in globalThis) throw new TypeError("a live key must never reach a browser: call the gateway from your server");
	if (!Number.isInteger(maxRetries) || maxRetries < 0 || maxRetries > MAX_RETRIES) throw new TypeError(`maxRetries must be a whole number from 0 to ${MAX_RETRIES}`);
	if (!(timeoutMs > 0) || !Number.isFinite(timeoutMs)) throw new TypeError("timeoutMs must be more than 0");
	const ask = options.fetch ?? fetch;
	const warned = /* @__PURE__ */ new Set();
	return async (request, call = {}) => {
		const idempotencyKey = request.method === "POST" ? call.idempotencyKey ?? newKey() : void 0;
		const url = `${base}${request.path}${queryOf(request.query)}`;
		const init = {
			method: request.method,
			headers: {
				Accept: "application/json",
				Authorization: `Bearer ${apiKey}`,
				...request.body === void 0 ? {} : { "Content-Type": "application/json" },
				...idempotencyKey === void 0 ? {} : { "Idempotency-Key": idempotencyKey }
			},
			...request.body === void 0 ? {} : { body: JSON.stringify(request.body) },
			redirect: "manual"
		};
		for (let attempt = 1;; attempt += 1) {
			const outcome = await attemptOnce(ask, url, init, {
				sent: {
					request,
					idempotencyKey,
					attempts: attempt
				},
				timeoutMs,
				signal: call.signal,
				warned
			});
			if (!(outcome instanceof GatewayError)) return outcome;
			const pauseMs = attempt > maxRetries ? void 0 : pauseAfter(outcome, attempt);
			if (pauseMs === void 0) throw outcome;
			await pause$1(pauseMs, call.signal);
		}
	};
}
async function attemptOnce(ask, url, init, { sent, timeoutMs, signal, warned }) {
	signal?.throwIfAborted();
	const ending = new AbortController();
	const end = () => ending.abort(signal?.reason);
	signal?.addEventListener("abort", end, { once: true });
	let late = false;
	const timer = setTimeout(() => {
		late = true;
		ending.abort();
	}, timeoutMs);
	let response;
	let text;
	try {
		response = await ask(url, {
			...init,
			signal: ending.signal
		});
		text = await response.text();
	} catch (cause) {
		signal?.throwIfAborted();
		const { method, path } = sent.request;
		return new GatewayError(`${method} ${path}: ${late ? `no answer within ${timeoutMs} ms` : `the connection broke${reasonOf$1(cause)}`}`, {
			...told(sent),
			status: 0,
			code: late ? "TIMEOUT" : "NO_ANSWER",
			cause
		});
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", end);
	}
	warn(`${sent.request.path}: the gateway ignored`, response.headers.get("x-ignored-parameters"), warned);
	const body = parse(text);
	if (response.ok && body) return body;
	return errorOf(response, body, text, sent);
}
/** A misspelt filter lets everything through: what the gateway did not know is said, once. */
function warn(what, ignored, warned) {
	if (!ignored || warned.size >= MAX_WARNINGS || warned.has(ignored)) return;
	warned.add(ignored);
	console.warn(`@deposit-gateway/sdk: ${what} ${ignored}`);
}
/** The platform's own word, such as ENOTFOUND, which lies below what `fetch` throws. */
function reasonOf$1(error) {
	const { code } = error?.cause ?? {};
	return typeof code === "string" ? ` (${code})` : "";
}
function errorOf(response, body, text, sent) {
	const { status, headers } = response;
	const { method, path } = sent.request;
	const [sentence, code] = [body?.["error"], body?.["code"]];
	const known = {
		...told(sent),
		status,
		requestId: headers.get("x-request-id") ?? void 0,
		retryAfter: secondsOf(headers.get("retry-after"))
	};
	if (typeof sentence !== "string" || typeof code !== "string") return new GatewayError(`${method} ${path}: ${status} is no answer of the gateway: ${text.slice(0, MAX_TEXT_PREVIEW)}`, {
		...known,
		code: "INVALID_ANSWER"
	});
	const { details, field, minimum } = body;
	return new GatewayError(`${method} ${path}: ${status} ${code}: ${sentence}`, {
		...known,
		code,
		details,
		field,
		minimum
	});
}
function told({ idempotencyKey, attempts }) {
	return {
		idempotencyKey,
		attempts
	};
}
/** Milliseconds until the request may be sent again; undefined when it must not be. */
function pauseAfter(error, attempt) {
	const inFlight = error.code === "IDEMPOTENCY_CONFLICT" && error.retryAfter !== void 0;
	if (error.status !== 0 && error.status !== 429 && !AWAY.has(error.status) && !inFlight) return void 0;
	if (error.retryAfter !== void 0 && error.retryAfter > MAX_RETRY_AFTER_S) return void 0;
	const ownMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (.5 + Math.random() / 2);
	return error.retryAfter === void 0 ? ownMs : error.retryAfter * 1e3 + Math.random() * FIRST_PAUSE_MS;
}
async function pause$1(ms, signal) {
	signal?.throwIfAborted();
	await new Promise((resolve, reject) => {
		const end = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", end);
			resolve();
		}, ms);
		signal?.addEventListener("abort", end, { once: true });
	});
}
function baseOf(baseUrl) {
	const url = urlOf(baseUrl);
	if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "") throw new TypeError("baseUrl must be an http or https URL that ends in /api/v1");
	return url.href.replace(/(?<!\/)\/+$/, "");
}
/** Not URL.canParse: the first versions of Node 18 have none. */
function urlOf(text) {
	try {
		return new URL(text);
	} catch {
		return;
	}
}
/** A key that no other request has. It is no secret, so without `crypto` (Node 18) other numbers do. */
function newKey() {
	const part = () => Math.random().toString(36).slice(2);
	return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${part()}${part()}${part()}`;
}
function queryOf(query = {}) {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) {
		if (value === void 0 || value === null) continue;
		search.set(name, value instanceof Date ? value.toISOString() : String(value));
	}
	const text = search.toString();
	return text === "" ? "" : `?${text}`;
}
/** The header's seconds; the gateway never sends its other form, a date. */
function secondsOf(header) {
	return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : void 0;
}
function parse(text) {
	try {
		const value = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : void 0;
	} catch {
		return;
	}
}
// src/client.ts
/**
* A client of the API for servers: a live key must never reach a browser. It needs nothing but
* `fetch`. Every POST carries an Idempotency-Key, the caller's or a new one, so a call whose answer
* was lost is sent again and takes effect once. Throws a TypeError for options that cannot work.
*/
function createClient(options) {
	const send = createSend(options);
	return {
		customers: customersOf(send),
		endpoints: endpointsOf(send),
		events: {
			...listOf(send, "/events"),
			get: (id, call) => send(get("/events/", id), call)
		},
		deliveries: { resend: (id, call) => send(post(`/webhook-deliveries/${seg(id)}/resend`), call) },
		deposits: {
			...listOf(send, "/deposits"),
			get: (id, call) => send(get("/deposits/", id), call)
		},
		payments: {
			/** Makes a payment link. With the order's number as `idempotencyKey` an order has one link. */
			request: (body, call) => send(post("/request-payment", body), call),
			/** What the payer sees. */
			public: (token, call) => send(get("/payments/", token), call)
		},
		paymentLinks: {
			...listOf(send, "/payment-links"),
			get: (id, call) => send(get("/payment-links/", id), call),
			cancel: (id, call) => send(post(`/payment-links/${seg(id)}/cancel`), call)
		},
		balance: { get: (call) => send(get("/balance"), call) },
		merchantBalances: listOf(send, "/merchant-balances"),
		test: {
			/** For test keys only. */
			simulateDeposit: (body, call) => send(post("/test/simulate-deposit", body), call),
			/** Lets the time of a test link be over; its status becomes `expired` a moment later. */
			expirePayment: (token, call) => send(post("/test/expire-payment", { token }), call)
		}
	};
}
function customersOf(send) {
	return {
		...listOf(send, "/customers"),
		/** Whether there is such a customer: by `external_id`, or without it by `email`. */
		exists: (query, call) => send({
			...get("/customers/exists"),
			query
		}, call),
		create: (body, call) => send(post("/customers", body), call),
		get: (id, call) => send(get("/customers/", id), call),
		/** The page with the customer's addresses and deposits: for this customer alone. */
		addressPage: (id, call) => send(get(`/customers/${seg(id)}/address-page`), call),
		/** Gives that page another address; there is nothing under the one before. */
		replaceAddressPage: (id, call) => send(post(`/customers/${seg(id)}/address-page`), call)
	};
}
function endpointsOf(send) {
	const at = (id) => `/webhook-endpoints/${seg(id)}`;
	return {
		...listOf(send, "/webhook-endpoints"),
		create: (body, call) => send(post("/webhook-endpoints", body), call),
		get: (id, call) => send(get("/webhook-endpoints/", id), call),
		update: (id, body, call) => send({
			method: "PUT",
			path: at(id),
			body
		}, call),
		/** A new secret; the old one signs beside it for 24 hours. */
		rotate: (id, call) => send({
			method: "PUT",
			path: at(id),
			body: { rotate_secret: true }
		}, call),
		/**
		* When the answer was lost and the call is sent again, the endpoint may
		* already be gone: this is what was asked for.
		*/
		delete: async (id, call) => {
			try {
				return await send({
					method: "DELETE",
					path: at(id)
				}, call);
			} catch (error) {
				if (error instanceof GatewayError && error.code === "NOT_FOUND" && error.attempts > 1) return {
					id,
					deleted: true
				};
				throw error;
			}
		},
		/** Sends `webhook.test` to it. */
		test: (id, call) => send(post(`${at(id)}/test`), call),
		/** The deliveries to it, each with its latest attempts. */
		deliveries: (id, query = {}, call) => send({
			...get(`${at(id)}/deliveries`),
			query
		}, call),
		/** Sends again what failed since then, 1,000 by one call: call again while `has_more` is true. */
		resendFailed: (id, since, call) => send(post(`${at(id)}/resend-failed`, { since: since instanceof Date ? since.toISOString() : since }), call)
	};
}
/** A list by pages, and every row of it by cursor. */
function listOf(send, path) {
	const list = (query = {}, call) => send({
		...get(path),
		query: { ...query }
	}, call);
	return {
		/** One page, newest first. */
		list,
		/**
		* Every row, newest first, a page at a time. Rows that arrive meanwhile
		* are not included, and none comes twice.
		*/
		all: (query = {}, call) => walk((cursor) => list({
			...query,
			...cursor === void 0 ? {} : { starting_after: cursor }
		}, call))
	};
}
async function* walk(pageAfter) {
	let cursor;
	for (;;) {
		const page = await pageAfter(cursor);
		yield* page.data;
		const last = page.data.at(-1)?.id;
		if (!page.has_more || last === void 0 || last === cursor) return;
		cursor = last;
	}
}
function get(path, id) {
	return {
		method: "GET",
		path: id === void 0 ? path : `${path}${seg(id)}`
	};
}
function post(path, body) {
	return {
		method: "POST",
		path,
		...body === void 0 ? {} : { body }
	};
}
/** One segment of a path, whatever the id holds. An empty segment, or a dot, would name another route. */
function seg(id) {
	if (typeof id !== "string" || /^\.{0,2}$/.test(id)) throw new TypeError("an id must not be empty");
	return encodeURIComponent(id);
}
// ../../src/base/async/pause.ts
/** Waits at least as long as asked for. Throws the signal's reason at once when it aborts, or has aborted. */
async function pause(ms, signal) {
	try {
		await setTimeout$1(Math.ceil(ms), void 0, signal ? { signal } : {});
	} finally {
		signal?.throwIfAborted();
	}
}
// ../../src/domain/events.ts
/** The events that `"*"` stands for, in the order of a deposit's life. It never stands for more. */
const COMMON_EVENTS = [
	"deposit.detected",
	"deposit.confirming",
	"deposit.completed",
	"deposit.settled",
	"deposit.failed",
	"customer.created",
	"payment.completed"
];
/** Events that an endpoint gets only when it names them. */
const NAMED_EVENTS = [
	"payment.partially_paid",
	"payment.late",
	"payment.expired",
	"payment.cancelled"
];
/** Every event type. These are also the names that an endpoint may subscribe to. */
const EVENT_TYPES = [...COMMON_EVENTS, ...NAMED_EVENTS];
/**
* Sent by hand to try an endpoint; it cannot be subscribed to because it is always
* delivered to the endpoint that asked for it.
*/
const TEST_EVENT = "webhook.test";
const COMMON = new Set(COMMON_EVENTS);
/** Whether an endpoint that subscribes to these names or `"*"` gets the event. */
function isSubscribed(names, type) {
	return names.includes(type) || names.includes("*") && COMMON.has(type);
}
// ../../src/domain/webhook.ts
/** Bounds of one attempt. Times in milliseconds, sizes in bytes. */
const WEBHOOK_LIMITS = {
	/**
	* Name lookup, connection, TLS, status line and headers together; the body is read in what is left of it.
	*/
	attemptMs: 1e4,
	/** How long saving an endpoint waits for its name to resolve. */
	saveLookupMs: 2e3,
	bodyReadBytes: 65536,
	bodyStoredBytes: 4096,
	responseHeaderBytes: 16384,
	informationalResponses: 16,
	/** Vetted addresses of one name that are tried one after the other. */
	connectAddresses: 4,
	urlCharacters: 2048
};
const USER_AGENT = "Service-Webhook/1.0";
/**
* Every header of a delivery that a receiver may read. The last three are those
* of the Standard Webhooks specification.
*/
const WEBHOOK_HEADERS = {
	signature: "X-Webhook-Signature",
	timestamp: "X-Webhook-Timestamp",
	id: "X-Webhook-Id",
	event: "X-Webhook-Event",
	attempt: "X-Webhook-Attempt",
	standardId: "webhook-id",
	standardTimestamp: "webhook-timestamp",
	standardSignature: "webhook-signature"
};
// ../../src/services/webhooks/http/signature.ts
const SECRET_PREFIX = "whsec_";
/** A new signing secret: `whsec_` and the base64 of 32 bytes taken from `randomBytes`. */
function generateSecret(randomBytes) {
	const bytes = randomBytes(32);
	if (bytes.length !== 32) throw new Error("the source of randomness did not return 32 bytes");
	return `${SECRET_PREFIX}${Buffer.from(bytes).toString("base64")}`;
}
/**
* Hex HMAC-SHA256 of `${timestamp}.${body}` with the whole
* secret string as key: the `X-Webhook-Signature` of the API.
*/
function signBody(secret, timestamp, body) {
	return createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
}
/**
* One `v1,<base64>` entry of Standard Webhooks over
* `${id}.${unixSeconds}.${body}`; the key is what follows `whsec_`, decoded.
*/
function signStandard(secret, id, unixSeconds, body) {
	return `v1,${createHmac("sha256", decodeSecret(secret)).update(`${id}.${unixSeconds}.`).update(body).digest("base64")}`;
}
/**
* Every header of one attempt except Host and Content-Length, which belong to the
* transport. The API's own header is signed with the current secret alone; the Standard
* Webhooks one carries a signature of each secret. Throws on a missing or malformed secret.
*/
function buildHeaders(input) {
	const [current] = input.secrets;
	if (current === void 0) throw new Error("a delivery needs a signing secret");
	const unixSeconds = Math.floor(input.sentAt.getTime() / 1e3);
	const timestamp = (/* @__PURE__ */ new Date(unixSeconds * 1e3)).toISOString().replace(".000Z", "Z");
	return {
		"Content-Type": "application/json",
		Accept: "*/*",
		"User-Agent": USER_AGENT,
		[WEBHOOK_HEADERS.signature]: signBody(current, timestamp, input.body),
		[WEBHOOK_HEADERS.timestamp]: timestamp,
		[WEBHOOK_HEADERS.id]: input.eventId,
		[WEBHOOK_HEADERS.event]: input.event,
		[WEBHOOK_HEADERS.attempt]: String(input.attempt),
		[WEBHOOK_HEADERS.standardId]: input.eventId,
		[WEBHOOK_HEADERS.standardTimestamp]: String(unixSeconds),
		[WEBHOOK_HEADERS.standardSignature]: input.secrets.map((secret) => signStandard(secret, input.eventId, unixSeconds, input.body)).join(" ")
	};
}
/**
* An empty key would sign happily and protect nothing, so a
* secret that does not decode is an error and not a signature.
*/
function decodeSecret(secret) {
	const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(6) : "";
	const key = Buffer.from(encoded, "base64");
	if (key.length < 24 || key.toString("base64") !== encoded) throw new Error("a webhook secret is not whsec_ followed by base64");
	return key;
}
// ../../src/cli/follow/events.ts
/** The most that the API gives at a time. */
const PAGE = 100;
/** A list without a known beginning is held up to this many events; a longer one is read a second time. */
const HELD = 1e3;
const SECOND_MS = 1e3;
/**
* Follows events by the list alone. Events are listed by the time that they were dated with, and one may be
* committed after others that were dated later. So each call begins behind the newest event before which
* nothing can appear any more, which the gateway tells, and leaves out what it has given already. `since`
* counts in whole seconds.
*/
function followEvents(read, since) {
	/** Nothing can appear before this event, and everything up to it was given or left out. */
	let anchor;
	/** What was given or left out behind the anchor. */
	let seen = /* @__PURE__ */ new Set();
	let isBegun = false;
	const from = since && Math.floor(since.getTime() / SECOND_MS) * SECOND_MS;
	const isWanted = (row) => isBegun || from !== void 0 && Date.parse(row.created_at) >= from;
	async function begin() {
		const { complete_before: complete } = await read({ limit: 1 });
		const { data } = await read({
			created_to: new Date(Math.max(0, Math.min(from ?? Number.POSITIVE_INFINITY, Date.parse(complete)) - SECOND_MS)),
			limit: 1
		});
		anchor = data[0]?.id;
		if (from === void 0) for await (const _ of news());
	}
	async function* news() {
		const open = /* @__PURE__ */ new Set();
		for await (const { rows, complete } of pages(read, anchor)) {
			for (const row of inOrderOfSubjects(rows)) {
				if (seen.has(row.id)) continue;
				seen.add(row.id);
				if (isWanted(row)) yield row;
			}
			for (const row of rows) if (isFinal(row, complete)) {
				anchor = row.id;
				seen.delete(row.id);
			} else open.add(row.id);
		}
		isBegun = true;
		seen = open;
	}
	return {
		begin,
		news
	};
}
/** The events behind the anchor, oldest first, with the time before which nothing was missing then. */
async function* pages(read, anchor) {
	if (anchor === void 0) {
		const held = await fromTheEnd(read);
		yield held;
		anchor = held.isWhole ? void 0 : held.rows.at(-1)?.id;
	}
	let complete;
	while (anchor !== void 0) {
		const page = await read({
			ending_before: anchor,
			limit: PAGE
		});
		complete ??= Date.parse(page.complete_before);
		const rows = [...page.data].reverse();
		yield {
			rows,
			complete
		};
		anchor = page.has_more ? rows.at(-1)?.id : void 0;
	}
}
/** Everything there is, or the oldest event alone where that is too much to hold. */
async function fromTheEnd(read) {
	let held = [];
	let isWhole = true;
	let complete;
	let after;
	for (;;) {
		const page = await read({
			limit: PAGE,
			...after === void 0 ? {} : { starting_after: after }
		});
		complete ??= Date.parse(page.complete_before);
		held.push(...page.data);
		after = held.at(-1)?.id;
		if (held.length > HELD || !isWhole) {
			held = held.slice(-1);
			isWhole = false;
		}
		if (!page.has_more || after === void 0) return {
			rows: [...held].reverse(),
			complete,
			isWhole
		};
	}
}
/** Times are shown in whole seconds, so an event may be up to a second younger than it says. */
function isFinal({ created_at: at }, complete) {
	return Date.parse(at) + SECOND_MS <= complete;
}
/** What one transaction wrote has one time; there the numbers of a subject's events tell their order. */
function inOrderOfSubjects(rows) {
	const bySubject = /* @__PURE__ */ new Map();
	for (const row of rows) bySubject.set(row.subject_id, [...bySubject.get(row.subject_id) ?? [], row]);
	const turns = new Map([...bySubject].map(([id, own]) => [id, [...own].sort((a, b) => a.sequence - b.sequence).values()]));
	return rows.map((row) => turns.get(row.subject_id)?.next().value ?? row);
}
// ../../src/cli/follow/outage.ts
const FIRST_MS = 500;
const MAX_MS = 1e4;
/** `say` prints one line; `waitMs` at most, unless a longer wait is asked for. */
function outageOf(say, { what, signal, maxMs = MAX_MS }) {
	let began;
	let tries = 0;
	return {
		wait: async (reason, forMs) => {
			if (began === void 0) {
				began = Date.now();
				say({
					state: "began",
					text: `${what} is out of reach (${reason}). Nothing is lost: it is asked again.`
				});
			}
			tries += 1;
			await pause(Math.max(forMs ?? 0, Math.min(maxMs, FIRST_MS * 2 ** Math.min(tries - 1, 8))), signal);
		},
		over: () => {
			if (began !== void 0) say({
				state: "ended",
				text: `${what} answers again, after ${Math.round((Date.now() - began) / 1e3)} s.`
			});
			began = void 0;
			tries = 0;
		}
	};
}
// ../../src/cli/follow/shop.ts
const SHOWN_BYTES = 300;
/** No connection was made: the shop knows nothing of the event. */
const NOT_REACHED = /* @__PURE__ */ new Set([
	"ECONNREFUSED",
	"ENOTFOUND",
	"EAI_AGAIN",
	"EHOSTUNREACH",
	"ENETUNREACH",
	"ENETDOWN",
	"EADDRNOTAVAIL"
]);
/**
* Sends an event as its webhook would come: the same bytes, both signatures, ten seconds for the answer. When
* `stop` aborts, the answer is waited for no longer.
*/
async function sendToShop(url, event, { secret, stop }) {
	const body = Buffer.from(event.payload, "utf8");
	const headers = {
		...buildHeaders({
			eventId: event.id,
			event: event.event,
			attempt: 1,
			sentAt: /* @__PURE__ */ new Date(),
			body,
			secrets: [secret]
		}),
		"Content-Length": body.length
	};
	const begin = performance.now();
	const ms = () => Math.round(performance.now() - begin);
	return await new Promise((resolve) => {
		const send = url.protocol === "https:" ? request$1 : request;
		const late = AbortSignal.timeout(WEBHOOK_LIMITS.attemptMs);
		const request$2 = send(url, {
			method: "POST",
			headers,
			agent: false,
			autoSelectFamily: true,
			signal: late
		}, (response) => {
			const { statusCode: status = 0 } = response;
			const parts = [];
			let bytes = 0;
			const end = () => {
				resolve({
					status,
					text: Buffer.concat(parts).toString("utf8").slice(0, SHOWN_BYTES),
					ms: ms()
				});
				response.destroy();
			};
			response.on("data", (part) => {
				if (bytes < SHOWN_BYTES) parts.push(part.subarray(0, SHOWN_BYTES));
				bytes += part.length;
				if (bytes > WEBHOOK_LIMITS.bodyReadBytes) end();
			});
			response.once("end", end).once("error", end).once("close", end);
		});
		const end = () => request$2.destroy(/* @__PURE__ */ new Error("ended before the answer"));
		stop.addEventListener("abort", end, { once: true });
		request$2.once("close", () => stop.removeEventListener("abort", end));
		request$2.once("error", (error) => {
			const isLate = late.aborted;
			resolve({
				error: isLate ? `no answer within ${WEBHOOK_LIMITS.attemptMs / 1e3} s` : reasonOf(error),
				reached: isLate || !NOT_REACHED.has(error.code ?? ""),
				ms: ms()
			});
		});
		request$2.end(body);
	});
}
function reasonOf({ code, message }) {
	return code === void 0 || message.includes(code) ? message || "the connection broke" : `${code} ${message}`;
}
// ../../src/cli/follow/forward.ts
const POLL_MS = 1e3;
const SHOP_MAX_MS = 2e3;
const API_PATH = "/api/v1";
/**
* Follows a merchant's events and forwards each to a shop, one after the other, until SIGINT or SIGTERM. An
* event that the shop was sent is over, whatever it answered; one that did not reach it waits. Throws an
* OperatorError for a key or a place that is wrong, and a UsageError for what can be neither.
*/
async function forwardEvents(options) {
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stop.abort());
	try {
		await forward(options, stop.signal);
	} catch (error) {
		if (!stop.signal.aborted) throw error;
	}
}
async function forward(options, signal) {
	const { to, secret = generateSecret(randomBytes), since } = options;
	const api = apiOf(options.api);
	const client = clientOf(api, options.key);
	const gateway = outageOf((line) => sayOutage(options, "gateway", line), {
		what: "The gateway",
		signal
	});
	const shop = outageOf((line) => sayOutage(options, "shop", line), {
		what: to.host,
		signal,
		maxMs: SHOP_MAX_MS
	});
	const feed = followEvents((query) => client.events.list(query, { signal }), since);
	let isKnown = false;
	const asking = async (work) => {
		for (;;) try {
			await work();
			isKnown = true;
			return gateway.over();
		} catch (error) {
			signal.throwIfAborted();
			await waitOrRefuse(error, gateway, isKnown);
		}
	};
	await asking(() => feed.begin());
	sayReady(options, {
		api,
		secret
	});
	for (;;) {
		await asking(() => sendNews(feed, options, {
			secret,
			shop,
			gateway,
			signal
		}));
		await pause(POLL_MS, signal);
	}
}
async function sendNews(feed, options, sending) {
	for await (const event of feed.news()) {
		sending.gateway.over();
		if (isSubscribed(options.events, event.event)) await send(event, options, sending);
	}
}
async function send(event, options, { secret, shop, signal }) {
	for (;;) {
		const answer = await sendToShop(options.to, event, {
			secret,
			stop: signal
		});
		if (!("error" in answer) || answer.reached) {
			shop.over();
			sayEvent(options, event, answer);
			return signal.throwIfAborted();
		}
		signal.throwIfAborted();
		await shop.wait(harmless(answer.error));
	}
}
/** Waits for a gateway that is away or asks to; anything else does not get better by itself. */
async function waitOrRefuse(error, gateway, isKnown) {
	if (!(error instanceof GatewayError)) throw error;
	const { status, code, retryAfter } = error;
	const isNoGateway = code === "INVALID_ANSWER" && status < 500 || status === 404;
	if (status === 0 || status === 429 || status >= 500 || isNoGateway && isKnown) {
		const why = status === 0 ? error.message : `${status} ${code}`;
		return await gateway.wait(harmless(why), retryAfter === void 0 ? void 0 : retryAfter * 1e3);
	}
	if (isNoGateway) throw new OperatorError("What answers there has no list of events", `Give with --api the address of the gateway, such as https://gateway.example${API_PATH}`, { cause: error });
	throw new OperatorError(`The gateway refuses: ${harmless(error.message)}`, status === 401 ? "Give a key of this gateway in GATEWAY_KEY, or with --key-stdin" : "Give a key that may read", { cause: error });
}
function clientOf(api, key) {
	try {
		return createClient({
			baseUrl: api,
			apiKey: key,
			maxRetries: 0
		});
	} catch (error) {
		if (error instanceof TypeError) throw new UsageError(error.message);
		throw error;
	}
}
/** The address of the API: where only the gateway is named, its path is added. */
function apiOf(given) {
	const url = URL.canParse(given) ? new URL(given) : void 0;
	if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError("--api must be an http or https URL");
	return url.pathname === "/" ? `${url.origin}${API_PATH}` : given;
}
function sayReady({ json, key, to, secret: given }, { api, secret }) {
	const mode = key.startsWith("sk_live_") ? "live" : "test";
	const made = given === void 0 ? secret : void 0;
	if (json) {
		const place = {
			api,
			forward_to: to.href,
			mode,
			pid: process.pid
		};
		process.stdout.write(jsonLine({
			following: true,
			...place,
			...made ? { secret: made } : {}
		}));
		return;
	}
	process.stdout.write(`Forwarding ${mode} events of ${harmless(api)} to ${harmless(to.href)}. Ctrl-C ends it.\n`);
	if (made) process.stdout.write(`Signed with a secret made for this run: WEBHOOK_SECRET=${made}\n`);
}
function sayOutage({ json }, part, { state, text }) {
	const at = (/* @__PURE__ */ new Date()).toISOString();
	if (json) process.stderr.write(jsonLine({
		at,
		outage: part,
		state,
		text
	}));
	else process.stdout.write(`${clock(at)}  ${coloured(state === "began" ? 33 : 32, harmless(text))}\n`);
}
function sayEvent({ json }, event, answer) {
	const at = (/* @__PURE__ */ new Date()).toISOString();
	const [status, error] = "error" in answer ? [null, answer.error] : [answer.status, null];
	const isTaken = status !== null && status >= 200 && status < 300;
	const said = "error" in answer || isTaken ? "" : answer.text;
	if (json) {
		const { id, event: name, subject_id } = event;
		const what = {
			at,
			event: name,
			event_id: id,
			subject_id,
			timestamp: event.timestamp
		};
		process.stderr.write(jsonLine({
			...what,
			answered: status,
			error,
			said,
			duration_ms: answer.ms
		}));
		return;
	}
	const result = `→ ${status ?? harmless(error)}`;
	const words = said === "" ? "" : `  ${harmless(said.replace(/\s+/g, " ")).slice(0, SAID)}`;
	process.stdout.write(`${clock(at)}  ${harmless(event.event).padEnd(NAME)}  ${harmless(event.id)}  ${coloured(isTaken ? 32 : 31, result)}  ${answer.ms} ms${words}\n`);
}
const NAME = 22;
const SAID = 120;
/** The time of day, as the person's clock shows it. */
function clock(at) {
	return new Date(at).toTimeString().slice(0, 8);
}
function coloured(colour, text) {
	return process.stdout.isTTY && !process.env["NO_COLOR"] ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
// ../../src/cli/follow/given.ts
const ASKED = {
	name: "signing secret",
	maxBytes: 1024,
	nextAction: "Give it on one line, as it was shown"
};
const ASKED_KEY = {
	...ASKED,
	name: "API key"
};
const SECRET = /^whsec_[A-Za-z0-9+/_=-]{24,200}$/;
/**
* Forwards events until SIGINT or SIGTERM, with key and secret from the environment or stdin. Throws a
* UsageError for what is missing or wrong, and an OperatorError for what the gateway refuses.
*/
async function followAs({ to, keyStdin, secretStdin, events = ["*"], since, json, ...given }) {
	if (keyStdin && secretStdin) throw new UsageError("Only one of key and secret can come on stdin: give the other one in the environment");
	const api = given.api ?? process.env["GATEWAY_URL"];
	if (!api) throw new UsageError("Say with --api, or in GATEWAY_URL, where the gateway is");
	const key = (keyStdin ? await readSecret(ASKED_KEY) : process.env["GATEWAY_KEY"])?.trim();
	if (!key) throw new UsageError("There is no API key: give it in GATEWAY_KEY, or on stdin with --key-stdin");
	await forwardEvents({
		api,
		key,
		to,
		secret: await readSigningSecret(secretStdin),
		events,
		since,
		json: json === true
	});
}
/**
* The secret never comes as an argument: arguments are visible in the process list and in
* the shell's history. An empty one counts as none. Throws a UsageError for one that is not whole.
*/
async function readSigningSecret(onStdin) {
	const secret = (onStdin ? await readSecret(ASKED) : process.env["WEBHOOK_SECRET"])?.trim() || void 0;
	if (secret !== void 0 && !SECRET.test(secret)) throw new UsageError("The signing secret must be the whole one as it was shown, whsec_ included");
	if (onStdin && secret === void 0) throw new UsageError("There is no secret on stdin");
	return secret;
}
// ../../src/cli/follow/options.ts
/** An http or https URL without user information. Throws a UsageError for anything else. */
function webAddress(given) {
	const url = URL.canParse(given) ? new URL(given) : void 0;
	if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
	throw new UsageError("It must be an http or https URL such as http://localhost:3000/hook.");
}
/** Names of events with commas between them. Throws a UsageError that names the first wrong one. */
function eventNames(given) {
	const known = [
		...EVENT_TYPES,
		TEST_EVENT,
		"*"
	];
	const names = given.split(",").map((name) => name.trim());
	const wrong = names.find((name) => !known.includes(name));
	if (wrong === void 0) return names;
	throw new UsageError(`There is no event "${wrong}". There are ${known.join(", ")}.`);
}
// ../../src/cli/follow/times.ts
const DURATION = /^(0|[1-9]\d{0,6})([smhd])$/;
const UNIT_MS = {
	s: 1e3,
	m: 6e4,
	h: 36e5,
	d: 864e5
};
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
/** The longest duration from or to now, and how it is written. */
const MOST = "3650d";
const MOST_MS = 3650 * UNIT_MS.d;
/** Whether a text is written as a duration, however long. */
function isDuration(given) {
	return DURATION.test(given);
}
/** `30s`, `15m`, `24h`, `7d` in milliseconds; `0s` is allowed. At most `maxMs`, which `most` spells out. */
function durationIn(given, maxMs, most) {
	const match = DURATION.exec(given);
	const unit = match?.[2];
	const value = match && unit ? Number.parseInt(match[1] ?? "", 10) * UNIT_MS[unit] : -1;
	if (value < 0 || value > maxMs) throw new UsageError(`It must be a duration such as 30s, 15m, 24h or 7d, at most ${most}.`);
	return value;
}
/** An ISO-8601 time with its zone, or a date (its beginning in UTC). */
function timeIn(given) {
	const match = TIME.exec(given);
	const value = new Date(given);
	const [year = 0, month = 0, day = 0] = (match?.slice(1, 4) ?? []).map((part) => Number.parseInt(part, 10));
	const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
	if (!match || Number.isNaN(value.getTime()) || day > lastDay) throw new UsageError("It must be an ISO-8601 time such as 2026-11-20T09:30:00Z, or a date.");
	return value;
}
/** A moment that has passed: a duration such as `15m` before now, or a {@link timeIn}. */
function past(given) {
	const at = isDuration(given) ? new Date(Date.now() - durationIn(given, MOST_MS, MOST)) : timeIn(given);
	if (at.getTime() > Date.now()) throw new UsageError("It must lie in the past.");
	return at;
}
// ../../src/cli/follow/main.ts
const HELP = `Usage: node listen.mjs --api URL --forward-to URL [options]

Follows the events of an API key and forwards each to your own server, signed, as the gateway would send it.
The key comes from GATEWAY_KEY. It is for development; it ends with Ctrl-C.

Options:
  --forward-to <url>  where to, such as http://localhost:3000/hook (required)
  --api <url>         the gateway, if GATEWAY_URL does not say it
  --events <names>    only these, with commas between them
  --since <time>      also what happened since, such as 15m or 2026-11-20T09:30:00Z
  --key-stdin         read the API key on stdin instead of from GATEWAY_KEY
  --secret-stdin      read the signing secret (whsec_…) on stdin instead of from WEBHOOK_SECRET
  --json              one line of JSON for each thing that is said
  --help              this text
`;
const OPTIONS = {
	"forward-to": { type: "string" },
	api: { type: "string" },
	events: { type: "string" },
	since: { type: "string" },
	"key-stdin": { type: "boolean" },
	"secret-stdin": { type: "boolean" },
	json: { type: "boolean" },
	help: {
		type: "boolean",
		short: "h"
	}
};
async function main() {
	const { values, positionals } = wordsOf(process.argv.slice(2));
	if (values.help) {
		process.stdout.write(HELP);
		return;
	}
	const alien = positionals.find((word, index) => index > 0 || word !== "listen");
	if (alien !== void 0) throw new UsageError(`There is no command "${alien}", only "listen"`);
	const to = values["forward-to"];
	if (to === void 0) throw new UsageError("Say with --forward-to where the events go");
	await followAs({
		to: readOption("--forward-to", to, webAddress),
		api: values.api,
		keyStdin: values["key-stdin"],
		secretStdin: values["secret-stdin"],
		events: values.events === void 0 ? void 0 : readOption("--events", values.events, eventNames),
		since: values.since === void 0 ? void 0 : readOption("--since", values.since, past),
		json: values.json
	});
}
function wordsOf(args) {
	try {
		return parseArgs({
			args,
			options: OPTIONS,
			allowPositionals: true
		});
	} catch (error) {
		throw new UsageError(error instanceof Error ? error.message.split(". ")[0] ?? "" : String(error));
	}
}
function readOption(flag, given, read) {
	try {
		return read(given);
	} catch (error) {
		throw error instanceof UsageError ? new UsageError(`${flag}: ${error.message}`) : error;
	}
}
main().catch((error) => {
	const isKnown = error instanceof UsageError || error instanceof OperatorError;
	const said = error instanceof Error ? isKnown ? error.message : error.stack ?? error.message : `${error}`;
	const help = error instanceof UsageError ? " Add --help to see how it is used." : "";
	process.stderr.write(`${said.split("\n").map(harmless).join("\n")}${help}\n`);
	process.exitCode = exitCodeOf(error);
});
export {};
