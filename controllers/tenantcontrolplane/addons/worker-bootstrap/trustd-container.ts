import { containers, dataKeys, ports, tenantObjects, volumes } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { readableMode } from '../../shared/pod-parts.ts';
import type { AddonPod, Container, ResourceRequirements } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { sharedResources } from '../../shared/shared-resources.ts';

type Talos = NonNullable<NonNullable<TenantControlPlane['spec']['addons']['workerBootstrap']>['talos']>;

const folder = '/etc/steward-trustd/certs';

/** The user that the image's program expects. */
const nobody = 65534;

const defaultResources: ResourceRequirements = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { cpu: '100m', memory: '128Mi' },
};

/** The port of trustd; undefined without the add-on. */
export function trustdPort({ spec }: TenantControlPlane): number | undefined {
  return spec.addons.workerBootstrap?.talos?.port;
}

/** The container of trustd, which signs the certificates of the workers' operating system. */
function trustdContainer(tcp: TenantControlPlane, talos: Talos): Container {
  const { image, imageTag = '', port } = talos;
  const name = tcp.metadata.name;
  const resources = talos.resources ?? sharedResources(tcp) ?? defaultResources;
  const probe = (initialDelaySeconds: number, periodSeconds: number) => ({
    tcpSocket: { port },
    initialDelaySeconds,
    periodSeconds,
  });
  return {
    name: containers.trustd,
    image: imageTag === '' ? image : `${image}:${imageTag}`,
    env: [
      { name: 'TRUSTD_PORT', value: String(port) },
      { name: 'TRUSTD_TENANT', value: name },
      { name: 'TRUSTD_CERT_DIR', value: folder },
      {
        name: 'TRUSTD_TOKEN',
        valueFrom: {
          secretKeyRef: { name: tenantObjects(name).trustdCredentials, key: dataKeys.trustdCredentials.token },
        },
      },
    ],
    ports: [{ name: ports.trustd, containerPort: port, protocol: 'TCP' }],
    readinessProbe: probe(5, 10),
    livenessProbe: probe(15, 20),
    // A quantity may be a number; the client's model knows strings only.
    resources: resources as NonNullable<Container['resources']>,
    securityContext: { ...restricted(), runAsUser: nobody, runAsGroup: nobody },
    volumeMounts: [{ name: volumes.trustdCredentials, mountPath: folder, readOnly: true }],
  };
}

/**
 * What trustd brings into the pods; of its files those with which it signs and identifies itself, neither the administrator's key
 * nor anything of the tenant's own CA.
 */
export function trustdPod(tcp: TenantControlPlane): AddonPod | undefined {
  const talos = tcp.spec.addons.workerBootstrap?.talos;
  if (talos === undefined) return undefined;
  const { authority, server } = dataKeys.trustdCredentials;
  const items = [authority, server].flatMap(({ certificate, key }) => [certificate, key]);
  const secret = {
    secretName: tenantObjects(tcp.metadata.name).trustdCredentials,
    defaultMode: readableMode,
    items: items.map((key) => ({ key, path: key })),
  };
  return { containers: [trustdContainer(tcp, talos)], volumes: [{ name: volumes.trustdCredentials, secret }] };
}
