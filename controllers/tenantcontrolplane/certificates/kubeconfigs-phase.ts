import { annotations, dataKeys } from '../../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { ensureKubeconfig } from './ensure-kubeconfig.ts';
import { kubeconfigSecrets } from './kubeconfig-secrets.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { Issuing } from './issue-certificates.ts';

/** The kubeconfigs of administrators, of the manager, and of the pods' own programs. */
export async function kubeconfigs(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const issuing = new Issuing(scope, deps, ctx);
  const all = await Promise.all(
    kubeconfigSecrets(scope.tcp, issuing.endpoint).map((where) => ensureKubeconfig(where, issuing, deps)),
  );
  const admin = all.find(({ component }) => component === 'admin-kubeconfig')?.data ?? {};
  const key = scope.tcp.metadata.annotations?.[annotations.kubeconfigSecretKey];
  const byDefault = dataKeys.adminKubeconfig.superAdminService;
  return {
    is: 'done',
    learned: {
      kubeconfigFacts: Object.fromEntries(all.map(({ component, fact }) => [component, fact])),
      kubeconfigRenewal: Math.min(...all.map(({ renewal }) => renewal)),
      operatorKubeconfig: admin[key ?? byDefault] ?? admin[byDefault] ?? '',
      superAdminKubeconfig: admin[dataKeys.adminKubeconfig.superAdmin] ?? '',
    },
  };
}
