import { kineFilesFolder } from '../../../stores/driver.ts';
import type { ClientTls, KineBinding } from '../../../stores/driver.ts';
import { flagName, mergeArguments } from '../shared/arguments.ts';
import type { Arguments } from '../shared/arguments.ts';
import { dataKeys } from '../../../api/names.ts';

/** Folder of the socket between kine and kube-apiserver. */
export const kineSocketFolder = '/uds';

/** The socket at which kine answers as etcd does, as both programs name it. */
export const kineSocket = `unix://${kineSocketFolder}/kine`;

/** The inputs of kine's flags. */
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
 * kine's flags; the user's extra arguments win, except for the datastore itself, which determines whose data is served. Metrics
 * are off by default: anyone who reaches the pod could read them.
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
