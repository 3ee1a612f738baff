// Two endpoints that lie at once about what happened in a block, in the same way or each in its own: as long
// as they do so before the block is final, one honest answer after that decides.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../../dev/tron/contracts.ts';
import { changed, firstOf, INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { type AddressKey, hexAddress } from '../../../../src/chains/address-key.ts';
import { secondOf, states, tronStage } from './scenes.ts';

type Log = { readonly address: string; readonly topics: readonly string[]; readonly data: string };
type Info = { readonly log?: readonly Log[]; readonly internal_transactions?: readonly object[] };
type Lie = (place: Place) => TronFault;
type Place = { readonly token: AddressKey; readonly thief: AddressKey };

const word = (digits: string): string => digits.padStart(64, '0');
const infosBy = (change: (info: Info) => Info): TronFault =>
  changed(['gettransactioninfobyblocknum'], (infos: readonly Info[]) => infos.map(change));
const invented = ({ token, thief }: Place): Log => ({
  address: token,
  topics: [word('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'), word('5e'), word(thief)],
  data: word('ff'),
});

const LIES: Readonly<Record<string, Lie>> = {
  'shows more': () =>
    infosBy((info) => ({ ...info, ...logsOf(info, (log) => ({ ...log, data: word('ffff') })) })),
  'shows less': () =>
    infosBy((info) => ({ ...info, ...logsOf(info, (log) => ({ ...log, data: word('1') })) })),
  'names another receiver': ({ thief }) =>
    infosBy((info) => ({
      ...info,
      ...logsOf(info, (log) => ({ ...log, topics: [...log.topics.slice(0, 2), word(thief)] })),
    })),
  'invents a log': (place) =>
    infosBy((info) => (info.log ? { ...info, log: [...info.log, invented(place)] } : info)),
  'invents an internal transaction': ({ thief, token }) =>
    infosBy((info) => ({
      ...info,
      ...(info.internal_transactions && {
        internal_transactions: [
          ...info.internal_transactions,
          {
            hash: 'ab'.repeat(32),
            caller_address: `41${token}`,
            transferTo_address: `41${thief}`,
            callValueInfo: [{ callValue: 255 }],
            note: Buffer.from('call').toString('hex'),
          },
        ],
      }),
    })),
  'leaves out the logs': () => INFOS.withoutLogs,
  'leaves out internal transactions': () => INFOS.withoutInternals,
  'shows those of another fork': () => INFOS.ofAnotherFork,
};
function logsOf(info: Info, change: (log: Log) => Log): Info {
  return info.log ? { log: info.log.map(change) } : {};
}

describe('two endpoints of Tron that lie at once', () => {
  const live = tronStage({ others: 1 });
  let payer: TronContract;
  before(async () => {
    payer = await live.node.deploy(testContracts().Payer);
    await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000_000n });
    await live.node.pay({ to: payer.key, currency: 'USDT', units: 1_000_000n });
    await live.finish();
  });

  /** Lies until the block is final, and then has none that fits. */
  const untilFinal = (lie: TronFault, then?: TronFault): TronFault => {
    const early = when(({ view }) => view === 'wallet', lie);
    return then
      ? firstOf(
          early,
          when(({ view }) => view === 'walletsolidity', then),
        )
      : early;
  };
  const expectTruth = async (lieOfOne: Lie, lieOfOther: Lie, name: string): Promise<void> => {
    const [address, thief] = [await live.newAddress(), await live.newAddress()];
    const place = { token: live.node.usdt.key, thief };
    live.endpoint.fault = untilFinal(lieOfOne(place), INFOS.ofAnotherFork);
    secondOf(live).fault = untilFinal(lieOfOther(place));
    await payer.call('pay', [hexAddress(live.node.usdt.key), [hexAddress(address)], [7n]]);
    await payer.call('payCoin', [address, 8n]);
    await live.node.pay({ to: address, currency: 'TRX', units: 9n });
    await live.node.mine();
    await live.tryToCatchUp(1);
    live.later(61_000);
    await live.node.mine(5);
    await live.tryToCatchUp(2);
    const truth = ['7 USDT verified', '8 TRX verified', '9 TRX verified'];
    expect(states(await live.deposits(address)), name).to.have.members(truth);
    expect(states(await live.deposits(thief)), name).to.deep.equal([]);
  };

  const lies = Object.entries(LIES);
  for (const [at, [name, lieOfOne]] of lies.entries()) {
    // In turn the same lie twice, and two of different kinds.
    const [other = '', lieOfOther = lieOfOne] = lies[(at + 3 * (at % 2)) % lies.length] ?? [];
    it(`complete nothing false and hide nothing, where one ${name}, and the other ${other}`, async () => {
      await expectTruth(lieOfOne, lieOfOther, `the other ${other}`);
    });
  }
});
