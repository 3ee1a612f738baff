import type { Mode } from '../../domain/assets.ts';

/** What deliveries tell the process's metrics. No member may throw. */
export type DeliveryReport = {
  /**
   * The first attempt of a new webhook begins, this long after the webhook was made. Not called for resends.
   */
  begun(delivery: { readonly mode: Mode; readonly lateMs: number }): void;
  /** A delivery ended, this long after it was made; a resend has no such time. */
  ended(delivery: {
    readonly mode: Mode;
    readonly result: 'succeeded' | 'failed';
    readonly lateMs: number | undefined;
  }): void;
};
