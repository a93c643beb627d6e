const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const oneLabel = new RegExp(`^${label}$`);

/** True for a DNS-1123 subdomain, the form of API groups and of most names of objects. */
export const isSubdomain = (text: string): boolean => text.length <= 253 && subdomain.test(text);

/** True for a DNS-1123 label, the form of names of namespaces. */
export const isLabel = (text: string): boolean => text.length <= 63 && oneLabel.test(text);
