import type { Command } from 'commander';
import { NETWORKS } from '../../../domain/assets.ts';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import type { Acceptance } from '../../../services/payouts/foreign.ts';
import { oneOf, text } from '../../arguments.ts';
import { hashGiven } from '../../chain-arguments.ts';
import type { CommandGateway } from '../../process.ts';
import { answering, leaf } from '../../run.ts';

const WITHIN_MS = 60_000;

/** `payout accept` and `payout deny`: what becomes of a transaction that this gateway did not sign. */
export function addAcceptCommands(payout: Command): void {
  const accept: Decide = async ({ deps }, what) =>
    await (await import('../../../services/payouts/foreign.ts')).acceptForeign(deps, what);
  decision(
    payout,
    'accept',
    { does: 'lets a wallet sign again that sent what this gateway did not sign', decide: accept },
    'What it sent stays a difference of its balance: "reconcile" lists it.',
  );
  decision(
    payout,
    'deny',
    { does: 'the same where it is on no chain, as RPC endpoints have to say as well', decide: deny },
    'A block that shows it all the same brings it back.',
  );
}

type Decide = (gateway: CommandGateway, what: Acceptance) => Promise<{ readonly wallets: readonly string[] }>;
type Options = Omit<Acceptance, 'hash'> & { readonly tx: string };

const deny: Decide = async (gateway, what) => {
  const [{ chainOf }, { denyForeign }] = await Promise.all([
    import('../chain.ts'),
    import('../../../services/payouts/foreign.ts'),
  ]);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const { spending } = await chainOf(gateway, what.network, signal);
  return await denyForeign(gateway.deps, { spending, signal }, what);
};

type Decision = { readonly does: string; readonly decide: Decide };

function decision(payout: Command, name: string, { does, decide }: Decision, next: string): void {
  const run = async ({ options: { tx, ...options } }: { options: Options }) => {
    const { network, by } = options;
    const hash = await hashGiven('--tx', network, tx);
    const { withGateway } = await import('../../process.ts');
    const { wallets } = await withGateway({ by }, (gateway) => decide(gateway, { ...options, hash }));
    return {
      json: { ok: true, network, transaction_hash: hash, wallets },
      text: wallets.map((wallet) => `Wallet ${wallet} signs again.`).join('\n'),
      next,
    };
  };
  leaf(payout, name, does)
    .requiredOption('--tx <hash>', 'hash of the transaction that somebody else signed', text(80))
    .requiredOption('--network <network>', 'which chain', oneOf(...NETWORKS))
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(run));
}
