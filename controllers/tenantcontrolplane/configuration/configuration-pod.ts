import { listAdmissionControllers } from '../../../api/embedded/admission-controllers.ts';
import { volumes } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Arguments } from '../shared/arguments.ts';
import { readableMode } from '../shared/pod-parts.ts';
import type { AddonPod } from '../shared/pod-parts.ts';
import { auditArguments } from './audit-file.ts';
import { configurationFolder, fileNames } from './configuration-files.ts';

/** A Secret with the files that configure kube-apiserver. */
export interface ConfigurationSecret {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The flags that name the files. */
function fileArguments({ spec }: TenantControlPlane, files: ConfigurationSecret['files']): Arguments {
  const { audit, admission, admissionControllers } = spec.kubernetes;
  const flag = (name: string, file: string): Arguments =>
    files[file] === undefined ? {} : { [name]: `${configurationFolder}/${file}` };
  const plugins = new Set<string>([...listAdmissionControllers(admissionControllers), 'EventRateLimit']);
  return {
    ...flag('authentication-config', fileNames.authentication),
    ...flag('authorization-config', fileNames.authorization),
    ...flag('admission-control-config-file', fileNames.admission),
    ...(admission?.eventRateLimit !== undefined && { 'enable-admission-plugins': [...plugins].join(',') }),
    ...(audit !== undefined && auditArguments(audit, configurationFolder)),
  };
}

/** What the files add to the pods of a control plane; nothing without files. */
export function configurationPod(tcp: TenantControlPlane, secret: ConfigurationSecret | undefined): AddonPod {
  if (secret === undefined) return {};
  const name = volumes.apiServerConfiguration;
  return {
    volumes: [{ name, secret: { secretName: secret.name, defaultMode: readableMode } }],
    apiServer: {
      arguments: fileArguments(tcp, secret.files),
      mounts: [{ name, mountPath: configurationFolder, readOnly: true }],
    },
  };
}
