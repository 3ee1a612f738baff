import { expect } from 'chai';
import { transactionBytes } from '../../../dev/tron/ids.ts';
import { sign } from '../../../dev/tron/signing.ts';
import { rawOfJson, readSigned } from '../../../dev/tron/transactions.ts';
import type { Answer } from './asking.ts';
import { signedTransfer } from './people.ts';
import { recordedAs, sendLike } from './recorded.ts';
import { shapeOf } from './shape.ts';
import { makeWorld, type World } from './world.ts';

type Make = (world: World) => Promise<Answer> | Answer;

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

const expiringIn = (ms: number): Make =>
  payment((raw, { node }) => ({ ...raw, expiration: node.head().header.timestampMs + ms }));

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
  expired: expiringIn(-60_000),
  tapos_unknown_block: payment((raw) => ({ ...raw, ref_block_bytes: 'ffff' })),
  dup_while_pending: sentBefore(payment(), 0),
  dup_in_block: sentBefore(payment(), 1),
  landed_long_ago_and_expired: sentBefore(expiringIn(6_000), 5),
  never_landed_again_after_expiry: async (world) => {
    const transaction = await expiringIn(6_000)(world);
    await world.node.mine(5);
    return transaction;
  },
  sigerror_wrong_key: async (world) => {
    const transaction = await payment()(world);
    return { ...transaction, signature: [sign(transaction.txID, world.people.carol.privateKey)] };
  },
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

  it('is nothing of a transaction that is broadcast in hex', async () => {
    const { request, response } = recordedAs('wallet_broadcasthex__success');
    const { raw_data, signature } = await payment()(world);
    const bytes = transactionBytes(rawOfJson(raw_data, false), signature);
    const answer = await sendLike(world, request, { transaction: bytes.toString('hex') });
    expect(shapeOf(answer.response, ['transaction'])).to.deep.equal(shapeOf(response, ['transaction']));
    expect((answer.response as Answer).txid).to.equal(readSigned(rawOfJson(raw_data, false), []).id);
  });
});
