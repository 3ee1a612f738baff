import { Wallet } from 'ethers';
import type { Anvil } from '../../../dev/anvil.ts';
import { type ContractName, contractArtifact } from '../../../dev/contracts.ts';
import type { Random } from '../../../dev/random.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { Holdings, Sent, SoakChain } from '../chain.ts';
import { type PayAction, SENDER_COUNT } from '../plan/plan.ts';
import { type Call, CONTRACT_GAS, type Contracts, callOf, encode, PLENTY } from './calls.ts';

const CHAIN_ID = 56;
const GAS_PRICE = 5_000_000_000n;
const TRANSFER_GAS = 200_000n;
/** One block less than finality is behind the head. */
const MAX_REORG = 5;

/** The part of a chain in which money moves. */
type Money = Pick<
  SoakChain,
  'mine' | 'head' | 'pending' | 'pay' | 'holdings' | 'drop' | 'reorg' | 'sendAgain'
>;

/** The same, with the token that is paid. All that changes the chain goes through a queue, one at a time. */
export type Payer = Money & { readonly usdt: string };

/** Runs one at a time, in the order of the calls. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

async function deployed(anvil: Anvil, from: string, name: string, bytecode: string): Promise<string> {
  const hash = await anvil.rpc('eth_sendTransaction', [
    { from, data: bytecode, gas: `0x${CONTRACT_GAS.toString(16)}` },
  ]);
  await anvil.mine();
  const receipt = (await anvil.rpc('eth_getTransactionReceipt', [hash])) as {
    contractAddress: string;
    status: string;
  };
  if (receipt.status !== '0x1') throw new Error(`${name} could not be deployed`);
  return receipt.contractAddress.toLowerCase();
}

async function prepare(anvil: Anvil, senders: readonly Wallet[]): Promise<Contracts> {
  const [from = ''] = (await anvil.rpc('eth_accounts')) as string[];
  const own = (name: ContractName) => deployed(anvil, from, name, contractArtifact(name).bytecode);
  const odd = (name: 'Payer' | 'Lender') => deployed(anvil, from, name, testContracts()[name].bytecode);
  const contracts = {
    // The same code at another address is another token: money in it must never be credited.
    usdt: await own('TestUSDT'),
    fake: await own('TestUSDT'),
    contract: await own('Payer'),
    spoofer: await own('Spoofer'),
    tricks: await odd('Payer'),
    lender: await odd('Lender'),
  };
  const call = (to: string, data: string) =>
    anvil.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x30d40' }]);
  for (const holder of [...senders.map((sender) => sender.address), contracts.contract, contracts.tricks])
    for (const token of [contracts.usdt, contracts.fake])
      await call(token, encode('TestUSDT', 'mint', [holder, PLENTY]));
  for (const address of [...senders.map((sender) => sender.address), contracts.tricks])
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);
  await anvil.mine();
  return contracts;
}

/** Deploys the contracts, gives the senders money and lets every sender draw on the one before it. */
export async function createPayer(anvil: Anvil, random: Random): Promise<Payer> {
  const exclusive = queue();
  const senders = Array.from({ length: SENDER_COUNT }, () => new Wallet(`0x${random.hex(32)}`));
  const contracts = await prepare(anvil, senders);
  // Somebody's leave to act with a contract's code: it takes effect
  // once, and the transactions that carry it later are as valid.
  const somebody = new Wallet(`0x${random.fork('somebody').hex(32)}`);
  const authorization = await somebody.authorize({
    address: contracts.contract,
    nonce: 0,
    chainId: CHAIN_ID,
  });

  async function submit(
    wallet: Wallet,
    call: Call,
    wanted: PayAction['transactionType'] = 2,
  ): Promise<string> {
    // A contract cannot be made by a transaction that carries authorizations.
    const type = wanted === 4 && call.to === undefined ? 2 : wanted;
    const nonce = Number.parseInt(
      (await anvil.rpc('eth_getTransactionCount', [wallet.address, 'pending'])) as string,
      16,
    );
    const fee =
      type === 2 || type === 4
        ? { maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: 1n }
        : { gasPrice: GAS_PRICE };
    const raw = await wallet.signTransaction({
      type,
      chainId: CHAIN_ID,
      nonce,
      gasLimit: call.gas ?? TRANSFER_GAS,
      to: call.to ?? null,
      value: call.valueUnits ?? 0n,
      data: call.data ?? '0x',
      ...fee,
      ...(type === 1 ? { accessList: [] } : {}),
      ...(type === 4 ? { authorizationList: [authorization] } : {}),
    });
    return (await anvil.rpc('eth_sendRawTransaction', [raw])) as string;
  }

  for (const [index, sender] of senders.entries())
    for (const spender of [senders[(index + 1) % senders.length]?.address, contracts.contract])
      await submit(sender, { to: contracts.usdt, data: encode('TestUSDT', 'approve', [spender, PLENTY]) });
  await anvil.mine();

  return {
    ...chainOf(anvil, contracts.usdt, exclusive),
    pay: (action, to, ownKey) =>
      exclusive(() => {
        const index = action.sender % senders.length;
        const sender = senders[index] as Wallet;
        const owner = senders[(index + senders.length - 1) % senders.length] as Wallet;
        const call = callOf(action, to, { contracts, owner: owner.address });
        return submit(
          ownKey === undefined ? sender : new Wallet(`0x${ownKey}`),
          call,
          action.transactionType,
        );
      }),
  };
}

