{{- define "clusterd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects: short enough for a suffix, and for a pod's ordinal and the hash of a revision. */}}
{{- define "clusterd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 42 | trimSuffix "-" }}
{{- else if contains (include "clusterd.name" .) .Release.Name }}
{{- .Release.Name | trunc 42 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "clusterd.name" .) | trunc 42 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* What chooses all pods of the release. */}}
{{- define "clusterd.selector" -}}
app.kubernetes.io/name: {{ include "clusterd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "clusterd.labels" -}}
{{ include "clusterd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "clusterd.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "clusterd.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "clusterd.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}
{{- else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" where others than the pod itself can ask, else nothing. */}}
{{- define "clusterd.exposed" -}}
{{- if .Values.http.tokens.existingSecret }}true{{ end }}
{{- end }}

{{- define "clusterd.scheme" -}}
{{- if .Values.http.tls.existingSecret }}https{{ else }}http{{ end }}
{{- end }}

{{/* Stops an upgrade that would change the method over the clusters of a release, such as one from a chart that set no
method. clusterd itself would refuse to start. Where there is no cluster to ask, as for helm template, nothing is known. */}}
{{- define "clusterd.keepsMethod" -}}
{{- $installed := lookup "v1" "ConfigMap" .Release.Namespace (include "clusterd.fullname" .) }}
{{- if $installed }}
{{- $before := fromYaml (dig "data" "clusterd.yaml" "" $installed) }}
{{- $was := dig "fingerprint" "method" "simhash" $before }}
{{- $is := dig "fingerprint" "method" "simhash" .Values.config }}
{{- $topic := dig "output" "clusters_topic" "clusters" $before }}
{{- if and (ne $was $is) (eq $topic (dig "output" "clusters_topic" "clusters" .Values.config)) }}
{{- fail (printf "config.fingerprint.method: the clusters of release %s, in topic %s, were made by %s, and %s cannot go on over them. Nothing has changed. To go on with %s, add --set config.fingerprint.method=%s, or write it into your values. https://github.com/clusterd/clusterd/blob/main/docs/migration.md has the way to %s" .Release.Name $topic $was $is $was $was $is) }}
{{- end }}
{{- end }}
{{- end }}

{{/* clusterd.yaml: the values' config, and what the chart sets. */}}
{{- define "clusterd.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $http := default dict (get $config "http") }}
{{- range list "role" "state" }}
{{- if hasKey $config . }}
{{- fail (printf "config.%s: the chart sets it" .) }}
{{- end }}
{{- end }}
{{- range list "listen" "token" "tokens_file" "tls" }}
{{- if hasKey $http . }}
{{- fail (printf "config.http.%s: the chart sets it, see http.tokens and http.tls" .) }}
{{- end }}
{{- end }}
{{- $secrets := dict
  "kafka.sasl.password" (dig "kafka" "sasl" "password" "" $config)
  "fingerprint.secret" (dig "fingerprint" "secret" "" $config) }}
{{- range $key, $value := $secrets }}
{{- if and $value (not (regexMatch "^([$][{][A-Za-z0-9_]+[}]$|file:)" (toString $value))) }}
{{- fail (printf "config.%s: a ConfigMap is no place for a secret: write ${NAME} with secretEnv, or file:/secrets/NAME/KEY with secretFiles" $key) }}
{{- end }}
{{- end }}
{{- if include "clusterd.exposed" . }}
{{- $_ := set $http "listen" (printf ":%d" (int .Values.http.port)) }}
{{- $_ := set $http "tokens_file" (printf "/secrets/http/%s" .Values.http.tokens.key) }}
{{- else if or $http.user_header .Values.http.tls.existingSecret }}
{{- fail "http.tls.existingSecret and config.http.user_header need http.tokens.existingSecret: without it, only the pod itself can ask, and the readiness probe has no token" }}
{{- else }}
{{- $_ := set $http "listen" (printf "127.0.0.1:%d" (int .Values.http.port)) }}
{{- end }}
{{- if .Values.http.tls.existingSecret }}
{{- $_ := set $http "tls" (dict "cert_file" "/secrets/tls/tls.crt" "key_file" "/secrets/tls/tls.key") }}
{{- end }}
{{- $_ := set $config "http" $http }}
{{- $_ := set $config "state" (dict "dir" "/var/lib/clusterd/state") }}
{{- toYaml $config }}
{{- end }}
