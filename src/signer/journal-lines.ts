// The lines of the signer's journal.
import { hash as digest } from 'node:crypto';
import { z } from 'zod';
import type { AddressKey } from '../chains/address-key.ts';
import { CURRENCIES, NETWORKS } from '../domain/assets.ts';
import { SENT_PURPOSES } from '../domain/payouts/purpose.ts';

/** The highest nonce that has room in what is kept of a line. */
const MOST_NONCE = 0xffff_fffe;

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

/** An operator's approval of a withdraw address. */
export const approvalSchema = z.strictObject({
  merchant_id: z.uuid(),
  network,
  address: key,
  approved_at: z.iso.datetime(),
  by_name: z.string().max(120).nullable(),
});

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
    nonce: z.number().int().min(0).max(MOST_NONCE).nullable(),
    expires_at: z.iso.datetime().nullable(),
    hash: z.string().regex(/^(0x)?[0-9a-f]{64}$/),
    raw: hex.min(2),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('destination'),
    merchant_id: z.uuid(),
    network,
    /** Null where the one before was taken away. */
    address: key.nullable(),
    /** When it was set, as the row's own seal says. */
    set_at: z.iso.datetime(),
  }),
  z.strictObject({ ...common, kind: z.literal('approved'), ...approvalSchema.shape }),
  z.strictObject({
    ...common,
    kind: z.literal('pause'),
    /** Null: of all payouts. */
    merchant_id: z.uuid().nullable(),
    paused: z.boolean(),
    /** When its end was sealed; of a pause: what was sealed up to then does not end it. */
    set_at: z.iso.datetime(),
  }),
  z.strictObject({ ...common, kind: z.literal('alarm'), reason: z.string().max(500) }),
]);
export type JournalLine = z.output<typeof lineSchema>;
type WithoutPlace<Line> = Line extends unknown ? Omit<Line, keyof typeof common> : never;
/** A line before it has its place. */
export type JournalEntry = WithoutPlace<z.input<typeof lineSchema>>;
/** What was signed. */
export type SignedLine = Extract<JournalLine, { kind: 'signed' }>;
export type DestinationLine = Extract<JournalLine, { kind: 'destination' }>;
export type PauseLine = Extract<JournalLine, { kind: 'pause' }>;

/** What the first line names as the one before. */
export const NO_LINE = '0'.repeat(64);

/** The hash by which the next line names a line. */
export const hashOfLine = (line: string | Uint8Array): string => digest('sha256', line, 'hex');

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

/**
 * The line that these bytes are in the journal, or undefined where they are none. What was signed is looked
 * at more than once and not each time in every part, which of millions takes half a minute: it was before it
 * was written, and the hash in the next line holds it to that.
 */
export function readLine(bytes: Buffer): JournalLine | undefined {
  const text = bytes.toString('utf8');
  try {
    const line = JSON.parse(text);
    if (line.kind !== 'signed') return parseLine(text);
    const keys = [line.hash, line.payout_id, line.from, line.to, ...line.deposits];
    if (!keys.every((one) => typeof one === 'string')) return undefined;
    line.amount = BigInt(line.amount);
    line.price = line.price === null ? null : BigInt(line.price);
    return line;
  } catch {
    return undefined;
  }
}
