<?php
// Verifies the webhooks of a deposit gateway in plain PHP 8, without any package. One file: copy it beside your code.
//
//     require __DIR__ . '/GatewayWebhook.php';
//     try {
//         $event = GatewayWebhook::verify(file_get_contents('php://input'), getallheaders(), $secret);
//     } catch (WebhookVerificationError $error) {
//         http_response_code(400);
//         exit($error->reason);
//     }
//
// A genuine webhook can arrive more than once: use $event['data']['id'] as the key when you credit.
declare(strict_types=1);

/** A webhook that must not be trusted: answer 400 and do nothing. `reason` is a code that says why. */
final class WebhookVerificationError extends RuntimeException
{
    public function __construct(public readonly string $reason, string $message)
    {
        parent::__construct($message);
    }
}

final class GatewayWebhook
{
    private const MIN_SECRET_CHARACTERS = 16;
    /** The least that Standard Webhooks allows. */
    private const MIN_KEY_BYTES = 24;
    /** Far more than a rotation ever needs; an attacker's long list costs no time. */
    private const MAX_SIGNATURES = 16;

    /**
     * The event of one webhook as an array. Either signature is enough: X-Webhook-Signature, or the Standard Webhooks
     * headers, which during a rotation also carry the old secret's signature. Compares in constant time.
     *
     * @param string $rawBody the exact bytes that arrived; JSON that was parsed and printed again has another signature
     * @param array<string, string|string[]> $headers by name in any case: getallheaders(), or those of a PSR-7 request
     * @param string $secret the whole secret as shown at creation, "whsec_" included; a line end after it counts for nothing
     * @param int|float|null $now our time in seconds; the system clock where it is null
     * @throws WebhookVerificationError
     */
    public static function verify(
        string $rawBody,
        array $headers,
        string $secret,
        int|float $toleranceSeconds = 300,
        int|float|null $now = null,
    ): array {
        // An empty or cut-off secret must not verify anything: everybody knows that key.
        $secret = trim($secret);
        if (strlen($secret) < self::MIN_SECRET_CHARACTERS) {
            throw new WebhookVerificationError('SECRET_REQUIRED', 'the signing secret is missing or incomplete');
        }
        $isRecent = static fn (float $sent): bool => abs(($now ?? microtime(true)) - $sent) <= $toleranceSeconds;
        $matches = self::ownProof($rawBody, $headers, $secret, $isRecent)
            ?? self::standardProof($rawBody, $headers, $secret, $isRecent);
        if ($matches === null) {
            throw new WebhookVerificationError('HEADER_MISSING', 'the webhook has no signature headers');
        }
        if (!$matches) {
            throw new WebhookVerificationError('SIGNATURE_MISMATCH', 'the signature does not match the body and the secret');
        }
        $event = json_decode($rawBody, true);
        if ($event === null && trim($rawBody) !== 'null') {
            throw new WebhookVerificationError('BODY_INVALID', 'the body is not JSON');
        }
        foreach (['event', 'data', 'timestamp'] as $member) {
            if (!is_array($event) || !array_key_exists($member, $event)) {
                throw new WebhookVerificationError('BODY_INVALID', 'the body is not an event');
            }
        }
        return $event;
    }

