import type { PlainObject } from '../cluster/kubernetes-client.ts';

/** An image that every machine of the newest Kubernetes has from its start. */
export const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0';

/** A container that answers at port 8080, and is ready when it does. */
export function webContainer(name: string, image = agnhost): object {
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['netexec', '--http-port=8080'],
    readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 },
  };
}

/** A pod of that one container, called `app` by its label, that ends as soon as it gets SIGTERM. */
export function webPod(name: string, { nodeName }: { readonly nodeName?: string | undefined } = {}): PlainObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { nodeName, terminationGracePeriodSeconds: 1, containers: [webContainer(name)] },
  };
}

/** A Deployment `web` of one such pod, in the namespace `default`. */
export const webDeployment: PlainObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [webContainer('web', agnhost)] },
    },
  },
};
