import { OperatorError } from '../../../base/errors.ts';
import { CHAINS, chainOf as factsOf } from '../../../chains/index.ts';
import type { Network } from '../../../domain/assets.ts';
import { concludePayout } from '../../../services/payouts/conclude/conclude.ts';
import { takeUp } from '../../../services/payouts/conclude/forgotten.ts';
import { namedPlace } from '../../../services/payouts/decisions.ts';
import { readSignedFor } from '../../../signer/signed-for.ts';
import { type CommandGateway, withGateway } from '../../process.ts';
import type { CommandCall, DecidedBy } from '../../run.ts';
import { chainOf, hashGiven } from '../chain.ts';

const WITHIN_MS = 60_000;

type Options = DecidedBy & { readonly tx: string; readonly deposits?: string; readonly journal?: string };

/** Settles a payout by a transaction that the chain shows, or takes up what the journal knows of it. */
export async function conclude({ args: [given = ''], options }: CommandCall<Options>) {
  const { by, reason, tx, deposits, journal } = options;
  const signal = AbortSignal.timeout(WITHIN_MS);
  const done = await withGateway({ by, secrets: true }, async (gateway) => {
    const em = gateway.deps.orm.em.fork();
    const id = given.trim();
    // A gas wallet may be named too: to whom that has sent, the journal says.
    const of = CHAINS.find(({ addresses }) => addresses.parse(id) !== undefined);
    const { network } = of ?? (await namedPlace(em, id));
    const hash = hashGiven(network, tx);
    const signed = journal === undefined ? undefined : await signedIn(gateway, network, hash, journal);
    const taken = signed && (await takeUp(gateway.deps, { signed, hash, reason }));
    if (taken) return { kind: 'taken_up' as const, ...taken };
    const place = await namedPlace(em, id);
    const chain = await chainOf(gateway, place.network, signal);
    const depositIds = deposits?.split(',').map((id) => id.trim().toLowerCase());
    return await concludePayout(gateway.deps, chain, { place, hash, reason, depositIds, signed, signal });
  });
  if (done.kind === 'seen')
    return {
      json: { ok: true, concluded: false, again_at: done.againAt.toISOString() },
      text: 'The only RPC endpoint shows it, and has to show it once more: nothing is settled yet.',
      next: `Run this again after ${done.againAt.toISOString()}, or set a second RPC endpoint.`,
    };
  if (done.kind === 'taken_up')
    return {
      json: { ok: true, concluded: false, payout_id: done.payoutId, transaction_hashes: done.hashes },
      text: `Payout ${done.payoutId} is known again, with what was signed for it: ${done.hashes.join(', ')}.`,
      next: `It goes on by itself, what no block has is sent: see it with "payout show ${done.payoutId}".`,
    };
  const { payoutId, destination, currency, depositIds } = done;
  const [gross_units, net_units] = [done.grossUnits, done.netUnits].map(String);
  const ids = { payout_id: payoutId, deposit_ids: depositIds };
  return {
    json: { ok: true, concluded: true, ...ids, destination, currency, gross_units, net_units },
    text: `Payout ${payoutId} is settled: ${net_units} of ${gross_units} base units of ${currency} arrived at ${destination}.`,
    next: `See it with "payout show ${payoutId}".`,
  };
}

/** What the journal has signed as this transaction, and for the same payout. */
async function signedIn({ config }: CommandGateway, network: Network, hash: string, file: string) {
  const transfers = await factsOf(network).transfers(config.chains[network]);
  const signed = await readSignedFor({ file, network, hash, transfers });
  if (signed) return signed;
  throw new OperatorError(
    `The journal ${file} knows no transaction ${hash} on ${network}, so the signer did not sign it`,
    'Run this without --journal where it pays a withdraw address of now; else find out who sent it, and then "payout accept"',
  );
}
