// The lines of the signer's journal, and what can be asked of them.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AddressKey } from '../chains/address-key.ts';
import { CURRENCIES, NETWORKS, type Network } from '../domain/assets.ts';
import { SENT_PURPOSES } from '../domain/payouts/purpose.ts';

const hex = z.string().regex(/^[0-9a-f]*$/);
const key = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .transform((text) => text as AddressKey);
const common = {
  n: z.number().int().min(1),
  at: z.iso.datetime(),
  /** The hash of the line before; of the first line, of nothing. */
  previous: hex.length(64),
};
const units = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text));
const network = z.enum(NETWORKS);

const lineSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...common, kind: z.literal('begun'), journal: z.uuid() }),
  z.strictObject({
    ...common,
    kind: z.literal('signed'),
    network,
    purpose: z.enum(SENT_PURPOSES),
    payout_id: z.uuid(),
    attempt: z.number().int().min(1),
    merchant_id: z.uuid(),
    /** What it pays out; none where it is for something else. */
    deposits: z.array(z.uuid()),
    from: key,
    to: key,
    currency: z.enum(CURRENCIES),
    amount: units,
    price: units.nullable(),
    nonce: z.number().int().min(0).nullable(),
    expires_at: z.iso.datetime().nullable(),
    hash: z.string().regex(/^(0x)?[0-9a-f]{64}$/),
    raw: hex.min(2),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('destination'),
    merchant_id: z.uuid(),
    network,
    address: key,
    /** When it was set, as the row's own seal says. */
    set_at: z.iso.datetime(),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('approved'),
    merchant_id: z.uuid(),
    network,
    address: key,
    approved_at: z.iso.datetime(),
    by_name: z.string().max(120).nullable(),
  }),
  z.strictObject({ ...common, kind: z.literal('alarm'), reason: z.string().max(500) }),
]);
export type JournalLine = z.output<typeof lineSchema>;
type Written = z.input<typeof lineSchema>;
/** A line before it has its place. */
export type JournalEntry = WithoutPlace<Written>;
type WithoutPlace<Line> = Line extends unknown ? Omit<Line, keyof typeof common> : never;
/** What was signed; its bytes stay in the file. */
export type SignedLine = Omit<Extract<JournalLine, { kind: 'signed' }>, 'raw'>;
export type DestinationLine = Extract<JournalLine, { kind: 'destination' }>;

/** What the first line names as the one before. */
export const NO_LINE = '0'.repeat(64);

/** The hash by which the next line names a line. */
export const hashOfLine = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** A line as it is written; it says which one it follows. */
export function lineText(entry: JournalEntry, place: { n: number; at: Date; previous: string }): string {
  return JSON.stringify({ n: place.n, at: place.at.toISOString(), ...entry, previous: place.previous });
}

/** The line in a text, or undefined where it is none. */
export function parseLine(text: string): JournalLine | undefined {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Where a line lies in the file. */
export type Place = { readonly at: number; readonly length: number };

/** What the lines say, kept so that no question reads the file. */
export class JournalIndex {
  readonly hashes: string[] = [];
  readonly signed: SignedLine[] = [];
  id = '';
  begunAt = new Date(0);
  readonly #places = new Map<string, Place>();
  readonly #byPayout = new Map<string, SignedLine[]>();
  readonly #byDeposit = new Map<string, SignedLine[]>();
  readonly #topUps = new Map<string, SignedLine[]>();
  readonly #lent = new Map<string, SignedLine[]>();
  readonly #lastNonce = new Map<string, number>();
  readonly #destinations = new Map<string, DestinationLine>();
  readonly #changed = new Set<string>();
  readonly #approvals = new Map<string, Date>();

  /** Takes a line over. */
  add(line: JournalLine, hash: string, place: Place): void {
    this.hashes.push(hash);
    if (line.kind === 'begun') {
      this.id = line.journal;
      this.begunAt = new Date(line.at);
    }
    if (line.kind === 'destination') this.#addDestination(line);
    if (line.kind === 'approved')
      this.#approvals.set(`${line.merchant_id}:${line.network}:${line.address}`, new Date(line.approved_at));
    if (line.kind === 'signed') this.#addSigned(line, place);
  }

  /** An address that was set again is as old as before, and no other one than it was. */
  #addDestination(line: DestinationLine): void {
    const name = `${line.merchant_id}:${line.network}`;
    const known = this.#destinations.get(name);
    const isSame = known?.address === line.address;
    if (known && !isSame) this.#changed.add(name);
    this.#destinations.set(name, isSame ? { ...line, at: known.at } : line);
  }

  #addSigned({ raw: _, ...line }: Extract<JournalLine, { kind: 'signed' }>, place: Place): void {
    this.signed.push(line);
    this.#places.set(line.hash, place);
    push(this.#byPayout, `${line.purpose}:${line.payout_id}`, line);
    for (const deposit of line.deposits) push(this.#byDeposit, deposit, line);
    const wallet = `${line.network}:${line.from}`;
    if (line.purpose === 'gas') push(this.#topUps, `${line.network}:${line.to}`, line);
    if (line.purpose === 'payout') this.#topUps.delete(wallet);
    if (line.purpose === 'delegate') push(this.#lent, `${line.network}:${line.to}`, line);
    if (line.nonce !== null)
      this.#lastNonce.set(wallet, Math.max(line.nonce, this.#lastNonce.get(wallet) ?? 0));
  }

  /** What was signed for a payout, in order. */
  ofPayout(purpose: SignedLine['purpose'], payoutId: string): readonly SignedLine[] {
    return this.#byPayout.get(`${purpose}:${payoutId}`) ?? [];
  }

  /** What was signed that pays a deposit out, in order. */
  ofDeposit(depositId: string): readonly SignedLine[] {
    return this.#byDeposit.get(depositId) ?? [];
  }

  /** What an address was given since something was last paid out of it, whatever for. */
  topUps(network: Network, to: AddressKey): readonly SignedLine[] {
    return this.#topUps.get(`${network}:${to}`) ?? [];
  }

  /** What an address was lent, taken back or not. */
  lentTo(network: Network, to: AddressKey): readonly SignedLine[] {
    return this.#lent.get(`${network}:${to}`) ?? [];
  }

  /** Whether a wallet has signed something in this place. */
  holds(network: Network, from: AddressKey, nonce: number): boolean {
    return this.signed.some((one) => one.nonce === nonce && one.from === from && one.network === network);
  }

  /** The highest nonce that was signed for a wallet. */
  lastNonce(network: Network, from: AddressKey): number | undefined {
    return this.#lastNonce.get(`${network}:${from}`);
  }

  /** The destination of a merchant as it was seen last. */
  destination(merchantId: string, network: Network): DestinationLine | undefined {
    return this.#destinations.get(`${merchantId}:${network}`);
  }

  /** Whether a merchant's destination is another one than the first that was seen. */
  hasChangedDestination(merchantId: string, network: Network): boolean {
    return this.#changed.has(`${merchantId}:${network}`);
  }

  /** When an operator approved of a destination last. */
  approvedAt(merchantId: string, network: Network, address: AddressKey): Date | undefined {
    return this.#approvals.get(`${merchantId}:${network}:${address}`);
  }

  /** Where the line of a transaction lies; undefined for one that was not signed here. */
  placeOf(hash: string): Place | undefined {
    return this.#places.get(hash);
  }
}

function push<T>(map: Map<string, T[]>, name: string, value: T): void {
  const known = map.get(name);
  if (known) known.push(value);
  else map.set(name, [value]);
}
