// An operator's approval of a withdraw address: a line beside the journal, which the signer takes over. Only
// who can open the wallet can write one that counts.
import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { AddressKey } from '../../chains/address-key.ts';
import { NETWORKS } from '../../domain/assets.ts';
import type { Journal } from '../journal.ts';
import type { OpenWallet } from '../wallet-file.ts';

const approvalSchema = z.strictObject({
  merchant_id: z.uuid(),
  network: z.enum(NETWORKS),
  address: z.string().regex(/^[0-9a-f]{40}$/),
  approved_at: z.iso.datetime(),
  by_name: z.string().max(120).nullable(),
  seal: z.string().regex(/^[0-9a-f]{64}$/),
});
type Approval = Omit<z.output<typeof approvalSchema>, 'seal'>;
type Sealing = Pick<OpenWallet, 'keyedHash'>;

const fileOf = (journalFile: string): string => `${journalFile}.approvals`;

const sealOf = (wallet: Sealing, approval: Approval): string => {
  const { merchant_id, network, address, approved_at, by_name } = approval;
  const text = JSON.stringify([merchant_id, network, address, approved_at, by_name]);
  return wallet.keyedHash(text, 'approved destinations');
};

/** Writes an approval for the signer that has this journal, whether it runs or not. */
export async function approve(journalFile: string, wallet: Sealing, approval: Approval): Promise<void> {
  const line = { ...approval, seal: sealOf(wallet, approval) };
  // A line before it that was not written to its end takes it not with it.
  await appendFile(fileOf(journalFile), `\n${JSON.stringify(line)}\n`, { mode: 0o600 });
}

/**
 * Takes over the approvals that the journal does not know yet. Returns how many; a line that nobody with the
 * wallet wrote is left out.
 */
export async function takeApprovals(journal: Journal, wallet: Sealing, now: Date): Promise<number> {
  let taken = 0;
  for (const text of await linesOf(fileOf(journal.file))) {
    const approval = parseApproval(text);
    if (!approval || approval.seal !== sealOf(wallet, approval)) continue;
    const { seal: _, ...known } = approval;
    const address = known.address as AddressKey;
    const before = journal.index.approvedAt(known.merchant_id, known.network, address);
    const at = new Date(known.approved_at);
    if (at > now || (before && before >= at)) continue;
    await journal.append({ kind: 'approved', ...known }, now);
    taken += 1;
  }
  return taken;
}

async function linesOf(file: string): Promise<string[]> {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function parseApproval(text: string) {
  try {
    return approvalSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
