import { hooksVersion, servedHooks } from './hooks.ts';

/** How long core waits for an answer, in seconds; as long as we work on one. */
const timeoutSeconds = 10;

/** Tells core Cluster API at which hooks it should call this extension. */
export function discoveryAnswer(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: hooksVersion,
    kind: 'DiscoveryResponse',
    status: 'Success',
    handlers: servedHooks.map(({ hook, name, failurePolicy }) => ({
      name,
      requestHook: { apiVersion: hooksVersion, hook },
      timeoutSeconds,
      failurePolicy,
    })),
  };
}
