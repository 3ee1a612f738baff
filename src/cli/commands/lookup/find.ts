import type { Command } from 'commander';
import type { ChainAnswer, ReadSoFar } from '../../../services/find/ask-chain.ts';
import type { Found } from '../../../services/find/found.ts';
import { text } from '../../arguments.ts';
import { COLUMNS, LISTS_IN } from '../../columns.ts';
import { answering, leaf } from '../../run.ts';
import { plain } from '../../table.ts';
import { type Column, paragraphs, standingText, type View, viewTable, viewText } from '../../views.ts';
import { wrapped } from '../../width.ts';

const MAX_GIVEN = 2_048;
const ASK_WITHIN_MS = 15_000;
const MAX_SHOWN = 200;
const INDENT = '  ';

/** `find`. */
export function addFindCommand(program: Command): void {
  leaf(
    program,
    'find',
    'tells what a hash, an address, an email, a token or an id is, why it waits, and what to do',
  )
    .argument(
      '<what>',
      'a transaction hash, an address, an email, a token, an id of anything, an external id, what "key list" shows of a key, or the address of a page about one of them',
      text(MAX_GIVEN),
    )
    .action(answering(find));
}

async function find({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readGiven, spellingsOf }, { findAll }, { askChains, readHeights }, { pagesOf }] =
    await Promise.all([
      import('../../process.ts'),
      import('../../../services/find/given.ts'),
      import('../../../services/find/views.ts'),
      import('../../../services/find/ask-chain.ts'),
      import('../../links.ts'),
    ]);
  // A secret is refused before anything else is done with it.
  const given = readGiven(args[0] ?? '');
  const outcome = await withGateway({}, async ({ deps, config, chains }) => {
    const looking = { em: deps.orm.em.fork(), deps, pages: pagesOf(config) };
    const found = await findAll(looking, given);
    const unknown = found.length === 0 && given.hashes.length > 0;
    const signal = AbortSignal.timeout(ASK_WITHIN_MS);
    return {
      found,
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

/** One of a kind with all that is known of it; several as a table, and why each waits and what to do. */
function shown(some: readonly Found[]): string {
  const [one] = some;
  if (!one) return '';
  if (some.length > 1) {
    const columns = (COLUMNS as Readonly<Record<string, readonly Column[]>>)[one.kind];
    const views = some.map(({ view, merchant }) => ({ ...view, merchant }));
    // Not in the table, where what a stranger wrote could look as if it told what to do.
    const standings = some
      .filter(({ why, action }) => why !== null || action !== null)
      .map(({ id, why, action }) => standingText({ why: why === null ? id : `${id}: ${why}`, action }));
    const head = `${one.kind.replaceAll('_', ' ')}, ${some.length} of them:`;
    return [head, viewTable(views, columns && [...columns, 'merchant']), ...standings].join('\n');
  }
  const about = one.command === null ? [] : [`all about it: gateway ${plain(one.command)}`];
  return paragraphs(foundText(one), [...about, ...pagesIn(one).map(plain)].join('\n'));
}

/** What other lines say: of an event the payload has its data as sent, of a payout `why` its wait. */
const SAID = ['id', 'merchant_id', 'data', 'wait'];

/**
 * One thing for a person: what it is, why it is where it is, what to do, its view, and more lists as tables.
 */
export function foundText(one: Found & View, more: Readonly<Record<string, readonly Column[]>> = {}): string {
  const { kind, id, merchant, merchant_id: owner } = one;
  const view = Object.fromEntries(Object.entries(one.view).filter(([name]) => !SAID.includes(name)));
  const whose = owner === null || owner === id ? {} : { merchant: `${merchant} (${owner})` };
  const added = Object.fromEntries(Object.keys(more).map((name) => [name, one[name]]));
  return paragraphs(
    [`${kind.replaceAll('_', ' ')}  ${id}`, standingText(one)].filter((part) => part !== '').join('\n'),
    viewText({ ...view, ...whose, ...added }, { ...LISTS_IN[kind], ...more }),
  );
}

/** The pages about it that are known. */
export function pagesIn({ links }: Found): string[] {
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