    /**
     * A signed event as the gateway would send it, for the tests of a receiver: its body, and its headers by name.
     *
     * @return array{rawBody: string, headers: array<string, string>}
     */
    public static function signTestEvent(
        string $secret,
        string $event,
        array $data,
        string $id = '00000000-0000-4000-8000-000000000000',
        ?int $now = null,
    ): array {
        $secret = trim($secret);
        $seconds = $now ?? time();
        $timestamp = gmdate('Y-m-d\TH:i:s\Z', $seconds);
        $body = ['event' => $event, 'data' => (object) $data, 'timestamp' => $timestamp];
        $rawBody = json_encode($body, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
        $key = self::standardKey($secret);
        return ['rawBody' => $rawBody, 'headers' => [
            'Content-Type' => 'application/json',
            'User-Agent' => 'Service-Webhook/1.0',
            'X-Webhook-Signature' => hash_hmac('sha256', "$timestamp.$rawBody", $secret),
            'X-Webhook-Timestamp' => $timestamp,
            'X-Webhook-Id' => $id,
            'X-Webhook-Event' => $event,
            'X-Webhook-Attempt' => '1',
            'webhook-id' => $id,
            'webhook-timestamp' => (string) $seconds,
            'webhook-signature' => 'v1,' . base64_encode(hash_hmac('sha256', "$id.$seconds.$rawBody", $key, true)),
        ]];
    }

    /**
     * Whether the API's own signature matches; null when its headers are absent, or when it fails while the other
     * scheme's headers are present: the other one decides then, by its own timestamp.
     */
    private static function ownProof(string $rawBody, array $headers, string $secret, Closure $isRecent): ?bool
    {
        $signature = self::header($headers, 'x-webhook-signature');
        $timestamp = self::header($headers, 'x-webhook-timestamp');
        if ($signature === null || $timestamp === null) {
            return null;
        }
        $matches = hash_equals(hash_hmac('sha256', "$timestamp.$rawBody", $secret), strtolower($signature));
        if (!$matches && self::header($headers, 'webhook-signature') !== null) {
            return null;
        }
        self::checkTime(self::secondsOf($timestamp), $isRecent);
        return $matches;
    }

    private static function standardProof(string $rawBody, array $headers, string $secret, Closure $isRecent): ?bool
    {
        $id = self::header($headers, 'webhook-id');
        $timestamp = self::header($headers, 'webhook-timestamp');
        $signatures = self::header($headers, 'webhook-signature');
        if ($id === null || $timestamp === null || $signatures === null) {
            return null;
        }
        $key = self::standardKey($secret);
        // The secret does not decode: an empty key would accept anybody's signature.
        if (strlen($key) < self::MIN_KEY_BYTES) {
            return false;
        }
        self::checkTime(preg_match('/^\d{1,12}$/D', $timestamp) === 1 ? (float) $timestamp : null, $isRecent);
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
        $matches = false;
        foreach (array_slice(explode(' ', $signatures), 0, self::MAX_SIGNATURES) as $given) {
            $matches = hash_equals($expected, $given) || $matches;
        }
        return $matches;
    }

    private static function checkTime(?float $sent, Closure $isRecent): void
    {
        if ($sent === null) {
            throw new WebhookVerificationError('TIMESTAMP_INVALID', 'the timestamp header is not a time');
        }
        if (!$isRecent($sent)) {
            throw new WebhookVerificationError(
                'TIMESTAMP_OUT_OF_TOLERANCE',
                'the webhook was sent too long ago, or one of the clocks is wrong',
            );
        }
    }

    private static function secondsOf(string $iso): ?float
    {
        $pattern = '/^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?Z$/D';
        if (preg_match($pattern, $iso, $part) !== 1) {
            return null;
        }
        [, $year, $month, $day, $hour, $minute, $second] = array_map('intval', $part);
        if (!checkdate($month, $day, $year) || $hour > 23 || $minute > 59 || $second > 59) {
            return null;
        }
        return gmmktime($hour, $minute, $second, $month, $day, $year) + (float) ('0' . ($part[7] ?? '.0'));
    }

    /** One header's value. A repeated header is treated as absent: which value was meant cannot be known. */
    private static function header(array $headers, string $name): ?string
    {
        $values = [];
        foreach ($headers as $key => $value) {
            if (strtolower((string) $key) === $name) {
                array_push($values, ...(is_array($value) ? array_values($value) : [$value]));
            }
        }
        return count($values) === 1 ? (string) $values[0] : null;
    }

    private static function standardKey(string $secret): string
    {
        return (string) base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true);
    }
}
