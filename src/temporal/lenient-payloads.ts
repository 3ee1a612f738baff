import { DefaultPayloadConverter } from '@temporalio/common';

/**
 * Reads what people send to an actor by hand. A payload that cannot be read would fail the actor's task,
 * and every later try again: the deposit would stand still until somebody resets it. So it arrives as
 * undefined, which no actor takes for an answer or a command.
 */
class LenientPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<T>(...input: Parameters<typeof DefaultPayloadConverter.prototype.fromPayload<T>>): T {
    try {
      return super.fromPayload<T>(...input);
    } catch {
      return undefined as T;
    }
  }
}

/** The name under which the bundle of the workflows looks for it. */
export const payloadConverter: DefaultPayloadConverter = new LenientPayloadConverter();
