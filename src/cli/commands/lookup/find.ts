import type { Command } from 'commander';
import type { ChainAnswer } from '../../../services/find/ask-chain.ts';
import type { Found } from '../../../services/find/found.ts';
import type { ReadSoFar } from '../../../services/find/money.ts';
import { text } from '../../arguments.ts';
import { answering, leaf } from '../../run.ts';
import { plain } from '../../table.ts';
import { wrapped } from '../../width.ts';

const MAX_GIVEN = 2_048;
const ASK_WITHIN_MS = 15_000;

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
  const [
    { withGateway },
    { readGiven },
    { findAll, spellingsOf },
    { askChains },
    money,
    { namesOfMerchants },
    links,
  ] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/find/given.ts'),
    import('../../../services/find/find.ts'),
    import('../../../services/find/ask-chain.ts'),
    import('../../../services/find/money.ts'),
    import('../../../services/find/found.ts'),
    import('../../links.ts'),
  ]);
  // A secret is refused before anything else is done with it.
  const given = readGiven(args[0] ?? '');
  const outcome = await withGateway({}, async ({ deps, config, chains }) => {
    const pages = links.pagesOf(config);
    const looking = { em: deps.orm.em.fork(), deps, pages };
    const found = await findAll(deps, pages, given);
    const merchants = await namesOfMerchants(
      looking.em,
      found.map(({ merchant_id }) => merchant_id),
    );
    const unknown = found.length === 0 && given.hashes.length > 0;
    const signal = AbortSignal.timeout(ASK_WITHIN_MS);
    return {
      found: found.map((one) => ({ ...one, merchant: merchants.get(one.merchant_id ?? '') ?? null })),
      read: unknown ? await money.readHeights(looking) : [],
      chains: unknown ? await askChains(looking, chains, given, signal) : [],
    };
  });
  if (outcome.found.length > 0)
    return {
      json: outcome,
      text: outcome.found.map(shown).join('\n\n'),
      ...(outcome.found.length === 1
        ? {}
        : { next: `It is ${outcome.found.length} things: each is listed.` }),
    };
  const nobody = `Nobody knows "${plain(given.text.slice(0, MAX_SHOWN))}".`;
  const isHash = given.hashes.length > 0;
  const parts = isHash
    ? [nobody, LOOKED_HASH, ...readLines(outcome.read), ...outcome.chains.map(answerLines)]
    : [nobody, given.addressKey === undefined ? LOOKED_OTHER : LOOKED_ADDRESS, ...spellingsOf(given)];
  return { json: outcome, text: parts.join('\n'), problem: isHash ? NOT_KNOWN : NOT_FOUND };
}

const MAX_SHOWN = 200;
const LOOKED_HASH =
  'Looked among the deposits of both modes, payouts, what our wallets sent, and what came and was not credited.';
const LOOKED_ADDRESS =
  'Looked among the addresses of customers in both modes, our gas wallets, withdraw addresses and where payouts went. As addresses it is:';
const LOOKED_OTHER =
  'Looked among the ids of everything, tokens of links, emails and external ids of both modes, and keys by what "key list" shows.';
const NOT_FOUND =
  'Copy it again, whole. An external id counts in its own spelling; of a deposit give the transaction hash, of a customer the email.';

const NOT_KNOWN = 'No row of this gateway holds it: do what the lines with → say.';

type Shown = Found & { readonly merchant: string | null };

function shown(one: Shown): string {
  const mode = one.is_live === null ? '' : `  ${one.is_live ? 'live' : 'test'}`;
  const owner =
    one.merchant_id === null || one.merchant_id === one.id
      ? []
      : wrapped(plain(`of merchant ${one.merchant} (${one.merchant_id})`), INDENT);
  const { temporal, dashboard, checkout, explorer } = one.links;
  const pages = [explorer, dashboard, checkout, temporal].filter((page) => page !== null);
  return [
    `${one.kind.replaceAll('_', ' ')}${one.id === null ? '' : `  ${one.id}`}${mode}`,
    ...wrapped(plain(one.what), INDENT),
    ...owner,
    ...(one.state === null ? [] : wrapped(plain(one.state), INDENT)),
    ...(one.why === null ? [] : wrapped(plain(one.why), INDENT)),
    ...(one.action === null ? [] : wrapped(plain(one.action), `${INDENT}→ `)),
    ...(one.command === null ? [] : wrapped(`all about it: gateway ${plain(one.command)}`, INDENT)),
    ...pages.map((page) => INDENT + plain(page)),
  ].join('\n');
}

const INDENT = '  ';

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
