import { containers, dataKeys, ports, tenantObjects, volumes } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Container, ResourceRequirements, Volume } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { sharedResources } from '../../shared/shared-resources.ts';

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

/** The container of trustd, which signs the certificates of the workers' operating system; none without the add-on. */
export function trustdContainer(tcp: TenantControlPlane): readonly Container[] {
  const talos = tcp.spec.addons.workerBootstrap?.talos;
  if (talos === undefined) return [];
  const { image, imageTag = '', port } = talos;
  const name = tcp.metadata.name ?? '';
  const resources = talos.resources ?? sharedResources(tcp) ?? defaultResources;
  const probe = (initialDelaySeconds: number, periodSeconds: number) => ({
    tcpSocket: { port },
    initialDelaySeconds,
    periodSeconds,
  });
  const made: Container = {
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
  return [made];
}

/**
 * The files with which trustd signs and identifies itself; neither the administrator's key nor anything of the tenant's own CA.
 */
export function trustdVolume(tcp: TenantControlPlane, mode: number): readonly Volume[] {
  if (tcp.spec.addons.workerBootstrap?.talos === undefined) return [];
  const { authority, server } = dataKeys.trustdCredentials;
  const items = [authority, server].flatMap(({ certificate, key }) => [certificate, key]);
  return [
    {
      name: volumes.trustdCredentials,
      secret: {
        secretName: tenantObjects(tcp.metadata.name ?? '').trustdCredentials,
        defaultMode: mode,
        items: items.map((key) => ({ key, path: key })),
      },
    },
  ];
}
