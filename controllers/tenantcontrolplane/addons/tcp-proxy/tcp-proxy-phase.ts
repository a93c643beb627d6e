import type { Secret } from '../../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { secretText } from '../../shared/secret.ts';
import { proxyCertificateSecret, proxyProfile } from './proxy-certificate.ts';
import { proxyUpstream } from './proxy-upstream.ts';
import type { ProxyUpstream } from './proxy-upstream.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { ensureKeyPair } from '../../certificates/ensure-key-pair.ts';
import { rotationRequested, rotationTime } from '../../shared/rotate.ts';

/** Uses the current endpoint: while the endpoint changes, connections still go through the previous router. */
export function upstreamOf({ tcp, endpoint, isRouted }: Readonly<Scope>): ProxyUpstream {
  return proxyUpstream(tcp, needed(endpoint, 'endpoint'), needed(isRouted, 'isRouted'));
}

/**
 * The certificate of a proxy that terminates TLS connections, only for the Service `kubernetes` inside the tenant. It is stored
 * in the management cluster like all others.
 */
export async function tcpProxyCertificate(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const { tcpProxyCertificate: name } = tenantObjects(tcp.metadata.name);
  const current = observed.secrets.get(name);
  if (tcp.spec.addons.tcpProxy === undefined || !upstreamOf(scope).endsTls) return { is: 'done' };
  const { forOthers, trusted } = needed(scope.authorities, 'authorities');
  const data = rotationRequested(current) ? {} : secretText(current?.data);
  const keys = dataKeys.tcpProxyCertificate;
  const { pair, renewal } = await ensureKeyPair(
    {
      profile: proxyProfile(tcp),
      // Pods that have not followed a rotation yet verify this certificate, too.
      authority: forOthers.ca,
      algorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
      current: { certificate: data[keys.certificate] ?? '', key: data[keys.key] ?? '' },
      what: `Secret ${name}`,
    },
    deps,
    ctx,
  );
  const tls = { pair, authority: trusted };
  await deps.apply<Secret>(scope, proxyCertificateSecret(tcp, tls, rotationTime(current, ctx.now)), ctx);
  return { is: 'done', learned: { addons: { tcpProxy: { tls, renewal } } } };
}
