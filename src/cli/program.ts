import { readFileSync } from 'node:fs';
import { Command, type Option } from 'commander';
import { addAllowIpCommands } from './commands/allow-ip.ts';
import { addArchiveCommands } from './commands/archive.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackupCommands } from './commands/care/backup.ts';
import { addNotifyCommands } from './commands/care/notify.ts';
import { addTotalsCommands } from './commands/care/totals.ts';
import { addConfigCommands } from './commands/config.ts';
import { addCustomerCommands } from './commands/customers.ts';
import { addDepositCommands } from './commands/deposits/deposits.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addEndpointCommands, addEventCommands, addPaymentCommands } from './commands/lookup/commands.ts';
import { addFindCommand } from './commands/lookup/find.ts';
import { addMerchantCommands } from './commands/merchants.ts';
import { addPayoutCommands } from './commands/payouts/payouts.ts';
import { addQuotaCommands } from './commands/quotas.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addRescanCommand } from './commands/rescan.ts';
import { addUserCommands } from './commands/users.ts';
import { addWalletCommands } from './commands/wallet.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { addExamples } from './examples.ts';
import { quietErrors } from './run.ts';
import { addServiceCommands } from './service.ts';

/** The whole command line, not yet run. */
export function makeProgram(): Command {
  const program = quietErrors(new Command('gateway'))
    .description('Crypto deposit gateway. Exit codes: 0 done, 1 refused, 2 wrong usage.')
    .version(versionOf(), '--version', 'prints the version')
    .showHelpAfterError('Add --help to see how it is used.')
    // Commands take this over from the program that they are added to.
    .configureHelp({ optionDescription: describeOption })
    .exitOverride();
  addServiceCommands(program);
  addFindCommand(program);
  addConfigCommands(program);
  addMerchantCommands(program);
  addCustomerCommands(program);
  addQuotaCommands(program);
  addKeyCommands(program);
  addAllowIpCommands(program);
  addUserCommands(program);
  addWalletCommands(program);
  addDepositCommands(program);
  addPaymentCommands(program);
  addPayoutCommands(program);
  addEndpointCommands(program);
  addEventCommands(program);
  addWebhookCommands(program);
  addRescanCommand(program);
  addReconcileCommand(program);
  addTotalsCommands(program);
  addArchiveCommands(program);
  addBackupCommands(program);
  addNotifyCommands(program);
  addAuditCommands(program);
  addExamples(program);
  return program;
}

function versionOf(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** An option as help shows it: whether it has to be given, and its default in words. */
function describeOption(option: Option): string {
  const { description, mandatory, defaultValue, defaultValueDescription } = option;
  if (mandatory) return `${description} (required)`;
  if (defaultValue === undefined || defaultValue === false) return description;
  return `${description} (default: ${defaultValueDescription ?? JSON.stringify(defaultValue)})`;
}
