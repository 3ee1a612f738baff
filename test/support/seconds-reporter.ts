import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END } = Mocha.Runner.constants;

/**
 * Mocha's own report. Beside it, a JSON `file` tells how long
 * each test file took, the start and end of its servers included.
 */
class SecondsReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const took: Record<string, number> = {};
    let beganMs = 0;
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root) beganMs = performance.now();
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (!suite.parent?.root || suite.file === undefined) return;
      const name = relative(process.cwd(), suite.file);
      took[name] = (took[name] ?? 0) + (performance.now() - beganMs) / 1_000;
    });
    const { file } = options.reporterOptions as { file: string };
    runner.once(EVENT_RUN_END, () => writeFileSync(file, `${JSON.stringify(took)}\n`));
  }
}

// The name under which mocha, which asks with `require`, finds the class itself.
export { SecondsReporter as 'module.exports' };
