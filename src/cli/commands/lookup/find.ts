import { OperatorError } from '../../../base/errors.ts';
import { Deposit, PaymentLink } from '../../../db/entities/index.ts';
import { presentDeposits } from '../../../services/deposits/reads.ts';
import {
  askChains,
  type ChainAnswer,
  type ReadSoFar,
  readHeights,
} from '../../../services/find/ask-chain.ts';
import type { Found, Looking } from '../../../services/find/found.ts';
import { type Given, readGiven, spellingsOf } from '../../../services/find/given.ts';
import { type FoundKind, lookUp } from '../../../services/find/look-up.ts';
import { findAll, viewsOf } from '../../../services/find/views.ts';
import { getMerchant } from '../../../services/merchants/merchants.ts';
import { listPendingWithdrawChanges } from '../../../services/merchants/withdraw-notices.ts';
import { eventsOfSubject } from '../../../services/webhooks/shown/subject-events.ts';
import { COLUMNS, LISTS_IN } from '../../columns.ts';
import { pagesOf } from '../../links.ts';
import { paragraphs, plain, standingText, type View, viewTable, viewText, wrapped } from '../../print.ts';
import { withGateway } from '../../process.ts';
import type { CommandCall } from '../../run.ts';
import { presentMerchant } from '../merchants.ts';
import { changeLine, presentChange } from '../withdraw-changes.ts';

const ASK_WITHIN_MS = 15_000;
const MAX_SHOWN = 200;
const NEWEST_DEPOSITS = 20;
const DEPOSITS_OF_LINK = 100;
const INDENT = '  ';

/** What a text stands for; of one thing all that is known. */
export async function find({ args: [text = ''], options }: CommandCall<{ readonly payload?: true }>) {
  // A secret is refused before anything else is done with it.
  const given = readGiven(text);
  const outcome = await withGateway({}, async ({ deps, config, chains }) => {
    const looking = { em: deps.orm.em.fork(), deps, pages: pagesOf(config) };
    const found = await (options.payload
      ? viewsOf(looking, await lookUp(looking.em, given))
      : findAll(looking, given));
    const unknown = found.length === 0 && given.hashes.length > 0;
    const signal = AbortSignal.timeout(ASK_WITHIN_MS);
    return {
      found: await withMore(looking, given, found),
      read: unknown ? await readHeights(looking) : [],
      chains: unknown ? await askChains(looking, chains, given, signal) : [],
    };
  });
  if (outcome.found.length > 0) {
    const kinds = [...Map.groupBy(outcome.found, ({ kind }) => kind).values()];
    const next = outcome.found.length > 1 && `It is ${outcome.found.length} things: each is listed.`;
    return { json: outcome, text: kinds.map(shown).join('\n\n'), ...(next ? { next } : {}) };
  }
  const nobody = `Nobody knows "${plain(given.text.slice(0, MAX_SHOWN))}".`;
  const isHash = given.hashes.length > 0;
  const parts = isHash
    ? [nobody, LOOKED_HASH, ...readLines(outcome.read), ...outcome.chains.map(answerLines)]
    : [nobody, given.addressKey === undefined ? LOOKED_OTHER : LOOKED_ADDRESS, ...spellingsOf(given)];
  return { json: outcome, text: parts.join('\n'), problem: isHash ? NOT_KNOWN : NOT_FOUND };
}

const LOOKED_HASH =
  'Looked among the deposits of both modes, payouts, what our wallets sent, and what came and was not credited.';
const LOOKED_ADDRESS =
  'Looked among the addresses of customers in both modes, our gas wallets, withdraw addresses and where payouts went. As addresses it is:';
const LOOKED_OTHER =
  'Looked among the ids of everything, tokens of links, emails and external ids of both modes, and keys by what "key list" shows.';
const NOT_FOUND =
  'Copy it again, whole. An external id counts in its own spelling; of a deposit give the transaction hash, of a customer the email.';
const NOT_KNOWN = 'No row of this gateway holds it: do what the lines with → say.';

/** The one thing of this kind that a text stands for. Throws an OperatorError where it is none or several. */
export async function requireOne(looking: Looking, kind: FoundKind, text: string): Promise<Found> {
  const given = readGiven(text);
  const named = (await lookUp(looking.em, given)).filter((one) => one.kind === kind);
  // Somebody may have made the id of one the external id of another.
  const exact = named.find(({ id }) => id === given.id);
  const [one, ...others] = await viewsOf(looking, exact ? [exact] : named);
  const [what, short] = [kind.replace('_', ' '), given.text.slice(0, 100)];
  if (!one) throw new OperatorError(`There is no ${what} ${short}`, 'Look with "gateway find" what it is');
  if (others.length > 0)
    throw new OperatorError(
      `${short} is several: ${named.map(({ id }) => id).join(', ')}`,
      `Show one ${what} by its id`,
    );
  return one;
}

