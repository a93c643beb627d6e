import { containers } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { SecurityContext } from '../shared/pod-parts.ts';

/** A flag, or flags with the same prefix, that would change what Steward set up for a program. */
export interface Guard {
  /** A name, or a prefix followed by `*`. */
  readonly flag: string;
  /** Names with the prefix that are not guarded. */
  readonly not?: readonly string[];
  /** Which values are guarded; all of them by default. */
  readonly isMeant?: (value: string) => boolean;
  /** Completes the sentence “<argument> …”. */
  readonly why: string;
  readonly instead: string;
}

/** A program for which authors may set arguments. */
export interface Program {
  /** Its name in the manager's flag `--allow-extra-args`. */
  readonly component: string;
  /** Its container in the pods of the control plane; absent for a program inside the tenant. */
  readonly container?: string;
  /** The field with its arguments. */
  readonly at: string;
  args(tcp: TenantControlPlane): readonly string[];
  readonly guards: readonly Guard[];
  /** What decides the rights of its container, if its author may set that. */
  rights?(tcp: TenantControlPlane): Rights | undefined;
}

interface Rights {
  /** The field with the security context. */
  readonly at: string;
  readonly securityContext?: SecurityContext | undefined;
  readonly image: string;
}

const store = 'determines whose data is served and with whose credentials';
const storeInstead = 'choose the datastore with spec.dataStore and spec.dataStoreOverrides';
const identity = 'determines whose identities are trusted';
const identityInstead = 'leave the CAs and keys to Steward; they can be rotated and user-supplied';
const credentials = 'replaces credentials that Steward issues and renews';
const credentialsInstead = 'leave them to Steward';

/** Guards for flags that determine whose identities a program trusts. */
export const identityGuards = (...flags: readonly string[]): readonly Guard[] =>
  flags.map((flag) => ({ flag, why: identity, instead: identityInstead }));

/** Guards for flags that replace credentials of Steward. */
export const credentialGuards = (...flags: readonly string[]): readonly Guard[] =>
  flags.map((flag) => ({ flag, why: credentials, instead: credentialsInstead }));

/** Flags of the three programs that authenticate clients by a CA. */
const delegated = identityGuards('client-ca-file', 'requestheader-*');
const ownKubeconfig: readonly Guard[] = [
  ...credentialGuards('kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'),
  { flag: 'master', why: 'points the program to another API server', instead: 'leave it out' },
];

/** The flags that change the boundary of a program. Flags that only tune it, or that serve the tenant alone, are free. */
const guardedArguments = {
  apiServer: [
    {
      flag: 'etcd-*',
      not: [
        'etcd-count-metric-poll-period',
        'etcd-db-metric-poll-interval',
        'etcd-healthcheck-timeout',
        'etcd-readycheck-timeout',
      ],
      why: store,
      instead: storeInstead,
    },
    { flag: 'storage-backend', why: store, instead: storeInstead },
    ...delegated,
    { flag: 'token-auth-file', why: identity, instead: 'use service accounts, certificates or OpenID Connect' },
    { flag: 'tls-cert-file', why: credentials, instead: 'add certificates for other names with --tls-sni-cert-key' },
    {
      flag: 'tls-private-key-file',
      why: credentials,
      instead: 'add certificates for other names with --tls-sni-cert-key',
    },
    { flag: 'service-account-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-endpoint', why: identity, instead: identityInstead },
    { flag: 'kubelet-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'proxy-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'peer-ca-file', why: identity, instead: identityInstead },
    {
      flag: 'authorization-mode',
      // An empty value selects this mode, too.
      isMeant: (value) => value.trim() === '' || value.includes('AlwaysAllow'),
      why: 'makes everyone who reaches the API server its anonymous administrator',
      instead: 'leave it out to use Node,RBAC',
    },
    {
      flag: 'egress-selector-config-file',
      why: 'determines the tunnel through which nodes are reached',
      instead: 'use spec.addons.konnectivity',
    },
  ],
  controllerManager: [
    ...delegated,
    ...ownKubeconfig,
    { flag: 'root-ca-file', why: identity, instead: identityInstead },
    { flag: 'service-account-private-key-file', why: identity, instead: identityInstead },
    { flag: 'cluster-signing-*', not: ['cluster-signing-duration'], why: identity, instead: identityInstead },
  ],
  scheduler: [...delegated, ...ownKubeconfig],
  kine: [
    ...[
      'endpoint',
      'listen-address',
      'peer-*',
      's3-*',
      'skip-verify',
      'trusted-ca-file',
      'metrics-ignore-tls-config',
    ].map((flag) => ({ flag, why: store, instead: storeInstead })),
    ...credentialGuards('ca-file', 'cert-file', 'key-file', 'server-cert-file', 'server-key-file'),
  ],
} satisfies Readonly<Record<string, readonly Guard[]>>;

function means({ flag, not = [] }: Guard, name: string): boolean {
  if (not.includes(name)) return false;
  return flag.endsWith('*') ? name.startsWith(flag.slice(0, -1)) : name === flag;
}

/** Why a flag of a program is guarded; undefined for one that is free. `name` has dashes, no underscores. */
export function guardOf({ guards }: Program, name: string, value: string): Pick<Guard, 'why' | 'instead'> | undefined {
  return guards.find((guard) => means(guard, name) && (guard.isMeant === undefined || guard.isMeant(value)));
}

/** The field with the security contexts of the system containers. */
export const contextsAt = 'spec.controlPlane.deployment.containerSecurityContexts';

type Component = keyof typeof guardedArguments;

const program = (component: Component, container: string): Program => ({
  component,
  container,
  at: `spec.controlPlane.deployment.extraArgs.${component}`,
  args: ({ spec }) => spec.controlPlane.deployment.extraArgs?.[component] ?? [],
  guards: guardedArguments[component],
  rights: ({ spec: { controlPlane } }) => {
    const { containerSecurityContexts, registrySettings } = controlPlane.deployment;
    const image = JSON.stringify(registrySettings);
    return { at: `${contextsAt}.${component}`, securityContext: containerSecurityContexts?.[component], image };
  },
});

/** All programs for which authors may set arguments. */
export function programsOf(addons: readonly { readonly programs?: readonly Program[] }[]): readonly Program[] {
  return [
    program('apiServer', containers.apiServer),
    program('controllerManager', containers.controllerManager),
    program('scheduler', containers.scheduler),
    program('kine', containers.kine),
    ...addons.flatMap(({ programs = [] }) => programs),
  ];
}
