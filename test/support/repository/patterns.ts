import { createRequire } from 'node:module';
import { relative } from 'node:path';
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isRegularExpressionLiteral,
  isStringLiteral,
  type Node,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { leastMs } from '../http/hostile-texts.ts';

type Report = { readonly exponential?: boolean; readonly character: { readonly pick: string } };
type Analyser = {
  analyse(pattern: { readonly source: string; readonly flags: string }): {
    readonly reports: readonly Report[];
  };
};

/** Its own types bring along three packages of syntax trees. */
const { analyse } = createRequire(import.meta.url)('scslre') as Analyser;

/**
 * A regular expression as it is written in a source; `source` is undefined where
 * it is put together while the program runs.
 */
export type Pattern = {
  readonly place: string;
  readonly text: string;
  readonly source: string | undefined;
  readonly flags: string;
};

/**
 * Every regular expression of the project's files whose path passes
 * the filter. Throws where `tsconfig.json` names no project.
 */
export function readPatterns(root: string, filter: (path: string) => boolean): Pattern[] {
  const api = new API({ cwd: root });
  try {
    const project = api.updateSnapshot({ openProject: `${root}/tsconfig.json` }).getProjects()[0];
    if (!project) throw new Error('tsconfig.json names no project');
    const found: Pattern[] = [];
    for (const file of project.rootFiles.filter((name) => filter(relative(root, name)))) {
      const ast = project.program.getSourceFile(file);
      if (!ast) continue;
      const visit = (node: Node): undefined => {
        const pattern = patternOf(node);
        const line = () => ast.text.slice(0, node.getStart(ast)).split('\n').length;
        if (pattern)
          found.push({ place: `${relative(root, file)}:${line()}`, text: node.getText(ast), ...pattern });
        node.forEachChild(visit);
      };
      visit(ast);
    }
    return found;
  } finally {
    api.close();
  }
}

function patternOf(node: Node): Pick<Pattern, 'source' | 'flags'> | undefined {
  if (isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/');
    return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
  }
  if (!isNewExpression(node) && !isCallExpression(node)) return undefined;
  if (!isIdentifier(node.expression) || node.expression.text !== 'RegExp') return undefined;
  const [source, flags] = node.arguments ?? [];
  const isKnown = source && isStringLiteral(source) && (!flags || isStringLiteral(flags));
  return {
    source: isKnown ? source.text : undefined,
    flags: flags && isStringLiteral(flags) ? flags.text : '',
  };
}

/** In small steps first: an exponential pattern would never return from a long text. */
const LENGTHS = [24, 32, 40, 56, 80, 120, 1_000, 40_000];
/** A linear pattern takes a hundredth of this for the longest text, a quadratic one several times as much. */
const LIMIT_MS = 100;
const RUNS = [
  'a',
  'A',
  '0',
  'f',
  ' ',
  '\t',
  '\n',
  '.',
  '-',
  '_',
  ':',
  '/',
  '@',
  '=',
  ';',
  ',',
  '"',
  '[',
  '(',
  'é',
  'a.',
  'a ',
  'a:',
  '0,',
];

type Regex = Pick<Pattern, 'source' | 'flags'>;

/** Why a regular expression may take more than linear time by its form; undefined for one that does not. */
export function slowForm({ source, flags }: Regex): string | undefined {
  if (source === undefined) return 'is put together while the program runs: nobody can judge it before';
  const [report] = analyse({ source, flags }).reports;
  if (!report) return undefined;
  const run = JSON.stringify(report.character.pick);
  return `takes ${report.exponential ? 'exponential' : 'quadratic'} time for a long run of ${run}`;
}

/**
 * The same, and where the form alone does not show it, by the clock for runs of the characters and words that
 * the pattern is made of: half a minute of work for all of ours.
 */
export async function slowness({ source, flags }: Regex): Promise<string | undefined> {
  const form = slowForm({ source, flags });
  if (form !== undefined || source === undefined) return form;
  for (const length of LENGTHS)
    for (const run of [...RUNS, ...wordsOf(source)])
      for (const end of ['', '!', '\n']) {
        const text = run.repeat(Math.ceil(length / run.length)) + end;
        const ms = await leastMs(LIMIT_MS, () => match(source, flags, text));
        if (ms > LIMIT_MS) return `takes too long for ${length} characters of ${JSON.stringify(run)}`;
      }
  return undefined;
}

/** The words that a pattern names, alone and with what may part them. */
function wordsOf(source: string): string[] {
  const words = new Set(source.replace(/\\./g, ' ').match(/[A-Za-z0-9_]{2,40}/g));
  return [...words].flatMap((word) => [word, `${word} `, `${word}.`]);
}

function match(source: string, flags: string, text: string): void {
  const pattern = new RegExp(source, flags);
  if (pattern.global) text.replace(pattern, '');
  else pattern.test(text);
}
