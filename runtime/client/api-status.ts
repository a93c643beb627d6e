import { ApiError } from './errors.ts';

/** Reasons of answers that carry no `Status`: proxies and overloaded servers send plain text. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
const longestMessage = 2000;

/** The refusal in an answer of 400 and above. `retryAfter` is the header: seconds (RFC 9110 §10.2.3). */
export function apiError(code: number, body: string, retryAfter?: string): ApiError {
  const status = parseStatus(body);
  const fromHeader = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  return statusError(status ?? { message: body.trim() }, code, fromHeader);
}

/** The refusal in a `Status` object, e.g. of a watch's ERROR event. */
export function statusError(status: unknown, code = 500, retryAfterMs?: number): ApiError {
  const fields = typeof status === 'object' && status !== null ? (status as Record<string, unknown>) : {};
  const actual = typeof fields.code === 'number' && fields.code >= 400 ? fields.code : code;
  const reason = typeof fields.reason === 'string' && fields.reason !== '' ? fields.reason : reasons[actual];
  const text =
    typeof fields.message === 'string' && fields.message !== '' ? fields.message : 'the response has no message';
  const message = text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text;
  return new ApiError(actual, reason ?? 'Unknown', message, {
    retryAfterMs: retryAfterMs ?? detailsSeconds(fields.details),
    next: continueToken(fields.metadata),
  });
}

function continueToken(metadata: unknown): string | undefined {
  const fields = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
  return typeof fields.continue === 'string' && fields.continue !== '' ? fields.continue : undefined;
}

function detailsSeconds(details: unknown): number | undefined {
  const fields = typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {};
  const seconds = fields.retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
}

function parseStatus(body: string): unknown {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const parsed = JSON.parse(body) as { kind?: unknown };
    return parsed.kind === 'Status' ? parsed : undefined;
  } catch {
    // Not JSON after all: the body itself is the message.
    return undefined;
  }
}
