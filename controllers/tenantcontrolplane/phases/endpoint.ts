import { joinHostPort, splitHostPort } from '../../../kubeadm/networks.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import type { Endpoint } from '../components/control-plane-input.ts';
import { arePodsNamed } from '../components/named-pods.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isLedByRouter } from './former-endpoint.ts';

/** The endpoint that workers and users were told of, where they were told of one that served. */
function before({ tcp, target }: Readonly<Scope>): Endpoint | undefined {
  const recorded = tcp.status?.controlPlaneEndpoint ?? '';
  const hasServed = tcp.status?.kubernetesResources?.version?.version !== undefined;
  if (recorded === '' || !hasServed) return undefined;
  const wanted = needed(target, 'target');
  const { host, port = wanted.hostPort } = splitHostPort(recorded, 'status.controlPlaneEndpoint');
  return host === wanted.host && port === wanted.hostPort ? undefined : { ...wanted, host, hostPort: port };
}

/**
 * The endpoint that kubeconfigs, documents and agents name. That of before stays until the new one leads to the control plane and
 * every pod shows certificates with its name: whoever is told of it then gets through.
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
    const message = `workers and users are still sent to ${from ?? ''}, and to ${to ?? ''} when ${until}`;
    return Promise.resolve({
      is: 'done',
      learned: learned(former),
      message,
      ...(afterMs !== undefined && { afterMs }),
    });
  };
  if (!takeover.is) return stay(takeover.until, takeover.afterMs);
  if (!arePodsNamed(scope.tcp, target, scope.observed)) return stay('every pod shows a certificate with its name');
  return Promise.resolve({ is: 'done', learned: learned(target) });
}