type WholeFound = Found & View;

/** Where one thing was found, or one has this very id, that one also has what belongs to it. */
async function withMore(looking: Looking, given: Given, found: readonly Found[]): Promise<WholeFound[]> {
  const all: WholeFound[] = [];
  for (const one of found)
    all.push(found.length === 1 || one.id === given.id ? { ...one, ...(await moreOf(looking, one)) } : one);
  return all;
}

async function moreOf({ em, deps }: Looking, { kind, id, view }: Found) {
  if (kind === 'merchant') {
    const changes = await listPendingWithdrawChanges(deps, { merchantId: id });
    return {
      view: { ...view, ...presentMerchant(await getMerchant(deps, id)) },
      withdraw_changes: changes.map(presentChange),
    };
  }
  if (kind === 'customer') {
    const newest = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: NEWEST_DEPOSITS } as const;
    return { deposits: await presentDeposits(em, await em.find(Deposit, { customerId: id }, newest)) };
  }
  if (kind !== 'payment_link') return {};
  const first = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: DEPOSITS_OF_LINK } as const;
  const deposits = await presentDeposits(em, await em.find(Deposit, { paymentLinkId: id }, first));
  const { mode, merchantId, createdAt: since } = await em.findOneOrFail(PaymentLink, id);
  const { events, isCut } = await eventsOfSubject(em, { merchantId, mode }, { subjectId: id, since });
  return { deposits, events, events_cut: isCut };
}

/** One of a kind with all that is known of it; several as a table, and why each waits and what to do. */
function shown(some: readonly WholeFound[]): string {
  const [one] = some;
  if (!one) return '';
  if (some.length > 1) {
    const columns = COLUMNS[one.kind];
    const views = some.map(({ view, merchant }) => ({ ...view, merchant }));
    // Not in the table, where what a stranger wrote could look as if it told what to do.
    const standings = some
      .filter(({ why, action }) => why !== null || action !== null)
      .map(({ id, why, action }) => standingText({ why: why === null ? id : `${id}: ${why}`, action }));
    const head = `${one.kind.replaceAll('_', ' ')}, ${some.length} of them:`;
    return [head, viewTable(views, columns && [...columns, 'merchant']), ...standings].join('\n');
  }
  const about = one.command === null ? [] : [`all about it: gateway ${plain(one.command)}`];
  return paragraphs(textOf(one), [...about, ...pagesIn(one).map(plain)].join('\n'));
}

/** What other lines say: of an event the payload has its data as sent, of a payout `why` its wait. */
const SAID = ['id', 'merchant_id', 'data', 'wait'];

/** One thing for a person: what it is, why it is where it is, what to do, its view, its lists as tables. */
function textOf(one: WholeFound): string {
  const { kind, id, merchant, merchant_id: owner } = one;
  const view = Object.fromEntries(Object.entries(one.view).filter(([name]) => !SAID.includes(name)));
  const whose = owner === null || owner === id ? {} : { merchant: `${merchant} (${owner})` };
  const lists = LISTS_IN[kind] ?? {};
  const own = Object.fromEntries(Object.keys(lists).map((name) => [name, one.view[name] ?? one[name]]));
  const changes = (one['withdraw_changes'] ?? []) as ReturnType<typeof presentChange>[];
  return paragraphs(
    [
      `${kind.replaceAll('_', ' ')}  ${id}`,
      standingText(one),
      ...changes.flatMap((change) => wrapped(changeLine(change, new Date()))),
    ]
      .filter((part) => part !== '')
      .join('\n'),
    viewText({ ...view, ...whose, ...own }, lists),
  );
}

/** The pages about it that are known. */
function pagesIn({ links }: Found): string[] {
  return Object.values(links).filter((page) => page !== null);
}

function readLines(read: readonly ReadSoFar[]): string[] {
  if (read.length === 0) return ['No chain was ever read.'];
  return read.flatMap((row) =>
    wrapped(
      `${row.network} is read from block ${row.first_block} to ${row.scanned}; its head is ${row.head}, final is ${row.finalized}, as of ${row.polled_at}.`,
    ),
  );
}

function answerLines({ network, says, action, moves, explorer }: ChainAnswer): string {
  return [
    ...wrapped(plain(`${network}: ${says}.`)),
    ...moves.flatMap(({ to, amount, of, ours }) =>
      wrapped(plain(`${amount} ${of} to ${to}${ours === null ? '' : `, which is ${ours}`}`), INDENT),
    ),
    ...wrapped(plain(action), `${INDENT}→ `),
    ...(explorer === null ? [] : [INDENT + plain(explorer)]),
  ].join('\n');
}
