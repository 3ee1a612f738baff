// How people prove who they are, at a login and later: counted, in a line, in the same time for everybody.
import {
  createWaitingLine,
  type InLine,
  LineIsFull,
  type WaitingLine,
} from '../../base/async/waiting-line.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import { networksOf } from '../../domain/client-networks.ts';
import type { Deps } from '../deps.ts';
import {
  decoyHash,
  hashPassword,
  isOutdated,
  isPassword,
  PASSWORD_COST,
  type PasswordCost,
} from './passwords.ts';
import { giveBack, takeAttempt } from './throttle.ts';
import { stepOfCode } from './totp.ts';

const BUSY_RETRY_SECONDS = 2;
const MAX_SITES_OF_USER = 100;

/** A user as far as a proof concerns it. */
export type Account = {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly totpSealed: Buffer | null;
  /** Whether this user was proven from the site before. */
  readonly known: boolean;
};

/** What a person shows. */
export type Proof = {
  readonly password: string;
  /** The code of an authenticator app; ignored for a user without one. */
  readonly totp?: string | undefined;
  /** Where the caller comes from: an IPv4 address, or the /64 of an IPv6 one. */
  readonly site: string;
};

/** Whose proof it is to be; without an account it takes the same time, and fails. */
export type Claim = Proof & {
  readonly email: string;
  readonly account: Account | undefined;
  /** The password that takes the place of the one that is shown; it was checked. */
  readonly newPassword?: string;
};

