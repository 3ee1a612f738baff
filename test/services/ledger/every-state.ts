import { foldBalances } from '../../../src/services/ledger/totals.ts';
import { BIG, type World } from './support.ts';

/** What every deposit amounts to whose name says nothing else. */
export const UNITS = 40n;

/** The first deposit to an address. */
export async function rowAt(world: World, address = ''): Promise<Record<string, unknown>> {
  return (await world.rows('select * from deposits where address_key = ?', [address.slice(2)]))[0] ?? {};
}

/** One deposit in each state in which money can be, each made by the use cases. */
export async function everyState(world: World): Promise<ReadonlyMap<string, string>> {
  const addresses = new Map<string, string>();
  const { chain } = world;
  const pay = async (name: string, units = UNITS) => {
    const to = await world.newAddress();
    addresses.set(name, to);
    const transfer = world.transfer({ to, units });
    chain.mine([transfer]);
    await world.poll();
    return transfer;
  };
  const idOf = async (name: string) => String((await rowAt(world, addresses.get(name)))['id']);
  const finish = async () => {
    for (let i = 0; i < 3; i++) chain.mine();
    chain.final = chain.blocks.length - 1;
    await world.poll();
    await world.advance();
  };
  await pay('completed');
  await pay('settled');
  await pay('below minimum', 3n);
  await pay('first big', BIG);
  await pay('over the limit', BIG);
  await pay('released');
  await world.fail(await idOf('released'));
  await finish();
  await world.settle(await idOf('settled'));
  await world.release(await idOf('released'));
  await pay('held');
  await world.fail(await idOf('held'));
  await pay('reorged');
  chain.replace(1);
  await world.poll();
  await finish();
  const again = await pay('mined again, with another amount');
  chain.replace(1);
  await world.poll();
  await finish();
  chain.mine([{ ...again, amountUnits: 41n }]);
  await world.poll();
  await finish();
  const broken = await pay('credited twice by right');
  await finish();
  chain.replace(6);
  await world.poll();
  await world.fail(await idOf('credited twice by right'));
  chain.mine([broken]);
  await world.poll();
  await finish();
  await pay('withdrawn');
  await world.fail(await idOf('withdrawn'));
  chain.replace(1);
  await world.poll();
  await pay('confirming');
  chain.mine();
  await world.poll();
  await world.advance();
  await pay('detected');
  for (const outcome of ['completed', 'detected', 'confirming', 'failed', 'settled', 'reorged'] as const)
    await world.simulate(outcome);
  // Some of the lines are in the totals, some wait to be added.
  await foldBalances(world.deps);
  await world.simulate('completed');
  return addresses;
}
