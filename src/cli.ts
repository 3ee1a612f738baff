// The operator's command line. Everything heavy is loaded by the command that needs it, so that help and usage errors answer at once.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { addAllowIpCommands } from './cli/allow-ip.ts';
import { addArchiveCommands } from './cli/archive.ts';
import { addAuditCommands } from './cli/audit.ts';
import { addConfigCommands } from './cli/config.ts';
import { addCustomerCommands } from './cli/customers.ts';
import { addDepositCommands } from './cli/deposits.ts';
import { addKeyCommands } from './cli/keys.ts';
import { addMerchantCommands } from './cli/merchants.ts';
import { addQuotaCommands } from './cli/quotas.ts';
import { addReconcileCommand } from './cli/reconcile.ts';
import { addRescanCommand } from './cli/rescan.ts';
import { quietErrors, runProgram } from './cli/run.ts';
import { addServiceCommands } from './cli/service.ts';
import { addUserCommands } from './cli/users.ts';
import { addWalletCommands } from './cli/wallet.ts';
import { addWebhookCommands } from './cli/webhooks.ts';

// A third of a command's time is compiling. Beside the code and not in /tmp, where others could leave something for us to run; an
// installation that cannot be written just compiles each time.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/deposit-gateway/code', import.meta.url)));

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

// Not awaited: a module that never settles would hide the exit code of a process that ends by itself.
void runProgram(program, process.argv.slice(2));
