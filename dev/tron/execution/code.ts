// Runs the code of a contract, with no more energy than the sender can pay.
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { Message } from '../messages.ts';
import { type Executed, invalid, type Outcome, type Signed } from '../types.ts';
import { activate, type Books, isContract, type Moment, settle } from './books.ts';
import type { Charges } from './charges.ts';
import { afterUse, energyLeftAt } from './energy.ts';
import type { EvmCall } from './evm.ts';
import type { Run } from './frames.ts';
import { PRICES } from './prices.ts';
import { feeLimitOf } from './rules.ts';

/**
 * Executes a call of a contract, or makes one; a stake pays for its energy before TRX is burned. Throws
 * Refusal for what a node would not take.
 */
export async function runCode(
  books: Books,
  signed: Signed,
  moment: Moment,
  costs: Charges,
  balance: bigint,
): Promise<Executed> {
  const { evm, accounts, prices } = books;
  const limit = feeLimitOf(signed);
  const call = callOf(signed);
  if (call.to && !(await isContract(books, call.to, moment)))
    throw invalid('Contract validate error : No contract or not a smart contract');
  const left = balance - costs.netFee - costs.systemFee - (call.sun ?? 0n);
  if (left < 0n)
    throw invalid('Contract validate error : Validate InternalTransfer error, balance is not sufficient.');
  const run = await evm.run(call, 'pending');
  const reached = run.internals.filter(({ sun, rejected }) => sun > 0n && !rejected).map(({ to }) => to);
  const born = [...new Set(reached)].filter((key) => !accounts.get(key));
  const payer = accounts.get(signed.owner);
  const staked = payer ? energyLeftAt(books, payer, moment.headMs) : 0n;
  // The fee limit bounds the energy of a stake as well, although that costs nothing.
  const most = lesser(limit / prices.sunPerEnergy, staked + left / prices.sunPerEnergy);
  const ran = books.isTooSlow(signed)
    ? timedOut(most)
    : limited(run, BigInt(born.length) * PRICES.newAccountEnergy, most);
  const isGood = ran.result === 'SUCCESS';
  const energyUsage = lesser(staked, ran.energy);
  if (payer) accounts.set(afterUse(payer, energyUsage, moment.headMs));
  for (const { caller, to, note, rejected } of ran.internals)
    if (!rejected && (note === 'create' || born.includes(to)))
      activate(accounts, to, moment, note === 'create' ? caller : undefined);
  if (isGood && run.created) activate(accounts, run.created, moment, signed.owner);
  const outcome: Outcome = {
    ...costs,
    ...ran,
    isCall: true,
    contract: call.to ?? run.created,
    energyUsage,
    energyFee: (ran.energy - energyUsage) * prices.sunPerEnergy,
  };
  // What fails leaves nothing behind, so that the EVM node need not run it.
  return await settle(books, signed, outcome, isGood ? call : undefined);
}

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);

function callOf({ owner, type, value }: Signed): EvmCall {
  if (type === 'TriggerSmartContract')
    return {
      from: owner,
      to: keyOfHex(String(value['contract_address'] ?? ''), 2),
      sun: (value['call_value'] ?? 0n) as bigint,
      data: String(value['data'] ?? ''),
    };
  const made = (value['new_contract'] ?? {}) as Message;
  return { from: owner, sun: (made['call_value'] ?? 0n) as bigint, data: String(made['bytecode'] ?? '') };
}

type Ran = Pick<Outcome, 'result' | 'output' | 'logs' | 'internals' | 'energy' | 'reason'>;

/** What takes too long burns all that it may, and leaves nothing. */
function timedOut(most: bigint): Ran {
  const reason = "CPU timeout for 'SSTORE' operation executing";
  return { result: 'OUT_OF_TIME', output: '', logs: [], internals: [], energy: most, reason };
}

/** What was run, with no more energy than there is. */
function limited(run: Run, more: bigint, most: bigint): Ran {
  const { output, logs, internals } = run;
  const failed = { logs: [], internals: internals.map((one) => ({ ...one, rejected: true })) };
  const energy = run.energy + more;
  if (run.result === 'ILLEGAL_OPERATION') {
    const reason = 'Invalid operation code: opCode[fe];';
    return { result: run.result, output: '', ...failed, energy: most, reason };
  }
  if (run.result === 'OUT_OF_ENERGY' || energy > most)
    return {
      result: 'OUT_OF_ENERGY',
      output: '',
      logs: [],
      internals: [],
      energy: most,
      reason: `Not enough energy for 'SSTORE' operation executing: curInvokeEnergyLimit[${most}], curOpEnergy[20000], usedEnergy[${most}]`,
    };
  if (run.result === 'REVERT')
    return { result: 'REVERT', output, ...failed, energy, reason: 'REVERT opcode executed' };
  if (run.result === 'TRANSFER_FAILED')
    return {
      result: 'TRANSFER_FAILED',
      output: '',
      ...failed,
      energy,
      reason: 'transfer trx failed: Cannot transfer TRX to yourself.',
    };
  return { result: 'SUCCESS', output, logs, internals, energy };
}
