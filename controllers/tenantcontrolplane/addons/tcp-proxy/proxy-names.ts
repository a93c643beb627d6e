/** Name of the proxy's objects inside a tenant, but for its Role's. */
export const proxyName = 'steward-tcp-proxy';

/** Name of its ClusterRole and of the ClusterRoleBinding. */
export const proxyRole = 'steward:tcp-proxy';

/** Name of the Secret with its certificate, where it needs one. */
export const proxyTlsSecret = 'steward-tcp-proxy-tls';

/** Where they are. */
export const proxyNamespace = 'kube-system';

/** Where it listens. */
export const proxyPort = 6443;
