// An operator's approval of a withdraw address: a line beside the journal, which the signer takes over. Only
// who can open the wallet can write one that counts.
import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Journal } from '../journal.ts';
import { approvalSchema } from '../journal-lines.ts';
import type { OpenWallet } from '../wallet-file.ts';

const sealedSchema = approvalSchema.extend({ seal: z.string() });
type Approval = z.input<typeof approvalSchema>;
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

/** Takes over what the journal does not know yet and somebody wrote who can open the wallet. */
export async function takeApprovals(journal: Journal, wallet: Sealing, now: Date): Promise<void> {
  for (const text of await linesOf(fileOf(journal.file))) {
    const approval = parseApproval(text);
    if (!approval || approval.seal !== sealOf(wallet, approval)) continue;
    const { seal: _, ...known } = approval;
    const before = journal.index.approvedAt(known.merchant_id, known.network, known.address);
    const at = new Date(known.approved_at);
    if (at > now || (before && before >= at)) continue;
    await journal.append({ kind: 'approved', ...known }, now);
  }
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
    return sealedSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
