import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../../domain/decision.ts';
import { text } from '../../arguments.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, type CommandResult, group, leaf } from '../../run.ts';

/** `totals`. */
export function addTotalsCommands(program: Command): void {
  const totals = group(program, 'totals', 'the running totals of balances, which the ledger decides');
  acting(
    leaf(
      totals,
      'rebuild',
      'makes the totals again from the ledger while everything runs, and checks the books',
    ),
  )
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(rebuild));
}

async function rebuild({
  options,
}: {
  options: Acting & { readonly reason: string };
}): Promise<CommandResult> {
  const [{ withGateway }, { rebuildTotals }, { auditBooks }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/ledger/rebuild.ts'),
    import('../ledger-audit.ts'),
  ]);
  return await withGateway({ by: options.by }, async ({ deps }) => {
    const rebuilt = await rebuildTotals(deps, { reason: options.reason });
    const books = await auditBooks(deps.orm.config.get('clientUrl') ?? '');
    const { totals, changed } = rebuilt;
    return {
      json: { ok: books.problem === undefined, ...rebuilt, books: books.json },
      text: `Made ${totals} totals again from the ledger; ${changed} of them ${changed === 1 ? 'was' : 'were'} another amount before.\n${books.text}`,
      problem: books.problem,
    };
  });
}
