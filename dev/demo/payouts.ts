import { NATIVE_CURRENCY } from '../../src/domain/assets.ts';
import type { DemoChain } from './chain.ts';
import { runCommand } from './gateway-process.ts';
import type { Screen } from './screen.ts';

/** In whole coins. */
const GAS_AMOUNT = '0.05';

/** What makes a merchant one who is paid out. */
export function withdrawOptions(chains: readonly DemoChain[]): string[] {
  return chains.flatMap(({ network, withdraw }) =>
    withdraw === undefined ? [] : [`--withdraw-${network}`, withdraw],
  );
}

/** The wallets that pay for gas are empty at first, as everybody's are. */
export async function fundGas(
  chains: readonly DemoChain[],
  env: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<void> {
  const { gas } = await runCommand(['wallet', 'xpub'], env);
  for (const { network, name, withdraw, pay } of chains) {
    if (withdraw === undefined) continue;
    const to = String((gas as Record<string, unknown>)[network]);
    await pay({ to, currency: NATIVE_CURRENCY[network], amount: GAS_AMOUNT });
    screen.line(`✓ ${GAS_AMOUNT} ${NATIVE_CURRENCY[network]} for gas in ${to} on ${name}`);
  }
}
