import { kineFilesFolder } from '../../../stores/driver.ts';
import type { ClientTls, KineBinding } from '../../../stores/driver.ts';
import { flagName, mergeArguments } from './arguments.ts';
import type { Arguments } from './arguments.ts';
import { dataKeys } from '../../../api/names.ts';

/** Folder of the socket between kine and kube-apiserver. */
export const kineSocketFolder = '/uds';

/** The socket at which kine answers as etcd does, as both programs name it. */
export const kineSocket = `unix://${kineSocketFolder}/kine`;

/** What kine's flags are made of. */
export interface KineInput {
  readonly binding: KineBinding;
  /** Which TLS files are in `kineFilesFolder`. */
  readonly tls: ClientTls | undefined;
  /** `spec.controlPlane.deployment.extraArgs.kine`. */
  readonly extra?: readonly string[] | undefined;
}

function tlsArguments(tls: ClientTls | undefined): Arguments {
  if (tls === undefined) return {};
  const { ca, certificate, key } = dataKeys.dataStoreCertificate;
  return {
    'ca-file': `${kineFilesFolder}/${ca}`,
    ...(tls.certificate !== undefined && { 'cert-file': `${kineFilesFolder}/${certificate}` }),
    ...(tls.key !== undefined && { 'key-file': `${kineFilesFolder}/${key}` }),
  };
}

/**
 * kine's flags; the user's extra arguments win but for the store itself, which decides whose data is served. Metrics are off
 * unless asked for: they would be open to whoever reaches the pod.
 */
export function kineArguments({ binding, tls, extra }: KineInput): string[] {
  const ours: Arguments = {
    'listen-address': kineSocket,
    'metrics-bind-address': '0',
    ...tlsArguments(tls),
    ...binding.arguments,
    endpoint: binding.endpoint,
  };
  const allowed = (extra ?? []).filter((argument) => !['endpoint', 'listen-address'].includes(flagName(argument)));
  return mergeArguments(ours, { extra: allowed, winner: 'user' });
}
