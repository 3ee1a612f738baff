import { Command } from 'commander';
import { addAllowIpCommands } from './commands/allow-ip.ts';
import { addArchiveCommands } from './commands/archive.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addConfigCommands } from './commands/config.ts';
import { addCustomerCommands } from './commands/customers.ts';
import { addDepositCommands } from './commands/deposits/deposits.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addMerchantCommands } from './commands/merchants.ts';
import { addPayoutCommands } from './commands/payouts/payouts.ts';
import { addQuotaCommands } from './commands/quotas.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addRescanCommand } from './commands/rescan.ts';
import { addUserCommands } from './commands/users.ts';
import { addWalletCommands } from './commands/wallet.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { quietErrors } from './run.ts';
import { addServiceCommands } from './service.ts';

/** The whole command line, not yet run. */
export function makeProgram(): Command {
  const program = quietErrors(new Command('gateway'))
    .description('Crypto deposit gateway. Exit codes: 0 done, 1 refused, 2 wrong usage.')
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride();
  addServiceCommands(program);
  addConfigCommands(program);
  addMerchantCommands(program);
  addCustomerCommands(program);
  addQuotaCommands(program);
  addKeyCommands(program);
  addAllowIpCommands(program);
  addUserCommands(program);
  addWalletCommands(program);
  addDepositCommands(program);
  addPayoutCommands(program);
  addWebhookCommands(program);
  addRescanCommand(program);
  addReconcileCommand(program);
  addArchiveCommands(program);
  addAuditCommands(program);
  return program;
}
