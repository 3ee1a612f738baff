// What both ways to verify have in common and callers use.
export {
  type SignedEvent,
  type TestEvent,
  type VerifyWebhook,
  type WebhookErrorCode,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './rules.ts';
