import { expect } from 'chai';
import { transactionBytes } from '../../../dev/tron/ids.ts';
import { sign } from '../../../dev/tron/signing.ts';
import { rawOfJson, readSigned } from '../../../dev/tron/transactions.ts';
import { type Answer, prefixed } from './asking.ts';
import { signedAgain, signedCall, signedTransfer } from './people.ts';
import { recordedAs, sendLike } from './recorded.ts';
import { shapeOf } from './shape.ts';
import { makeWorld, type World } from './world.ts';

type Make = (world: World) => Promise<Answer> | Answer;
const DAY_MS = 86_400_000;

/** Every payment has an amount of its own, so that none is another one's double. */
let lastSun = 1_000;
/** Bob pays Carol, and `raw_data` is changed before it is signed. */
const payment =
  (change: (raw: Answer, world: World) => object = (raw) => raw): Make =>
  (world) =>
    signedTransfer(
      world.node.url,
      { from: world.people.bob, to: world.people.carol, sun: ++lastSun },
      (raw) => change(raw, world),
    );

/** The same with other signatures than its own. */
const signedOtherwise =
  (signatures: (transaction: Answer, world: World) => readonly string[]): Make =>
  async (world) => {
    const transaction = await payment()(world);
    return { ...transaction, signature: signatures(transaction, world) };
  };

const transferCall =
  (from: keyof World['people'], feeLimit: number): Make =>
  ({ node, people, token }) =>
    signedCall(node.url, people[from], {
      contract: prefixed(token.key),
      selector: 'transfer(address,uint256)',
      parameter: people.bob.address.padStart(64, '0') + '1'.padStart(64, '0'),
      feeLimit,
    });

const expiringIn = (ms: number): Make =>
  payment((raw, { node }) => ({ ...raw, expiration: node.head().header.timestampMs + ms }));

/** A change of what `createtransaction` would not build. */
const changedValue =
  (change: object, from: keyof World['people'] = 'bob'): Make =>
  async (world) => {
    const built = await payment()(world);
    const [contract] = built.raw_data.contract;
    const value = {
      ...contract.parameter.value,
      ...change,
      owner_address: prefixed(world.people[from].address),
    };
    const raw_data = {
      ...built.raw_data,
      contract: [{ ...contract, parameter: { ...contract.parameter, value } }],
    };
    return signedAgain({ ...built, raw_data }, [world.people[from]]);
  };

const send = async (world: World, transaction: Answer): Promise<Answer> =>
  (await sendLike(world, recordedAs('wallet_broadcasttransaction__success').request, transaction)).response;
/** One that was sent so many blocks ago. */
function sentBefore(make: Make, blocks: number): Make {
  return async (world) => {
    const transaction = await make(world);
    await send(world, transaction);
    if (blocks > 0) await world.node.mine(blocks);
    return transaction;
  };
}

