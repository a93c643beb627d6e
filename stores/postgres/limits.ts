/**
 * Connections of one kine: what it needs under moderate load by its own account is 10 to 15
 * (https://github.com/k3s-io/kine/blob/v0.16.4/pkg/drivers/generic/generic.go), each of them for one statement.
 */
export const kineConnections = 10;

/**
 * Connections of one tenant: six kines (three replicas, twice while they are rolled out) and four for a copy. It keeps a tenant
 * from using up the server's `max_connections`, which is 100 unless raised, and must never stop a rollout.
 */
export const tenantConnections = 6 * kineConnections + 4;