/** What does not depend on who pays: the chain as it is, and how it is changed. */
function chainOf(anvil: Anvil, usdt: string, exclusive: ReturnType<typeof queue>): Omit<Payer, 'pay'> {
  const blocksFrom = async (first: number, last: number): Promise<Sent[]> => {
    const held: Sent[] = [];
    for (let number = first; number <= last; number++) {
      const block = (await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as {
        transactions: string[];
      };
      for (const hash of block.transactions)
        held.push({ hash, raw: (await anvil.rpc('eth_getRawTransactionByHash', [hash])) as string });
    }
    return held;
  };
  const head = async () => Number.parseInt((await anvil.rpc('eth_blockNumber')) as string, 16);

  return {
    usdt,
    mine: (blocks = 1) => exclusive(() => anvil.mine(blocks)),
    head,
    reorg: (depth, move) =>
      exclusive(async () => {
        const now = await head();
        const held = await blocksFrom(now - depth + 1, now);
        await anvil.rpc('anvil_reorg', [depth, move ? held.map(({ raw }) => [raw, depth - 1]) : []]);
        return held;
      }),
    holdings: async (address): Promise<Holdings> => {
      const data = encode('TestUSDT', 'balanceOf', [address]);
      const [token, coin, count] = await Promise.all([
        anvil.rpc('eth_call', [{ to: usdt, data }, 'latest']),
        anvil.rpc('eth_getBalance', [address, 'latest']),
        anvil.rpc('eth_getTransactionCount', [address, 'latest']),
      ]);
      return {
        usdtUnits: BigInt(token as string),
        coinUnits: BigInt(coin as string),
        sent: Number.parseInt(count as string, 16),
      };
    },
    drop: (hash, when) =>
      exclusive(async () => {
        const find = async () =>
          (await anvil.rpc('eth_getTransactionReceipt', [hash])) as { blockNumber: string } | null;
        if (!(await find())) await anvil.mine();
        const receipt = await find();
        if (!receipt || !(await when())) return undefined;
        const now = await head();
        const depth = now - Number.parseInt(receipt.blockNumber, 16) + 1;
        if (depth > MAX_REORG) return undefined;
        const raw = (await anvil.rpc('eth_getRawTransactionByHash', [hash])) as string;
        const others = (await blocksFrom(now - depth + 1, now)).filter((other) => other.hash !== hash);
        await anvil.rpc('anvil_reorg', [depth, others.map((other) => [other.raw, depth - 1])]);
        return { hash, raw };
      }),
    sendAgain: ({ raw }) => exclusive(async () => void (await anvil.rpc('eth_sendRawTransaction', [raw]))),
    pending: async () =>
      Number.parseInt(((await anvil.rpc('txpool_status')) as { pending: string }).pending, 16),
  };
}
