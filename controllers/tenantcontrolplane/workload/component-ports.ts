/** Ports at which components serve health and metrics, over TLS; the API server has the port of the endpoint. */
export const componentPorts = { controllerManager: 10_257, scheduler: 10_259 } as const;
