import { clusterStackGroup } from '../../api/names.ts';

/**
 * On a ClusterAddon, or on an object of a chart, with value `true`: an object that differs in an immutable field is deleted and recreated.
 */
export const recreateAnnotation = `${clusterStackGroup}/recreate`;
