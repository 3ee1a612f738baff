// Endpoints that lie, alone or both at once: nothing false is completed where an honest answer decides, and
// nothing that came is lost.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { changed, firstOf, INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { exactJson } from '../../../../dev/tron/http/json.ts';
import { type AddressKey, hexAddress } from '../../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { advanced, heal, paid, STRANGER, secondOf, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

/** Changes the text of the blocks that are not final yet. */
const firstBodies = (change: (sent: string) => string): TronFault =>
  when(
    ({ view, path }) => view === 'wallet' && path.includes('getblock'),
    async (_, answer) => ({ json: JSON.parse(change(exactJson(await answer()))) }),
  );

describe('a first body of Tron that lies about what its bytes say', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => heal(live));
  after(() => live?.stop());

  const LIES: Readonly<Record<string, (sent: string, own: string) => string>> = {
    'of nothing': (sent) => sent.replaceAll('"amount":11', '"amount":0'),
    'of no amount': (sent) => sent.replaceAll(/,"amount":11|"amount":11,/g, ''),
    'of more': (sent) => sent.replaceAll('"amount":11', '"amount":1100'),
    'of one of our own addresses': (sent, own) =>
      sent.replaceAll(/"owner_address":"41[0-9a-f]{40}"/g, `"owner_address":"41${own}"`),
  };
  for (const [name, lie] of Object.entries(LIES))
    it(`neither hides nor enlarges a transfer: ${name}`, async () => {
      const [address, own] = [await live.newAddress(), await live.newAddress()];
      live.endpoint.fault = firstBodies((sent) => lie(sent, own));
      await live.node.pay({ to: address, currency: 'TRX', units: 11n });
      await live.node.mine();
      await live.tryToCatchUp(2);
      expect(states(await live.deposits(address))).to.deep.equal([]);
      heal(live);
      await live.tryToCatchUp(1);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['11 TRX verified']);
    });
});

describe('a first answer of Tron that leaves transactions out', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => heal(live));
  after(() => live?.stop());
  type Body = {
    transactions?: readonly { readonly txID: string }[];
    block_header: { raw_data: object };
  };

  const LIES: Readonly<Record<string, (body: Body, hash: string) => object>> = {
    'says that the block is empty': ({ transactions: _, ...body }) => ({
      ...body,
      block_header: {
        ...body.block_header,
        raw_data: { ...body.block_header.raw_data, txTrieRoot: '0'.repeat(64) },
      },
    }),
    'leaves out the one that pays us': ({ transactions = [], ...body }, hash) => ({
      ...body,
      transactions: transactions.filter(({ txID: id }) => id !== hash),
    }),
  };
  for (const [name, lie] of Object.entries(LIES))
    it(`hides a payment until the second read at most, where it ${name}`, async () => {
      const address = await live.newAddress();
      await live.node.pay({ to: STRANGER, currency: 'USDT', units: 1n });
      const hash = await live.node.pay({ to: address, currency: 'TRX', units: 12n });
      const isShown = (id: string): boolean => !name.includes('empty') && id !== hash;
      const bodies = changed(['getblock', 'getblockbynum'], (body: Body) =>
        body.transactions?.some(({ txID: id }) => id === hash) ? lie(body, hash) : body,
      );
      const infos = changed(['gettransactioninfobyblocknum'], (list: readonly { readonly id: string }[]) =>
        list.some(({ id }) => id === hash) ? list.filter(({ id }) => isShown(id)) : list,
      );
      live.endpoint.fault = when(({ view }) => view === 'wallet', firstOf(bodies, infos));
      const { foundLate } = live.seen;
      await live.node.mine();
      await live.catchUp();
      expect(await live.deposits(address)).to.deep.equal([]);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['12 TRX verified']);
      expect(live.seen.foundLate - foundLate).to.equal(1);
    });

  it('is not passed over by a second one in a spelling in which no address is found', async () => {
    const address = await live.newAddress();
    // The receiver is kept by the code, and no call names it.
    const heir = await live.node.deploy(testContracts().Heir, [STRANGER, 0n, address]);
    await live.node.trigger({ contract: heir.key, data: '', valueSun: 500n });
    await live.finish();
    type Info = { readonly internal_transactions?: readonly object[] };
    const inBase58 = changed(['gettransactioninfobyblocknum'], (infos: readonly Info[]) =>
      infos.map(({ internal_transactions: inside = [], ...info }) => ({
        ...info,
        internal_transactions: inside.map((one) => ({
          ...one,
          transferTo_address: TRON_ADDRESSES.format(address),
        })),
      })),
    );
    live.endpoint.fault = firstOf(
      when(({ view }) => view === 'wallet', INFOS.withoutInternals),
      when(({ view }) => view === 'walletsolidity', inBase58),
    );
    await heir.call('pay', [13n]);
    const number = await live.node.mine();
    await live.catchUp();
    await live.node.mine(5);
    await live.tryToCatchUp(2);
    const [cursor] = await live.rows('select reread_number from chain_cursors');
    expect(Number(cursor?.['reread_number'])).to.be.below(number);
    heal(live);
    await live.tryToCatchUp(1);
    expect(states(await live.deposits(address))).to.deep.equal(['13 TRX verified']);
  });
});

