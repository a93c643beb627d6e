import type { Manifest } from '../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort } from '../../../kubeadm/networks.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { secret } from '../shared/secret.ts';

/** One kubeconfig in a Secret. */
export interface KubeconfigFile {
  /** Key in the Secret. */
  readonly key: string;
  /** Whose kubeconfig it is, by the name of its client certificate. */
  readonly user: string;
  /** `https://host:port`. */
  readonly server: string;
  /** Defaults to the tenant's name. */
  readonly clusterName?: string;
}

/** One Secret with kubeconfigs. */
export interface KubeconfigSecret {
  readonly name: string;
  /** Component label, and the pods' checksum label where pods mount it. */
  readonly component: string;
  readonly files: readonly KubeconfigFile[];
}

/** The name of the tenant's API server inside the management cluster; its certificate contains it. */
export function serviceHost(tcp: TenantControlPlane): string {
  return `${tcp.metadata.name}.${tcp.metadata.namespace}.svc`;
}

/** All kubeconfigs of a tenant and where each is kept. */
export function kubeconfigSecrets(tcp: TenantControlPlane, endpoint: Endpoint): readonly KubeconfigSecret[] {
  const names = tenantObjects(tcp.metadata.name);
  const outside = `https://${joinHostPort(endpoint.host, endpoint.hostPort)}`;
  const inside = `https://${serviceHost(tcp)}:${endpoint.port}`;
  const local = `https://127.0.0.1:${endpoint.port}`;
  const { admin, adminService, superAdmin, superAdminService } = dataKeys.adminKubeconfig;
  return [
    {
      name: names.adminKubeconfig,
      component: 'admin-kubeconfig',
      files: [
        { key: admin, user: 'admin.conf', server: outside },
        { key: adminService, user: 'admin.conf', server: inside },
        { key: superAdmin, user: 'super-admin.conf', server: outside },
        { key: superAdminService, user: 'super-admin.conf', server: inside },
      ],
    },
    {
      name: names.controllerManagerKubeconfig,
      component: 'controller-manager-kubeconfig',
      files: [{ key: dataKeys.controllerManagerKubeconfig, user: 'controller-manager.conf', server: local }],
    },
    {
      name: names.schedulerKubeconfig,
      component: 'scheduler-kubeconfig',
      files: [{ key: dataKeys.schedulerKubeconfig, user: 'scheduler.conf', server: local }],
    },
  ];
}

/** Kubeconfigs as a Secret; `data` has a value for each file. */
export function kubeconfigSecret(
  tcp: TenantControlPlane,
  where: KubeconfigSecret,
  content: { readonly data: Readonly<Record<string, string>>; readonly rotated?: string | undefined },
): Manifest {
  const { name, component } = where;
  return secret(tcp, { name, component, data: content.data, lifecycle: 'kubeconfig', rotated: content.rotated });
}
