import { ports } from '../../../../api/names.ts';
import type { TenantControlPlaneStatus } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { agentName, agentNamespace } from './konnectivity-server.ts';
import { egressComponent } from './egress-selector.ts';
import { konnectivityUser } from './server-leaves.ts';
import { without } from '../../shared/without.ts';
import type { Scope } from '../../scope.ts';
import type { StatusWords } from '../addon-status.ts';

type Addons = NonNullable<TenantControlPlaneStatus['addons']>;
type Konnectivity = NonNullable<Addons['konnectivity']>;
type ObjectStatus = NonNullable<Konnectivity['sa']>;

function objects(
  { addons }: Readonly<Scope>,
  before: Konnectivity | undefined,
  words: StatusWords,
): Partial<Konnectivity> {
  const { mounted = {} } = addons.konnectivity ?? {};
  const certificate = mounted['konnectivity-certificate'];
  const kubeconfig = mounted['konnectivity-kubeconfig'];
  const configMap = mounted[egressComponent];
  return {
    ...(configMap !== undefined && { configMap }),
    ...(certificate !== undefined && { certificate: words.secret(before?.certificate, certificate) }),
    ...(kubeconfig !== undefined && { kubeconfig: words.secret(before?.kubeconfig, kubeconfig) }),
  };
}

/** A fact about the inside of the tenant, with the time at which it became true. */
function inTenant(
  { tcp, addons }: Readonly<Scope>,
  before: Konnectivity | undefined,
  at: string,
): Partial<Konnectivity> {
  const mode = tcp.spec.addons.konnectivity?.agent.mode;
  if (mode === undefined || addons.konnectivity?.isInside !== true) return {};
  const { host = before?.agent?.host } = addons.konnectivity;
  const object = (old: ObjectStatus | undefined, made: ObjectStatus): ObjectStatus =>
    old ?? { ...made, lastUpdate: at };
  const agent = { name: agentName, namespace: agentNamespace, mode, host };
  const isSame = before?.agent?.mode === mode && before.agent.host === host;
  return {
    enabled: true,
    sa: object(before?.sa, { name: agentName, namespace: agentNamespace }),
    clusterrolebinding: object(before?.clusterrolebinding, { name: konnectivityUser }),
    agent: isSame ? before.agent : { ...agent, lastUpdate: at },
  };
}

function service({ service: live }: Readonly<Scope>): Partial<Konnectivity> {
  const port = live?.spec?.ports?.find(({ name }) => name === ports.konnectivity)?.port;
  if (live === undefined || port === undefined) return {};
  const status = live.status as Partial<NonNullable<Konnectivity['service']>> | undefined;
  return {
    service: { ...status, name: live.metadata.name, namespace: live.metadata.namespace, port },
  };
}

/** The route of the agents, if there is one; if it cannot be created, the recorded one stays in the status. */
function route({ publication }: Readonly<Scope>, before: Konnectivity | undefined): Partial<Konnectivity> {
  const gateway = publication?.made === undefined ? before?.gateway : publication.servers?.[ports.konnectivity]?.status;
  return { gateway };
}

/** The status of the add-on after a reconcile: what the reconcile could not find out is unchanged; a removed one is only disabled. */
export function konnectivityStatus(scope: Readonly<Scope>, words: StatusWords): Konnectivity | undefined {
  const { tcp, addons } = scope;
  const before = tcp.status?.addons?.konnectivity;
  if (tcp.spec.addons.konnectivity === undefined) {
    return before !== undefined && addons.konnectivity?.isInside === false ? { enabled: false } : before;
  }
  return {
    enabled: false,
    ...(before !== undefined && without(before, 'gateway')),
    ...route(scope, before),
    ...objects(scope, before, words),
    ...service(scope),
    ...inTenant(scope, before, words.at),
  };
}
