import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { webDeployment } from '../web-pod.ts';

/** What a tenant has when it is backed up: objects of all sizes and with all bytes in the namespace `furniture`, and a Deployment with a pod. */
export const backedUpObjects: readonly PlainObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'furniture' } },
  ...Array.from({ length: 200 }, (_, at): PlainObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `map-${at}`, namespace: 'furniture' },
    data: { text: `ä漢🙂 ${at} ${'x'.repeat(at * 10)}` },
  })),
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bytes', namespace: 'furniture' },
    data: { bytes: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64') },
  },
  webDeployment,
];
