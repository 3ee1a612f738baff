import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { note } from '../../../dev/support/test-run.ts';
import { repairActors } from '../../../src/services/repair/repair.ts';
import { ANYTHING, json, UNREADABLE, type webUi } from '../../support/web-ui.ts';

export type Ui = ReturnType<typeof webUi>;
export type Button = (ui: Ui, live: LiveMoney) => Promise<unknown>;

const STEP = 'advance:confirming';

/** Waits until the actor waits in its step. */
export const step = (ui: Ui) => eventually('the step', async () => (await ui.pending()).includes(STEP));

/** Between two steps, or two runs, there is nothing to press. */
function notWhileItLooks(error: unknown): undefined {
  if (!/(?:can't|cannot) find pending activity|execution already completed/i.test(String(error))) throw error;
}

/** Ends the step by hand, as soon as that is taken. */
export const endStep = (ui: Ui, result: Parameters<typeof ui.completeActivity>[1]) =>
  eventually('a step that can be ended', () => ui.completeActivity(STEP, result).catch(notWhileItLooks));

/**
 * Everything that a person can press for a deposit that
 * waits, each as the Web UI or the command line does it.
 */
export const BUTTONS: Readonly<Record<string, Button>> = {
  'Request Cancellation': (ui) => ui.requestCancellation(),
  'Terminate, and repair': async (ui, live) => {
    await ui.terminate();
    await eventually('a repair', async () => (await repairActors(live.gateway.deps)).deposits > 0);
  },
  'Reset, to each place that is offered': async (ui) => {
    const places = await ui.resetPoints();
    for (const [index] of places.entries()) {
      const point = (await ui.resetPoints())[index];
      if (point !== undefined) await ui.resetTo(point);
      await step(ui);
    }
  },
  'Pause of the step, and Unpause': async (ui) => {
    await ui.pauseActivity(STEP);
    await ui.unpauseActivity(STEP);
  },
  'Reset of the step': async (ui) => {
    for (let times = 0; times < 5; times += 1) await ui.resetActivity(STEP);
  },
  'Signal, with every name and input': async (ui) => {
    for (const name of ['changed', 'fail', 'pay', '']) {
      for (const input of [[], ANYTHING.slice(0, 3), ...ANYTHING.map((one) => [one])])
        await ui.signal(name || 'x', input);
    }
  },
  'Update, with every name and input': async (ui) => {
    for (const name of ['fail', 'pay']) {
      for (const input of [[], ...ANYTHING.map((one) => [one])]) {
        expect(await ui.update(name, input), `${name} ${JSON.stringify(input).slice(0, 200)}`).to.not.equal(
          undefined,
        );
      }
    }
    for (const by of ['', ' ', 'x'.repeat(121), 'a\0b', 7, null]) {
      expect(await ui.update('fail', [json({ by, reason: 'because' })])).to.match(
        /"by" must name who decided/,
      );
      expect(
        await ui.update('fail', [json({ by: 'Ann', reason: by === 'x'.repeat(121) ? 'x'.repeat(501) : by })]),
      ).to.match(/"reason" must/);
    }
  },
  'the end of the step by hand, with results that are none': async (ui) => {
    for (const result of [undefined, json({ state: 'completed' }), ...UNREADABLE]) {
      await endStep(ui, result);
    }
  },
  'the failure of the step by hand': async (ui, live) => {
    // The server takes a failure only of a step that is under way.
    const em = live.gateway.deps.orm.em.fork();
    await em.begin();
    try {
      await em.execute('lock table chain_cursors in access exclusive mode');
      await ui.resetActivity(STEP);
      await eventually('a failure that is taken', () =>
        ui.failActivity(STEP, 'pressed').catch(() => undefined),
      );
    } finally {
      await em.rollback();
    }
  },
};

/** Presses each, one after the other, whenever the actor is where it can be pressed. */
export async function pressEach(
  buttons: Readonly<Record<string, Button>>,
  ui: Ui,
  live: LiveMoney,
  ready: (ui: Ui) => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (const [name, press] of Object.entries(buttons)) {
    note(`presses ${name}`);
    await eventually(`a press of ${name}`, async () => {
      await ready(ui);
      return await press(ui, live).then(() => true, notWhileItLooks);
    });
  }
}
