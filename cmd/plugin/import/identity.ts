import { createHash } from 'node:crypto';
import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys } from '../../../api/names.ts';
import type { ImportRecord } from './import-record.ts';

/** By what workers and users know a control plane. */
export interface Identity {
  readonly endpoint?: string | undefined;
  readonly ca?: string | undefined;
  readonly serviceAccountKey?: string | undefined;
  readonly dataStore?: string | undefined;
  readonly schema?: string | undefined;
  readonly user?: string | undefined;
  /** UID of the namespace `kube-system` inside it, if its API server could be reached. */
  readonly inside?: string | undefined;
}

function fingerprint(secret: Pick<Secret, 'data'> | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : createHash('sha256').update(Buffer.from(value, 'base64')).digest('hex');
}

interface Source {
  readonly status?: {
    readonly controlPlaneEndpoint?: string;
    readonly storage?: {
      readonly dataStoreName?: string;
      readonly setup?: { readonly schema?: string; readonly user?: string };
    };
  };
}

/** The identity that a TenantControlPlane, of any of the managers, and its Secrets have. */
export function identityOf(
  tcp: Source | undefined,
  secrets: { readonly ca: Pick<Secret, 'data'> | undefined; readonly serviceAccount: Pick<Secret, 'data'> | undefined },
  inside?: string,
): Identity {
  const { controlPlaneEndpoint: endpoint, storage } = tcp?.status ?? {};
  return {
    endpoint,
    ca: fingerprint(secrets.ca, dataKeys.ca.certificate),
    serviceAccountKey: fingerprint(secrets.serviceAccount, dataKeys.serviceAccount.publicKey),
    dataStore: storage?.dataStoreName,
    schema: storage?.setup?.schema,
    user: storage?.setup?.user,
    inside,
  };
}

/** The record of an identity; undefined as long as a part of it is not known. */
export function recordOf(identity: Identity, now: Date): ImportRecord | undefined {
  const { endpoint, ca, serviceAccountKey, dataStore, schema, user, inside } = identity;
  const isKnown = (value: string | undefined): value is string => value !== undefined && value !== '';
  if (!isKnown(endpoint) || !isKnown(ca) || !isKnown(serviceAccountKey)) return undefined;
  if (!isKnown(dataStore) || !isKnown(schema) || !isKnown(user)) return undefined;
  const parts = { endpoint, ca, serviceAccountKey, dataStore, schema, user };
  return { since: now.toISOString(), ...parts, ...(inside !== undefined && { inside }) };
}

const compared = {
  endpoint: 'the endpoint',
  ca: 'the certificate of the CA (SHA-256)',
  serviceAccountKey: 'the service-account key (SHA-256)',
  schema: 'the schema in the datastore',
  user: 'the user in the datastore',
  inside: 'the UID of the namespace kube-system inside the tenant',
} as const;

/** What differs from the record, one sentence each. What could not be read does not count. */
export function differences(record: ImportRecord, identity: Identity): readonly string[] {
  return (Object.keys(compared) as (keyof typeof compared)[]).flatMap((part) => {
    const [before, after] = [record[part], identity[part]];
    if (before === undefined || before === after || (part === 'inside' && after === undefined)) return [];
    return [`${compared[part]} was ${before} and is ${after ?? 'absent'}`];
  });
}
