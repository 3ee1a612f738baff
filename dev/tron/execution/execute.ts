// Executes a transaction on what waits for the next block: what it costs, what it does, how it ends.
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { type Executed, invalid, type Outcome, Refusal, type Signed } from '../types.ts';
import { activate, type Books, isContract, keepBooks, type Moment, settle } from './books.ts';
import { type Charges, chargesOf, netUsedAt, newAccountOf } from './charges.ts';
import { runCode } from './code.ts';
import { moveEnergy } from './loans.ts';
import { keyIn } from './rules.ts';

const NOTHING_RAN = {
  isCall: false,
  output: '',
  logs: [],
  internals: [],
  energy: 0n,
  energyUsage: 0n,
  energyFee: 0n,
} as const;

/** Executes it. Throws Refusal where a node would not take it; nothing has happened then. */
export async function execute(books: Books, signed: Signed, moment: Moment): Promise<Executed> {
  const { evm, accounts } = books;
  const owner = accounts.get(signed.owner);
  if (!owner)
    throw invalid(
      `Contract validate error : account [${TRON_ADDRESSES.format(signed.owner)}] does not exist`,
    );
  const mark = accounts.mark();
  try {
    const balance = await evm.balance(owner.key, 'pending');
    const creates = newAccountOf(signed, accounts);
    const { headMs } = moment;
    const { prices } = books;
    const costs = chargesOf(signed, owner, { headMs, isNew: creates !== undefined, prices });
    if (balance < costs.netFee) throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.');
    accounts.set({
      ...owner,
      operatedMs: moment.headMs,
      ...(costs.netUsage > 0n
        ? { netUsed: netUsedAt(owner, moment.headMs) + costs.netUsage, netUsedMs: moment.headMs }
        : {}),
    });
    return await perform(books, signed, moment, costs, balance);
  } catch (error) {
    accounts.rollback(mark);
    throw error;
  }
}

async function perform(
  books: Books,
  signed: Signed,
  moment: Moment,
  costs: Charges,
  balance: bigint,
): Promise<Executed> {
  switch (signed.type) {
    case 'TransferContract':
      return await transfer(books, signed, moment, costs, balance);
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      moveEnergy(books, signed, moment);
      return await settle(books, signed, { ...NOTHING_RAN, ...costs, result: 'SUCCESS' }, undefined);
    case 'TriggerSmartContract':
    case 'CreateSmartContract':
      return await runCode(books, signed, moment, costs, balance);
    default:
      if (balance < costs.netFee + costs.systemFee)
        throw invalid('Contract validate error : Validate error, balance is not sufficient.');
      keepBooks(books.accounts, signed, moment);
      return await settle(books, signed, { ...NOTHING_RAN, ...costs, result: 'SUCCESS' }, undefined);
  }
}

async function transfer(
  books: Books,
  signed: Signed,
  moment: Moment,
  costs: Charges,
  balance: bigint,
): Promise<Executed> {
  const to = keyIn(signed, 'to_address');
  const sun = (signed.value['amount'] ?? 0n) as bigint;
  const refuse = (words: string): Refusal => invalid(`Contract validate error : ${words}`);
  if (to === signed.owner) throw refuse('Cannot transfer TRX to yourself.');
  if (sun <= 0n) throw refuse('Amount must be greater than 0.');
  if (balance < sun + costs.netFee + costs.systemFee)
    throw refuse('Validate TransferContract error, balance is not sufficient.');
  if (await isContract(books, to, moment)) throw refuse('Cannot transfer TRX to a smartContract.');
  activate(books.accounts, to, moment);
  const outcome: Outcome = { ...NOTHING_RAN, ...costs, result: 'SUCCESS' };
  return await settle(books, signed, outcome, { from: signed.owner, to, sun });
}
