import { kinds } from '../../../../api/core/kinds.ts';
import type { Secret } from '../../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { secretText } from '../../shared/secret.ts';
import { proxyCertificateSecret, proxyProfile } from './proxy-certificate.ts';
import { proxyKinds, proxyManifests } from './proxy-manifests.ts';
import { proxyUpstream } from './proxy-upstream.ts';
import type { ProxyUpstream } from './proxy-upstream.ts';
import { trustingPods } from '../../certificates/rotation/restart-on-trust-change.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { removeOwn } from '../addon-leftovers.ts';
import { applied, putOff } from '../../shared/inside-tenant.ts';
import { ensureKeyPair } from '../../certificates/ensure-key-pair.ts';
import { rotationRequested, rotationTime } from '../../shared/rotate.ts';

const component = 'tcp-proxy';

/** Until the next reconcile, in milliseconds: by then the status records what is about to be created. */
const soonMs = 100;

/** Uses the current endpoint: while the endpoint changes, connections still go through the previous router. */
function upstreamOf({ tcp, endpoint, isRouted }: Readonly<Scope>): ProxyUpstream {
  return proxyUpstream(tcp, needed(endpoint, 'endpoint'), needed(isRouted, 'isRouted'));
}

/**
 * The certificate of a proxy that terminates TLS connections, only for the Service `kubernetes` inside the tenant. It is stored
 * in the management cluster like all others, and deleted when the proxy needs none.
 */
export async function tcpProxyCertificate(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const { tcpProxyCertificate: name } = tenantObjects(tcp.metadata.name ?? '');
  const current = observed.secrets.get(name);
  const isWanted = tcp.spec.addons.tcpProxy !== undefined && upstreamOf(scope).endsTls;
  if (!isWanted) {
    if (current !== undefined) await removeOwn<Secret>(scope, { kind: kinds.Secret, name }, deps, ctx);
    return { is: 'done' };
  }
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
  return { is: 'done', learned: { tcpProxyTls: tls, tcpProxyRenewal: renewal } };
}

/**
 * Applies the proxy in the tenant as wanted. A removed proxy is deleted once the Service `kubernetes` leads to the API servers
 * again. The status records the proxy before it is created, so that it is never forgotten.
 */
export async function tcpProxy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const isWanted = tcp.spec.addons.tcpProxy !== undefined;
  const isRecorded = tcp.status?.addons?.tcpProxy?.deployment !== undefined;
  if (!isWanted && !isRecorded) return { is: 'done' };
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  if (!isWanted) {
    const gone = await applied(scope, deps.tenants.apply(scope, { component, manifests: [], prunes: proxyKinds }, ctx));
    return gone ?? { is: 'done', learned: { tcpProxy: 'gone' } };
  }
  if (!isRecorded) {
    const message = 'the proxy in the tenant is about to be created';
    return { is: 'done', learned: { tcpProxy: 'recorded' }, message, afterMs: soonMs };
  }
  const upstream = upstreamOf(scope);
  const made = proxyManifests({ tcp, upstream, tls: upstream.endsTls ? scope.tcpProxyTls : undefined });
  const manifests = trustingPods(tcp, made);
  const waiting = await applied(scope, deps.tenants.apply(scope, { component, manifests, prunes: proxyKinds }, ctx));
  return waiting ?? { is: 'done', learned: { tcpProxy: 'made' } };
}
