/** Name of the agents' workload and ServiceAccount inside a tenant. */
export const agentName = 'konnectivity-agent';

/** Where they are. */
export const agentNamespace = 'kube-system';
