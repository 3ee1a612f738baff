import type { OutsidePart } from './outage-of.ts';

/** Writes a line of the log. */
type Say = (level: 'info' | 'warn', fields: Readonly<Record<string, unknown>>, text: string) => void;

/** What is known of something outside: how it is called, and how to see that it is back. */
export type Outside = {
  /** Such as "Temporal at 127.0.0.1:7233". */
  readonly name?: string;
  /** Resolves when it answers. Without one, nothing failing for a while has to do. */
  readonly probe?: () => Promise<unknown>;
};

const LOOK_EVERY_MS = 1_000;
const SAY_EVERY_MS = 60_000;
const QUIET_MS = 30_000;

/** What is noted beside parts that are away: requests that are refused by our own limits. */
const REFUSED = 'requests';

type Open = {
  readonly sinceMs: number;
  /** What failed last. */
  reason: string;
  lastMs: number;
  saidMs: number;
  /** False for one that began again so soon that its line would say nothing new. */
  told: boolean;
  left: number;
  looking: boolean;
};

/**
 * The outages of what this process needs. However many parts of it run into one, the log has a line when it
 * begins, one a minute, and one when it is over; the lines that it would have had besides are counted.
 */
export class Outages {
  readonly #say: Say;
  readonly #now: () => number;
  readonly #known = new Map<string, Outside>();
  readonly #open = new Map<string, Open>();
  /** When the beginning of an outage was said last. */
  readonly #begunMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(say: Say, now: () => number = () => performance.now()) {
    this.#say = say;
    this.#now = now;
  }

  /** Tells how a part is called and how it is seen to be back; `of` tells several of one kind apart. */
  know(part: OutsidePart, outside: Outside, of = ''): void {
    this.#known.set(keyOf(part, of), outside);
  }

  /** Whether anything is away at present. */
  get any(): boolean {
    return this.#open.size > (this.#open.has(REFUSED) ? 1 : 0);
  }

  /** Notes a failure; says it where it is the first. */
  note(part: OutsidePart | typeof REFUSED, reason: string, of = ''): void {
    const key = keyOf(part, of);
    const now = this.#now();
    const open = this.#open.get(key);
    if (open) {
      open.reason = reason;
      open.lastMs = now;
      open.left += 1;
      return;
    }
    const told = now - (this.#begunMs.get(key) ?? -Infinity) >= SAY_EVERY_MS;
    const saidMs = told ? now : (this.#begunMs.get(key) ?? now);
    this.#open.set(key, {
      sinceMs: now,
      reason,
      lastMs: now,
      saidMs,
      told,
      left: 0,
      looking: false,
    });
    if (told) this.#begin(key, reason, now);
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  #begin(key: string, reason: string, now: number): void {
    this.#begunMs.set(key, now);
    const text =
      key === REFUSED
        ? `requests are refused: ${reason}; more come than are answered in time, and each can be sent again`
        : `waiting for ${this.#name(key)}: ${reason}; nothing is lost, and it goes on by itself`;
    this.#say('warn', { component: 'outage', part: key }, text);
  }

  /** Says what is due, and asks whether what is away is back: by itself, each second of an outage. */
  look(): void {
    const now = this.#now();
    for (const [key, open] of this.#open) {
      const probe = this.#known.get(key)?.probe;
      if (!probe && now - open.lastMs >= QUIET_MS) this.#end(key, open);
      else if (now - open.saidMs >= SAY_EVERY_MS) this.#still(key, open, now);
      if (probe && !open.looking) void this.#ask(key, open, probe);
    }
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #ask(key: string, open: Open, probe: () => Promise<unknown>): Promise<void> {
    open.looking = true;
    try {
      await probe();
      if (this.#open.get(key) === open) this.#end(key, open);
    } catch {
      open.looking = false;
    }
  }

  #still(key: string, open: Open, now: number): void {
    open.saidMs = now;
    open.told = true;
    this.#begunMs.set(key, now);
    const what = key === REFUSED ? 'requests are still refused' : `still waiting for ${this.#name(key)}`;
    this.#say('warn', fieldsOf(key, open), `${what} after ${seconds(now - open.sinceMs)}: ${open.reason}`);
  }

  #end(key: string, open: Open): void {
    this.#open.delete(key);
    if (!open.told) return;
    const forMs = this.#now() - open.sinceMs;
    const answer = key.startsWith('RPC') ? 'answer' : 'answers';
    const what = key === REFUSED ? 'requests are answered' : `${this.#name(key)} ${answer}`;
    this.#say('info', fieldsOf(key, open), `${what} again after ${seconds(forMs)}`);
  }

  #name(key: string): string {
    return this.#known.get(key)?.name ?? key;
  }
}

const keyOf = (part: string, of: string): string => (of === '' ? part : `${part} of ${of}`);

function fieldsOf(key: string, { left }: Open): Readonly<Record<string, unknown>> {
  return { component: 'outage', part: key, linesLeftOut: left };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
