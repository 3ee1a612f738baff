// The recorded network once more, on the double: every transaction of it that the double knows.
import { contractArtifact } from '../../../dev/contracts.ts';
import type { TronContract } from '../../../dev/tron/contracts.ts';
import type { Message } from '../../../dev/tron/messages.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import type { KeyPair } from '../../../dev/tron/signing.ts';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { prefixed } from './asking.ts';
import { NEWCOMERS, SETTLED } from './people.ts';

export type World = {
  readonly node: TronNode;
  readonly people: typeof SETTLED & typeof NEWCOMERS & { readonly zion: KeyPair };
  readonly token: TronContract;
  readonly reverter: TronContract;
  /** The ids of transactions by the names of the recording. */
  readonly ids: ReadonlyMap<string, string>;
  /** The blocks that hold several of them. */
  readonly heights: Readonly<Record<'payments' | 'contracts' | 'failures', number>>;
};

const { alice, bob, carol, dave, mia, olaf } = SETTLED;
const { frank, grace, heidi, ivan, judy } = NEWCOMERS;
const TRX = 1_000_000n;

/** Code of a few operations with what makes a contract of it. */
const assembled = (runtime: string) => ({
  abi: [],
  bytecode: `0x60${(runtime.length / 2).toString(16).padStart(2, '0')}8060095f395ff3${runtime}`,
});
/** Stops at an operation that there is not. */
const INVALID = 'fe';
/** Calls its caller with more than it has, and does not care. */
const PAYS_TOO_MUCH = '5f5f5f5f67ffffffffffffffff335af100';
/** Calls a token with what it is called with, and does not care. */
const careless = (token: AddressKey): string => `365f5f375f5f365f5f73${token}5af100`;

type Options = Parameters<TronContract['call']>[2];
type Stage = {
  readonly node: TronNode;
  readonly contracts: Awaited<ReturnType<typeof deployAll>>;
  /** Alice calls, unless somebody else does. */
  call(contract: TronContract, method: string, args: readonly unknown[], more?: Options): Promise<string>;
  run(contract: AddressKey, more?: Options & { readonly data?: string }): Promise<string>;
  trx(from: KeyPair, to: KeyPair, units: bigint, more?: Options): Promise<string>;
  give(to: KeyPair, units: bigint, more?: Options): Promise<string>;
  happens(name: string, sent: Promise<string>): Promise<void>;
};

/** Starts the double with a port for each view and makes everything happen, in blocks as recorded. */
export async function makeWorld(): Promise<World> {
  const node = await startTronNode({ separateSolidity: true });
  const [zion] = node.accounts as [KeyPair];
  for (const { address } of Object.values(SETTLED))
    await node.pay({ to: address, currency: 'TRX', units: 10_000n * TRX });
  await node.mine();
  const ids = new Map<string, string>();
  const contracts = await deployAll(node);
  const { token, payer, reverter } = contracts;
  const stage: Stage = {
    node,
    contracts,
    call: (contract, method, args, more) => contract.call(method, args, { from: alice, ...more }),
    run: (contract, more) => node.trigger({ contract, data: '00', from: alice, ...more }),
    trx: (from, to, units, more) => node.pay({ from, to: to.address, currency: 'TRX', units, ...more }),
    give: (to, units, more) => stage.call(token, 'transfer', [to.address, units], more),
    happens: async (name, sent) => void ids.set(name, await sent),
  };
  // Alice has used up what is free.
  await stage.call(token, 'mint', [alice.address, 10n ** 15n]);
  await stage.call(token, 'mint', [mia.address, 10n ** 7n]);
  for (const from of [olaf, mia]) await stage.give(alice, 0n, { from });
  await stage.run(payer.key, { data: '', valueSun: 100n * TRX });
  await node.mine();
  const heights = {
    payments: await makePayments(stage),
    contracts: await callContracts(stage),
    failures: await failInMany(stage),
  };
  await lendEnergy(stage);
  await makeTheRest(stage);
  await node.mine(25);
  const people = { ...SETTLED, ...NEWCOMERS, zion };
  return { node, people, token, reverter, ids, heights };
}

async function deployAll(node: TronNode) {
  const token = await node.deploy(contractArtifact('TestUSDT'));
  const raw = async (code: string): Promise<AddressKey> => (await node.deploy(assembled(code))).key;
  return {
    token,
    payer: await node.deploy(contractArtifact('Payer')),
    spoofer: await node.deploy(contractArtifact('Spoofer')),
    reverter: await node.deploy(contractArtifact('Reverter')),
    invalid: await raw(INVALID),
    tooMuch: await raw(PAYS_TOO_MUCH),
    uncaring: await raw(careless(token.key)),
  };
}

