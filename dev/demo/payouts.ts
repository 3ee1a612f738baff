import { NATIVE_CURRENCY } from '../../src/domain/assets.ts';
import type { DemoChain } from './chain.ts';
import { runCommand } from './gateway-process.ts';
import type { Screen } from './screen.ts';

/** What makes a merchant one who is paid out. */
export function withdrawOptions(chains: readonly DemoChain[]): string[] {
  return chains.flatMap(({ network, withdraw }) => [`--withdraw-${network}`, withdraw]);
}

/** The wallets that pay for gas are empty at first, as everybody's are. */
export async function fundGas(
  chains: readonly DemoChain[],
  env: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<void> {
  const { gas } = await runCommand(['wallet', 'xpub'], env);
  for (const { network, name, gasAmount: amount, pay } of chains) {
    const to = String((gas as Record<string, unknown>)[network]);
    await pay({ to, currency: NATIVE_CURRENCY[network], amount });
    screen.line(`✓ ${amount} ${NATIVE_CURRENCY[network]} for gas in ${to} on ${name}`);
  }
}
