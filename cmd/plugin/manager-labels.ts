/** Label selector of the manager's Deployment and pods, which are the same however Steward is installed. */
export const managerLabels = 'app.kubernetes.io/name=steward';
