// Accounts and what contracts say of themselves. The full node answers as if
// everything that waits had happened; the other view as of its newest block.

import { keccak256, id as keccakOfText } from 'ethers';
import { type Account, ownKey, type Permission } from '../execution/accounts.ts';
import { keptOf } from '../execution/energy.ts';
import type { At } from '../execution/evm.ts';
import { address, present, showContent, showLog } from '../shapes.ts';
import { type Asked, accountIn, type Handler, showsWaiting, topOf } from './handler.ts';
import { type Body, isVisible, JavaError, keyIn } from './requests.ts';
import { energyMembers } from './resources.ts';
import { type Trigger, unsignedCall } from './unsigned.ts';

const WINDOW_MS = 28_800_000;
const OPERATIONS = '7fff1fc0033e0108000000000000000000000000000000000000000000000000';
const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** Where the EVM node is asked for this view. */
const atOf = (asked: Asked): At => (showsWaiting(asked) ? 'pending' : topOf(asked));

const getAccount: Handler = async (asked) => {
  const account = accountIn(asked);
  if (!account) return {};
  const visible = isVisible(asked.body);
  const { key, maker, createdMs, operatedMs, netUsed, netUsedMs } = account;
  const balance = await asked.chain.evm.balance(key, atOf(asked));
  const windowOf = (name: string): object =>
    asked.view === 'wallet'
      ? { [`${name}_window_size`]: WINDOW_MS, [`${name}_window_optimized`]: true }
      : { [`${name}_window_size`]: WINDOW_MS / 1_000 };
  return {
    ...(maker ? { type: 'Contract' } : {}),
    address: address(key, visible),
    ...present({
      balance,
      create_time: maker ? 0 : createdMs,
      latest_opration_time: operatedMs,
      free_net_usage: netUsed,
      latest_consume_free_time: netUsedMs,
    }),
    ...windowOf('net'),
    account_resource: { ...energyMembers(asked, account), ...windowOf('energy') },
    ...(maker ? {} : permissionsOf(account, visible)),
    frozenV2: [
      {},
      { type: 'ENERGY', ...present({ amount: keptOf(asked.chain, account) }) },
      { type: 'TRON_POWER' },
    ],
    ...assetsOf(account),
    asset_optimized: true,
  };
};

/** Accounts of the first block have no permissions unless they were given some. */
function permissionsOf({ key, createdAt, ...account }: Account, visible: boolean): object {
  const own = createdAt > 0 ? ownKey(key) : undefined;
  const { owner = own, active = own } = account;
  const named = { type: 'Active', id: 2, permission_name: 'active' };
  return {
    ...(owner ? { owner_permission: { permission_name: 'owner', ...shown(owner, visible) } } : {}),
    ...(active ? { active_permission: [{ ...named, ...shown(active, visible, OPERATIONS) }] } : {}),
  };
}

function assetsOf({ assets = {} }: Account): object {
  const there = Object.entries(assets).filter(([, value]) => value > 0n);
  return there.length === 0
    ? {}
    : {
        assetV2: there.map(([key, value]) => ({ key, value })),
        free_asset_net_usageV2: there.map(([key]) => ({ key, value: 0 })),
      };
}

function shown({ threshold, keys }: Permission, visible: boolean, operations?: string): object {
  return {
    threshold,
    ...(operations === undefined ? {} : { operations }),
    keys: keys.map(({ key, weight }) => ({ address: address(key, visible), weight })),
  };
}

/** Reads a call. Throws JavaError where it names no owner. */
export function triggerIn(body: Body): Trigger {
  const from = keyIn(body, 'owner_address');
  if (!from) throw new JavaError('java.security.InvalidParameterException', "owner_address isn't set.");
  const selector = String(body['function_selector'] ?? '');
  const called = selector === '' ? '' : keccakOfText(selector).slice(2, 10) + String(body['parameter'] ?? '');
  return {
    from,
    to: keyIn(body, 'contract_address'),
    sun: BigInt((body['call_value'] as number | bigint | undefined) ?? 0),
    data: selector === '' ? String(body['data'] ?? '') : called,
  };
}

const refused = (code: string, words: string): object => ({ result: { code, message: hexOf(words) } });

/** Reads and runs a call that changes nothing; `answer` says it, or what keeps it from running. */
async function runConstant(
  asked: Asked,
  answer: (trigger: Trigger, run: Awaited<ReturnType<Asked['chain']['evm']['run']>>) => object,
): Promise<object> {
  const { evm } = asked.chain;
  let trigger: Trigger;
  try {
    trigger = triggerIn(asked.body);
  } catch (error) {
    if (!(error instanceof JavaError)) throw error;
    return refused('OTHER_ERROR', error.message);
  }
  const { to, from, sun, data } = trigger;
  if (to && (await evm.code(to, atOf(asked))) === '')
    return refused('CONTRACT_VALIDATE_ERROR', 'Smart contract is not exist.');
  return answer(trigger, await evm.run({ from, to, sun, data }, atOf(asked)));
}

const triggerConstant: Handler = (asked) =>
  runConstant(asked, (trigger, { result, output, energy, logs }) => {
    const visible = isVisible(asked.body);
    const failed = result === 'SUCCESS' ? {} : { message: hexOf('REVERT opcode executed') };
    return {
      result: { result: true, ...failed },
      energy_used: energy,
      constant_result: [output],
      ...(logs.length > 0 ? { logs: logs.map((log) => showLog(log, visible)) } : {}),
      transaction: {
        ret: [result === 'SUCCESS' ? {} : { ret: 'FAILED' }],
        visible,
        ...showContent(unsignedCall(asked.chain, trigger, 0n), visible),
      },
    };
  });

/** A quarter more than was used, as the node's own search comes out with. */
const estimate: Handler = (asked) =>
  runConstant(asked, (_trigger, { result, energy }) =>
    result === 'SUCCESS'
      ? { result: { result: true }, energy_required: (energy * 5n) / 4n }
      : refused('CONTRACT_EXE_ERROR', 'REVERT opcode executed'),
  );

const getContract: Handler = async (asked) => {
  const key = keyIn(asked.body, 'value');
  const maker = key && asked.chain.accounts.get(key)?.maker;
  if (!maker) return {};
  const visible = isVisible(asked.body);
  const code = await asked.chain.evm.code(key, atOf(asked));
  return {
    bytecode: code,
    consume_user_resource_percent: 100,
    origin_address: address(maker, visible),
    abi: {},
    origin_energy_limit: 10_000_000,
    contract_address: address(key, visible),
    code_hash: keccak256(`0x${code}`).slice(2),
    version: 1,
  };
};

/** Answers about accounts and contracts, by the last part of their path. */
export const STATE_HANDLERS: Readonly<Record<string, Handler>> = {
  getaccount: getAccount,
  triggerconstantcontract: triggerConstant,
  estimateenergy: estimate,
};

/** Those that the full node alone serves. */
export const FULL_STATE_HANDLERS: Readonly<Record<string, Handler>> = { getcontract: getContract };
