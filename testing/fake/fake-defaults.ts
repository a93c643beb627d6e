import { Buffer } from 'node:buffer';
import type { KindRef } from '../../api/meta.ts';
import { refusals } from './fake-refusals.ts';
import { isFields, omit, type StoredObject } from './stored-object.ts';

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const pathSegment = /^[^/%]+$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Refuses names, label keys and label values the API server would refuse. */
export function validateMeta(kind: KindRef, object: StoredObject): void {
  const { name = '', labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const [first, second] = ownerReferences.filter(({ controller }) => controller === true);
  if (first !== undefined && second !== undefined)
    throw refusals.invalid(
      kind,
      name,
      `metadata.ownerReferences: Invalid value: Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
    );
  const form = kind.group === 'rbac.authorization.k8s.io' ? pathSegment : dnsName;
  if (name === '')
    throw refusals.invalid(kind, name, 'metadata.name: Required value: name or generateName is required');
  if (name.length > 253 || !form.test(name)) {
    throw refusals.invalid(
      kind,
      name,
      `metadata.name: Invalid value: "${name}": a lowercase RFC 1123 subdomain is required`,
    );
  }
  for (const [key, value] of Object.entries(labels)) {
    if (value.length > 63 || !labelValue.test(value)) {
      throw refusals.invalid(
        kind,
        name,
        `metadata.labels: Invalid value: "${value}" of ${key}: must be no more than 63 characters of [A-Za-z0-9._-]`,
      );
    }
  }
  for (const key of [...Object.keys(labels), ...Object.keys(annotations)]) {
    const short = key.split('/').at(-1) ?? '';
    if (short.length > 63 || !labelKey.test(key)) {
      throw refusals.invalid(
        kind,
        name,
        `metadata: Invalid value: "${key}": name part must be no more than 63 characters of [A-Za-z0-9._-]`,
      );
    }
  }
}

/** What the server itself adds to objects of built-in kinds that controllers read back. */
export function defaultBuiltIn(kind: KindRef, object: StoredObject, seed: number): StoredObject {
  if (kind.group === rbacGroup && Array.isArray(object.subjects)) return defaultSubjects(object, object.subjects);
  if (kind.group === 'apps' && object.spec !== undefined) return defaultFieldReferences(object);
  if (kind.group !== '') return object;
  if (kind.kind === 'Secret') return defaultSecret(object);
  if (kind.kind === 'Service') return defaultService(object, seed);
  return object;
}

const rbacGroup = 'rbac.authorization.k8s.io';

function defaultSubjects(object: StoredObject, subjects: readonly unknown[]): StoredObject {
  const complete = (subject: unknown): unknown =>
    isFields(subject) && subject.kind !== 'ServiceAccount' ? { apiGroup: rbacGroup, ...subject } : subject;
  return { ...object, subjects: subjects.map(complete) };
}

function defaultFieldReferences(object: StoredObject): StoredObject {
  const text = JSON.stringify(object.spec);
  if (!text.includes('"fieldRef"')) return object;
  const spec: unknown = JSON.parse(text, (name, value: unknown) =>
    name === 'fieldRef' && isFields(value) ? { apiVersion: 'v1', ...value } : value,
  );
  return { ...object, spec };
}

function defaultSecret(object: StoredObject): StoredObject {
  const plain = isFields(object.stringData) ? object.stringData : {};
  const encoded = Object.entries(plain).map(([key, value]): [string, string] => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  const data = isFields(object.data) ? object.data : {};
  const merged: Record<string, unknown> = { ...data, ...Object.fromEntries(encoded) };
  const rest = omit(object, 'stringData', 'data') as StoredObject;
  return { type: 'Opaque', ...rest, ...(Object.keys(merged).length === 0 ? {} : { data: merged }) };
}

function defaultService(object: StoredObject, seed: number): StoredObject {
  if (!isFields(object.spec)) return object;
  const spec = object.spec;
  const address = `10.96.${Math.floor(seed / 250) % 250}.${(seed % 250) + 1}`;
  const external = spec.type === 'ExternalName';
  const ports = Array.isArray(spec.ports) ? (spec.ports as unknown[]).filter((port) => isFields(port)) : [];
  return {
    ...object,
    spec: {
      type: 'ClusterIP',
      ...(external ? {} : { clusterIP: address, clusterIPs: [spec.clusterIP ?? address] }),
      ...spec,
      ...(ports.length === 0
        ? {}
        : { ports: ports.map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port })) }),
    },
  };
}
