// Package auth stands in for Traefik's fork of go-http-auth, which the module proxies do not all have: it lets nobody in.
package auth

import "net/http"

// SecretProvider gives the secret of a user.
type SecretProvider func(user, realm string) string

// BasicAuth asks for a password.
type BasicAuth struct {
	Realm   string
	Secrets SecretProvider
}

// RequireAuth refuses the request.
func (*BasicAuth) RequireAuth(w http.ResponseWriter, _ *http.Request) { refuse(w) }

// CheckSecret accepts no password.
func CheckSecret(_, _ string) bool { return false }

// DigestAuth asks for a digest.
type DigestAuth struct {
	Realm   string
	Secrets SecretProvider
}

// NewDigestAuthenticator makes one.
func NewDigestAuthenticator(realm string, secrets SecretProvider) *DigestAuth {
	return &DigestAuth{Realm: realm, Secrets: secrets}
}

// CheckAuth knows no user.
func (*DigestAuth) CheckAuth(*http.Request) (string, *string) { return "", nil }

// DigestAuthParams reads nothing.
func DigestAuthParams(string) map[string]string { return map[string]string{} }

// RequireAuth refuses the request.
func (*DigestAuth) RequireAuth(w http.ResponseWriter, _ *http.Request) { refuse(w) }

// RequireAuthStale refuses the request.
func (*DigestAuth) RequireAuthStale(w http.ResponseWriter, _ *http.Request) { refuse(w) }

func refuse(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }
