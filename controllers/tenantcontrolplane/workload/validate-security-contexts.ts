import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { contextsAt } from './guarded-arguments.ts';
import { securityContextOf } from './system-containers.ts';

/** Validates security contexts with which a container would not start, although every Pod Security Standard may permit them. */
export function validateSecurityContexts(tcp: TenantControlPlane): readonly InvalidInput[] {
  const given = tcp.spec.controlPlane.deployment.containerSecurityContexts ?? {};
  return (['apiServer', 'controllerManager', 'scheduler', 'kine'] as const).flatMap((component) => {
    if (given[component] === undefined) return [];
    const context = securityContextOf(tcp, component);
    const { add = [], drop = [] } = context.capabilities ?? {};
    const at = `${contextsAt}.${component}`;
    const found: InvalidInput[] = [];
    if (component === 'apiServer' && drop.includes('ALL') && !add.includes('NET_BIND_SERVICE')) {
      const reason =
        'lacks NET_BIND_SERVICE, a capability that the file of kube-apiserver requires, so the kernel would not start it';
      found.push({ field: `${at}.capabilities`, reason, remedy: 'add NET_BIND_SERVICE to capabilities.add' });
    }
    if (context.runAsUser === 0 && context.runAsNonRoot === true) {
      const reason = 'is root, but runAsNonRoot is true';
      found.push({
        field: `${at}.runAsUser`,
        value: '0',
        reason,
        remedy: 'use another user, or set runAsNonRoot to false',
      });
    }
    const needsEscalation = context.privileged === true || add.includes('SYS_ADMIN') || add.includes('CAP_SYS_ADMIN');
    if (needsEscalation && context.allowPrivilegeEscalation === false) {
      const reason =
        'is false, but the container is privileged or has SYS_ADMIN, which the API server refuses together';
      found.push({ field: `${at}.allowPrivilegeEscalation`, value: 'false', reason, remedy: 'set it to true' });
    }
    return found;
  });
}

/** Why kube-apiserver could not use kine's socket, which only the user that runs kine may open. */
export function validateKineUser(tcp: TenantControlPlane): readonly InvalidInput[] {
  const [server, kine] = [securityContextOf(tcp, 'apiServer').runAsUser, securityContextOf(tcp, 'kine').runAsUser];
  if (server === kine) return [];
  const reason = `is not the user of kube-apiserver (${server ?? 'that of the image'}), which could not open the socket of kine`;
  const remedy = 'set the same runAsUser for apiServer and kine';
  return [{ field: `${contextsAt}.kine.runAsUser`, value: String(kine ?? ''), reason, remedy }];
}
