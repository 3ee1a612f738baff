import { SigningKey } from 'ethers';
import type { Random } from '../../../dev/random.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { TronNode } from '../../../dev/tron/node.ts';
import { addressOfPublicKey, type KeyPair } from '../../../dev/tron/signing.ts';
import { Refusal } from '../../../dev/tron/types.ts';
import type { Holdings, Sent, SoakChain } from '../chain.ts';
import { SENDER_COUNT } from '../plan/plan.ts';
import { type Call, type Contracts, callOf, PLENTY } from './calls.ts';
import { base58Of, hexOf } from './spelling.ts';

const SENDER_SUN = 10n ** 13n;
const CONTRACT_SUN = 10n ** 15n;
/**
 * The least between the times of two blocks. Their times follow the clock, as on the chain itself: what is
 * sent on it is too old after some minutes. Blocks that replaced others are ahead of the clock for a while.
 */
const LEAST_SLOT_MS = 200;
/** What is sent again minutes later is still valid then. */
const EXPIRES_MS = 6 * 60 * 60_000;
/** One block less than finality is behind the head. */
const MAX_REORG = 5;

type Money = Pick<
  SoakChain,
  'mine' | 'head' | 'pending' | 'pay' | 'holdings' | 'drop' | 'reorg' | 'sendAgain'
>;
/** What moves money on the double. All that changes the chain happens one at a time. */
export type TronPayer = Money & {
  readonly usdt: string;
  /** Loses everything that is not irreversible. */
  restart(): Promise<void>;
};

/** Runs one at a time, in the order of the calls. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

const pairOf = (privateKey: string): KeyPair => ({
  address: addressOfPublicKey(new SigningKey(`0x${privateKey}`).publicKey),
  privateKey,
});

/** Deploys the contracts, gives the senders money and lets every sender draw on the one before it. */
export async function createTronPayer(node: TronNode, random: Random): Promise<TronPayer> {
  const senders = Array.from({ length: SENDER_COUNT }, () => pairOf(random.hex(32)));
  const contracts = await prepare(node, senders);
  const exclusive = queue();

  const submit = (call: Call, from: KeyPair): Promise<string> => {
    const sending = { from, expiresInMs: EXPIRES_MS };
    switch (call.kind) {
      case 'coin': {
        const { to, sun, memo } = call;
        const value = { to_address: `41${to}`, amount: sun };
        return node.send({ ...sending, type: 'TransferContract', value, memo });
      }
      case 'call': {
        const { contract, data, sun, feeLimit } = call;
        return node.trigger({ ...sending, contract: contract.key, data, valueSun: sun, feeLimit });
      }
      case 'creation':
        return node.create({ ...sending, bytecode: call.bytecode, sun: call.sun });
    }
  };

  return {
    ...chainOf(node, exclusive),
    usdt: base58Of(contracts.usdt.key),
    pay: (action, to, ownKey) =>
      exclusive(async () => {
        const index = action.sender % senders.length;
        const sender = ownKey === undefined ? senders[index] : pairOf(ownKey);
        const owner = senders[(index + senders.length - 1) % senders.length];
        if (!sender || !owner) throw new Error('there are no senders');
        return await submit(callOf(action, to.map(hexOf), { contracts, owner: owner.address }), sender);
      }),
    holdings: async (address): Promise<Holdings> => {
      const key = hexOf(address);
      const account = (await node.ask('wallet/getaccount', { address: `41${key}` })) as {
        balance?: number | bigint;
      };
      const usdtUnits = await tokensOf(node, contracts.usdt.key, key);
      return { usdtUnits, coinUnits: BigInt(account.balance ?? 0), sent: null };
    },
  };
}

async function tokensOf(node: TronNode, token: string, key: string): Promise<bigint> {
  const answer = (await node.ask('wallet/triggerconstantcontract', {
    owner_address: `41${key}`,
    contract_address: `41${token}`,
    function_selector: 'balanceOf(address)',
    parameter: key.padStart(64, '0'),
  })) as { constant_result?: string[] };
  return BigInt(`0x${answer.constant_result?.[0] ?? '0'}`);
}

async function prepare(node: TronNode, senders: readonly KeyPair[]): Promise<Contracts> {
  const { Token, Payer, Lender } = testContracts();
  const contracts = {
    usdt: node.usdt,
    // The same code at another address is another token: money in it must never be credited.
    fake: await node.deploy(Token, [6]),
    payer: await node.deploy(Payer),
    lender: await node.deploy(Lender),
  };
  for (const { address } of senders) await node.pay({ to: address, currency: 'TRX', units: SENDER_SUN });
  await node.trigger({ contract: contracts.payer.key, data: '', valueSun: CONTRACT_SUN });
  await node.mine();
  for (const token of [contracts.usdt, contracts.fake])
    for (const holder of [...senders.map(({ address }) => address), contracts.payer.key])
      await token.call('mint', [holder, PLENTY]);
  for (const [index, from] of senders.entries())
    for (const spender of [senders[(index + 1) % senders.length]?.address, contracts.payer.key])
      await contracts.usdt.call('approve', [spender, PLENTY], { from });
  await node.mine();
  return contracts;
}

type Shown = { readonly transactions?: readonly { readonly txID: string }[] };

/** What does not depend on who pays: the chain as it is, and how it is changed. */
function chainOf(
  node: TronNode,
  exclusive: ReturnType<typeof queue>,
): Omit<TronPayer, 'pay' | 'holdings' | 'usdt'> {
  const head = (): number => node.head().header.number;
  const heldIn = async (first: number, last: number): Promise<Sent[]> => {
    const held: Sent[] = [];
    for (let num = first; num <= last; num++) {
      const block = (await node.ask('wallet/getblockbynum', { num })) as Shown;
      for (const { txID } of block.transactions ?? []) held.push({ hash: txID, raw: txID });
    }
    return held;
  };
  const heightOf = async (hash: string): Promise<number | undefined> =>
    ((await node.ask('wallet/gettransactioninfobyid', { value: hash })) as { blockNumber?: number })
      .blockNumber;

  return {
    mine: (blocks = 1) => exclusive(() => mineNow(node, blocks)),
    head: async () => head(),
    pending: async () => ((await node.ask('wallet/getpendingsize')) as { pendingSize: number }).pendingSize,
    reorg: (depth, move) =>
      exclusive(async () => {
        const most = Math.min(depth, head() - node.solidHeight());
        const held = await heldIn(head() - most + 1, head());
        await node.replace(most, { keep: move ? 'moved' : 'none' });
        return held;
      }),
    drop: (hash, when) =>
      exclusive(async () => {
        if ((await heightOf(hash)) === undefined) await mineNow(node);
        const height = await heightOf(hash);
        if (height === undefined || !(await when())) return undefined;
        const depth = head() - height + 1;
        if (depth > Math.min(MAX_REORG, head() - node.solidHeight())) return undefined;
        const others = (await heldIn(height, head())).filter((other) => other.hash !== hash);
        await node.replace(depth);
        for (const other of others) await again(node, other.hash);
        return { hash, raw: hash };
      }),
    sendAgain: ({ hash }) => exclusive(() => node.again(hash)),
    restart: () => exclusive(() => node.restart()),
  };
}

async function mineNow(node: TronNode, blocks = 1): Promise<void> {
  for (let mined = 0; mined < blocks; mined += 1)
    await node.mine(1, Math.max(LEAST_SLOT_MS, Date.now() - node.head().header.timestampMs));
}

/** One that a rule of the new chain forbids is gone, as on every node. */
async function again(node: TronNode, hash: string): Promise<void> {
  await node.again(hash).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}
