// The money that was signed away of late, for the limits: the lines of a day, and not those of years.
import type { SignedLine } from './journal-lines.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** How far a clock may be set back before the lines are read again. */
const SLACK_MS = HOUR_MS;

/** What moves money, as the journal has it, or will. */
export type Moving = Pick<SignedLine, 'network' | 'currency' | 'amount' | 'merchant_id'> &
  Pick<SignedLine, 'payout_id' | 'purpose' | 'attempt' | 'nonce'>;
type Line = Moving & Pick<SignedLine, 'n' | 'at'>;
/** One place on the chain: of all attempts for it one lands at most, so that the largest is its amount. */
type MovedPlace = Pick<Moving, 'network' | 'currency' | 'amount' | 'merchant_id'> &
  /** When the newest attempt was signed by its own clock, and as it counts, in milliseconds. */
  Readonly<Record<'signedAt' | 'at', number>>;

/** What names a place. */
export const placeName = ({ network, currency, payout_id: id, purpose, nonce, attempt }: Moving): string =>
  [network, currency, id, purpose, nonce ?? `attempt ${attempt}`].join(':');

/** See {@link MovedOfLate.of}. */
export class MovedOfLate {
  readonly #read: (after: number, since: Date) => Iterable<Line>;
  readonly #places = new Map<string, MovedPlace>();
  /** It has all that is not older than this, of the lines up to that one. */
  #since = Number.POSITIVE_INFINITY;
  #upTo = 0;

  /** `read` brings, of the lines after one, those that move money and are not older. */
  constructor(read: (after: number, since: Date) => Iterable<Line>) {
    this.#read = read;
  }

  /**
   * What was signed away of an asset within 24 hours before `now`, by {@link placeName}. What a clock that
   * was ahead has signed counts as signed when this was first asked, and once its own time has come as signed
   * then: so a clock that was behind and is right again has made nothing older.
   */
  of(
    { network, currency }: Pick<Moving, 'network' | 'currency'>,
    now: Date,
  ): readonly [string, MovedPlace][] {
    const nowMs = now.getTime();
    if (nowMs - DAY_MS < this.#since) {
      this.#places.clear();
      this.#upTo = 0;
      this.#since = nowMs - DAY_MS - SLACK_MS;
    }
    for (const line of this.#read(this.#upTo, new Date(this.#since))) this.#add(line);
    this.#since = Math.max(this.#since, nowMs - DAY_MS - SLACK_MS);
    for (const [name, place] of this.#places) {
      const at = Math.min(place.signedAt > nowMs ? place.at : place.signedAt, nowMs);
      if (at < this.#since) this.#places.delete(name);
      else this.#places.set(name, { ...place, at });
    }
    return [...this.#places].filter(([, one]) => one.network === network && one.currency === currency);
  }

  #add(line: Line): void {
    this.#upTo = line.n;
    const { network, currency, merchant_id } = line;
    const name = placeName(line);
    const known = this.#places.get(name);
    const signedAt = Math.max(Date.parse(line.at), known?.signedAt ?? 0);
    const at = Math.max(Date.parse(line.at), known?.at ?? 0);
    const amount = known && known.amount > line.amount ? known.amount : line.amount;
    this.#places.set(name, { network, currency, merchant_id, signedAt, at, amount });
  }
}
