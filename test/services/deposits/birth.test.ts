import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { Deposit, DepositAddress } from '../../../src/db/entities/index.ts';
import { type IncomingTransfer, recordDeposits } from '../../../src/services/deposits/record.ts';
import { applyTransition, IllegalTransition } from '../../../src/services/deposits/transition.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const newHash = (): string => `0x${randomBytes(32).toString('hex')}`;

describe('the birth of deposits', function () {
  this.timeout(60_000);
  let shop: Shop;
  let address: DepositAddress;
  let sent = 0;
  before(async () => {
    shop = await startShop();
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    await createEndpoint(shop.deps, {
      ...scope,
      url: 'http://127.0.0.1:1/hooks',
      events: ['*'],
      description: null,
    });
    const customerId = await shop.customer();
    address = await shop.deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network: 'bsc' });
    shop.deps.orm.config.getLogger().logQuery = () => {
      sent += 1;
    };
  });
  after(() => shop?.stop());

  function transferOf(amountUnits: bigint): IncomingTransfer {
    const { merchantId, customerId, mode, network, addressKey } = address;
    return {
      merchantId,
      customerId,
      mode,
      network,
      addressKey,
      address: address.address,
      currency: 'USDT',
      fromAddress: null,
      amountUnits,
      transactionHash: newHash(),
      blockHash: newHash(),
      blockNumber: 7,
      headNumber: 7,
      minedAt: shop.clock.now,
      simulated: false,
      price: undefined,
    };
  }

  const record = async (transfers: readonly IncomingTransfer[]) =>
    await transact(shop.deps, async (tx) => await recordDeposits(tx, shop.deps, transfers));

  it('gives each of a block its state, one audit row, one posting of its amount and one event with its delivery', async () => {
    const recorded = await record([3n, 5n, 8n].map(transferOf));
    expect(recorded.map(({ outcome, deliveries }) => `${outcome} ${deliveries.length}`)).to.deep.equal(
      Array(3).fill('created 1'),
    );
    for (const [index, { deposit }] of recorded.entries()) {
      const rows = async (text: string) => await shop.sql(text, [deposit.id]);
      const { status, generation, sequence, postingCount, createdAt, detectedAt, stateSince } =
        await shop.deposit(deposit.id);
      expect({ status, generation, sequence, postingCount }).to.deep.equal({
        status: 'detected',
        generation: 1,
        sequence: 1,
        postingCount: 1,
      });
      expect([detectedAt, stateSince]).to.deep.equal([createdAt, createdAt]);
      expect(
        await rows(
          'select from_state, to_state, sequence, generation from deposit_transitions where deposit_id = ?',
        ),
      ).to.deep.equal([{ from_state: null, to_state: 'detected', sequence: 1, generation: 1 }]);
      const amount = [3, 5, 8][index];
      const lines = `select t.kind, t.number, l.account, l.amount_units::int as units
        from ledger_transactions t
        join ledger_entries l on l.transaction_id = t.id where t.deposit_id = ? order by l.line`;
      expect(await rows(lines)).to.deep.equal([
        { kind: 'deposit.detected', number: 1, account: 'chain', units: -(amount ?? 0) },
        { kind: 'deposit.detected', number: 1, account: 'pending', units: amount },
      ]);
      expect(await rows('select type, sequence from events where subject_id = ?')).to.deep.equal([
        { type: 'deposit.detected', sequence: 1 },
      ]);
    }
    expect((await auditLedger(shop.deps)).differences).to.deep.equal([]);
  });

  it('costs as many statements for many as for few', async () => {
    const costOf = async (count: number): Promise<number> => {
      const transfers = Array.from({ length: count }, () => transferOf(1n));
      sent = 0;
      await record(transfers);
      return sent;
    };
    expect(await costOf(40)).to.equal(await costOf(2));
  });

  it('happens once: a deposit that has a state is not born into it again, and nothing was written', async () => {
    const [born] = await record([transferOf(1n)]);
    const depositId = born?.deposit.id ?? '';
    const again = transact(shop.deps, async (tx) => {
      const deposit = await tx.em.findOneOrFail(Deposit, depositId);
      await applyTransition(tx, shop.deps, deposit, { to: 'detected', headNumber: null });
    });
    const error = await again.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(IllegalTransition);
    expect((await shop.deposit(depositId)).sequence).to.equal(1);
  });
});
