import type { Bindings, DestinationStream, Logger } from 'pino';
import pino from 'pino';
import { prettyLines } from './log-pretty.ts';
import { networkIn, outageOf } from './outage-of.ts';
import { Outages } from './outages.ts';
import { harmlessJson } from './terminal.ts';

export type { Logger } from 'pino';

export type LogOptions = {
  readonly level: string;
  /** Unset means `auto`: lines for a person where stderr is a terminal, JSON elsewhere. */
  readonly format?: 'auto' | 'json' | 'pretty';
  /** Where the lines go; unset means stderr, because stdout belongs to the command's own result. */
  readonly destination?: DestinationStream;
};

const CENSORED = '[hidden]';
const MAX_DEPTH = 6;
const MAX_MEMBERS = 200;

/** Member names whose value is a secret, in any spelling (apiKey, api_key, X-Api-Key), at any depth. */
const SECRET_NAME =
  /^(?:.*(?:secret|password|passwd|passphrase|authorization|cookie|mnemonic|credential|privatekey|apikey|secretskey|session|signature|token|seed)s?|key|phrase|xprv|pem|totp)$/;
/** Names that would match but are safe, and without which the log would be of little use. */
const PUBLIC_NAME =
  /^(?:paymenttoken|contracttoken|secrethint|seedfile|passphrasefile|tokencontract|fairnesskey)$/;
/** Secrets inside texts: our own tokens, extended private keys, user information of URLs. */
const SECRET_TEXT =
  /\b(sk_(?:live|test)_|whsec_|set-password#)[A-Za-z0-9+/=_-]+|\b[a-z]prv[1-9A-HJ-NP-Za-km-z]{50,}|(:\/\/)[^\s/@]*@/gi;
/**
 * Texts come from strangers too: this many characters of one are searched
 * for secrets, and the rest is not shown.
 */
const MAX_TEXT = 2_000;
/**
 * The part of a text before a cut that may hold half a secret: half a key has no end by which it is known.
 */
const CUT_EDGE = 200;
const MAX_NAME = 100;

/**
 * The root logger: JSON lines with a level name, an ISO time and a `component` (by
 * {@link componentLogger}), or the same for a person. Members with a secret's name are
 * hidden at every depth, and so are tokens and passwords inside messages and errors.
 */
export function createLogger(options: LogOptions): Logger {
  const outages = new Outages((level, fields, text) => root[level](fields, text));
  const root: Logger = pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (members) => redact(members, 0) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method, level) {
          if (level >= WARN && level < FATAL && leftToOutages(outages, args)) return;
          method.apply(this, hideInArguments(args) as typeof args);
        },
      },
      // Errors are turned into plain members by redact() above;
      // the default would print their own members unseen.
      serializers: { err: (value: unknown) => value },
    },
    destinationOf(options),
  );
  // pino forgets formatters.bindings in children; children inherit this method instead.
  const plainChild = root.child;
  root.child = function child(this: Logger, bindings: Bindings, ...rest: never[]) {
    return plainChild.call(this, redactMembers(bindings, 0), ...rest);
  } as typeof root.child;
  OUTAGES.set(root, outages);
  return root;
}

/** The numbers of levels are those of pino. */
const WARN = 40;
const FATAL = 60;
/** By the root of their log: children inherit from it. */
const OUTAGES = new WeakMap<object, Outages>();

/** The outages that a log tells of; undefined for one that is not made by {@link createLogger}. */
export function outagesOf(log: object): Outages | undefined {
  for (let one: object | null = log; one !== null; one = Object.getPrototypeOf(one) as object | null) {
    const found = OUTAGES.get(one);
    if (found) return found;
  }
  return undefined;
}

/** Whether a line only says what that of an outage says: its error is of a part that is away. */
function leftToOutages(outages: Outages, [fields]: readonly unknown[]): boolean {
  if (typeof fields !== 'object' || fields === null) return false;
  if ('refused' in fields) {
    // What takes too long while something is away takes too long because of it.
    if (!outages.any) outages.note('requests', reasonIn(fields.refused));
    return true;
  }
  const error = fields instanceof Error ? fields : 'err' in fields ? fields.err : undefined;
  const part = outageOf(error);
  if (part) {
    const network = 'network' in fields ? String(fields.network) : networkIn(error);
    outages.note(part, reasonIn(error), part === 'RPC endpoints' ? network : '');
    return true;
  }
  // What takes too long while something is away takes too long because of it.
  return outages.any && error instanceof Error && TOO_SLOW.test(error.message);
}

