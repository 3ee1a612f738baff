import { expect } from 'chai';
import { type AuditDifference, auditLedger } from '../../../src/services/ledger/audit.ts';
import { keepBooks, restoreBooks, writeByHand } from './by-hand.ts';
import { everyState, rowAt, UNITS } from './every-state.ts';
import { startWorld, type World } from './support.ts';

describe('the books of payouts', function () {
  this.timeout(60_000);
  let world: World;
  let addresses: ReadonlyMap<string, string>;

  before(async () => {
    world = await startWorld();
    addresses = await everyState(world);
    await keepBooks(world);
  });
  after(() => world?.stop());
  afterEach(async () => {
    await restoreBooks(world);
    expect((await auditLedger(world.deps)).total, 'everything is back').to.equal(0);
  });

  const byHand = (...statements: readonly string[]) => writeByHand(world, ...statements);
  const rowOf = (name: string) => rowAt(world, addresses.get(name));
  const differences = async (): Promise<readonly AuditDifference[]> =>
    (await auditLedger(world.deps)).differences;
  const short = (rows: readonly AuditDifference[]) =>
    rows.map(({ check, account, expected, found }) => [check, account, expected, found]);

  it('name a payout that is not the sum of its deposits, and what it paid', async () => {
    const { id, payout_id: payoutId } = await rowOf('settled');
    const two = [UNITS + 2n, UNITS] as const;
    for (const [change, ...found] of [
      [
        'gross_units = gross_units + 2, net_units = net_units + 2',
        ['payout', null, ...two],
        ['payout', 'settled', ...two],
        ['payout', 'chain', ...two],
      ],
      ['fee_units = fee_units + 2', ['payout', 'fees', 9n, 7n]],
      ["transaction_hash = 'another'", ['payout', 'chain', UNITS, 0n]],
    ] as const) {
      await byHand(`update payouts set ${change} where id = '${payoutId}'`);
      const differing = await differences();
      expect(short(differing), change).to.have.deep.members(found);
      expect(differing[0]).to.include({ payoutId, network: 'bsc', mode: 'live', depositId: null });
      await restoreBooks(world);
    }
    await byHand(
      `update deposits set payout_id = null, settled_units = null, settlement_fee_units = null where id = '${id}'`,
    );
    expect(short((await differences()).filter(({ depositId }) => depositId === id))).to.deep.equal([
      ['payout', 'settled', UNITS, 0n],
    ]);
  });

  it('name a settled deposit whose amount is not what was paid out and its fee', async () => {
    const { id } = await rowOf('settled');
    await byHand(`update deposits set amount_units = amount_units + 2 where id = '${id}'`);
    expect(short(await differences())).to.have.deep.members([
      ['deposit', 'fees', 2n, 0n],
      ['payout', null, UNITS, UNITS + 2n],
    ]);
  });

  it('name a settled deposit whose payout is not settled, or pays somebody else', async () => {
    const { id, payout_id: payoutId } = await rowOf('settled');
    const unpaid = 'net_units = null, fee_units = null, transaction_hash = null, settled_at = null';
    for (const change of [`state = 'paying', ${unpaid}`, "address_key = 'another'", "network = 'tron'"]) {
      await byHand(`update payouts set ${change} where id = '${payoutId}'`);
      expect(short((await differences()).filter(({ depositId }) => depositId === id)), change).to.deep.equal([
        ['payout', 'settled', UNITS, 0n],
      ]);
      await restoreBooks(world);
    }
  });

  it('name a payout that was paid twice, one that failed and was paid after all, and one that blocks do not show', async () => {
    const { payout_id: payoutId } = await rowOf('settled');
    const again = `insert into sent_transactions select (jsonb_populate_record(s, jsonb_build_object(
        'id', gen_random_uuid(), 'hash', 'again', 'attempt', 2))).*
      from sent_transactions s where payout_id = '${payoutId}' and attempt = 1`;
    await byHand(again);
    expect(short(await differences()), 'twice').to.deep.equal([['payout', 'chain', UNITS, 2n * UNITS]]);
    await byHand(`delete from sent_transactions where hash = 'again'`);
    await byHand(
      `update sent_transactions set state = 'sent', block_hash = null, block_number = null, ok = null,
        verified_at = null, fee_units = null, moves = null where payout_id = '${payoutId}'`,
    );
    expect(short(await differences()), 'in no block').to.deep.equal([['payout', 'chain', UNITS, 0n]]);
    await byHand(
      `update sent_transactions set state = 'final', block_hash = '0x9', block_number = 9, ok = true,
        verified_at = now(), fee_units = 7, moves = '[]' where payout_id = '${payoutId}'`,
      `update payouts set state = 'failed', reason = 'test', net_units = null, fee_units = null,
        transaction_hash = null, settled_at = null where id = '${payoutId}'`,
    );
    expect(short(await differences()), 'failed').to.deep.include(['payout', 'chain', 0n, UNITS]);
  });
});
