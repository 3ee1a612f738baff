import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { gateway, gatewayProcess, oneObject, sideBySide } from './support.ts';

const PHRASE = `${'abandon '.repeat(11)}about`;

/** What tests call in their own process, as the process that an operator starts. */
describe('command line: as a process of its own', function () {
  this.timeout(120_000);

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
});
