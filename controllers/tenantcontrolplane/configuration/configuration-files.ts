import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { admissionFile } from './admission-file.ts';
import { auditPolicyFile, auditPolicyFileName } from './audit-file.ts';
import { authenticationFile } from './authentication-file.ts';
import { authorizationFile } from './authorization-file.ts';
import { configurationVersion } from './configuration-versions.ts';
import type { WebhookCredentials } from './webhook-credentials.ts';
import { webhookKubeconfig } from './webhook-kubeconfig.ts';
import { configuredWebhooks } from './webhooks.ts';

/** Folder in which kube-apiserver finds the files. */
export const configurationFolder = '/etc/kubernetes/configuration';

/** Names of the files that flags of kube-apiserver name; those of the audit log are in `audit-file.ts`. */
export const fileNames = {
  authentication: 'authentication.yaml',
  authorization: 'authorization.yaml',
  admission: 'admission.yaml',
} as const;

/** What the files depend on besides the spec. */
export interface ConfigurationInput {
  /** The version that the pods get. */
  readonly version: KubernetesVersion;
  /** Credentials for webhooks, by the name of their Secret. */
  readonly credentials: ReadonlyMap<string, WebhookCredentials>;
}

/**
 * The files that configure kube-apiserver, by name; empty for a spec that configures nothing. What the version does not read is left
 * out: validation refuses it.
 */
export function configurationFiles(
  tcp: Pick<TenantControlPlane, 'spec'>,
  { version, credentials }: ConfigurationInput,
): Readonly<Record<string, string>> {
  const { authentication, authorization, audit, admission } = tcp.spec.kubernetes;
  const [authenticationVersion, authorizationVersion] = [
    configurationVersion('AuthenticationConfiguration', version),
    configurationVersion('AuthorizationConfiguration', version),
  ];
  const kubeconfigs = configuredWebhooks(tcp).map(({ file, connection }) => {
    const known = credentials.get(connection.credentialsSecretRef?.name ?? '');
    return [file, webhookKubeconfig(connection, known)] as const;
  });
  return {
    ...(authentication !== undefined &&
      authenticationVersion !== undefined && {
        [fileNames.authentication]: authenticationFile(authentication, authenticationVersion),
      }),
    ...(authorization !== undefined &&
      authorizationVersion !== undefined && {
        [fileNames.authorization]: authorizationFile(authorization, authorizationVersion, configurationFolder),
      }),
    ...(audit !== undefined && { [auditPolicyFileName]: auditPolicyFile(audit) }),
    ...(hasPlugins(admission) && { [fileNames.admission]: admissionFile(admission) }),
    ...Object.fromEntries(kubeconfigs),
  };
}

type Admission = TenantControlPlane['spec']['kubernetes']['admission'];

function hasPlugins(admission: Admission): admission is NonNullable<Admission> {
  return admission?.podSecurity !== undefined || admission?.eventRateLimit !== undefined;
}
