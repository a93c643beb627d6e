import { apiError } from '../../../runtime/client/api-status.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

/** The body of an answer that is a refusal; its first two bytes are the code. */
export const apiStatus: FuzzTarget = {
  name: 'api-status',
  from: 'the API server of a tenant, or a proxy in front of it',
  seeds: () => [
    `aa${JSON.stringify({ kind: 'Status', code: 409, reason: 'Conflict', message: 'again', details: { retryAfterSeconds: 3 } })}`,
    'bb<html>bad gateway</html>',
  ],
  refusals: [],
  parse: (input) => {
    const code = 400 + (input.length < 2 ? 0 : input.readUInt16BE() % 200);
    const text = input.subarray(2).toString();
    const error = apiError(code, text, text.slice(0, 6));
    kept(error.code >= 400 && error.message.length < 2200, 'a refusal has a code and a message that can be shown');
    kept(error.retryAfterMs === undefined || error.retryAfterMs >= 0, 'a pause is not negative');
  },
};
