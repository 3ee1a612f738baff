import type { Mode } from '../../domain/assets.ts';

/** What deliveries tell the process's metrics. No member may throw. */
export type DeliveryReport = {
  /** The first attempt of a new webhook begins, this long after its making. Not told of resends. */
  begun(delivery: { readonly mode: Mode; readonly lateMs: number }): void;
  /** A delivery came to its end, this long after its making; of a resend there is no such time. */
  ended(delivery: {
    readonly mode: Mode;
    readonly result: 'succeeded' | 'failed';
    readonly lateMs: number | undefined;
  }): void;
};
