import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { flagName } from '../shared/arguments.ts';
import { kmsFolder } from './encryption-configuration.ts';

const at = 'spec.kubernetes.encryption';
const deployment = 'spec.controlPlane.deployment';

/** Resources that kube-apiserver cannot encrypt, and why. */
const unencryptable: readonly (readonly [is: (resource: string) => boolean, reason: string, remedy: string])[] = [
  [
    (resource) => /^(apiserveripinfo|serviceipallocations|servicenodeportallocations)$/.test(resource),
    'is not an API resource: kube-apiserver stores it for itself and cannot encrypt it',
    'leave it out',
  ],
  [(resource) => resource.endsWith('.events.k8s.io'), 'is stored in another group', 'use events'],
  [(resource) => resource.endsWith('.extensions'), 'is stored in another group', 'use the group that is served'],
];

function validateResources({ spec }: TenantControlPlane): readonly InvalidInput[] {
  return (spec.kubernetes.encryption?.resources ?? []).flatMap((value, index) =>
    unencryptable.flatMap(([is, reason, remedy]) =>
      is(value) ? [{ field: `${at}.resources[${index}]`, value, reason, remedy }] : [],
    ),
  );
}

/** The names of additional containers that run as long as the pod. */
export function additionalContainerNames({ spec }: TenantControlPlane): readonly string[] {
  const { additionalContainers = [], additionalInitContainers = [] } = spec.controlPlane.deployment;
  const sidecars = additionalInitContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...additionalContainers, ...sidecars].map(({ name }) => name);
}

function validatePlugin(tcp: TenantControlPlane): readonly InvalidInput[] {
  const known = additionalContainerNames(tcp);
  const { kms } = tcp.spec.kubernetes.encryption ?? {};
  const inUse = tcp.status?.encryption?.kmsContainers ?? [];
  const unknown =
    kms === undefined || known.includes(kms.container)
      ? []
      : [
          {
            field: `${at}.kms.container`,
            value: kms.container,
            reason: 'is not the name of an additional container that runs as long as the pod',
            remedy: `add it to ${deployment}.additionalContainers, or to additionalInitContainers with restartPolicy Always`,
          },
        ];
  const removed = inUse
    .filter((name) => !known.includes(name) && name !== kms?.container)
    .map((value) => ({
      field: `${deployment}.additionalContainers`,
      value,
      reason: 'cannot be removed while stored data is encrypted with its plugin',
      remedy: 'keep it until status.encryption.kmsContainers no longer names it',
    }));
  return [...unknown, ...removed];
}

/** The extra arguments that configure encryption besides the spec's field. */
export function ownConfiguration({ spec, status }: TenantControlPlane): readonly InvalidInput[] {
  const isOurs = spec.kubernetes.encryption !== undefined || (status?.encryption?.resources.length ?? 0) > 0;
  if (!isOurs) return [];
  return (spec.controlPlane.deployment.extraArgs?.apiServer ?? []).flatMap((argument, index) => {
    const name = flagName(argument);
    if (!name.startsWith('encryption-provider-config')) return [];
    const field = `${deployment}.extraArgs.apiServer[${index}]`;
    const reason = `cannot be set together with ${at}, or while data is still encrypted by it`;
    const remedy = `have the API server rewrite everything in plain text and remove the flag before you set ${at}, or use the flag alone`;
    return [{ field, value: `--${name}`, reason, remedy }];
  });
}

function validateMounts({ spec }: TenantControlPlane): readonly InvalidInput[] {
  if (spec.kubernetes.encryption === undefined) return [];
  const ours = new Set(['/etc/kubernetes/encryption', kmsFolder]);
  const mounts = spec.controlPlane.deployment.additionalVolumeMounts?.apiServer ?? [];
  return mounts.flatMap(({ mountPath }, index) =>
    ours.has(mountPath.replace(/\/+$/, ''))
      ? [
          {
            field: `${deployment}.additionalVolumeMounts.apiServer[${index}].mountPath`,
            value: mountPath,
            reason: `is a path that ${at} uses`,
            remedy: 'choose another',
          },
        ]
      : [],
  );
}

/** Validates the encryption of a tenant's data. */
export function validateEncryption(tcp: TenantControlPlane): readonly InvalidInput[] {
  return [...validateResources(tcp), ...validatePlugin(tcp), ...ownConfiguration(tcp), ...validateMounts(tcp)];
}
