/** The label of all our objects inside a tenant; only objects with it are ever deleted there. */
export const projectLabels: Readonly<Record<string, string>> = { 'steward.butlerlabs.dev/project': 'steward' };
