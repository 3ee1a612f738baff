import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import stringWidth from 'string-width';
import { tempDir } from '../../dev/support/parts.ts';
import { onTerminal } from '../support/pseudo-terminal.ts';
import { gateway, gatewayProcess, oneObject, sideBySide } from './support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PHRASE = `${'abandon '.repeat(11)}about`;

/** What tests call in their own process, as the process that an operator starts. */
describe('command line: as a process of its own', function () {
  this.timeout(120_000);
  const env = { DATA_DIR: '/proc/nowhere' };

  it('prints and ends as a command that is called in this process: well, refused, wrongly used, not well', async () => {
    const wallet = { DATA_DIR: await tempDir('cli-process') };
    await gateway(['wallet', 'new'], wallet);
    const calls: readonly [readonly string[], number, string?][] = [
      [['deposit', '--help'], 0],
      [['deposit', 'lst', '--json'], 2],
      [[], 2],
      [['wallet', 'xpub', '--json'], 0],
      [['wallet', 'new'], 1],
      [['wallet', 'check', '--json'], 1, PHRASE],
    ];
    await sideBySide(calls, async ([args, code, input]) => {
      const ran = await gatewayProcess(args, wallet, input);
      expect(ran, args.join(' ')).to.deep.equal(await gateway(args, wallet, input));
      expect(ran.code, ran.stderr).to.equal(code);
    });
    expect(process.exitCode, 'a command that was called has ended this process').to.equal(undefined);
  });

  it('says of a secret on stdin what it proves, and prints none of it', async () => {
    const wallet = { DATA_DIR: await tempDir('cli-process') };
    const made = await gateway(['wallet', 'new', '--json'], wallet);
    const { phrase } = oneObject<{ phrase: string }>(made.stdout);
    const ran = await gatewayProcess(['wallet', 'check'], wallet, `${phrase}\n`);
    expect([ran.code, ran.stderr]).to.deep.equal([0, '']);
    expect(ran.stdout)
      .to.match(/^The phrase restores /)
      .and.not.include(phrase.slice(0, 20));
  });

  it('fits a terminal of 80 columns, and says nothing of a reader that has enough', async () => {
    const shown = await onTerminal(['config', 'check'], { env, columns: 80 });
    expect(shown).to.match(/^VARIABLE +FROM/);
    for (const line of shown.split('\n')) expect(stringWidth(line), line).to.be.at.most(80);
    const head = await onTerminal(['config', 'docs'], { env, after: ' | head -1' });
    expect(head)
      .to.match(/^# Configuration\n/)
      .and.not.match(/EPIPE|\n\s+at /);
  });

  it('says that an answer could not be written, and ends with 1', async () => {
    const ran = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const line = `'${process.execPath}' src/bin.mjs config docs --json > /dev/full`;
      execFile(
        'sh',
        ['-c', line],
        { cwd: ROOT, env: { ...env, PATH: process.env['PATH'] } },
        (error, _stdout, stderr) => resolve({ code: error?.code, stderr }),
      );
    });
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(
      /^The answer could not be written \(ENOSPC\)\. What the command did is done: look before you run it again\.\n$/m,
    );
  });
});
