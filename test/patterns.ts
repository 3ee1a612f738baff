import { join } from 'node:path';
import { readPatterns, slowForm, slowness } from './support/repository/patterns.ts';

// `npm run patterns`: names every regular expression of the product that may take more than linear
// time. A caller's text is as long as he likes, and while a pattern looks at it nobody else is served.
// With `--form` it judges by their form alone, without the clock, as the gate does.

const ROOT = join(import.meta.dirname, '..');
const PARTS = /^(?:src|workflows|activities|migrations|examples|packages\/sdk\/src)\//;

/** Those that nobody can feed a long text, each by its file and the reason. */
const EXCEPTIONS: readonly { readonly file: string; readonly text: string; readonly reason: string }[] = [
  {
    file: 'src/web/docs/search.ts',
    text: 'new RegExp(',
    reason: 'only a few words of letters, figures and _ are put in, one beside the other',
  },
  { file: 'src/signer/wallet-file.ts', text: 'new RegExp(', reason: 'only a count of ours is put in' },
  {
    file: 'src/chains/rpc/call.ts',
    text: '/(method|eth_',
    reason: 'looks at the 120 characters that redact() leaves of a message',
  },
];

const patterns = readPatterns(ROOT, (path) => PARTS.test(path));
const isTimed = !process.argv.includes('--form');
const unused = new Set(isTimed ? EXCEPTIONS : []);
const slow: string[] = [];
for (const pattern of patterns) {
  const problem = isTimed ? await slowness(pattern) : slowForm(pattern);
  if (problem === undefined) continue;
  const exception = EXCEPTIONS.find(
    ({ file, text }) => pattern.place.startsWith(`${file}:`) && pattern.text.startsWith(text),
  );
  if (exception) unused.delete(exception);
  else slow.push(`${pattern.place} ${pattern.text}\n  ${problem}`);
}
for (const { file, text } of unused)
  slow.push(`${file} ${text}\n  is an exception that nothing needs: remove it from test/patterns.ts`);
console.log(slow.length === 0 ? `${patterns.length} regular expressions, all linear` : slow.join('\n'));
if (slow.length > 0) {
  console.log(
    'Write it so that there is one way to read a text, or bound the text and name it in test/patterns.ts with the reason.',
  );
  process.exitCode = 1;
}
