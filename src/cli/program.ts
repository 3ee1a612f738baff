import { Command } from 'commander';
import { addAllowIpCommands } from './allow-ip.ts';
import { addArchiveCommands } from './archive.ts';
import { addAuditCommands } from './audit.ts';
import { addConfigCommands } from './config.ts';
import { addCustomerCommands } from './customers.ts';
import { addDepositCommands } from './deposits.ts';
import { addKeyCommands } from './keys.ts';
import { addMerchantCommands } from './merchants.ts';
import { addQuotaCommands } from './quotas.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRescanCommand } from './rescan.ts';
import { quietErrors } from './run.ts';
import { addServiceCommands } from './service.ts';
import { addUserCommands } from './users.ts';
import { addWalletCommands } from './wallet.ts';
import { addWebhookCommands } from './webhooks.ts';

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
  addWebhookCommands(program);
  addRescanCommand(program);
  addReconcileCommand(program);
  addArchiveCommands(program);
  addAuditCommands(program);
  return program;
}
