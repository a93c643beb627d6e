import type { Key } from '../../api/meta.ts';
import { requirementProblem } from '../../api/core/label-selector.ts';
import { numberOf } from '../../api/quantity.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { parseEndpoint } from '../../stores/endpoint.ts';
import { validateDrain } from './drain/validate-drain.ts';
import { contentFields, secretsOf } from './secret-references.ts';
import type { ContentField } from './secret-references.ts';
import { keptBecause } from './status.ts';
import type { Holders } from './status.ts';

/** The keys of each Secret that a DataStore refers to, by `namespace/name`; a Secret that does not exist is absent. */
export type SecretKeys = ReadonlyMap<string, ReadonlySet<string>>;

/** A request to admission: a new object, or one that replaces `old`. */
export interface DataStoreRequest {
  readonly store: DataStore;
  /** Absent on creation. */
  readonly old?: DataStore | undefined;
  /** Of all Secrets in `secretsOf(store)`. */
  readonly secrets: SecretKeys;
}

/**
 * Validates a DataStore on creation and whenever its spec changes. An object that is being deleted, or whose spec does not change,
 * is always admitted: its conditions report what broke later, and labels and finalizers must remain changeable.
 */
export function validate({ store, old, secrets }: DataStoreRequest): readonly InvalidInput[] {
  if (store.metadata.deletionTimestamp !== undefined) return [];
  if (old !== undefined && JSON.stringify(old.spec) === JSON.stringify(store.spec)) return [];
  return [
    ...validateDriver(store, old),
    ...validateEndpoint(store),
    ...validateRequired(store),
    ...validateCapacity(store),
    ...validateNamespace(store),
    ...validateDrain(store),
    ...contentFields(store).flatMap((field) => validateContent(field, secrets)),
  ];
}

/** Warnings about a DataStore that is admitted: Secrets that it refers to and that do not exist yet. */
export function warningsAbout(store: DataStore, secrets: SecretKeys): readonly string[] {
  return secretsOf(store)
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .filter((secret) => !secrets.has(secret))
    .map((secret) => `Secret ${secret} does not exist: the DataStore cannot be used until the Secret is created`);
}

/** Why a DataStore may not be deleted: whose data it holds, or for which objects that is unknown. */
export function validateDeletion(store: string, holders: Holders): readonly InvalidInput[] {
  return keptBecause(holders).map(({ reason, remedy }) => ({
    field: 'metadata.name',
    value: store,
    reason: `cannot be deleted: ${reason}`,
    remedy,
  }));
}

/** Why a Secret may not be deleted: which of these DataStores read it. */
export function validateSecretDeletion(secret: Key, stores: readonly DataStore[]): readonly InvalidInput[] {
  const users = stores
    .filter((store) =>
      secretsOf(store).some(({ namespace, name }) => namespace === secret.namespace && name === secret.name),
    )
    .map((store) => store.metadata.name)
    .sort();
  if (users.length === 0) return [];
  return [
    {
      field: 'metadata.name',
      value: `${secret.namespace ?? ''}/${secret.name}`,
      reason: `holds the credentials of DataStore ${users.join(', ')}`,
      remedy: 'delete the DataStore first, or make it refer to another Secret',
    },
  ];
}

function validateDriver(store: DataStore, old: DataStore | undefined): readonly InvalidInput[] {
  if (old === undefined || old.spec.driver === store.spec.driver) return [];
  const reason = `differs from ${old.spec.driver}, and the driver of a DataStore cannot be changed`;
  return [
    {
      field: 'spec.driver',
      value: store.spec.driver,
      reason,
      remedy: 'create another DataStore and migrate the tenants to it',
    },
  ];
}

function validateEndpoint({ spec }: DataStore): readonly InvalidInput[] {
  return spec.endpoints.flatMap((value, index): readonly InvalidInput[] => {
    const field = `spec.endpoints[${index}]`;
    const parsed = parseEndpoint(value);
    if (typeof parsed === 'string')
      return [{ field, value, reason: parsed, remedy: 'use the form etcd-0.example.com:2379' }];
    if (spec.endpoints.indexOf(value) === index) return [];
    return [{ field, value, reason: 'is listed twice', remedy: 'list every server once' }];
  });
}

