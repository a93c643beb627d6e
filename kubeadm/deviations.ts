import type { KubernetesVersion } from './versions.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The content of a certificate, as far as two independent issuers can produce the same. */
export interface CertificateFacts {
  readonly subject: readonly string[];
  readonly issuer: string;
  readonly days: number;
  readonly names: readonly string[];
  /** Object identifier, with `critical` if it is critical; the value in hex unless it depends on a key. */
  readonly extensions: readonly string[];
  readonly keyAlgorithm: string;
  readonly signatureAlgorithm: string;
  /** The PEM block of the private key. */
  readonly keyBlock: string;
}

/** Everything that is compared for one tenant. Documents inside ConfigMaps are parsed, not compared as text. */
export interface Production {
  /** By `Kind namespace/name`. */
  readonly objects: Readonly<Record<string, Fields>>;
  readonly certificates: Readonly<Record<string, CertificateFacts>>;
  readonly kubeconfigs: Readonly<Record<string, Fields>>;
}

/** An intended difference. */
export interface Deviation {
  readonly id: string;
  readonly where: string;
  readonly why: string;
  /** The versions in which kubeadm differs; absent for all of them. */
  readonly differs?: (version: KubernetesVersion) => boolean;
  /** Turns the output of kubeadm of this version into what is produced here. */
  readonly apply: (kubeadm: Production, version: KubernetesVersion) => Production;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T, key: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

const eachObject = (change: (object: Fields, key: string) => Fields): Deviation['apply'] => {
  return (kubeadm) => ({ ...kubeadm, objects: mapValues(kubeadm.objects, change) });
};

function without(fields: Fields, ...keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}

/** Changes the field at a path, if it exists. */
function at(fields: Fields, path: readonly string[], change: (value: Fields) => Fields): Fields {
  const [first, ...rest] = path;
  if (first === undefined) return change(fields);
  const inner = fields[first];
  return isFields(inner) ? { ...fields, [first]: at(inner, rest, change) } : fields;
}

/** Drops the values that Go's encoder writes for fields that were never set. */
function dropUnset(value: unknown, unset: readonly unknown[]): unknown {
  if (!isFields(value)) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, dropUnset(inner, unset)] as const)
    .filter(([, inner]) => !unset.includes(inner) && !(isFields(inner) && Object.keys(inner).length === 0));
  return Object.fromEntries(kept);
}

function merge(base: Fields, over: Fields): Fields {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const under = merged[key];
    merged[key] = isFields(under) && isFields(value) ? merge(under, value) : value;
  }
  return merged;
}

/** Before these patches, kubeadm puts the API server's kubelet client into the administrators' group. */
const ownRoleSince: Readonly<Record<number, number>> = { 33: 12, 34: 8, 35: 5, 36: 1 };

function kubeletClientIsAdmin({ minor, patch }: KubernetesVersion): boolean {
  return minor < 33 || patch < (ownRoleSince[minor] ?? 0);
}

function binding(name: string, role: string, subject: Fields): Fields {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects: [subject] };
}

function addObject(kubeadm: Production, key: string, object: Fields): Production {
  return { ...kubeadm, objects: { ...kubeadm.objects, [key]: object } };
}

const kubeletConfig = 'ConfigMap kube-system/kubelet-config';
const kubeProxyConfig = 'ConfigMap kube-system/kube-proxy';

/**
 * Every difference between the objects produced here and those of kubeadm, in the order in which they are applied.
 * `kubeletDefaults` are those of the version, from `kubelet-defaults.ts`.
 */
