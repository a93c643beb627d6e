import type { Secret } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { configurationComponent, configurationSecret, labels } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Scope } from '../scope.ts';
import { wantedReplicas } from '../shared/replicas.ts';
import { secret, secretText } from '../shared/secret.ts';
import { isRolling } from '../shared/state.ts';
import type { ConfigurationSecret } from './configuration-pod.ts';

/** The Secret for these files, with a name that only they have; undefined for none. */
export function secretOf(
  tcp: TenantControlPlane,
  files: Readonly<Record<string, string>>,
): ConfigurationSecret | undefined {
  if (Object.keys(files).length === 0) return undefined;
  return { name: configurationSecret(tcp.metadata.name, checksum(files)), files };
}

/** The Secrets with configuration files that exist. */
export function presentSecrets({ observed }: Pick<Scope, 'observed'>): readonly Secret[] {
  return [...observed.secrets.values()].filter(
    ({ metadata }) => metadata.labels?.[labels.component] === configurationComponent,
  );
}

/** The names of the Secrets that the Deployment's pods mount. */
function mounted({ observed }: Pick<Scope, 'observed'>): ReadonlySet<string> {
  const volumes = observed.deployment?.spec?.template.spec?.volumes ?? [];
  return new Set(volumes.flatMap((volume) => volume.secret?.secretName ?? []));
}

/**
 * The wanted Secret, and those that pods still need. Each content has a Secret of its own: pods that keep serving because new ones failed
 * restart with the files that they began with. Everything stays during a rollout.
 */
export function configurationManifests(
  scope: Pick<Scope, 'tcp' | 'observed' | 'rollout'>,
  wanted: ConfigurationSecret | undefined,
): readonly Manifest[] {
  const { tcp, observed, rollout } = scope;
  const { deployment } = observed;
  const rolls =
    deployment !== undefined && (rollout !== undefined || isRolling(deployment, wantedReplicas(tcp, deployment)));
  const inUse = mounted(scope);
  const kept = presentSecrets(scope).filter(
    ({ metadata: { name } }) => name !== wanted?.name && (rolls || inUse.has(name)),
  );
  const all = [
    ...(wanted === undefined ? [] : [wanted]),
    ...kept.map(({ metadata, data }) => ({ name: metadata.name, files: secretText(data) })),
  ];
  return all.map(({ name, files }) => secret(tcp, { name, component: configurationComponent, data: files }));
}
