// The signer at work: it opens its wallet and its journal, and signs what rows ask for. It talks to
// PostgreSQL and to nothing else.
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Journal, JournalBroken, JournalHeld, openJournal } from '../journal.ts';
import { type OpenWallet, openWallet, readPassphraseFile } from '../wallet-file.ts';
import { takeApprovals } from './approvals.ts';
import { noteDestination } from './directions.ts';
import { type DestinationRow, destinationsAfter } from './facts.ts';
import { notePauses } from './pauses.ts';
import { NotSigned, Sealed } from './refusal.ts';
import { type OpenSigner, signAsked } from './sign.ts';
import { noteState, takeOver } from './state.ts';
import { listening, Queue } from './waiting.ts';

export type SignerDeps = Omit<OpenSigner, 'wallet' | 'journal'> & {
  readonly seedFile: string;
  readonly passphraseFile: string;
  readonly journalFile: string;
  /** True to open nothing before something is asked for. */
  readonly idle: boolean;
  /** Unset: 5 s. How often it looks without having been told. */
  readonly pollMs?: number | undefined;
  /** Unset: 10 s. When it tries again what it refused, and to open what was closed. */
  readonly retryMs?: number | undefined;
  readonly openJournalFile?: Parameters<typeof openJournal>[0]['openFile'];
};

type Opened = { readonly wallet: OpenWallet; readonly journal: Journal };

const POLL_MS = 5_000;
const RETRY_MS = 10_000;
const DESTINATIONS_MS = 60_000;
const DESTINATIONS_PAGE = 500;

/**
 * Signs until the signal aborts. Whatever is missing or wrong is said, in the log and in its row, and tried
 * again; it throws nothing.
 */
export async function runSigner(deps: SignerDeps, signal: AbortSignal): Promise<void> {
  const signer = new Signer(deps);
  const bell = listening(deps.orm, 'signer');
  try {
    while (!signal.aborted) {
      if (bell.heard('withdraw address')) signer.lookAround();
      if (await signer.turn(signal)) continue;
      await bell.wait(deps.pollMs ?? POLL_MS, signal);
    }
  } finally {
    bell.close();
    await signer.close();
  }
}

class Signer {
  readonly #deps: SignerDeps;
  #opened: Opened | undefined;
  #said = '';
  #unread = '';
  /** Why it could not be opened, until it is tried again: each try costs a second of work. */
  #closed: { readonly error: unknown; readonly until: number } | undefined;
  /** When the next round over the withdraw addresses begins, and where this one is. */
  #destinationsAt = 0;
  #after: DestinationRow | undefined;
  readonly #queue: Queue;

  constructor(deps: SignerDeps) {
    this.#deps = deps;
    this.#queue = new Queue(deps.retryMs ?? RETRY_MS);
  }

  /** Withdraw addresses are looked through now, as somebody has changed one. */
  lookAround(): void {
    this.#destinationsAt = 0;
  }

