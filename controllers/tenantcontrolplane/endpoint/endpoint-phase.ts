import { joinHostPort, splitHostPort } from '../../../kubeadm/networks.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { arePodsNamed } from './pods-have-san.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isLedByRouter } from './previous-endpoint.ts';

/** The endpoint that workers and users know, if it served. */
function before({ tcp, target }: Readonly<Scope>): Endpoint | undefined {
  const recorded = tcp.status?.controlPlaneEndpoint ?? '';
  const hasServed = tcp.status?.kubernetesResources?.version?.version !== undefined;
  if (recorded === '' || !hasServed) return undefined;
  const wanted = needed(target, 'target');
  const { host, port = wanted.hostPort } = splitHostPort(recorded, 'status.controlPlaneEndpoint');
  return host === wanted.host && port === wanted.hostPort ? undefined : { ...wanted, host, hostPort: port };
}

/**
 * The endpoint that kubeconfigs, documents and agents name. The previous one stays until the new one leads to the control plane
 * and every pod serves certificates with its name, so that clients which switch can connect.
 */
export function endpoint(scope: Readonly<Scope>, deps: Dependencies): Promise<Outcome<Scope>> {
  const target = needed(scope.target, 'target');
  const learned = (inUse: Endpoint): Partial<Scope> => ({
    endpoint: inUse,
    isRouted: isLedByRouter(scope, inUse, deps),
  });
  const former = before(scope);
  if (former === undefined) return Promise.resolve({ is: 'done', learned: learned(target) });
  const { takeover } = needed(scope.publication, 'publication');
  const stay = (until: string, afterMs?: number): Promise<Outcome<Scope>> => {
    const [from, to] = [former, target].map(({ host, hostPort }) => joinHostPort(host, hostPort));
    const message = `workers and users are still sent to ${from ?? ''}; they switch to ${to ?? ''} when ${until}`;
    return Promise.resolve({ is: 'done', learned: learned(former), message, afterMs });
  };
  if (!takeover.is) return stay(takeover.until, takeover.afterMs);
  if (!arePodsNamed(scope.tcp, target, scope.observed, deps.addons))
    return stay('every pod serves a certificate with its name');
  return Promise.resolve({ is: 'done', learned: learned(target) });
}