describe('TRX that a contract passed on, and that an answer does not show after an earlier one did', function () {
  this.timeout(60_000);
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  /** The first endpoint, and the others, have shown what contracts pass on within the hour. */
  const begun = async (others: number): Promise<TronWatcher> => {
    const live = await startTronWatcher({ others, now });
    await live.catchUp();
    const payer = await live.node.deploy(testContracts().Payer);
    for (const one of [live.endpoint, ...live.others]) {
      for (const other of [live.endpoint, ...live.others])
        other.fault = other === one ? undefined : () => ({ status: 503, body: '' });
      await payer.call('passOn', [hexAddress(STRANGER)], { valueSun: 1n });
      await live.node.mine();
      await live.tryToCatchUp(2);
      live.later(61_000);
    }
    heal(live);
    await live.finish();
    return live;
  };
  const passedOn = async (live: TronWatcher, valueSun: bigint) => {
    const payer = await live.node.deploy(testContracts().Payer);
    const address = await live.newAddress();
    await payer.call('passOn', [hexAddress(address)], { valueSun });
    await live.node.mine();
    await live.catchUp();
    expect(states(await live.deposits(address))).to.deep.equal([`${valueSun} TRX`]);
    return address;
  };

  it('waits where nobody else can be asked, and is verified once it is shown again', async () => {
    const live = await begun(0);
    try {
      const address = await passedOn(live, 51n);
      live.endpoint.fault = INFOS.withoutInternals;
      await live.finish();
      await live.node.mine(25);
      await live.catchUp();
      expect(await advanced(live, address)).to.deep.equal(['confirming']);
      heal(live);
      aheadMs += 6_000;
      await live.catchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['51 TRX verified']);
      expect(await advanced(live, address)).to.deep.equal(['completed']);
    } finally {
      await live.stop();
    }
  });

  it('is verified by another endpoint that shows it', async () => {
    const live = await begun(1);
    try {
      const address = await passedOn(live, 52n);
      live.endpoint.fault = INFOS.withoutInternals;
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal(['52 TRX verified']);
    } finally {
      await live.stop();
    }
  });

  it('was invented where two endpoints show none that otherwise do', async () => {
    const live = await begun(1);
    try {
      const address = await live.newAddress();
      const payer = await live.node.deploy(testContracts().Payer);
      await live.catchUp();
      await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000n });
      await live.node.mine();
      const invented = {
        hash: 'ab'.repeat(32),
        caller_address: `41${payer.key}`,
        transferTo_address: `41${address}`,
        callValueInfo: [{ callValue: 53 }],
        note: Buffer.from('call').toString('hex'),
      };
      live.endpoint.fault = when(
        ({ view }) => view === 'wallet',
        changed(['gettransactioninfobyblocknum'], (infos: readonly object[]) =>
          infos.map((info) => ({ ...info, internal_transactions: [invented] })),
        ),
      );
      await live.catchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['53 TRX']);
      heal(live);
      await live.finish();
      expect(states(await live.deposits(address))).to.deep.equal([]);
      await live.node.mine(25);
      await live.catchUp();
      expect(await advanced(live, address)).to.deep.equal(['failed']);
    } finally {
      await live.stop();
    }
  });
});

describe('lists of blocks of Tron from which one of two endpoints leaves transactions out', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ others: 1 });
    await live.catchUp();
  });
  after(() => live?.stop());
  type List = { readonly block?: readonly { readonly transactions?: readonly unknown[] }[] };

  it('hold nothing up, and nobody else is blamed for them', async () => {
    live.endpoint.fault = changed(['getblockbylimitnext'], ({ block = [] }: List) => ({
      block: block.map(({ transactions = [], ...rest }) => ({
        ...rest,
        transactions: transactions.slice(1),
      })),
    }));
    const addresses: AddressKey[] = [];
    for (let blocks = 0; blocks < 40; blocks += 1) {
      await live.node.pay({ to: STRANGER, currency: 'TRX', units: 3n });
      addresses.push((await paid(live, { currency: 'TRX', units: 5n })).address);
    }
    await live.node.mine(30);
    expect(await live.tryToCatchUp(1)).to.deep.equal([]);
    for (const address of addresses)
      expect(states(await live.deposits(address))).to.deep.equal(['5 TRX verified']);
    const { host } = new URL(secondOf(live).url);
    expect(live.reports.filter((said) => said.includes(host))).to.deep.equal([]);
  });
});
