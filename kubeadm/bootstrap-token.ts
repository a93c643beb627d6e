import type { Manifest } from '../api/meta.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { projectLabels } from './manifest-labels.ts';
import { bootstrappersGroup } from './rbac.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A bootstrap token in its two parts; written `id.secret`. */
export interface BootstrapToken {
  /** Six characters of `[a-z0-9]`; public. */
  readonly id: string;
  /** Sixteen characters of `[a-z0-9]`; secret. */
  readonly secret: string;
}

/** Random octets that always suffice for a token; the chance that they do not is below 2⁻⁶⁰. */
export const tokenEntropyBytes = 64;

/**
 * A token from random octets, each character equally likely. Throws `RangeError` when too few octets are usable: pass
 * `tokenEntropyBytes` of them.
 */
export function newBootstrapToken(random: Uint8Array): BootstrapToken {
  const limit = 256 - (256 % alphabet.length);
  const usable = [...random].filter((octet) => octet < limit);
  if (usable.length < 22)
    throw new RangeError(`a bootstrap token needs 22 usable random octets, but there are only ${usable.length}`);
  const text = usable.map((octet) => alphabet.charAt(octet % alphabet.length)).join('');
  return { id: text.slice(0, 6), secret: text.slice(6, 22) };
}

/** Reads `id.secret`. Throws `InvalidInputError`, which never repeats the token. */
export function parseBootstrapToken(text: string, field = 'token'): BootstrapToken {
  const match = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) {
    const remedy = 'use six and sixteen characters of a-z and 0-9, joined by a dot';
    throw new InvalidInputError({ field, reason: 'is not a bootstrap token', remedy });
  }
  return { id: match[1], secret: match[2] };
}

/** A token and its expiration. */
export interface BootstrapTokenInputs {
  readonly token: BootstrapToken;
  /** Absent for a token that never expires. */
  readonly expiration?: Date;
  readonly description?: string;
}

/** The Secret `kube-system/bootstrap-token-<id>` that makes a token valid for joining nodes. */
export function bootstrapTokenSecret({ token, expiration, description }: BootstrapTokenInputs): Manifest {
  const fields: Record<string, string | undefined> = {
    'auth-extra-groups': bootstrappersGroup,
    description,
    expiration: expiration?.toISOString().replace(/\.\d+Z$/, 'Z'),
    'token-id': token.id,
    'token-secret': token.secret,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
  };
  const data: Record<string, string> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) data[key] = Buffer.from(value, 'utf8').toString('base64');
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${token.id}`, namespace: 'kube-system', labels: projectLabels },
    type: 'bootstrap.kubernetes.io/token',
    data,
  };
}
