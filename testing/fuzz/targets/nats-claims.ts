import { decodeBase32, encodeBase32 } from '../../../stores/nats/base32.ts';
import { readClaims } from '../../../stores/nats/claims.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The claims of an account that a NATS server holds. */
export const natsClaims: FuzzTarget = {
  name: 'nats-claims',
  from: 'a NATS server',
  seeds: () => [
    `${part({ typ: 'JWT' })}.${part({ iss: 'OA', sub: 'AB', iat: 1, nats: { limits: {} } })}.c2ln`,
    'MFRGGZDF',
  ],
  refusals: [],
  parse: (input) => {
    const text = input.toString();
    readClaims(text);
    const bytes = decodeBase32(text);
    kept(bytes === undefined || text.startsWith(encodeBase32(bytes).slice(0, -1)), 'base32 is read as written');
  },
};
