import { OperatorError } from '../base/errors.ts';
import { text } from './arguments.ts';

/** `--preset`, of the commands that begin or look at a configuration; the others read PRESET alone. */
export const PRESET_OPTION = [
  '--preset <names>',
  'test nets in place of the main nets, as PRESET names them',
  text(),
] as const;

/** The environment with `--preset` as PRESET. Throws OperatorError where PRESET says something else. */
export function withPresetOption(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  if (given === undefined) return env;
  if (env['PRESET'] && env['PRESET'] !== given)
    throw new OperatorError(
      `--preset is ${given}, and the variable PRESET is ${env['PRESET']}`,
      'Leave one of them out',
    );
  return { ...env, PRESET: given };
}
