import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectErrors } from '../../../../kubeadm/collect-errors.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { openServers } from '../../shared/addon-server.ts';
import type { AddonServer } from '../../shared/addon-server.ts';
import { apiServerHosts, contestedHosts, hostClaims, rivals, rivalWords } from '../host-claims.ts';
import { hostRules, publicationOf, sameName } from './exposure.ts';
import { gatewayName, gatewayKeys } from './route-status.ts';

/** Which parts of Gateway API the management cluster has. */
export type GatewayApi = 'complete' | 'without TLSRoute' | 'absent';

/** The object to validate, and facts about the cluster. */
export interface PublicationQuestion {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old?: TenantControlPlane | undefined;
  /** The servers of add-ons. */
  readonly servers: readonly AddonServer[];
  /** Absent if the cluster was not checked. */
  readonly gatewayApi?: GatewayApi | undefined;
  /** All control planes; absent if they were not listed. */
  readonly tenants?: readonly TenantControlPlane[] | undefined;
}

const at = 'spec.controlPlane.gateway';

/** True when the change adds a Gateway: only then must the cluster have routes. */
export function asksForGateway({ tcp, old }: Pick<PublicationQuestion, 'tcp' | 'old'>): boolean {
  return tcp.spec.controlPlane.gateway !== undefined && old?.spec.controlPlane.gateway === undefined;
}

/** True when the change adds a host name, for the control plane or for agents. */
export function asksForHost({ tcp, old, servers }: Pick<PublicationQuestion, 'tcp' | 'old' | 'servers'>): boolean {
  const before = new Set(old === undefined ? [] : hostClaims(old, servers));
  return hostClaims(tcp, servers).some((claim) => !before.has(claim));
}

function validateRival({ tcp, servers, tenants = [] }: PublicationQuestion): readonly InvalidInput[] {
  const [rival] = rivals(tcp, tenants, servers);
  if (rival === undefined) return [];
  const contested = contestedHosts(tcp, rival, servers);
  const remedy = 'use a host name that no other control plane uses';
  const own = openServers(servers, tcp).find(({ hostname }) => hostname !== undefined && contested[0] === hostname);
  if (own?.server.hostname !== undefined) {
    const reason = `is already used by ${rivalWords(tcp, rival)}, and routers route by host name`;
    return [{ field: own.server.hostname.field, value: own.hostname ?? '', reason, remedy }];
  }
  const { ingress, gateway } = tcp.spec.controlPlane;
  return [
    {
      field: `spec.controlPlane.${ingress === undefined ? 'gateway' : 'ingress'}.hostname`,
      value: (ingress ?? gateway)?.hostname ?? '',
      reason: `or a host name that add-ons derive from it is already used by ${rivalWords(tcp, rival)}, and routers route by host name`,
      remedy,
    },
  ];
}

/** Finds host names that the author gives to servers of add-ons although they lead to the API server. */
function validateServerNames({ tcp, servers }: PublicationQuestion): readonly InvalidInput[] {
  const hosts = apiServerHosts(tcp);
  return openServers(servers, tcp).flatMap(({ server, hostname }) =>
    server.hostname === undefined || hostname === undefined || !hosts.includes(hostname)
      ? []
      : [sameName(server.hostname.field, hostname)],
  );
}

const absence: Readonly<Record<Exclude<GatewayApi, 'complete'>, Pick<InvalidInput, 'reason' | 'remedy'>>> = {
  absent: {
    reason: 'cannot be used: the Gateway API is not available in this cluster',
    remedy: 'install Gateway API 1.5 or newer and a controller for it, or remove the field',
  },
  'without TLSRoute': {
    reason: 'cannot be used: the TLSRoute resource is not available in this cluster',
    remedy: 'install Gateway API 1.5 or newer, or the experimental channel of an older version, or remove the field',
  },
};

function validateGateway({ tcp, old, gatewayApi = 'complete' }: PublicationQuestion): readonly InvalidInput[] {
  if (tcp.spec.controlPlane.gateway === undefined) return [];
  const found: InvalidInput[] = [];
  if (gatewayApi !== 'complete' && asksForGateway({ tcp, old })) found.push({ field: at, ...absence[gatewayApi] });
  const { parentRefs = [] } = tcp.spec.controlPlane.gateway;
  if (parentRefs.length === 0) {
    const remedy = 'name the Gateway that listens for this control plane';
    found.push({ field: `${at}.parentRefs`, reason: 'is empty, so nothing would serve the route', remedy });
  }
  const names = gatewayKeys(tcp).map(gatewayName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const reason = 'is named twice, which would select the same listener twice';
    found.push({ field: `${at}.parentRefs`, value: twice, reason, remedy: 'name it once' });
  }
  return found;
}

/** Validates how a control plane is exposed besides its Service. */
export function validatePublication(question: PublicationQuestion): readonly InvalidInput[] {
  const { spec } = question.tcp;
  const names = validateServerNames(question);
  const hosts = collectErrors(() => {
    const { port } = spec.networkProfile;
    const publication = publicationOf(question.tcp, port);
    const ports = { apiServer: port, servers: openServers(question.servers, question.tcp) };
    const hasRules = publication !== undefined && publication.by !== 'TLSRoute' && names.length === 0;
    return hasRules ? hostRules(publication, ports) : [];
  });
  return [...hosts, ...names, ...validateGateway(question), ...validateRival(question)];
}