function validateRequired({ spec }: DataStore): readonly InvalidInput[] {
  const found: InvalidInput[] = [];
  if (spec.driver !== 'etcd') {
    const credentials = ['tlsConfig', 'basicAuth', 'nats'];
    if (credentials.some((field) => Object.hasOwn(spec, field))) return found;
    const reason = `is missing, ${spec.driver === 'NATS' ? 'as are spec.tlsConfig and spec.nats' : 'as is spec.tlsConfig'}, but the driver ${spec.driver} needs one of them`;
    return [{ field: 'spec.basicAuth', reason, remedy: 'set a user and its password, or client certificates' }];
  }
  if (spec.tlsConfig?.certificateAuthority.privateKey === undefined) {
    const reason = 'is missing: CA private key is required when using the etcd driver';
    const remedy = "set the key of the CA, which signs the tenants' client certificates";
    found.push({ field: 'spec.tlsConfig.certificateAuthority.privateKey', reason, remedy });
  }
  if (spec.tlsConfig?.clientCertificate === undefined) {
    const reason = 'is missing: client certificate is required when using the etcd driver';
    found.push({
      field: 'spec.tlsConfig.clientCertificate',
      reason,
      remedy: 'set a certificate with the common name root, and its key',
    });
  }
  return found;
}

function validateCapacity({ spec }: DataStore): readonly InvalidInput[] {
  const size = spec.placement?.capacity?.size;
  if (size === undefined || (numberOf(size) ?? 0) > 0) return [];
  const reason = 'is not a number of bytes greater than 0';
  const field = 'spec.placement.capacity.size';
  return [
    {
      field,
      value: String(size),
      reason,
      remedy: 'use a quantity such as 8Gi, or taint the DataStore so that no tenant is placed in it',
    },
  ];
}

function validateNamespace({ spec }: DataStore): readonly InvalidInput[] {
  return (spec.allowedNamespaces?.selector?.matchExpressions ?? []).flatMap((requirement, index) => {
    const reason = requirementProblem(requirement);
    const field = `spec.allowedNamespaces.selector.matchExpressions[${index}]`;
    const remedy = 'use In or NotIn with values, or Exists or DoesNotExist without values';
    return reason === undefined ? [] : [{ field, value: requirement.key, reason, remedy }];
  });
}

function validateContent({ field, content }: ContentField, secrets: SecretKeys): readonly InvalidInput[] {
  if ((content.content ?? '') !== '') return [];
  const reference = content.secretReference;
  if (reference === undefined) {
    // The part after the colon is the message of the Go Steward: tests of its users may expect it.
    const reason = 'is empty: the Secret reference is mandatory when bare content is not specified';
    return [{ field, reason, remedy: 'set content or secretReference' }];
  }
  const { name = '', namespace = '', keyPath } = reference;
  if (name === '' || namespace === '') {
    const missing = name === '' ? 'name' : 'namespace';
    const reason = `is missing: the Secret reference ${missing} is mandatory`;
    return [{ field: `${field}.secretReference.${missing}`, reason, remedy: `set the ${missing} of the Secret` }];
  }
  const keys = secrets.get(`${namespace}/${name}`);
  // A missing Secret only causes a warning: it may be created after the DataStore, as Jobs and GitOps do.
  if (keys === undefined || keys.has(keyPath)) return [];
  // Its keys are not listed: authors of DataStores, or callers of the webhook, may not be allowed to read that Secret.
  const reason = `is not a key of Secret ${namespace}/${name}`;
  return [
    {
      field: `${field}.secretReference.keyPath`,
      value: keyPath,
      reason,
      remedy: 'add the key to the Secret, or use another key',
    },
  ];
}
