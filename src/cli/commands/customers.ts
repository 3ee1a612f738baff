import type { Command } from 'commander';
import { DECISION_LIMITS } from '../../domain/decision.ts';
import { text } from '../arguments.ts';
import { answering, group, leaf } from '../run.ts';
import { addCustomerReads } from './lookup/commands.ts';

type Options = { readonly by: string; readonly reason: string };

/** `customer`. */
export function addCustomerCommands(program: Command): void {
  const customer = group(program, 'customer', 'customers of merchants');
  addCustomerReads(customer);
  leaf(
    customer,
    'erase <id>',
    'takes email, name, metadata and external id out of every row; money and addresses stay. For good',
  )
    .requiredOption('--by <name>', 'who decides', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .action(answering(erase));
}

async function erase({ args, options }: { args: readonly string[]; options: Options }) {
  const [{ withGateway }, { eraseCustomer }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/erasure.ts'),
  ]);
  const { events, answers, customerId } = await withGateway({ by: options.by, secrets: true }, ({ deps }) =>
    eraseCustomer(deps, { customerId: args[0] ?? '', reason: options.reason }),
  );
  const json = { customer_id: customerId, events, answers };
  const told = `Customer ${customerId} has no names any more: ${events} events and ${answers} stored answers were changed.`;
  return { json, text: `${told}\nBackups and detached months still hold them: see docs/privacy.md.` };
}