  /** Signs what waits; says in its row how it is. Returns whether more waits than it has looked at. */
  async turn(signal: AbortSignal): Promise<boolean> {
    const { orm, now } = this.#deps;
    try {
      const { ids, more } = await this.#queue.next(orm.em.fork());
      const works = ids.length > 0 || !this.#deps.idle;
      const unseen = works && (await this.#work(ids, signal));
      await noteState(orm.em.fork(), now(), undefined);
      this.#said = '';
      return more || unseen;
    } catch (error) {
      await this.#stop(error);
      return false;
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.journal.close().catch(() => undefined);
  }

  /** Returns whether there are withdraw addresses that it has not looked at in this round. */
  async #work(waiting: readonly string[], signal: AbortSignal): Promise<boolean> {
    const open: OpenSigner = { ...this.#deps, ...(await this.#open()) };
    await this.#takeApprovals(open);
    await notePauses(open.orm.em.fork(), open, { now: open.now() });
    const unseen = await this.#noteDestinations(open);
    for (const id of waiting) {
      if (signal.aborted) break;
      await this.#sign(open, id);
    }
    return unseen;
  }

  /** Approvals that cannot be read keep nobody waiting who needs none. */
  async #takeApprovals({ journal, wallet }: Opened): Promise<void> {
    const { log, now } = this.#deps;
    try {
      await takeApprovals(journal, wallet, now());
      this.#unread = '';
    } catch (error) {
      if (error instanceof JournalBroken) throw error;
      const reason = reasonOf(error);
      if (reason !== this.#unread)
        log.error(
          { component: 'signer', err: error },
          'approved withdraw addresses cannot be read, so none counts: let the signer read the file beside its journal',
        );
      this.#unread = reason;
    }
  }

  /** What goes wrong with one row keeps no other from being signed. */
  async #sign(open: OpenSigner, id: string): Promise<void> {
    const { log } = this.#deps;
    const result = await signAsked(open, id).catch((error: unknown) => {
      if (error instanceof Sealed || error instanceof JournalBroken) throw error;
      log.error(
        { component: 'signer', err: error, row: id },
        'a row could not be looked at; it is tried again',
      );
      return { kind: 'gone' } as const;
    });
    if (result.kind === 'gone') return this.#queue.rest(id);
    const { purpose, payoutId: payout, network, attempt } = result.asked;
    const said = { component: 'signer', purpose, payout };
    if (result.kind === 'signed')
      log.info(
        { ...said, network, attempt, transaction: result.hash },
        result.again ? 'stored again what was signed before' : 'signed',
      );
    else if (result.isNews)
      log.warn({ ...said, code: result.refusal.code }, `not signed: ${result.refusal.message}`);
  }

  /**
   * Every withdraw address once a minute and when one was set, a page at each look, so that the journal knows
   * each from the day on which it was set, and one that was changed without the key stops everything. What is
   * paid to is noted before that anyway. Returns whether there are more pages.
   */
  async #noteDestinations({ journal, keys, orm, now }: OpenSigner): Promise<boolean> {
    const nowMs = performance.now();
    if (nowMs < this.#destinationsAt) return false;
    const page = await destinationsAfter(orm.em.fork(), this.#after, DESTINATIONS_PAGE);
    // One that nothing may be paid to is told where something is asked for, and stops nobody else.
    for (const row of page)
      await noteDestination(journal, { keys, now: now() }, row).catch((error: unknown) => {
        if (!(error instanceof NotSigned)) throw error;
      });
    this.#after = page.length === DESTINATIONS_PAGE ? page.at(-1) : undefined;
    if (this.#after === undefined) this.#destinationsAt = nowMs + DESTINATIONS_MS;
    return this.#after !== undefined;
  }

  async #open(): Promise<Opened> {
    if (this.#opened) return this.#opened;
    if (this.#closed && performance.now() < this.#closed.until) throw this.#closed.error;
    this.#closed = undefined;
    try {
      this.#opened = await openAll(this.#deps);
      return this.#opened;
    } catch (error) {
      this.#closed = { error, until: performance.now() + (this.#deps.retryMs ?? RETRY_MS) };
      throw error;
    }
  }

  /** Says why nothing is signed; the signer's own things are then opened again from the start. */
  async #stop(error: unknown): Promise<void> {
    const { log, orm, now } = this.#deps;
    const sealed = sealOf(error);
    const reason = reasonOf(error);
    if (reason !== this.#said) {
      if (sealed)
        log.error({ component: 'signer', code: sealed.code }, `sealed, signs nothing: ${sealed.message}`);
      else log.warn({ component: 'signer', err: error }, 'could not look for work; it is tried again');
      // A journal that cannot take an alarm has the same one in the log.
      if (sealed?.code === 'tampered')
        await this.#opened?.journal
          .append({ kind: 'alarm', reason: sealed.message.slice(0, 500) }, now())
          .catch(() => undefined);
    }
    this.#said = reason;
    if (sealed) {
      await this.close();
      this.#closed ??= { error, until: performance.now() + (this.#deps.retryMs ?? RETRY_MS) };
    }
    // Another process has the journal: how the signer is, that one says.
    const says = sealed && !(sealed.cause instanceof JournalHeld);
    if (says) await noteState(orm.em.fork(), now(), sealed).catch(() => undefined);
  }
}

/** Why nothing at all can be signed; undefined for what goes by itself. */
function sealOf(error: unknown): Sealed | undefined {
  if (error instanceof Sealed) return error;
  return error instanceof JournalBroken ? new Sealed('journal', error.message, { cause: error }) : undefined;
}

async function openAll(deps: SignerDeps): Promise<Opened> {
  const { orm, now, keys, log } = deps;
  const opening = openJournal({ file: deps.journalFile, now: now(), openFile: deps.openJournalFile });
  const journal = await sealing('journal', opening);
  try {
    if (journal.repairedBytes > 0)
      log.warn(
        { component: 'signer', bytes: journal.repairedBytes },
        'the last line of the journal was not written to its end and was taken away: nothing was signed by it',
      );
    const { passphrase } = await sealing('wallet', readPassphraseFile(deps.passphraseFile));
    const wallet = await sealing('wallet', openWallet({ file: deps.seedFile, passphrase }));
    for (const warning of wallet.warnings) log.warn({ component: 'signer' }, warning);
    await takeOver(orm.em.fork(), { journal, keys, now: now() });
    return { wallet, journal };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

async function sealing<T>(code: 'wallet' | 'journal', work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof OperatorError ? new Sealed(code, error.message, { cause: error }) : error;
  }
}
