import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { agnhost, webContainer } from '../web-pod.ts';

/**
 * The containers of {@link apiServerProbe} that ask the API server every second, with their pod's service account and with
 * the authority that is mounted beside it: by the Service's address, and by its DNS name.
 */
export const probeContainers = ['by-address', 'by-name'] as const;

/** A pod that answers at port 8080 and asks its cluster's API server; failures stand in the logs of `probeContainers`. */
export function apiServerProbe(name: string, nodeName: string, image = agnhost): PlainObject {
  const container = (of: string, more: object): object => ({
    ...{ name: of, image, imagePullPolicy: 'IfNotPresent' },
    ...more,
  });
  const asking = { args: ['inclusterclient', '--poll-interval=1'] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [
        webContainer('server', image),
        container('by-address', asking),
        container('by-name', {
          ...asking,
          env: [{ name: 'KUBERNETES_SERVICE_HOST', value: 'kubernetes.default.svc' }],
        }),
      ],
    },
  };
}