export const deviations = (kubeletDefaults: Fields): readonly Deviation[] => [
  {
    id: 'cluster-admins-in-the-open',
    where: 'ClusterRoleBinding kubeadm:cluster-admins',
    why: 'kubeadm creates this binding directly in the new API server, and none of its phases prints it.',
    apply: (kubeadm) =>
      addObject(
        kubeadm,
        'ClusterRoleBinding /kubeadm:cluster-admins',
        binding('kubeadm:cluster-admins', 'cluster-admin', { kind: 'Group', name: 'kubeadm:cluster-admins' }),
      ),
  },
  {
    id: 'kubelet-client-of-least-privilege',
    where: 'certificate apiserver-kubelet-client, ClusterRoleBinding kubeadm:apiserver-kubelet-client',
    why: 'Later patch releases of kubeadm removed the API server’s kubelet client from the administrators’ group. Here that applies to every version.',
    differs: kubeletClientIsAdmin,
    apply: (kubeadm, version) => {
      const client = kubeadm.certificates['apiserver-kubelet-client'];
      if (!kubeletClientIsAdmin(version) || client === undefined) return kubeadm;
      const subject = client.subject.filter((part) => part !== 'O=kubeadm:cluster-admins');
      const name = 'kubeadm:apiserver-kubelet-client';
      const user = { kind: 'User', name: 'kube-apiserver-kubelet-client' };
      const certificates = { ...kubeadm.certificates, 'apiserver-kubelet-client': { ...client, subject } };
      const bound = binding(name, 'system:kubelet-api-admin', user);
      return addObject({ ...kubeadm, certificates }, `ClusterRoleBinding /${name}`, bound);
    },
  },
  {
    id: 'no-node-name-in-the-serving-certificate',
    where: 'certificate apiserver',
    why: 'kubeadm runs on a node and names it; a hosted control plane is not a node.',
    apply: (kubeadm) => ({
      ...kubeadm,
      certificates: mapValues(kubeadm.certificates, (facts) => ({
        ...facts,
        names: facts.names.filter((name) => name !== 'DNS:node'),
      })),
    }),
  },
  {
    id: 'no-fields-of-the-encoder',
    where: 'all objects',
    why: 'Go’s encoder writes creationTimestamp, status and resources that were never set; applying them would claim the fields.',
    apply: eachObject((object) => {
      const bare = at(without(object, 'status'), ['metadata'], (metadata) => without(metadata, 'creationTimestamp'));
      const template = at(bare, ['spec', 'template', 'metadata'], (metadata) => without(metadata, 'creationTimestamp'));
      return at(template, ['spec', 'template', 'spec'], (spec) => {
        const { containers } = spec;
        if (!Array.isArray(containers)) return spec;
        const set = containers.map((container: Fields) => {
          const { resources } = container;
          return isFields(resources) && Object.keys(resources).length === 0
            ? without(container, 'resources')
            : container;
        });
        return { ...spec, containers: set };
      });
    }),
  },
  {
    id: 'no-resource-version',
    where: 'Service kube-system/kube-dns',
    why: 'kubeadm sets resourceVersion to 0 for its update calls; server-side apply refuses it.',
    apply: eachObject((object) => at(object, ['metadata'], (metadata) => without(metadata, 'resourceVersion'))),
  },
  {
    id: 'no-component-config-hash',
    where: 'ConfigMaps kube-system/kubelet-config and kube-system/kube-proxy',
    why: 'By the hash, `kubeadm upgrade apply` detects whether a person changed the document; here Steward owns it.',
    apply: eachObject((object) => {
      const cleared = at(object, ['metadata', 'annotations'], (annotations) =>
        without(annotations, 'kubeadm.kubernetes.io/component-config.hash'),
      );
      return at(cleared, ['metadata'], (metadata) => {
        const { annotations } = metadata;
        return isFields(annotations) && Object.keys(annotations).length === 0
          ? without(metadata, 'annotations')
          : metadata;
      });
    }),
  },
  {
    id: 'project-label',
    where: 'all objects',
    why: 'The label marks the objects of a tenant that Steward applied; only these are pruned.',
    apply: eachObject((object) =>
      at(object, ['metadata'], (metadata) => {
        const labels = isFields(metadata.labels) ? metadata.labels : {};
        return { ...metadata, labels: { ...labels, 'steward.butlerlabs.dev/project': 'steward' } };
      }),
    ),
  },
  {
    id: 'kubelet-defaults-explicit',
    where: kubeletConfig,
    why: 'Users’ JSON patches replace, test and remove defaulted fields, which must therefore be present. kubeadm’s own settings win.',
    apply: eachObject((object, key) =>
      key !== kubeletConfig
        ? object
        : at(object, ['data', 'kubelet'], (document) =>
            merge(kubeletDefaults, dropUnset(document, ['0s', '', '0', 0]) as Fields),
          ),
    ),
  },
  {
    id: 'kube-proxy-only-what-is-set',
    where: kubeProxyConfig,
    why: 'kubeadm writes every field’s zero value, which means “default”; a field that is not written means the same in every version.',
    apply: eachObject((object, key) =>
      key !== kubeProxyConfig
        ? object
        : at(
            object,
            ['data', 'config.conf'],
            (document) => dropUnset(document, ['0s', '', '0', 0, false, null]) as Fields,
          ),
    ),
  },
  {
    id: 'no-preferences',
    where: 'kubeconfigs, ConfigMap kube-public/cluster-info',
    why: 'Before 1.34 kubeadm wrote an empty `preferences`, which means nothing.',
    differs: ({ minor }) => minor < 34,
    apply: (kubeadm) => ({
      ...kubeadm,
      kubeconfigs: mapValues(kubeadm.kubeconfigs, (config) => without(config, 'preferences')),
      objects: mapValues(kubeadm.objects, (object) =>
        at(object, ['data', 'kubeconfig'], (config) => without(config, 'preferences')),
      ),
    }),
  },
];
