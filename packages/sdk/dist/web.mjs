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
			await pause(pauseMs, call.signal);
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
		return new GatewayError(`${method} ${path}: ${late ? `no answer within ${timeoutMs} ms` : `the connection broke${reasonOf(cause)}`}`, {
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
function reasonOf(error) {
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
async function pause(ms, signal) {
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
// src/webhook/rules.ts
/** A webhook that must not be trusted: answer 400 and do nothing. `code` says why. */
var WebhookVerificationError = class extends Error {
	name = "WebhookVerificationError";
	code;
	constructor(code, message) {
		super(message);
		this.code = code;
	}
};
const MIN_SECRET_CHARACTERS = 16;
/** The least that Standard Webhooks allows. */
const MIN_KEY_BYTES = 24;
/** Far more than a rotation ever needs; an attacker's long list costs no time. */
const MAX_SIGNATURES = 16;
/** What makes a webhook genuine. Ends with the event, or throws a {@link WebhookVerificationError}. */
function* verifying(given) {
	const body = bytesOf(given.rawBody);
	if (!body) fail("RAW_BODY_REQUIRED", "rawBody must be the bytes or the text as received, not parsed JSON");
	const secret = typeof given.secret === "string" ? given.secret.trim() : "";
	if (secret.length < MIN_SECRET_CHARACTERS) fail("SECRET_REQUIRED", "the signing secret is missing or incomplete");
	const input = {
		...given,
		secret
	};
	const matches = (yield* ownProof(input, body)) ?? (yield* standardProof(input, body));
	if (matches === void 0) fail("HEADER_MISSING", "the webhook has no signature headers");
	if (!matches) fail("SIGNATURE_MISMATCH", "the signature does not match the body and the secret");
	return parseEvent(body);
}
/** An event signed as the gateway signs it. */
function* signing(given) {
	const input = {
		...given,
		secret: given.secret.trim()
	};
	const seconds = Math.floor((input.now ?? Date.now)() / 1e3);
	const timestamp = (/* @__PURE__ */ new Date(seconds * 1e3)).toISOString().replace(".000Z", "Z");
	const rawBody = JSON.stringify({
		event: input.event,
		data: input.data,
		timestamp
	});
	const id = input.id ?? "00000000-0000-4000-8000-000000000000";
	const body = utf8(rawBody);
	const own = hex(yield {
		key: utf8(input.secret),
		message: join(`${timestamp}.`, body)
	});
	const standard = base64(yield {
		key: standardKey(input.secret),
		message: join(`${id}.${seconds}.`, body)
	});
	return {
		rawBody,
		headers: {
			"content-type": "application/json",
			"user-agent": "Service-Webhook/1.0",
			"x-webhook-signature": own,
			"x-webhook-timestamp": timestamp,
			"x-webhook-id": id,
			"x-webhook-event": input.event,
			"x-webhook-attempt": "1",
			"webhook-id": id,
			"webhook-timestamp": String(seconds),
			"webhook-signature": `v1,${standard}`
		}
	};
}
/**
* Whether the API's own signature matches; undefined when its headers are absent, or when it fails while
* the other scheme's headers are present: the other one decides then, by its own timestamp.
*/
function* ownProof(input, body) {
	const signature = header(input.headers, "x-webhook-signature");
	const timestamp = header(input.headers, "x-webhook-timestamp");
	const hasOther = header(input.headers, "webhook-signature") !== void 0;
	if (signature === void 0 || timestamp === void 0) return void 0;
	const matches = isEqual(hex(yield {
		key: utf8(input.secret),
		message: join(`${timestamp}.`, body)
	}), signature.toLowerCase());
	if (!matches && hasOther) return void 0;
	checkTime(input, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(timestamp) ? Date.parse(timestamp) : NaN);
	return matches;
}
function* standardProof(input, body) {
	const id = header(input.headers, "webhook-id");
	const timestamp = header(input.headers, "webhook-timestamp");
	const signatures = header(input.headers, "webhook-signature");
	if (id === void 0 || timestamp === void 0 || signatures === void 0) return void 0;
	const key = standardKey(input.secret);
	if (key.length < MIN_KEY_BYTES) return false;
	checkTime(input, /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1e3 : NaN);
	const expected = `v1,${base64(yield {
		key,
		message: join(`${id}.${timestamp}.`, body)
	})}`;
	return signatures.split(" ", MAX_SIGNATURES).some((given) => isEqual(expected, given));
}
function checkTime(input, sentMs) {
	if (Number.isNaN(sentMs)) fail("TIMESTAMP_INVALID", "the timestamp header is not a time");
	const toleranceMs = (input.toleranceSeconds ?? 300) * 1e3;
	if (Math.abs((input.now ?? Date.now)() - sentMs) <= toleranceMs) return;
	fail("TIMESTAMP_OUT_OF_TOLERANCE", "the webhook was sent too long ago, or one of the clocks is wrong");
}
function parseEvent(body) {
	let parsed;
	try {
		parsed = JSON.parse(new TextDecoder("utf-8", {
			fatal: true,
			ignoreBOM: true
		}).decode(body));
	} catch {
		fail("BODY_INVALID", "the body is not JSON");
	}
	if (!(typeof parsed === "object" && parsed !== null && "event" in parsed && "data" in parsed && "timestamp" in parsed)) fail("BODY_INVALID", "the body is not an event");
	return parsed;
}
/**
* One header's value. A repeated header is treated as absent: which of the values was meant cannot be known.
*/
function header(headers, name) {
	if (typeof headers.get === "function") return headers.get(name) ?? void 0;
	const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
	if (typeof value === "string") return value;
	return value?.length === 1 ? value[0] : void 0;
}
/** What follows `whsec_` in bytes; empty where it is no base64. */
function standardKey(secret) {
	try {
		const text = atob(secret.startsWith("whsec_") ? secret.slice(6) : secret);
		return Uint8Array.from(text, (character) => character.charCodeAt(0));
	} catch {
		return /* @__PURE__ */ new Uint8Array();
	}
}
function bytesOf(body) {
	if (typeof body === "string") return utf8(body);
	if (body instanceof Uint8Array) return body;
	return body instanceof ArrayBuffer ? new Uint8Array(body) : void 0;
}
function utf8(text) {
	return new TextEncoder().encode(text);
}
function join(prefix, body) {
	const head = utf8(prefix);
	const joined = new Uint8Array(head.length + body.length);
	joined.set(head);
	joined.set(body, head.length);
	return joined;
}
function hex(bytes) {
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function base64(bytes) {
	return btoa(String.fromCharCode(...bytes));
}
/** Takes the same time whatever differs: only the length, which is no secret, ends it early. */
function isEqual(expected, given) {
	if (expected.length !== given.length) return false;
	let difference = 0;
	for (let at = 0; at < expected.length; at += 1) difference |= expected.charCodeAt(at) ^ given.charCodeAt(at);
	return difference === 0;
}
function fail(code, message) {
	throw new WebhookVerificationError(code, message);
}
// src/webhook/web.ts
/** Verifies one webhook with Web Crypto. Rejects with a WebhookVerificationError. */
async function verifyWebhookAsync(input) {
	return await follow(verifying(input));
}
/** A signed event as the gateway would send it, for the tests of a receiver. */
async function signTestEventAsync(input) {
	return await follow(signing(input));
}
/** Web Crypto cannot answer at once. Always throws a TypeError that names the other function. */
function verifyWebhook(_) {
	throw new TypeError("verifyWebhook needs the crypto of Node: here \"await verifyWebhookAsync(…)\" does it");
}
/** Web Crypto cannot answer at once. Always throws a TypeError that names the other function. */
function signTestEvent(_) {
	throw new TypeError("signTestEvent needs the crypto of Node: here \"await signTestEventAsync(…)\" does it");
}
async function follow(rules) {
	let step = rules.next();
	while (!step.done) step = rules.next(await digestOf(step.value));
	return step.value;
}
async function digestOf({ key, message }) {
	const { subtle } = crypto;
	const imported = await subtle.importKey("raw", key, {
		name: "HMAC",
		hash: "SHA-256"
	}, false, ["sign"]);
	return new Uint8Array(await subtle.sign("HMAC", imported, message));
}
export { GatewayError, WebhookVerificationError, createClient, signTestEvent, signTestEventAsync, verifyWebhook, verifyWebhookAsync };
