import type { ConfigMap } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { ensureCertificate } from '../../certificates/ensure-certificate.ts';
import { ensureKubeconfig } from '../../certificates/ensure-kubeconfig.ts';
import { Issuing } from '../../certificates/issue-certificates.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { egressComponent, egressConfigMap, egressData } from './egress-selector.ts';
import { konnectivityKubeconfig, konnectivityLeaves, konnectivitySecret } from './server-leaves.ts';

/**
 * What the pods mount for the tunnel: certificate and kubeconfig of the server, then the configuration that sends kube-apiserver
 * through the tunnel. It is deleted before the Secrets, so that these show whether anything of the add-on is left.
 */
export async function konnectivityCredentials(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  if (tcp.spec.addons.konnectivity === undefined) return { is: 'done' };
  const endpoint = needed(scope.endpoint, 'endpoint');
  const leaves = konnectivityLeaves(tcp, needed(scope.target, 'target'), endpoint.host);
  const issuing = new Issuing(scope, deps, ctx, leaves);
  const [certificate, kubeconfig] = await Promise.all([
    ensureCertificate(konnectivitySecret(tcp), issuing, deps),
    ensureKubeconfig(konnectivityKubeconfig(tcp, endpoint), issuing, deps),
  ]);
  await deps.apply<ConfigMap>(scope, egressConfigMap(tcp), ctx);
  const { konnectivityEgress: name } = tenantObjects(tcp.metadata.name);
  const mounted = {
    [certificate.component]: certificate.fact,
    [kubeconfig.component]: kubeconfig.fact,
    [egressComponent]: { name, checksum: checksum(egressData()) },
  };
  const renewal = Math.min(certificate.renewal, kubeconfig.renewal);
  return { is: 'done', learned: { addons: { konnectivity: { mounted, renewal } } } };
}
