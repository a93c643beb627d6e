import type { Flag } from './flags.ts';
import { managerFlags } from './manager-flags.ts';
import { variableOf } from './flag-variables.ts';

type ManagerFlag = keyof typeof managerFlags;

/** A variable that `clusterctl` puts into the components. */
export interface ClusterctlVariable {
  readonly name: string;
  /** Empty for an empty text. */
  readonly byDefault: string;
  readonly meaning: string;
}

/** Of the manifest in clusterctl/ that is written by hand. */
const ofBootstrapProvider: readonly ClusterctlVariable[] = [
  {
    name: 'STEWARD_KUBEADM_BOOTSTRAP_SA_NAMESPACE',
    byDefault: 'capi-kubeadm-bootstrap-system',
    meaning: 'Namespace of the service account of the kubeadm bootstrap provider, which reads StewardControlPlanes.',
  },
  {
    name: 'STEWARD_KUBEADM_BOOTSTRAP_SA_NAME',
    byDefault: 'capi-kubeadm-bootstrap-manager',
    meaning: 'Name of that service account.',
  },
];

/** Flags that the manifests decide, that have no effect, or that are another name of one that is offered. */
const withoutVariable: ReadonlySet<ManagerFlag> = new Set<ManagerFlag>([
  ...(['kubeconfig', 'pod-namespace', 'serviceaccount-name', 'leader-elect'] as const),
  // Ports, Services and volumes of the Deployment belong to these.
  ...(['metrics-bind-address', 'health-probe-bind-address', 'insecure-diagnostics'] as const),
  ...(['webhook-bind-address', 'webhook-service-name', 'webhook-url'] as const),
  ...(['helm', 'cluster-stacks-cache', 'cluster-stacks-folder'] as const),
  ...(['dynamic-infrastructure-clusters', 'tmp-directory', 'webhook-ca-path', 'cache-resync-period'] as const),
  ...(['diagnostics-address', 'health-addr', 'zap-devel', 'v'] as const),
]);

/** What config/manager sets to another value than the default of the flag. */
const ofManifests: Readonly<Partial<Record<ManagerFlag, string>>> = { datastore: 'default' };

const offered = (Object.entries(managerFlags) as (readonly [ManagerFlag, Flag])[])
  .filter(([flag]) => !withoutVariable.has(flag))
  .map(([flag, { value, help }]) => ({ flag, byDefault: ofManifests[flag] ?? String(value), help }));

const containerPath = '/spec/template/spec/containers/0';

/** All variables of the components, in the order of the reference. */
export const clusterctlVariables: readonly ClusterctlVariable[] = [
  ...offered.map(({ flag, byDefault, help }) => ({ name: variableOf(flag), byDefault, meaning: help })),
  ...ofBootstrapProvider,
];

interface Operation {
  readonly op: 'add' | 'replace' | 'test';
  readonly path: string;
  readonly value: string;
}

/**
 * The JSON patch of the Deployment in config/manager with which the components of `clusterctl/` get their variables.
 * All of them are flags: behind an equals sign, YAML reads every value as text. The default of an empty text is a space,
 * which YAML drops from the end of a line, because clusterctl sees no default in `${NAME:=}`. Replicas and resources have no
 * variable: `clusterctl generate provider --describe` reads the Deployment before it replaces anything, and wants a number.
 */
export function clusterctlPatch(): readonly Operation[] {
  const replaced = `${containerPath}/args/2`;
  return [
    // The only flag that the manifests set, too.
    { op: 'test', path: replaced, value: '--datastore=default' },
    ...offered.map(({ flag, byDefault }) => {
      const value = `--${flag}=${substituted(variableOf(flag), byDefault)}`;
      if (flag === 'datastore') return { op: 'replace', path: replaced, value } as const;
      return { op: 'add', path: `${containerPath}/args/-`, value } as const;
    }),
  ];
}

const substituted = (name: string, byDefault: string): string => `\${${name}:=${byDefault || ' '}}`;