const CASES: Readonly<Record<string, Make>> = {
  success: payment(),
  txid_field_ignored: async (world) => ({ ...(await payment()(world)), txID: '00'.repeat(32) }),
  expiration_24h_minus: expiringIn(DAY_MS - 600_000),
  expiration_too_far: expiringIn(2 * DAY_MS),
  expired: expiringIn(-60_000),
  tapos_unknown_block: payment((raw) => ({ ...raw, ref_block_bytes: 'ffff' })),
  tapos_wrong_hash: payment((raw) => ({ ...raw, ref_block_hash: '00'.repeat(8) })),
  dup_while_pending: sentBefore(payment(), 0),
  dup_in_block: sentBefore(payment(), 1),
  landed_long_ago_and_expired: sentBefore(expiringIn(6_000), 5),
  never_landed_again_after_expiry: async (world) => {
    const transaction = await expiringIn(6_000)(world);
    await world.node.mine(5);
    return transaction;
  },
  raw_data_differs_from_hex: async (world) => {
    const transaction = await payment()(world);
    transaction.raw_data.contract[0].parameter.value.amount = 42;
    return transaction;
  },
  sigerror_no_signature: signedOtherwise(() => []),
  sigerror_short_signature: signedOtherwise(() => ['00']),
  sigerror_tampered: signedOtherwise(({ signature }) => ['ff'.repeat(32) + signature[0].slice(64)]),
  sigerror_two_signatures: signedOtherwise(({ signature }) => [signature[0], signature[0]]),
  sigerror_wrong_key: signedOtherwise(({ txID }, { people }) => [sign(txID, people.carol.privateKey)]),
  sigerror_not_enough_weight: changedValue({}, 'dave'),
  contract_validate_insufficient_balance: changedValue({ amount: 9_000_000_000_000_000 }),
  contract_validate_trx_to_contract: (world) =>
    changedValue({ to_address: prefixed(world.token.key) })(world),
  owner_not_activated: changedValue({}, 'heidi'),
  contract_validate_no_contract: async (world) => {
    const built = await transferCall('alice', 1_000_000)(world);
    built.raw_data.contract[0].parameter.value.contract_address = prefixed(world.people.bob.address);
    return signedAgain(built, [world.people.alice]);
  },
  fee_limit_too_high: transferCall('alice', 15_000_000_001),
  token_transfer_owner_not_activated: transferCall('heidi', 100_000_000),
  bandwidth_error: transferCall('frank', 100_000_000),
  second_spend_while_first_pending: async (world) => {
    const { node, people } = world;
    const { balance } = (await node.ask('wallet/getaccount', {
      address: prefixed(people.judy.address),
    })) as { balance: bigint };
    const to = people.bob.address;
    await node.pay({ from: people.judy, to, currency: 'TRX', units: balance - 100_000n });
    return await changedValue({ amount: 200_000 }, 'judy')(world);
  },
  token_transfer_no_energy_money: transferCall('grace', 100_000_000),
  bad_json: () => '{"raw_data":',
  empty_object: () => ({}),
  only_raw_data_hex: async (world) => ({ raw_data_hex: (await payment()(world)).raw_data_hex }),
  never_lands: payment(),
};

describe('what the double refuses, beside what a node refused', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world?.node.stop());

  for (const [name, make] of Object.entries(CASES))
    it(`is a broadcast: ${name}`, async () => {
      const { request, response } = recordedAs(`wallet_broadcasttransaction__${name}`);
      const answer = await sendLike(world, request, await make(world));
      expect(shapeOf(answer.response)).to.deep.equal(shapeOf(response));
    });

  it('names the transaction by what it says, whatever else is in the JSON, and costs nothing', async () => {
    const transaction = await payment()(world);
    const answer = await send(world, { ...transaction, txID: 'ab', raw_data_hex: 'cd' });
    expect(answer).to.deep.equal({ result: true, txid: transaction.txID });
    const account = { address: prefixed(world.people.bob.address) };
    await world.node.mine();
    const before = await world.node.ask('wallet/getaccount', account);
    const refused = await changedValue({ amount: 9_000_000_000_000_000 })(world);
    expect(await send(world, refused)).to.include({ code: 'CONTRACT_VALIDATE_ERROR' });
    expect(await world.node.ask('wallet/getaccount', account)).to.deep.equal(before);
  });

  it('is nothing of a transaction that is broadcast in hex', async () => {
    const { request, response } = recordedAs('wallet_broadcasthex__success');
    const { raw_data, signature } = await payment()(world);
    const bytes = transactionBytes(rawOfJson(raw_data, false), signature);
    const answer = await sendLike(world, request, { transaction: bytes.toString('hex') });
    expect(shapeOf(answer.response, ['transaction'])).to.deep.equal(shapeOf(response, ['transaction']));
    expect((answer.response as Answer).txid).to.equal(readSigned(rawOfJson(raw_data, false), []).id);
  });

  for (const name of [
    'http__bad_json',
    'http__post_without_content_type_json',
    'http__unknown_path',
    'http__unknown_path_get',
    'http__walletsolidity_path_on_8090',
    'http__walletsolidity_path_on_8090_get',
  ])
    it(`is a request: ${name}`, async () => {
      const { request, response, status } = recordedAs(name);
      const answer = await sendLike(world, request, request.body);
      expect(answer.status).to.equal(status);
      const withoutServlet = (page: unknown) =>
        typeof page === 'string' ? page.replace(/<tr><th>SERVLET:.*\n/, '') : page;
      expect(withoutServlet(answer.response)).to.deep.equal(withoutServlet(response));
    });
});
