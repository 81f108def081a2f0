// Package helm checks deploy: the Helm chart and the compose file. It has tests only, in a module of
// its own, so that what they need of Helm and Kubernetes is no dependency of clusterd.
package helm