async function makePayments({ node, contracts, call, trx, give, happens }: Stage): Promise<number> {
  await happens('trx_transfer_new_account', trx(alice, grace, 2n * TRX));
  await happens('trx_transfer_existing', trx(bob, carol, 1_234_567n));
  await happens('trx_transfer_memo', trx(carol, bob, 777n, { memo: '6f72646572203432' }));
  await happens('token_transfer_new_holder', give(bob, 1_234_567_891n));
  await happens('token_transfer_again', give(bob, 1n));
  await happens('token_transfer_zero_value', give(carol, 0n, { from: dave }));
  await happens('token_transfer_to_unactivated', give(frank, 2_000_000n));
  await happens('token_transfer_failing_revert', give(bob, 10n ** 15n, { from: carol }));
  await happens('token_approve', call(contracts.token, 'approve', [contracts.payer.key, 2n ** 256n - 1n]));
  return await node.mine();
}

async function callContracts({ node, contracts, call, run, happens }: Stage): Promise<number> {
  const { token, payer, spoofer, reverter, tooMuch, uncaring } = contracts;
  const pay = (to: readonly AddressKey[], sun: readonly bigint[]): Promise<string> =>
    call(payer, 'payBnb', [to, sun], { valueSun: sun.reduce((sum, one) => sum + one, 0n) });
  const receivers = [heidi.address, ivan.address];
  await happens('batch_two_receivers', call(payer, 'payTokenFrom', [token.key, receivers, [11n, 22n]]));
  await happens('internal_trx_existing', pay([dave.address], [3n * TRX]));
  await happens('internal_trx_new_account', pay([judy.address], [4n * TRX]));
  await happens('internal_trx_two', pay([dave.address, bob.address], [2_500_000n, 2_500_001n]));
  await happens('internal_trx_then_revert', pay([reverter.key], [6n]));
  await happens('internal_trx_failing_inner_call', run(tooMuch));
  const data = token.data('transfer', [bob.address, 10n]);
  await happens('token_inner_transfer_fails_outer_success', run(uncaring, { data }));
  await happens('fake_transfer_event', call(spoofer, 'spoof', [alice.address, bob.address, 999n]));
  await happens('trx_to_payable_receive', run(payer.key, { data: '', valueSun: TRX }));
  return await node.mine();
}

async function failInMany({ node, contracts, call, run, give, happens }: Stage): Promise<number> {
  const { token, payer, reverter, invalid } = contracts;
  const receivers = [dave.address, bob.address];
  await happens('out_of_energy', call(payer, 'payBnb', [receivers, [1n, 1n]], { feeLimit: 200_000n }));
  await happens('token_transfer_out_of_energy', give(heidi, 5n, { feeLimit: 100_000n }));
  await happens('invalid_opcode', run(invalid, { feeLimit: 3n * TRX }));
  await happens('revert_with_message', run(reverter.key));
  await happens('call_value_to_nonpayable', give(bob, 1n, { valueSun: 1n }));
  const asset_name = Buffer.from('1000001').toString('hex');
  const value = { asset_name, amount: 5_000_000n, to_address: prefixed(carol.address) };
  await happens('trc10_transfer', node.send({ type: 'TransferAssetContract', value, from: alice }));
  const pull = [alice.address, ivan.address, 3_000_000n];
  await happens('token_transferFrom_no_allowance', call(token, 'transferFrom', pull));
  await happens('token_transfer_low_fee_limit_zero', give(heidi, 5n, { feeLimit: 0n }));
  return await node.mine();
}

/** From then on Alice pays no energy, and Bob has some of hers. */
async function lendEnergy({ node, give, happens }: Stage): Promise<void> {
  const say = (kind: string, value: Message): Promise<string> =>
    node.send({ type: `${kind}Contract`, value, from: alice });
  const energy = { resource: 'ENERGY' };
  const to = ({ address }: KeyPair, trx: bigint): Message => ({
    ...energy,
    receiver_address: prefixed(address),
    balance: trx * TRX,
  });
  await node.stake(alice.address, 300_000n * TRX);
  await happens(
    'stake_freeze_v2_energy',
    say('FreezeBalanceV2', { ...energy, frozen_balance: 300_000n * TRX }),
  );
  await happens('stake_freeze_v2_bandwidth', say('FreezeBalanceV2', { frozen_balance: 10_000n * TRX }));
  await happens('stake_delegate_energy', say('DelegateResource', to(bob, 50_000n)));
  await happens('stake_delegate_energy_small', say('DelegateResource', to(mia, 2_000n)));
  await node.mine();
  await happens('token_transfer_with_staked_energy', give(carol, 7_000_000n, { from: bob }));
  await happens('token_transfer_partly_staked_energy', give(judy, 1_000_000n, { from: mia }));
  await happens('token_transfer_bandwidth_and_energy_staked', give(carol, 7_000_000n));
  await node.mine();
  await happens('stake_undelegate', say('UnDelegateResource', to(bob, 20_000n)));
  await node.mine();
}

async function makeTheRest({ node, contracts, call, trx, give, happens }: Stage): Promise<void> {
  const { token } = contracts;
  await trx(alice, frank, 100_000n);
  await node.mine();
  await happens('token_transfer_no_energy_money', give(carol, 1n, { from: frank }));
  await happens('token_approve_bob', call(token, 'approve', [bob.address, 5_000_000n]));
  const pull = [alice.address, ivan.address, 3_000_000n];
  await happens('token_transferFrom_direct', call(token, 'transferFrom', pull, { from: bob }));
  await node.mine();
}
