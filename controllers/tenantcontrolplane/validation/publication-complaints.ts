import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectComplaints } from '../../../kubeadm/collect-complaints.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { hostClaims, rivals, rivalWords } from '../components/host-claims.ts';
import { hostRules, publicationOf } from '../components/publication.ts';
import { gatewayName, gatewayKeys } from '../components/route-verdict.ts';

/** What the management cluster has of Gateway API. */
export type GatewayApi = 'complete' | 'without TLSRoute' | 'absent';

/** What is looked at. */
export interface PublicationQuestion {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old?: TenantControlPlane | undefined;
  /** Absent where nobody has asked the cluster. */
  readonly gatewayApi?: GatewayApi | undefined;
  /** All control planes that there are; absent where nobody has asked the cluster. */
  readonly tenants?: readonly TenantControlPlane[] | undefined;
}

const at = 'spec.controlPlane.gateway';

/** True when somebody asks for a Gateway who had none: only then must the cluster know routes. */
export function asksForGateway({ tcp, old }: Pick<PublicationQuestion, 'tcp' | 'old'>): boolean {
  return tcp.spec.controlPlane.gateway !== undefined && old?.spec.controlPlane.gateway === undefined;
}

/** True when somebody asks for a host name, or agents for one, that this control plane did not have. */
export function asksForHost({ tcp, old }: Pick<PublicationQuestion, 'tcp' | 'old'>): boolean {
  const before = new Set(old === undefined ? [] : hostClaims(old));
  return hostClaims(tcp).some((claim) => !before.has(claim));
}

function rivalComplaints({ tcp, tenants = [] }: PublicationQuestion): readonly InvalidInput[] {
  const [rival] = rivals(tcp, tenants);
  if (rival === undefined) return [];
  const { ingress, gateway } = tcp.spec.controlPlane;
  return [
    {
      field: `spec.controlPlane.${ingress === undefined ? 'gateway' : 'ingress'}.hostname`,
      value: (ingress ?? gateway)?.hostname ?? '',
      reason: `or the name that it gives to konnectivity agents is taken by ${rivalWords(tcp, rival)}, and routers go by it`,
      remedy: 'give a host name that no other control plane has',
    },
  ];
}

const absence: Readonly<Record<Exclude<GatewayApi, 'complete'>, Pick<InvalidInput, 'reason' | 'remedy'>>> = {
  absent: {
    reason: 'cannot be used: the Gateway API is not available in this cluster',
    remedy: 'install Gateway API 1.5 or newer and a controller for it, or take the field out',
  },
  'without TLSRoute': {
    reason: 'cannot be used: the TLSRoute resource is not available in this cluster',
    remedy: 'install Gateway API 1.5 or newer, or the experimental channel of an older one, or take the field out',
  },
};

function gatewayComplaints({ tcp, old, gatewayApi = 'complete' }: PublicationQuestion): readonly InvalidInput[] {
  if (tcp.spec.controlPlane.gateway === undefined) return [];
  const found: InvalidInput[] = [];
  if (gatewayApi !== 'complete' && asksForGateway({ tcp, old })) found.push({ field: at, ...absence[gatewayApi] });
  const { parentRefs = [] } = tcp.spec.controlPlane.gateway;
  if (parentRefs.length === 0) {
    const remedy = 'name the Gateway that listens for this control plane';
    found.push({ field: `${at}.parentRefs`, reason: 'is empty, so that nothing would serve the route', remedy });
  }
  const names = gatewayKeys(tcp).map(gatewayName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const reason = 'is named twice, and the same listener of it would be meant';
    found.push({ field: `${at}.parentRefs`, value: twice, reason, remedy: 'name it once' });
  }
  return found;
}

/** What is wrong with how a control plane is to be published besides its Service. */
export function publicationComplaints(question: PublicationQuestion): readonly InvalidInput[] {
  const { spec } = question.tcp;
  const hosts = collectComplaints(() => {
    const { port } = spec.networkProfile;
    const publication = publicationOf(question.tcp, port);
    const ports = { apiServer: port, konnectivity: spec.addons.konnectivity?.server.port };
    return publication === undefined || publication.by === 'TLSRoute' ? [] : hostRules(publication, ports);
  });
  return [...hosts, ...gatewayComplaints(question), ...rivalComplaints(question)];
}
