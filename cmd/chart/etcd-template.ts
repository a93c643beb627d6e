import type { Manifest } from '../../api/meta.ts';
import { placed, releaseNames } from './placed.ts';
import { action, onlyIf, templateHeader, templateText } from './template-text.ts';

const managerImage = 'ghcr.io/butlerdotdev/steward:';
const etcdImage = 'registry.k8s.io/etcd:';

/** The quick-start etcd of config/datastores/etcd as a template; its bootstrap Job makes the DataStore. */
export function etcdTemplate(manifests: readonly Manifest[]): string {
  const documents = manifests
    .filter(({ kind }) => kind !== 'DataStore')
    .map((manifest) => `---\n${templateText(placed(templated(manifest), names))}`);
  return templateHeader + onlyIf('include "steward.etcd.enabled" .', documents.join(''));
}

const domain = '{{ .Values.etcd.clusterDomain }}';

const names = new Map([
  ...releaseNames,
  [`etcd-0=https://etcd-0.etcd.steward-system.svc.${domain}:2380`, '{{ include "steward.etcd.initialCluster" . }}'],
]);

/** One container or anything else, in the shape that Kubernetes gives it. */
type Shape = Readonly<Record<string, unknown>>;

const perRelease = 'etcd-bootstrap-{{ .Release.Revision }}';

function templated(manifest: Manifest): unknown {
  const filled = fill(manifest) as Manifest & { readonly spec?: Shape };
  if (filled.kind === 'Job') {
    // A Job cannot be changed: every revision of the release has one of its own.
    return { ...filled, metadata: { ...filled.metadata, name: perRelease } };
  }
  if (filled.kind === 'StatefulSet') {
    return { ...filled, spec: { ...filled.spec, replicas: action(' .Values.etcd.members ') } };
  }
  return filled;
}

/** Values of the chart at the places of a pod where they belong, at any depth. */
function fill(value: unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => fill(entry, path));
  if (typeof value === 'string') return textOf(value);
  if (typeof value !== 'object' || value === null) return value;
  const shape = value as Shape;
  const inner = Object.fromEntries(Object.entries(shape).map(([key, entry]) => [key, fill(entry, [...path, key])]));
  if (shape.name === 'MEMBERS') return { ...inner, value: action(' .Values.etcd.members | quote ') };
  if (shape.name === 'bootstrap' && 'args' in shape) return withPullPolicy(inner, path);
  if (shape.name === 'etcd' && 'args' in shape)
    return { ...withPullPolicy(inner, path), resources: block('resources', 10) };
  if ('tolerations' in shape) return podOf(inner, path);
  if ('accessModes' in shape) return claimOf(inner);
  return inner;
}

const textOf = (value: string): string =>
  value.startsWith(managerImage)
    ? '{{ include "steward.image" . }}'
    : value.startsWith(etcdImage)
      ? '{{ .Values.etcd.image }}'
      : value.replaceAll('.svc.cluster.local', `.svc.${domain}`);

const block = (name: string, indent: number): string => action(`- toYaml .Values.etcd.${name} | nindent ${indent} `);

/** The Job of a release also makes the DataStore; the CronJob only looks after certificates. */
function withPullPolicy(container: Shape, path: readonly string[]): Shape {
  const args = container.args as readonly string[];
  const isJob = container.name === 'bootstrap' && !path.includes('jobTemplate');
  return {
    ...container,
    args: [
      ...args,
      ...(container.name === 'bootstrap' ? ['--cluster-domain={{ .Values.etcd.clusterDomain }}'] : []),
      ...(isJob ? ['--data-store={{ .Values.etcd.dataStoreName }}'] : []),
    ],
    imagePullPolicy: '{{ .Values.image.pullPolicy }}',
  };
}

function podOf(pod: Shape, path: readonly string[]): Shape {
  const depth = path.includes('jobTemplate') ? 12 : 8;
  return {
    ...pod,
    imagePullSecrets: action(`- toYaml .Values.imagePullSecrets | nindent ${depth} `),
    nodeSelector: block('nodeSelector', depth),
    tolerations: block('tolerations', depth),
    priorityClassName: '{{ .Values.etcd.priorityClassName }}',
  };
}

const claimOf = (claim: Shape): Shape => ({
  ...claim,
  storageClassName: action(
    ' .Values.etcd.storageClassName | empty | ternary "null" (quote .Values.etcd.storageClassName) ',
  ),
  resources: { requests: { storage: '{{ .Values.etcd.storage }}' } },
});
