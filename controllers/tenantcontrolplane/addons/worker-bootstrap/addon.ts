import { kinds } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { isOnTheWay } from '../../endpoint/previous-endpoint.ts';
import { needed } from '../../scope.ts';
import type { Scope, SecretFact, SecretFacts } from '../../scope.ts';
import type { Addon } from '../addon.ts';
import type { Wanted } from '../inside-phase.ts';
import { ownsSecret, whileInside, whilePodsUse } from '../retention.ts';
import { certificateRequests } from './certificate-requests-phase.ts';
import { requestsCondition } from './csr-progress.ts';
import type { RequestsLeft } from './csr-progress.ts';
import { nodeManifestKinds, nodeManifests } from './node-manifests.ts';
import { trustdPod, trustdPort } from './trustd-container.ts';
import { trustdComponent, trustdServing } from './trustd-credentials.ts';
import { trustdCredentials } from './trustd-credentials-phase.ts';
import { trustdAdvice, trustdEndpoint, trustdServer } from './trustd-endpoint.ts';
import { validateWorkerBootstrap } from './validate-worker-bootstrap.ts';
import { workerBootstrapStatus } from './worker-bootstrap-status.ts';

interface Facts {
  /** The Secret of trustd, with the checksum of the values that its container uses. */
  readonly credentials: SecretFact;
  /** When the first certificate in it must be renewed, in milliseconds since the epoch. */
  readonly renewal: number;
  /** Where workers reach trustd, as `host:port`; known when the tenant is ready for them. */
  readonly endpoint: string;
  /** The certificate requests that were not approved; absent while not all have been checked. */
  readonly requestsLeft: RequestsLeft;
}

/** Until the next reconcile, in milliseconds: by then the status has forgotten the Secret. */
const soonMs = 100;

function secretName({ tcp }: Readonly<Scope>): string {
  return tenantObjects(tcp.metadata.name).trustdCredentials;
}

function wanted(scope: Readonly<Scope>): Wanted {
  const { tcp } = scope;
  const set = { manifests: nodeManifests(tcp) };
  if (trustdPort(tcp) === undefined) return { set };
  if (isOnTheWay(scope)) {
    return { set, then: { message: 'workers will switch to trustd at the new endpoint when all other clients do' } };
  }
  const service = needed(scope.service, 'service');
  const endpoint = trustdEndpoint(tcp, needed(scope.endpoint, 'endpoint'), service);
  if (endpoint === undefined) {
    const message = `Service ${service.metadata.name} has no node port for trustd yet`;
    return { set, then: { is: 'waiting', reason: 'NotExposed', message } };
  }
  return { set, facts: { endpoint }, then: { message: trustdAdvice(tcp) } };
}

/** Bootstrap of Talos workers: trustd in the pods, and what workers need inside the tenant. */
export const workerBootstrap: Addon<'workerBootstrap', Facts> = {
  name: 'workerBootstrap',
  inside: {
    component: 'worker-bootstrap',
    kinds: nodeManifestKinds,
    wanted,
    isLeft: (scope) => ownsSecret(scope, secretName(scope)),
  },
  phases: [
    ['trustd-credentials', 'CertificatesReady', ['endpoint'], trustdCredentials, { before: ['workload'] }],
    ['certificate-requests', 'AddonsReady', ['allow-writes'], certificateRequests],
  ],
  images({ spec }) {
    const { image, imageTag = '' } = spec.addons.workerBootstrap?.talos ?? {};
    const at = 'spec.addons.workerBootstrap.talos';
    return [
      [`${at}.image`, image, imageTag === '' ? 'reference' : 'name'],
      [`${at}.imageTag`, imageTag, 'tag'],
    ];
  },
  validate: validateWorkerBootstrap,
  server: trustdServer,
  pod: trustdPod,
  mounted: ({ addons }): SecretFacts =>
    addons.workerBootstrap?.credentials === undefined ? {} : { [trustdComponent]: addons.workerBootstrap.credentials },
  serving: trustdServing,
  passedOn: ({ trustdCredentials: name }) => [name],
  unwanted(scope) {
    if (scope.tcp.spec.addons.workerBootstrap !== undefined) return [];
    return [{ kind: kinds.Secret, name: secretName(scope) }];
  },
  retainWhile: [
    whileInside('workerBootstrap'),
    // If the status still recorded the Secret, it would be missed when the add-on is enabled again.
    ({ tcp }) => (tcp.status?.addons?.workerBootstrap?.credentials === undefined ? undefined : { afterMs: soonMs }),
    whilePodsUse(trustdComponent, 'the credentials of trustd will be removed once no pod needs them'),
  ],
  status: workerBootstrapStatus,
  conditions: requestsCondition,
  renewal: ({ addons }) => addons.workerBootstrap?.renewal,
};
