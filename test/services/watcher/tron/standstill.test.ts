import { expect } from 'chai';
import { standstills } from '../../../../src/services/alarms/standstill.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

describe('what stands still on a chain that is asked for in steps', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  const second = 1_000;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  after(() => live?.stop());
  const standing = async (ms: number, columns: string): Promise<string[]> => {
    await live.rows(`update chain_cursors set polled_at = now(), moved_at = now(), ${columns}`);
    const now = () => new Date(Date.now() + ms);
    await live.rows('update chain_cursors set polled_at = ?, scanned_moved_at = ?', [now(), now()]);
    return (await standstills({ ...live.deps, now })).map(({ part }) => part);
  };

  it('is not what became final just now, but what stays unread', async () => {
    const late = 'finalized_number = verified_number + 3, head_number = verified_number + 34';
    expect(
      await standing(60 * second, `${late}, verified_moved_at = now(), finalized_moved_at = now()`),
    ).to.eql([]);
    expect(await standing(95 * second, `${late}, verified_moved_at = now()`)).to.include('second read');
  });

  it('is finality that does not move for three minutes', async () => {
    const stands = 'finalized_number = verified_number, head_number = verified_number + 82';
    expect(await standing(170 * second, `${stands}, finalized_moved_at = now()`)).to.eql([]);
    expect(await standing(190 * second, `${stands}, finalized_moved_at = now()`)).to.eql(['finality']);
  });

  it('is a comparison of balances that is two hours late, a day after the last', async () => {
    const well = 'finalized_number = verified_number, head_number = verified_number';
    const hour = 3_600 * second;
    const columns = `${well}, finalized_moved_at = now(), created_at = now()`;
    expect(await standing(25 * hour, columns)).to.eql([]);
    expect(await standing(27 * hour, columns)).to.eql(['reconciliation']);
  });
});