const TOO_SLOW = /^(?:too slow|it took longer than|no answer in time)/;

/** Why it failed, without secrets: the innermost cause says it best, the others say what was tried. */
export function reasonIn(error: unknown): string {
  let reason = '';
  for (
    let one: unknown = error, depth = 0;
    one instanceof Error && depth < MAX_DEPTH;
    one = one.cause, depth += 1
  ) {
    const code = 'code' in one && typeof one.code === 'string' ? one.code : '';
    reason = (one.message || code || reason).split('\n', 1)[0] ?? '';
  }
  return hideInText(reason).slice(0, 300);
}

/**
 * Both forms are made from the line that pino wrote, which is redacted by then. Node's
 * own stream obeys NO_COLOR and FORCE_COLOR.
 */
function destinationOf({ format = 'auto', destination }: LogOptions): DestinationStream {
  const to = destination ?? pino.destination({ dest: 2, sync: true });
  const isTerminal = destination === undefined && process.stderr.isTTY === true;
  if (format === 'json' || (format === 'auto' && !isTerminal))
    return { write: (line) => to.write(harmlessJson(line)) };
  const pretty = prettyLines(isTerminal && process.stderr.hasColors());
  return { write: (line) => to.write(pretty(line)) };
}

/** A child whose every line names the part of the system it comes from. */
export function componentLogger(log: Logger, component: string): Logger {
  return log.child({ component });
}

/**
 * The text with API keys, webhook secrets, extended private keys and
 * the user information of URLs taken out; at most 2,000 characters.
 */
export function hideInText(text: string): string {
  if (text.length <= MAX_TEXT) return hideSecrets(text);
  // The text at the cut may be the beginning of a URL's user information.
  const kept = hideSecrets(`${text.slice(0, MAX_TEXT)}@`)
    .slice(0, -CUT_EDGE)
    .slice(0, MAX_TEXT - CUT_EDGE);
  return `${kept}… [${text.length - kept.length} more characters]`;
}

function hideSecrets(text: string): string {
  return text.replace(SECRET_TEXT, (_match, prefix: string | undefined, slashes: string | undefined) =>
    slashes ? `${slashes}${CENSORED}@` : `${prefix ?? ''}${CENSORED}`,
  );
}

/** pino takes the message of an error when we give none, and prints arguments of %s and %o as they are. */
function hideInArguments(args: readonly unknown[]): unknown[] {
  const [first, ...rest] = args;
  if (typeof first === 'string') return [hideInText(first), ...rest.map((item) => redact(item, 0))];
  const error =
    first instanceof Error
      ? first
      : typeof first === 'object' && first !== null && 'err' in first
        ? first.err
        : undefined;
  if (rest.length === 0 && error instanceof Error) return [first, hideInText(error.message)];
  return [first, ...rest.map((item) => redact(item, 0))];
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return hideInText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => redact(item, depth + 1));
  return redactMembers(value, depth);
}

function redactMembers(value: object, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    const isSecret = isSecretName(name.slice(0, MAX_TEXT)) && member !== undefined && member !== null;
    result[name.slice(0, MAX_NAME)] = isSecret ? CENSORED : redact(member, depth + 1);
  }
  return result;
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: hideInText(error.message),
    stack: hideInText(framesOf(error)),
    ...redactMembers(error, depth),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

/**
 * The frames that say where it was thrown. The message is written beside it, and
 * a long one would leave no room for them.
 */
function framesOf({ message, stack = '' }: Error): string {
  const start = stack.indexOf(message);
  return start < 0 ? stack : stack.slice(start + message.length).replace(/^\n/, '');
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return SECRET_NAME.test(plain) && !PUBLIC_NAME.test(plain);
}
