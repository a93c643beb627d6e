import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { secretText } from '../components/secret.ts';
import { proxyCertificateSecret, proxyProfile } from '../components/tcp-proxy/proxy-certificate.ts';
import { proxyKinds, proxyManifests } from '../components/tcp-proxy/proxy-manifests.ts';
import { proxyUpstream } from '../components/tcp-proxy/proxy-upstream.ts';
import type { ProxyUpstream } from '../components/tcp-proxy/proxy-upstream.ts';
import { trustingPods } from '../components/rotation/trusting-pods.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { removeOwn } from './addon-leftovers.ts';
import { applied, putOff } from './inside-tenant.ts';
import { keptPair } from './kept-pair.ts';
import { rotationRequested, rotationTime } from './rotation.ts';

const component = 'tcp-proxy';

/** Until the next visit, in milliseconds: what is about to be made is on record by then. */
const soonMs = 100;

/** By the endpoint in use: while that changes, a router that is given up is still the way. */
function upstreamOf({ tcp, endpoint, isRouted }: Readonly<Scope>): ProxyUpstream {
  return proxyUpstream(tcp, needed(endpoint, 'endpoint'), needed(isRouted, 'isRouted'));
}

/**
 * The certificate of a proxy that ends TLS connections: one of its own for the Service `kubernetes` inside the tenant. It is kept in
 * the management cluster, as all others are, and goes when the proxy needs none.
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
  const { pair, renewal } = await keptPair(
    {
      profile: proxyProfile(tcp),
      // Pods that have not followed a rotation yet verify it.
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
 * The proxy in the tenant as asked for. One that is taken out goes when the Service `kubernetes` leads to the API servers again; that
 * there may be one is on record before it is made, so that none is forgotten.
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
    const message = 'the proxy in the tenant is about to be made';
    return { is: 'done', learned: { tcpProxy: 'recorded' }, message, afterMs: soonMs };
  }
  const upstream = upstreamOf(scope);
  const made = proxyManifests({ tcp, upstream, tls: upstream.endsTls ? scope.tcpProxyTls : undefined });
  const manifests = trustingPods(tcp, made);
  const waiting = await applied(scope, deps.tenants.apply(scope, { component, manifests, prunes: proxyKinds }, ctx));
  return waiting ?? { is: 'done', learned: { tcpProxy: 'made' } };
}
