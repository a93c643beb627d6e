import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { containers as containerNames, volumes as volumeNames } from '../../../api/names.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { controllerManagerPki } from './system-volumes.ts';

const at = 'spec.controlPlane.deployment';

/** Mount paths of our own containers. */
const ownMounts = {
  apiServer: ['/etc/kubernetes/pki', '/etc/kubernetes/configuration'],
  controllerManager: ['/etc/kubernetes', '/etc/kubernetes/pki'],
  scheduler: ['/etc/kubernetes'],
} as const;

interface Named {
  readonly field: string;
  readonly name: string;
}

/** One validation error for each name that occurs earlier in the list, or that is ours. */
function duplicates(given: readonly Named[], taken: readonly string[], what: string): readonly InvalidInput[] {
  const seen = new Map<string, string>(taken.map((name) => [name, 'Steward']));
  return given.flatMap(({ field, name }) => {
    const holder = seen.get(name);
    seen.set(name, holder ?? field);
    if (holder === undefined) return [];
    return [{ field, value: name, reason: `is a ${what} that ${holder} already uses`, remedy: 'choose another' }];
  });
}

function validateMounts(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { additionalVolumeMounts = {}, additionalVolumes = [] } = tcp.spec.controlPlane.deployment;
  const known = new Set([...additionalVolumes.map(({ name }) => name), ...Object.values(volumeNames)]);
  return (['apiServer', 'controllerManager', 'scheduler'] as const).flatMap((component) => {
    const mounts = additionalVolumeMounts[component] ?? [];
    const field = (index: number): string => `${at}.additionalVolumeMounts.${component}[${index}]`;
    const paths = mounts.map(({ mountPath }, index) => ({
      field: `${field(index)}.mountPath`,
      name: mountPath.length > 1 ? mountPath.replace(/\/+$/, '') : mountPath,
    }));
    const unknown = mounts.flatMap(({ name }, index) =>
      known.has(name)
        ? []
        : [
            {
              field: `${field(index)}.name`,
              value: name,
              reason: 'is not the name of a volume',
              remedy: `add it to ${at}.additionalVolumes`,
            },
          ],
    );
    return [...duplicates(paths, ownMounts[component], 'path'), ...unknown];
  });
}

function validateArgumentLists(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { extraArgs = {} } = tcp.spec.controlPlane.deployment;
  return (['apiServer', 'controllerManager', 'scheduler', 'kine'] as const).flatMap((component) =>
    (extraArgs[component] ?? []).flatMap((argument, index) =>
      /^--[a-zA-Z0-9][^\s=]*(=|$)/.test(argument)
        ? []
        : [
            {
              field: `${at}.extraArgs.${component}[${index}]`,
              value: argument,
              reason: 'is not a flag',
              remedy: 'write --name=value or --name',
            },
          ],
    ),
  );
}

const isZero = (amount: number | string | undefined): boolean => amount === 0 || amount === '0' || amount === '0%';

function validateRollout(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { replicas, strategy, registrySettings } = tcp.spec.controlPlane.deployment;
  const found: InvalidInput[] = [];
  if (replicas < 0) {
    const remedy = 'use 0 to put the control plane to sleep, or more';
    found.push({ field: `${at}.replicas`, value: String(replicas), reason: 'is negative', remedy });
  }
  const rolling = strategy.rollingUpdate;
  if (
    strategy.type !== 'Recreate' &&
    rolling !== undefined &&
    isZero(rolling.maxSurge) &&
    isZero(rolling.maxUnavailable)
  ) {
    const remedy = 'set maxSurge or maxUnavailable to more than 0';
    found.push({ field: `${at}.strategy.rollingUpdate`, reason: 'allows no pod to be replaced', remedy });
  }
  for (const [name, value] of Object.entries(registrySettings)) {
    if (name !== 'tagSuffix' && value === '') {
      const remedy = 'leave it out to use the default, or set a value';
      found.push({ field: `${at}.registrySettings.${name}`, value, reason: 'is empty', remedy });
    }
  }
  return found;
}

/** Kubernetes refuses pods whose other probes require more than one success. */
function validateProbes(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { apiServer, controllerManager, scheduler, ...all } = tcp.spec.controlPlane.deployment.probes ?? {};
  const sets = { '': all, '.apiServer': apiServer, '.controllerManager': controllerManager, '.scheduler': scheduler };
  return Object.entries(sets).flatMap(([of, set]) =>
    (['liveness', 'startup'] as const).flatMap((probe) => {
      const times = set?.[probe]?.successThreshold ?? 1;
      if (times === 1) return [];
      const field = `${at}.probes${of}.${probe}.successThreshold`;
      const reason = 'must be 1: only a readiness probe may require more than one success';
      return [{ field, value: String(times), reason, remedy: 'leave it out' }];
    }),
  );
}

/** Validates the author's additions to the pods. */
export function validatePods(tcp: TenantControlPlane): readonly InvalidInput[] {
  const {
    additionalContainers = [],
    additionalInitContainers = [],
    additionalVolumes = [],
  } = tcp.spec.controlPlane.deployment;
  const named = (list: readonly { readonly name: string }[], field: string): readonly Named[] =>
    list.map(({ name }, index) => ({ field: `${at}.${field}[${index}].name`, name }));
  return [
    ...duplicates(
      [
        ...named(additionalInitContainers, 'additionalInitContainers'),
        ...named(additionalContainers, 'additionalContainers'),
      ],
      Object.values(containerNames),
      'container',
    ),
    ...duplicates(
      named(additionalVolumes, 'additionalVolumes'),
      [...Object.values(volumeNames), controllerManagerPki],
      'volume',
    ),
    ...validateMounts(tcp),
    ...validateArgumentLists(tcp),
    ...validateRollout(tcp),
    ...validateProbes(tcp),
  ];
}
