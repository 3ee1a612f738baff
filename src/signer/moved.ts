// The money that was signed away of late, for the limits: the lines of a day, and not those of years.
import type { Currency, Network } from '../domain/assets.ts';
import type { SignedLine } from './journal-lines.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** How far a clock may be set back before the lines are read again. */
const SLACK_MS = HOUR_MS;

/** One place on the chain: of all attempts for it one lands at most. */
export type MovedPlace = {
  /** When the newest attempt was signed, in milliseconds. */
  readonly at: number;
  /** The largest of them. */
  readonly amount: bigint;
  readonly merchantId: string;
};
type Line = Pick<SignedLine, 'n' | 'network' | 'purpose' | 'payout_id' | 'attempt' | 'merchant_id'> &
  Pick<SignedLine, 'currency' | 'amount' | 'nonce' | 'at'>;
/** Of the lines after this one those that move money and are not older. */
type ReadMoved = (after: number, since: Date) => Iterable<Line>;

/** What names a place among those of its asset. */
export const placeName = (line: Pick<Line, 'payout_id' | 'purpose' | 'attempt' | 'nonce'>): string =>
  `${line.payout_id}:${line.purpose}:${line.nonce ?? `attempt ${line.attempt}`}`;

/** See {@link MovedOfLate.of}. */
export class MovedOfLate {
  readonly #read: ReadMoved;
  readonly #assets = new Map<string, Map<string, MovedPlace>>();
  /** It has all that is not older than this, of the lines up to that one. */
  #since = Number.POSITIVE_INFINITY;
  #upTo = 0;

  constructor(read: ReadMoved) {
    this.#read = read;
  }

  /**
   * What was signed away of an asset within 24 hours before `now`, by {@link placeName}. What a clock that
   * was ahead has signed counts as signed when this was first asked for it: neither never, nor until that
   * time comes.
   */
  of(asset: { readonly network: Network; readonly currency: Currency }, now: Date) {
    const nowMs = now.getTime();
    if (nowMs - DAY_MS < this.#since) {
      this.#assets.clear();
      this.#upTo = 0;
      this.#since = nowMs - DAY_MS - SLACK_MS;
    }
    for (const line of this.#read(this.#upTo, new Date(this.#since))) this.#add(line);
    this.#since = Math.max(this.#since, nowMs - DAY_MS - SLACK_MS);
    const places = this.#assets.get(nameOf(asset)) ?? new Map<string, MovedPlace>();
    for (const [name, place] of places) {
      if (place.at < this.#since) places.delete(name);
      if (place.at > nowMs) places.set(name, { ...place, at: nowMs });
    }
    return places;
  }

  #add(line: Line): void {
    this.#upTo = line.n;
    const asset = nameOf(line);
    const places = this.#assets.get(asset) ?? new Map<string, MovedPlace>();
    this.#assets.set(asset, places);
    const name = placeName(line);
    const known = places.get(name);
    const at = new Date(line.at).getTime();
    places.set(name, {
      at: Math.max(at, known?.at ?? 0),
      amount: known && known.amount > line.amount ? known.amount : line.amount,
      merchantId: line.merchant_id,
    });
  }
}

const nameOf = ({ network, currency }: { network: string; currency: string }): string =>
  `${currency}.${network}`;
