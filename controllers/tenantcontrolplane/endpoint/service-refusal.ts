/** Why there is no port for a Service. */
export interface ServiceRefusal {
  readonly reason: 'AddressInUse' | 'NoFreeNodePort';
  readonly message: string;
}

/** What an API server's refusal of a Service means, if another Service has its node port or all are in use; otherwise undefined. */
export function serviceRefusal(said: string): ServiceRefusal | undefined {
  if (said.includes('provided port is already allocated')) {
    const message = `another Service has the node port: ${said}; set another port in the spec, or delete that Service`;
    return { reason: 'AddressInUse', message };
  }
  if (said.includes('allocate a nodePort: range is full')) {
    const message = `the management cluster has no free node port: ${said}; delete Services of type NodePort or LoadBalancer that are no longer needed, or use a Service of type ClusterIP`;
    return { reason: 'NoFreeNodePort', message };
  }
  return undefined;
}
