/** Label selector of the manager's Deployment and pods, as the manifests and the chart label them. */
export const managerLabels = 'app.kubernetes.io/name=steward';
