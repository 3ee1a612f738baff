// The operator's command line. Everything heavy is loaded by the
// command that needs it, so that help and usage errors answer at once.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { makeProgram } from './cli/program.ts';
import { runProcess } from './cli/run.ts';

// A third of a command's time is compiling. Beside the code and not in /tmp, where others could
// leave something for us to run; an installation that cannot be written just compiles each time.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/deposit-gateway/code', import.meta.url)));

// Not awaited: a module that never settles would hide the exit code of a process that ends by itself.
void runProcess(makeProgram(), process.argv.slice(2));
