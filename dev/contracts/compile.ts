import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** One compiled contract. */
export type Artifact = { readonly abi: readonly Record<string, unknown>[]; readonly bytecode: string };

/** Where the compiled contracts are kept, beside their sources. */
export const ARTIFACTS_FILE = join(import.meta.dirname, 'artifacts.json');

type Output = {
  readonly errors?: readonly { severity: string; formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { abi: Record<string, unknown>[]; evm: { bytecode: { object: string } } }>>
    >
  >;
};

/**
 * Compiles every contract in this folder with the pinned compiler. The
 * same sources always give the same bytes. Throws the compiler's message.
 */
export function compileContracts(): Readonly<Record<string, Artifact>> {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const files = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.sol'))
    .sort();
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      files.map((name) => [name, { content: readFileSync(join(import.meta.dirname, name), 'utf8') }]),
    ),
    settings: {
      // Without the metadata hash the bytes depend on the code alone, not on comments.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const failures = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (failures.length > 0)
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const contracts = files.map((file) => {
    const name = file.replace(/\.sol$/, '');
    const contract = output.contracts[file]?.[name];
    if (!contract) throw new Error(`${file} holds no contract ${name}: name the file after it`);
    return [name, { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }] as const;
  });
  return Object.fromEntries(contracts);
}

/** The text of {@link ARTIFACTS_FILE} for these artifacts. */
export function artifactsText(artifacts: Readonly<Record<string, Artifact>>): string {
  return `${JSON.stringify(artifacts, null, 1)}\n`;
}
