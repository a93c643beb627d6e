// Package ext is empty in Traefik itself: forks add fields to its configuration here.
package ext

// HTTP is embedded in the HTTP configuration.
type HTTP struct{}

// Router is embedded in the configuration of an HTTP router.
type Router struct{}
