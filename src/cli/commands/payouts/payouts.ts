import { OperatorError } from '../../../base/errors.ts';
import { CHAINS } from '../../../chains/index.ts';
import { loadConfig } from '../../../config/index.ts';
import type { Network } from '../../../domain/assets.ts';
import { isUuid, settlementWorkflowId } from '../../../domain/ids.ts';
import { retryPayout } from '../../../services/payouts/decisions.ts';
import { type Acceptance, acceptForeign, denyForeign } from '../../../services/payouts/foreign.ts';
import { readPauses, setPaused } from '../../../services/payouts/pauses.ts';
import type { SettlementPlace } from '../../../services/payouts/wakes.ts';
import { approve } from '../../../signer/pull/approvals.ts';
import { openWallet, readPassphraseFile } from '../../../signer/wallet-file.ts';
import { nameOf } from '../../operator.ts';
import { type CommandGateway, requireTemporal, withGateway } from '../../process.ts';
import type { Acting, CommandCall, DecidedBy, Explained } from '../../run.ts';
import { terminal } from '../../terminal.ts';
import { chainOf, hashGiven } from '../chain.ts';

/** What an operator decides about payouts. */
export const PAYOUTS = { retry, pause, resume, accept, deny, approveDestination };

const ASK_WITHIN_MS = 5_000;
const DENY_WITHIN_MS = 60_000;

async function retry({ args: [id = ''], options }: CommandCall<Explained>) {
  const { by } = options;
  const reason = options.reason ?? null;
  const { network, address, merchantId, told } = await withGateway(
    { by, temporal: 'attached' },
    async (gateway) => {
      const { byName, ...place } = await retryPayout(gateway.deps, { id: id.trim(), reason });
      return { ...place, told: await askToLook(gateway, place, { by: byName, reason }) };
    },
  );
  return {
    json: { ok: true, network, address, merchant_id: merchantId, told },
    text: told
      ? `${address} on ${network} is looked at again now.`
      : `${address} on ${network} is looked at again within moments, if a worker runs.`,
    next: 'What became of it: "payout list".',
  };
}

/**
 * Has the actor of an address look at its rows now. False where it was not heard, for whatever reason: no
 * actor runs, or nobody answers in time. The outbox tells it then.
 */
async function askToLook(
  { temporal }: CommandGateway,
  { network, addressKey }: SettlementPlace,
  decided: { readonly by: string; readonly reason: string | null },
): Promise<boolean> {
  if (!temporal) return false;
  try {
    await requireTemporal(temporal);
    const { client } = temporal.link;
    const handle = client.workflow.getHandle(settlementWorkflowId(network, addressKey));
    await client.withDeadline(Date.now() + ASK_WITHIN_MS, () =>
      handle.executeUpdate('retry', { args: [decided] }),
    );
    return true;
  } catch {
    return false;
  }
}

type Pausing = CommandCall<Explained & { readonly merchant?: string }>;

async function pause({ options }: Pausing) {
  return await setTo(true, options);
}

async function resume({ options }: Pausing) {
  return await setTo(false, options);
}

async function setTo(paused: boolean, { merchant, by, reason }: Pausing['options']) {
  const merchantId = merchant?.toLowerCase() ?? null;
  const { changed, woken, all } = await withGateway(
    paused ? { by } : { by, secrets: true },
    async ({ deps }) => ({
      ...(await setPaused(deps, { merchantId, paused, reason: reason ?? null })),
      all: (await readPauses(deps.orm.em.fork())).some((one) => one.merchantId === null),
    }),
  );
  const whose = merchantId === null ? 'All payouts' : `Payouts of merchant ${merchantId}`;
  const json = { ok: true, merchant_id: merchantId, paused, changed, woken };
  if (!changed)
    return {
      json,
      text: `${whose} ${paused ? 'are paused' : 'were not paused'} already; nothing was changed.`,
    };
  if (paused)
    return {
      json,
      text: `${whose} are paused: nothing new is planned or signed.`,
      next: `What was signed before goes on: "payout list --state paying" shows it. To go on: "payout resume${merchantId === null ? '' : ` --merchant ${merchantId}`}".`,
    };
  const still =
    merchantId !== null && all
      ? ' All payouts of this gateway are still paused: "payout resume" lets them go on.'
      : '';
  return {
    json,
    text: `${whose} go on; ${woken} addresses were told.${still}`,
    next: 'See what they do with "payout list".',
  };
}

type Foreign = CommandCall<DecidedBy & { readonly tx: string; readonly network: Network }>;
type Decide = (gateway: CommandGateway, what: Acceptance) => Promise<{ readonly wallets: readonly string[] }>;

async function accept({ options }: Foreign) {
  const next = 'What it sent stays a difference of its balance: "reconcile" lists it.';
  return await decide(options, next, ({ deps }, what) => acceptForeign(deps, what));
}

async function deny({ options }: Foreign) {
  const signal = AbortSignal.timeout(DENY_WITHIN_MS);
  return await decide(
    options,
    'A block that shows it all the same brings it back.',
    async (gateway, what) => {
      const { spending } = await chainOf(gateway, what.network, signal);
      return await denyForeign(gateway.deps, { spending, signal }, what);
    },
  );
}

/** What becomes of a transaction that this gateway did not sign. */
async function decide({ tx, network, by, reason }: Foreign['options'], next: string, work: Decide) {
  const hash = hashGiven(network, tx);
  const { wallets } = await withGateway({ by }, (gateway) => work(gateway, { network, hash, by, reason }));
  return {
    json: { ok: true, network, transaction_hash: hash, wallets },
    text: wallets.map((wallet) => `Wallet ${wallet} signs again.`).join('\n'),
    next,
  };
}

/** Needs the wallet and the signer's journal alone. */
async function approveDestination({ args: [merchant = '', given = ''], options }: CommandCall<Acting>) {
  if (!isUuid(merchant))
    throw new OperatorError('This is no id of a merchant', 'See "merchant list" on the gateway\'s machine');
  const chain = CHAINS.find(({ addresses }) => addresses.parse(given) !== undefined);
  const key = chain?.addresses.parse(given);
  if (!chain || key === undefined)
    throw new OperatorError(
      'This is no address of a chain that the gateway knows',
      'Copy it again from what the merchant wrote, and compare it with what the signer waits for',
    );
  const { wallet: place, signing } = loadConfig(terminal().env, { role: 'none' });
  const { passphrase } = await readPassphraseFile(place.passphraseFile);
  const wallet = await openWallet({ file: place.seedFile, passphrase });
  await approve(signing.journalFile, wallet, {
    merchant_id: merchant.toLowerCase(),
    network: chain.network,
    address: key,
    approved_at: new Date().toISOString(),
    by_name: nameOf(options.by),
  });
  const address = chain.addresses.format(key);
  return {
    json: { ok: true, merchant_id: merchant, network: chain.network, address },
    text: `${address} may be paid to at once.`,
    next: 'It counts for the address as it is set now; one that is set later has to be approved again.',
  };
}
