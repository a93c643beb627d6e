import { kinds } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { Scope } from '../../scope.ts';
import type { Addon } from '../addon.ts';
import type { Wanted } from '../inside-phase.ts';
import type { ProxyTls } from './proxy-certificate.ts';
import { proxyKinds, proxyManifests } from './proxy-manifests.ts';
import { parseInternalEndpoint } from './proxy-upstream.ts';
import { tcpProxyCertificate, upstreamOf } from './tcp-proxy-phase.ts';
import { tcpProxyStatus } from './tcp-proxy-status.ts';
import { validateTcpProxy } from './validate-tcp-proxy.ts';

interface Facts {
  /** The certificate of the proxy in the tenant, if it needs one. */
  readonly tls: ProxyTls;
  /** When it must be renewed, in milliseconds since the epoch. */
  readonly renewal: number;
  /** True when the proxy is about to be created. */
  readonly isRecorded: boolean;
}

/** Until the next reconcile, in milliseconds: by then the status records what is about to be created. */
const soonMs = 100;

function isRecorded({ tcp }: Readonly<Scope>): boolean {
  return tcp.status?.addons?.tcpProxy?.deployment !== undefined;
}

/** The status records the proxy before it is created, so that it is never forgotten. */
function wanted(scope: Readonly<Scope>): Wanted {
  if (!isRecorded(scope)) {
    const message = 'the proxy in the tenant is about to be created';
    return { facts: { isRecorded: true }, then: { message, afterMs: soonMs } };
  }
  const upstream = upstreamOf(scope);
  const tls = upstream.endsTls ? scope.addons.tcpProxy?.tls : undefined;
  return { set: { manifests: proxyManifests({ tcp: scope.tcp, upstream, tls }) } };
}

/** A proxy inside the tenant, which is removed once the Service `kubernetes` leads to the API servers again. */
export const tcpProxy: Addon<'tcpProxy', Facts> = {
  name: 'tcpProxy',
  inside: {
    component: 'tcp-proxy',
    kinds: proxyKinds,
    needs: ['kubernetes-service', 'tcp-proxy-certificate'],
    before: ['unpublication'],
    wanted,
    isLeft: isRecorded,
  },
  phases: [['tcp-proxy-certificate', 'CertificatesReady', ['authorities', 'endpoint'], tcpProxyCertificate]],
  images: ({ spec }) => [['spec.addons.tcpProxy.image', spec.addons.tcpProxy?.image, 'reference']],
  validate: validateTcpProxy,
  // The proxy verifies by this name that it reaches this control plane.
  apiServerNames({ spec }, { port }) {
    const { internalEndpoint = '' } = spec.addons.tcpProxy ?? {};
    return internalEndpoint === '' ? [] : [parseInternalEndpoint(internalEndpoint, port).host];
  },
  keepsKubernetesService: true,
  unwanted(scope) {
    const { tcp } = scope;
    if (tcp.spec.addons.tcpProxy !== undefined && upstreamOf(scope).endsTls) return [];
    return [{ kind: kinds.Secret, name: tenantObjects(tcp.metadata.name).tcpProxyCertificate }];
  },
  status: tcpProxyStatus,
  renewal: ({ addons }) => addons.tcpProxy?.renewal,
};
