import { expect } from 'chai';
import { when } from '../../../../dev/tron/faults.ts';

import { describeStandstill, standstills } from '../../../../src/services/operations/conditions/chain.ts';
import { heal, paid, states, tronStage } from './scenes.ts';

const EXCEPTION = 'class java.lang.NullPointerException : null';

describe('a block of Tron that no node can print', () => {
  const live = tronStage({ others: 1 });

  it('is named with what the nodes say of it, and the chain waits for it and goes on', async () => {
    await live.catchUp();
    const { address, number } = await paid(live, { currency: 'USDT', units: 70n });
    for (const endpoint of [live.endpoint, ...live.others])
      endpoint.fault = when(
        ({ path, body }) =>
          /getblockbynum|getblockbylimitnext|getnowblock|infobyblocknum/.test(path) &&
          JSON.stringify(body).includes(`"num":${number}`),
        () => ({ json: { Error: EXCEPTION } }),
      );
    await live.tryToCatchUp(3);
    const now = () => new Date(Date.now() + 60_000);
    const told = (await standstills({ ...live.deps, now })).find(({ part }) => part === 'first read');
    expect(told && describeStandstill(told)).to.match(
      new RegExp(
        `^the first read of tron stands at ${number - 1} for \\d+ s: no RPC endpoint gives block ${number} of tron: an error: ${EXCEPTION} from 2 of 2 \\(`,
      ),
    );
    expect(told?.action).to.include('another provider that gives this block');
    heal(live);
    await live.tryToCatchUp(2);
    expect(states(await live.deposits(address))).to.deep.equal(['70 USDT']);
  });
});