export type Throttled = { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

/** `refused` is the same for everything that can be wrong, so that nobody learns which it was. */
export type Proven<T> =
  | { readonly kind: 'proven'; readonly account: Account; readonly value: T }
  | { readonly kind: 'refused' }
  | Throttled;

export type ProofOptions = {
  /** Bounds each wait for the database. */
  readonly within?: <T>(work: () => Promise<T>) => Promise<T>;
  readonly cost?: PasswordCost;
  /** Where proofs wait for their turn; one for everything in a process that looks at passwords. */
  readonly line?: WaitingLine;
};

/**
 * Looks at a proof and, if it is right, runs `apply` in the transaction that uses it up. Throws what `apply`
 * throws, with the proof not used, and {@link LineIsFull} when more proofs wait than this process takes.
 */
export type Prove = <T>(claim: Claim, apply: (em: Em, account: Account) => Promise<T>) => Promise<Proven<T>>;

/**
 * The line in front of passwords. Hashing takes 19 MiB and one of the four threads that files
 * and name lookups need too: so two at a time, however many come.
 */
export function createPasswordLine(): WaitingLine {
  return createWaitingLine({
    running: 2,
    places: 256,
    placesKept: 32,
    placesOfKey: 32,
    placesOfKnownKey: 8,
    waitMs: 10_000,
  });
}

/** A proof that looked right. `use` runs `apply` in the transaction that uses it up; see {@link Prove}. */
export type RightProof = {
  readonly kind: 'right';
  readonly use: <T>(
    em: Em,
    apply: (account: Account) => Promise<T>,
  ) => Promise<Exclude<Proven<T>, Throttled>>;
};

/** Looks at a proof, and uses nothing up yet. Throws {@link LineIsFull}. */
export type Look = (claim: Claim) => Promise<RightProof | { readonly kind: 'refused' } | Throttled>;

/** The proofs of one process, each used up in a transaction of its own: see {@link createLook}. */
export function createProver(deps: Deps, options: ProofOptions = {}): Prove {
  const { within = (work) => work() } = options;
  const look = createLook(deps, options);
  return async (claim, apply) => {
    const seen = await look(claim);
    if (seen.kind !== 'right') return seen;
    return await within(() =>
      deps.orm.em.fork().transactional((em) => seen.use(em, (account) => apply(em, account))),
    );
  };
}

/**
 * The first half of the proofs of one process, for those whose other half belongs to a transaction of the
 * caller's. Each try is counted before its password is looked at, wrong ones stay counted, and an
 * account that does not exist takes the same time as one that does.
 */
export function createLook(deps: Deps, options: ProofOptions = {}): Look {
  const { within = (work) => work(), cost = PASSWORD_COST, line = createPasswordLine() } = options;
  const decoy = decoyHash(cost);

  const attempt: Look = async (claim) => {
    const { account, password, site } = claim;
    const who = { site, email: claim.email, known: account?.known ?? false };
    const taken = await within(() => takeAttempt(deps, who));
    if (!taken.ok) return { kind: 'throttled', retryAfterSeconds: taken.retryAfterSeconds };
    const isRight = await isPassword(account?.passwordHash ?? decoy, password);
    // Checked in any case: if the code were asked for only after
    // the right password, it would give the password away.
    const step = stepOf(deps, account, claim.totp);
    if (!account || !isRight || step === 'wrong') return { kind: 'refused' };
    const newHash = await hashFrom(claim, account, cost);
    return {
      kind: 'right',
      use: async (em, apply) => {
        if (!(await useUp(em, account, { step, newHash }))) return { kind: 'refused' };
        const value = await apply(account);
        await rememberSite(em, { userId: account.id, site, now: deps.now() });
        await giveBack(em, who, taken.at);
        return { kind: 'proven', account, value };
      },
    };
  };

  return async (claim) => {
    try {
      return await line(placeOf(claim), () => attempt(claim));
    } catch (error) {
      if (error instanceof LineIsFull && error.ofKey)
        return { kind: 'throttled', retryAfterSeconds: BUSY_RETRY_SECONDS };
      throw error;
    }
  };
}

/** The account of an email or an id, as it looks from a site; undefined where nobody has it any more. */
export async function findAccount(
  deps: Deps,
  by: { readonly email: string } | { readonly userId: string },
  site: string,
): Promise<Account | undefined> {
  const [column, value] = 'email' in by ? ['email', by.email] : ['id', by.userId];
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const { rows } = await pool.query<Account>({
    name: `find-account-by-${column}`,
    text: `select u.id, u.merchant_id as "merchantId", u.email, u.password_hash as "passwordHash",
             u.totp_sealed as "totpSealed",
             exists (select 1 from user_sites s where s.user_id = u.id and s.site = $2) as known
           from users u where u.${column} = $1 and u.removed_at is null`,
    values: [value, site],
  });
  return rows[0];
}

/**
 * Strangers share the places of the network around their site, because a site is too easy to
 * get. An owner at a known site has places of the account's own, which no neighbour can take.
 */
function placeOf({ site, account }: Claim): InLine {
  if (account?.known) return { key: account.id, known: true };
  const [own, next = own] = networksOf(site);
  return { key: next.network, known: false };
}

/** The step of the code, null for a user without one. */
function stepOf(deps: Deps, account: Account | undefined, code: string | undefined): number | null | 'wrong' {
  if (!account?.totpSealed) return null;
  return stepOfCode(deps.secretBox.open(account.totpSealed, account.id), code ?? '', deps.now()) ?? 'wrong';
}

/** The hash that is stored from now on: of the new password, or of this one if its hash is too cheap. */
async function hashFrom(claim: Claim, { passwordHash }: Account, cost: PasswordCost): Promise<string> {
  if (claim.newPassword !== undefined) return await hashPassword(claim.newPassword, cost);
  return isOutdated(passwordHash, cost) ? await hashPassword(claim.password, cost) : passwordHash;
}

/**
 * Uses the proof up, unless its code was used already, or password, code or user have changed since it was
 * looked at: all of it is decided by the one update that holds the user's row.
 */
async function useUp(
  em: Em,
  account: Account,
  { step, newHash }: { readonly step: number | null; readonly newHash: string },
): Promise<boolean> {
  const used = await run(
    em,
    sql`update users set password_hash = ${newHash},
      totp_last_step = coalesce(${step}::int, totp_last_step)
      where id = ${account.id} and removed_at is null and password_hash = ${account.passwordHash}
        and totp_sealed is not distinct from ${account.totpSealed}
        and (${step}::int is null or totp_last_step is null or totp_last_step < ${step}::int)`,
  );
  return used > 0;
}

/**
 * Remembers the site: an owner at a known site has a budget of its own, so
 * that strangers cannot lock the owner out. The latest hundred are kept.
 */
async function rememberSite(
  em: Em,
  { userId, site, now }: { readonly userId: string; readonly site: string; readonly now: Date },
): Promise<void> {
  await run(
    em,
    sql`insert into user_sites (user_id, site, last_login_at) values (${userId}, ${site}, ${now})
      on conflict (user_id, site) do update set last_login_at = excluded.last_login_at`,
  );
  await run(
    em,
    sql`delete from user_sites where (user_id, site) in
      (select user_id, site from user_sites where user_id = ${userId} order by last_login_at desc, site
        offset ${MAX_SITES_OF_USER})`,
  );
}
