/** The label that every object of ours inside a tenant carries; only objects with it are ever deleted there. */
export const projectLabels: Readonly<Record<string, string>> = { 'steward.butlerlabs.dev/project': 'steward' };
