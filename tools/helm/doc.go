// Package helm checks what deploy has for containers: the Helm chart and the compose file. It has
// tests only, in a module of its own, so that what they need of Helm and Kubernetes is no
// dependency of clusterd.
package helm
