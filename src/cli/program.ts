import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../base/errors.ts';
import { text } from './arguments.ts';
import { answering, quietErrors } from './run.ts';
import type { Definition, OptionGiven } from './table/definition.ts';
import { MERCHANTS } from './table/merchants.ts';
import { MONEY } from './table/money.ts';
import { SERVICE } from './table/service.ts';

/** Every command there is. */
export const DEFINITIONS: readonly Definition[] = [...SERVICE, ...MERCHANTS, ...MONEY];

/** What the names mean that only hold other commands. */
const GROUPS: Readonly<Record<string, string>> = {
  config: 'the environment variables of this gateway',
  merchant: 'merchants: who uses this gateway',
  subscription: 'opens and closes the API for a merchant',
  customer: 'customers of merchants',
  key: 'API keys of merchants',
  user: 'people who sign in for a merchant',
  wallet: 'the encrypted seed that all addresses come from',
  deposit: 'money that arrived',
  payout: 'money that is paid out to merchants',
  webhook: 'what was sent to merchants',
  audit: 'what operators and signed-in users changed',
};

const MAX_ARGUMENT = 2_048;
/** What a newcomer types first, for the help of the whole. */
const FIRST = ['doctor', 'merchant create', 'find', 'deposit stuck'];
/** A group's help shows some of its commands at work; each command's own shows all of its examples. */
const OF_A_GROUP = 4;

/** The whole command line, not yet run. */
export function makeProgram(): Command {
  const program = quietErrors(new Command('gateway'))
    .description('Crypto deposit gateway. Exit codes: 0 done, 1 refused, 2 wrong usage.')
    .version(versionOf(), '--version', 'prints the version')
    .showHelpAfterError('Add --help to see how it is used.')
    // Commands take this over from the program that they are added to.
    .configureHelp({ optionDescription: describeOption })
    .exitOverride();
  for (const definition of DEFINITIONS) add(program, definition);
  for (const group of program.commands.filter(({ commands }) => commands.length > 0))
    showExamples(group, firstOf(`${group.name()} `).slice(0, OF_A_GROUP));
  showExamples(program, FIRST.flatMap(firstOf));
  return program;
}

function add(program: Command, definition: Definition): void {
  const { name, about, takes = [], needs = [], options = [], work } = definition;
  const [words = '', ...plain] = name.split(/ (?=[<[])/);
  const [own = '', group] = words.split(' ').reverse();
  const parent = group === undefined ? program : groupOf(program, group);
  const command = parent.command(own).description(about);
  for (const notation of plain) command.argument(notation, '', refusing(text(MAX_ARGUMENT)));
  for (const [notation, what, read = text(MAX_ARGUMENT)] of takes)
    command.argument(notation, what, refusing(read));
  for (const given of needs) command.addOption(optionOf(given).makeOptionMandatory());
  for (const given of options) command.addOption(optionOf(given));
  command.option('--json', 'print one JSON object and nothing else').action(answering(work));
  showExamples(command, examplesOf(definition));
}

/** How a command is called, without the program's name. */
export function examplesOf({ name, examples = [''] }: Definition): string[] {
  const words = name.replace(/ [<[].*$/, '');
  return examples.map((example) => `${words} ${example}`.trim());
}

function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(GROUPS[name] ?? '');
}

function optionOf([flags, about, read, ...byDefault]: OptionGiven): Option {
  const option = new Option(flags, about);
  if (flags.includes('<')) option.argParser(refusing(read ?? text()));
  return byDefault.length === 0 ? option : option.default(...byDefault);
}

/** As commander expects it, which prints the sentence; the exit code is 2, and nothing was done. */
function refusing<T>(read: (given: string) => T): (given: string) => T {
  return (given) => {
    try {
      return read(given);
    } catch (error) {
      if (error instanceof UsageError) throw new InvalidArgumentError(error.message);
      throw error;
    }
  };
}

/** The first example of each command that begins with these words. */
function firstOf(words: string): string[] {
  return DEFINITIONS.flatMap((one) => examplesOf(one).slice(0, 1)).filter((one) => one.startsWith(words));
}

function showExamples(command: Command, examples: readonly string[]): void {
  const lines = examples.map((example) => `  gateway ${example}`);
  command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
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
