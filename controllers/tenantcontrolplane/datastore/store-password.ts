import { randomBytes } from 'node:crypto';
import { dataKeys } from '../../../api/names.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { tenancyIdentifier } from '../../../stores/tenancy-names.ts';
import { secretText } from '../shared/secret.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The prefix of all passwords of an owner, so that a password which was copied into another tenant's Secret is recognized. */
function tagOf(owner: string): string {
  return `${tenancyIdentifier(owner).slice(-8)}-`;
}

/**
 * The tenant's password in its datastore: the one in the datastore-config Secret if it is this owner's or has the format of the
 * Go Steward, otherwise a new one of 192 random bits. Letters, digits and "-" only: it is part of a URL.
 */
export function storePassword(secret: Secret | undefined, owner: string): string {
  const found = secretText(secret?.data)[dataKeys.dataStoreConfig.password] ?? '';
  const own = found.startsWith(tagOf(owner)) && /^[a-z0-9-]{57}$/.test(found);
  return own || uuid.test(found) ? found : `${tagOf(owner)}${randomBytes(24).toString('hex')}`;
}
