import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { ConfigError, type ConfigRole, type Environment, loadConfig } from '../../../src/config/index.ts';
import { rootOf } from '../../../src/signer/accounts.ts';

/**
 * The private account key that belongs to the first public one of the test phrase: no
 * variable may accept it, and nothing may show it.
 */
export const XPRV: string = rootOf(TEST_PHRASE).derivePath("m/44'/60'/0'").extendedKey;
export const USDT_BSC = '0x55d398326f99059fF775485246999027B3197955';
export const SECRETS_KEY: string = Buffer.from('an excellent key of 32 bytes, ok').toString('base64');

/** What is wrong with these variables, one sentence each; nothing where they are accepted. */
export function problemsOf(env: Environment, role?: ConfigRole): readonly string[] {
  try {
    loadConfig(env, role ? { role } : {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
