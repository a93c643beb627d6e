import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { agnhost, webContainer } from '../web-pod.ts';

/** The container that requests something from its API server each second, with a token that expires within the night. */
export const caller = 'caller';

/** The volume that is empty when a pod starts. */
export const scratch = 'scratch';

/** Where a client in a pod looks for its token and for the authority of its API server. */
const credentials = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The shortest time for which kube-apiserver issues a token, in seconds. It makes tokens of the usual duration valid for a year, but not these. */
const tokenSeconds = 600;

/** A Deployment of two pods that notice what becomes of them in a night. */
export function shiftPods(name: string): PlainObject {
  const labels = { app: name };
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: tokenSeconds } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  const spec = {
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    containers: [
      { ...webContainer('server'), volumeMounts: [{ name: scratch, mountPath: '/scratch' }] },
      {
        ...{ name: caller, image: agnhost, imagePullPolicy: 'IfNotPresent' },
        args: ['inclusterclient', '--poll-interval=1'],
        volumeMounts: [{ name: 'credentials', mountPath: credentials, readOnly: true }],
      },
    ],
    volumes: [
      { name: scratch, emptyDir: {} },
      { name: 'credentials', projected: { sources } },
    ],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
