// Withdraw addresses that signed-in users change. Whoever takes over a session may ask for one, and what they
// ask for waits, seen by everybody of the merchant, before it directs any money: see docs/adr/0013.
import { normaliseAddress } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import { WithdrawAddress, WithdrawChange, type WithdrawOutcome } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { sealDirection } from '../../domain/payouts/direction.ts';
import { type ActionName, type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import { changeWithin, type Within } from '../within.ts';
import { lockMerchant } from './known.ts';
import { type AskedChains, codeAt, notTheirs } from './withdraw-addresses.ts';
import { readWithdrawChange, type WithdrawChangeView } from './withdraw-notices.ts';

/** What is asked for, checked without the database; `address` null takes the present one away. */
export type CheckedChange = {
  readonly network: Network;
  readonly address: string | null;
  readonly contractAllowed: boolean;
};

/** Longer than any address; what is longer is not even decoded. */
const MAX_GIVEN = 100;

/** The address is a contract, or nobody can say whether it is one: the person may say that they know. */
export class ContractDoubt extends Refusal {}

/**
 * Checks the spelling of an address, and asks the chain whether code runs at it: outside of any transaction,
 * because the answer may take seconds. Throws a {@link Refusal} for a text that is no address of the network,
 * and a {@link ContractDoubt} unless `allowContract` says that the person knows.
 */
export async function checkWithdrawChange(
  chains: AskedChains,
  input: { readonly network: Network; readonly address: string | null; readonly allowContract?: boolean },
): Promise<CheckedChange> {
  const { network, allowContract: contractAllowed = false } = input;
  if (input.address === null) return { network, address: null, contractAllowed: false };
  const given = input.address.trim();
  const address = given.length > MAX_GIVEN ? undefined : normaliseAddress(network, given);
  if (address === undefined)
    throw new Refusal(
      'INVALID',
      `This is not an address on ${chainOf(network).name}: copy it again from your wallet.`,
      'address',
    );
  if (contractAllowed) return { network, address, contractAllowed };
  const found = await codeAt(chains, network, address);
  if (found === 'code')
    throw new ContractDoubt(
      'INVALID',
      `${address} is a contract. What a contract does with what it is sent, only its owner knows: give an address whose key you hold, or say that you are sure that it takes such payments.`,
      'allow_contract',
    );
  if (found === 'silent')
    throw new ContractDoubt(
      'INVALID',
      `Nobody can say at present whether ${address} is a contract: try again later, or say that you are sure that it takes payments.`,
      'allow_contract',
    );
  return { network, address, contractAllowed };
}

/**
 * Writes down that a signed-in user asks for another withdraw address, or none: it counts
 * `WITHDRAW_CHANGE_DELAY` from now, payouts go on to the present one until then. Asked for once more while it
 * waits, it is the same change; another one takes its place and waits anew. Throws a {@link Refusal} for an
 * address that counts already, and for one that is not the merchant's own.
 */
export async function askWithdrawChange(
  deps: Deps,
  merchantId: string,
  asked: CheckedChange,
  how: Within = {},
): Promise<WithdrawChangeView> {
  const { actor } = deps;
  if (actor?.kind !== 'user') throw new Error('only what a signed-in user changes waits');
  return await changeWithin(deps, how, async (em) => {
    const { network, address } = asked;
    await lockMerchant(em, merchantId);
    const present = (await em.findOne(WithdrawAddress, { merchantId, network }, { refresh: true }))?.address;
    const open = await em.findOne(WithdrawChange, { merchantId, network, endedAt: null }, { refresh: true });
    if (open && (open.address ?? null) === address && open.contractAllowed === asked.contractAllowed)
      return await readWithdrawChange(em, open.id);
    if ((present ?? null) === address) throw countsAlready(network, address, open !== null);
    const wrong = address === null ? undefined : await notTheirs(em, deps, network, address);
    if (wrong)
      throw new Refusal(
        'INVALID',
        `${address} is ${wrong}. Give an address of a wallet of your own.`,
        'address',
      );
    if (open) await endChange(em, deps, open, { outcome: 'replaced' });
    const change = addChange(em, deps, actor, { merchantId, ...asked });
    await em.flush();
    await recordAction(em, deps, {
      ...subjectOf(change, 'withdraw_address.asked'),
      after: { ...factsOf(change), present: present ?? null },
    });
    return await readWithdrawChange(em, change.id);
  });
}

/**
 * Takes a change back that does not count yet, whoever of the merchant asked for it; done again it changes
 * nothing. Throws a {@link Refusal} for one that is not the merchant's, and for one that ended otherwise.
 */
export async function cancelWithdrawChange(
  deps: Deps,
  merchantId: string,
  { id, reason }: { readonly id: string; readonly reason?: string | undefined },
  how: Within = {},
): Promise<WithdrawChangeView> {
  return await changeWithin(deps, how, async (em) => {
    await lockMerchant(em, merchantId);
    const change = isUuid(id)
      ? await em.findOne(WithdrawChange, { id, merchantId }, { refresh: true })
      : null;
    if (!change) throw notFound('change of a withdraw address');
    if (change.outcome && change.outcome !== 'cancelled')
      throw new Refusal('INVALID', TOO_LATE[change.outcome]);
    if (!change.outcome) await endChange(em, deps, change, { outcome: 'cancelled', reason });
    return await readWithdrawChange(em, change.id);
  });
}

/**
 * {@link cancelWithdrawChange} for an operator, who has only its id. Throws a {@link Refusal} for an unknown
 * one, and for one that ended otherwise.
 */
export async function cancelByOperator(
  deps: Deps,
  { id, reason }: { readonly id: string; readonly reason?: string | undefined },
): Promise<WithdrawChangeView> {
  const found = isUuid(id) ? await deps.orm.em.fork().findOne(WithdrawChange, id) : null;
  if (!found)
    throw new Refusal(
      'NOT_FOUND',
      `There is no change ${id.slice(0, 100)} of a withdraw address. List them with "merchant changes".`,
    );
  const { outcome, merchantId } = found;
  if (outcome && outcome !== 'cancelled')
    throw new Refusal(
      'INVALID',
      `The change ${id} has ended already (${outcome}). What counts says "find ${merchantId}", and "merchant set ${merchantId}" changes it at once.`,
    );
  return await cancelWithdrawChange(deps, merchantId, { id, reason });
}

/**
 * Ends what users asked for on these networks, in the caller's transaction, which holds the merchant and sets
 * the address itself.
 */
export async function replaceWithdrawChanges(
  em: Em,
  deps: Deps,
  merchantId: string,
  networks: readonly Network[],
): Promise<void> {
  const open = await em.find(
    WithdrawChange,
    { merchantId, network: { $in: [...networks] }, endedAt: null },
    { refresh: true },
  );
  for (const change of open) await endChange(em, deps, change, { outcome: 'replaced' });
}

/** Ends an open change, whose merchant the caller's transaction holds, with the audit row beside it. */
export async function endChange(
  em: Em,
  deps: Pick<Deps, 'actor' | 'now' | 'newId'>,
  change: WithdrawChange,
  end: {
    readonly outcome: Exclude<WithdrawOutcome, 'counted'>;
    /** Of an outcome `refused`: what the merchant is told. Of any other: what the operator says. */
    readonly reason?: string | undefined;
  },
): Promise<void> {
  change.endedAt = deps.now();
  change.outcome = end.outcome;
  change.reason = end.outcome === 'refused' ? (end.reason ?? '') : null;
  await em.flush();
  await recordAction(em, deps, {
    ...subjectOf(change, `withdraw_address.${end.outcome}`),
    before: factsOf(change),
    reason: end.reason,
  });
}

/** What an audit row about a change is about. */
export function subjectOf<Action extends ActionName>({ id, merchantId }: WithdrawChange, action: Action) {
  return { action, merchantId, mode: 'live', subject: id } as const;
}

function factsOf({ network, address = null, countsAt }: WithdrawChange): Facts {
  return { network, asked_for: address, counts_at: isoSeconds(countsAt) };
}

function addChange(
  em: Em,
  deps: Pick<Deps, 'now' | 'newId' | 'secretBox' | 'settings'>,
  { userId: askedBy, from: askedFrom }: { readonly userId: string; readonly from: string },
  asked: CheckedChange & { readonly merchantId: string },
): WithdrawChange {
  const askedAt = deps.now();
  const countsAt = new Date(askedAt.getTime() + deps.settings.withdrawChangeDelayMs);
  const terms = { id: deps.newId(), ...asked, askedBy, askedFrom, countsAt };
  const seal = sealDirection(deps.secretBox, { kind: 'asked', ...terms }, askedAt);
  return em.create(WithdrawChange, { ...terms, askedAt, seal, endedAt: null, outcome: null, reason: null });
}

const TOO_LATE: Readonly<Record<Exclude<WithdrawOutcome, 'cancelled'>, string>> = {
  counted: 'This change counts already. To go back, ask for the address from before.',
  replaced: 'A newer change took the place of this one.',
  refused: 'This change has ended already: the address did not count.',
};

function countsAlready(network: Network, address: string | null, waits: boolean): Refusal {
  const is =
    address === null
      ? `No withdraw address is set on ${chainOf(network).name}`
      : `${address} is the withdraw address on ${chainOf(network).name} already`;
  const next = waits ? ' To keep it so, cancel the change that waits.' : '';
  return new Refusal('INVALID', `${is}.${next}`, 'address');
}
