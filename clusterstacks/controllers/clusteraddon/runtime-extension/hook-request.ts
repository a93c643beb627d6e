import type { Key } from '../../../../api/meta.ts';
import { BadCallError } from '../../../../runtime/client/json-call.ts';
import { hooksVersion } from './hooks.ts';

/** What is used of a request: which Cluster it is about. Everything else is read from the API server, because anyone can call. */
export interface HookRequest {
  readonly cluster: Required<Key>;
  /** Version that the Cluster is upgraded to; '' at hooks that know none. */
  readonly toVersion: string;
}

const longestName = 253;
const dnsName = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
const version = /^v?\d+\.\d+\.\d+[-+.A-Za-z0-9]{0,60}$/;

/**
 * The request of a hook.
 * @throws BadCallError for any other document.
 */
export function hookRequest(hook: string, document: unknown): HookRequest {
  const { cluster, toKubernetesVersion: toVersion = '' } = fieldsOf(document, `${hook}Request`);
  const { metadata } = recordOf(cluster);
  const { name, namespace } = recordOf(metadata);
  if (!isName(name) || !isName(namespace)) throw new BadCallError('cluster.metadata must have a name and a namespace');
  if (typeof toVersion !== 'string' || !(toVersion === '' || version.test(toVersion))) {
    throw new BadCallError('toKubernetesVersion is not a version');
  }
  return { cluster: { name, namespace }, toVersion };
}

/**
 * The fields of a document of that kind.
 * @throws BadCallError for any other document.
 */
export function fieldsOf(document: unknown, kind: string): Readonly<Record<string, unknown>> {
  const fields = recordOf(document);
  if (fields.apiVersion !== hooksVersion || fields.kind !== kind) {
    throw new BadCallError(`expected a ${kind} of ${hooksVersion}`);
  }
  return fields;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestName && dnsName.test(value);
}
