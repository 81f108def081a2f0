{{/* What chooses the pods of a component: (dict "root" $ "component" "work"). */}}
{{- define "clusterd.pods" -}}
{{ include "clusterd.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The role of a component: work is assign beside instances that fingerprint, and else what clusterd does by default. */}}
{{- define "clusterd.role" -}}
{{- if ne .component "work" }}{{ .component }}
{{- else if .root.Values.fingerprint.enabled }}assign
{{- end }}
{{- end }}

{{/* The pod template of a component: work, fingerprint or serve. The volume "state" is emptyDir unless a claim is
called so. */}}
{{- define "clusterd.pod" -}}
{{- $v := .root.Values }}
{{- $pods := include "clusterd.pods" . -}}
{{- $answers := ternary "no" "yes" (eq .component "fingerprint") -}}
metadata:
  labels:
    {{- merge (fromYaml $pods) (dict "clusterd/answers" $answers) $v.podLabels | toYaml | nindent 4 }}
  annotations:
    checksum/config: {{ include "clusterd.config" .root | sha256sum }}
    {{- with $v.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "clusterd.serviceAccountName" .root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $v.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $v.http.tls.existingSecret }}
  # The readiness probe asks for the certificate's name, of this pod.
  hostAliases:
    - ip: 127.0.0.1
      hostnames: [{{ required "http.tls.serverName: a name that the certificate bears" $v.http.tls.serverName | quote }}]
  {{- end }}
  securityContext:
    {{- toYaml $v.podSecurityContext | nindent 4 }}
  terminationGracePeriodSeconds: {{ int $v.terminationGracePeriodSeconds }}
  {{- with $v.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: clusterd
      image: {{ include "clusterd.image" .root | quote }}
      imagePullPolicy: {{ $v.image.pullPolicy }}
      command: [/usr/bin/clusterd, run, -c, /etc/clusterd/clusterd.yaml{{ with include "clusterd.role" . }}, --set, role={{ . }}{{ end }}]
      {{- with include "clusterd.env" .root | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- if include "clusterd.exposed" .root }}
      ports:
        - {name: http, containerPort: {{ int $v.http.port }}}
      {{- end }}
      {{- include "clusterd.probes" .root | trim | nindent 6 }}
      securityContext:
        {{- toYaml $v.securityContext | nindent 8 }}
      resources:
        {{- $own := dict "serve" $v.serve.resources "fingerprint" $v.fingerprint.resources }}
        {{- default $v.resources (get $own .component) | toYaml | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/clusterd, readOnly: true}
        - {name: state, mountPath: /var/lib/clusterd}
        {{- if $v.http.tokens.existingSecret }}
        - {name: http, mountPath: /secrets/http, readOnly: true}
        {{- end }}
        {{- if $v.http.tls.existingSecret }}
        - {name: tls, mountPath: /secrets/tls, readOnly: true}
        {{- end }}
        {{- range $v.secretFiles }}
        - {name: secret-{{ .name }}, mountPath: /secrets/{{ .name }}, readOnly: true}
        {{- end }}
        {{- with $v.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- include "clusterd.volumes" . | trim | nindent 2 }}
  {{- with include "clusterd.places" (dict "values" $v "pods" (fromYaml $pods)) | trim }}
  {{- . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "clusterd.env" -}}
{{- $tls := .Values.http.tls.existingSecret }}
{{- if or $tls .Values.secretEnv .Values.extraEnv }}
env:
  {{- if $tls }}
  # The readiness probe trusts the certificate itself, whoever signed it.
  - {name: SSL_CERT_DIR, value: "/etc/ssl/certs:/secrets/tls"}
  {{- end }}
  {{- range .Values.secretEnv }}
  - name: {{ .name }}
    valueFrom:
      secretKeyRef: {name: {{ .secretName }}, key: {{ .key }}}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Whether it is live needs no token, and the kubelet can ask where there is a port. Whether it is ready needs
one, which is in a file and not in the pod: clusterd asks itself. */}}
{{- define "clusterd.probes" -}}
{{- $p := .Values.probes }}
{{- $port := int .Values.http.port }}
{{- $scheme := include "clusterd.scheme" . }}
{{- $ask := list "/usr/bin/clusterd" "health" "--server" (printf "http://127.0.0.1:%d" $port) }}
{{- $live := dict "exec" (dict "command" $ask) }}
{{- if include "clusterd.exposed" . }}
{{- $host := ternary .Values.http.tls.serverName "127.0.0.1" (eq $scheme "https") }}
{{- $ask = list "/usr/bin/clusterd" "health" "--server" (printf "%s://%s:%d" $scheme $host $port)
  "--token-file" (printf "/secrets/http/%s" .Values.http.tokens.probeKey) }}
{{- $live = dict "httpGet" (dict "path" "/livez" "port" "http" "scheme" (upper $scheme)) }}
{{- end }}
startupProbe:
  {{- merge (deepCopy $live) $p.startup | toYaml | nindent 2 }}
livenessProbe:
  {{- merge (deepCopy $live) $p.liveness | toYaml | nindent 2 }}
readinessProbe:
  {{- merge (dict "exec" (dict "command" (append $ask "--ready"))) $p.readiness | toYaml | nindent 2 }}
{{- end }}

{{- define "clusterd.volumes" -}}
{{- $v := .root.Values }}
volumes:
  - name: config
    configMap:
      name: {{ include "clusterd.fullname" .root }}
      items:
        - {key: clusterd.yaml, path: clusterd.yaml}
  {{- if or (ne .component "work") (not $v.persistence.enabled) }}
  - name: state
    emptyDir:
      sizeLimit: {{ $v.emptyDir.sizeLimit }}
  {{- end }}
  {{- with $v.http.tokens }}
  {{- if .existingSecret }}
  - name: http
    secret:
      secretName: {{ .existingSecret }}
      defaultMode: 0440
      items:
        - {key: {{ .key }}, path: {{ .key }}}
        - {key: {{ .probeKey }}, path: {{ .probeKey }}}
  {{- end }}
  {{- end }}
  {{- with $v.http.tls.existingSecret }}
  - name: tls
    secret:
      secretName: {{ . }}
      defaultMode: 0440
      items:
        - {key: tls.crt, path: tls.crt}
        - {key: tls.key, path: tls.key}
  {{- end }}
  {{- range $v.secretFiles }}
  - name: secret-{{ .name }}
    secret:
      secretName: {{ .secretName }}
      defaultMode: 0440
  {{- end }}
  {{- with $v.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "clusterd.places" -}}
{{- $pods := .pods }}
{{- with .values }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" $pods)) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- range $name, $value := dict "affinity" .affinity "nodeSelector" .nodeSelector "tolerations" .tolerations }}
{{- with $value }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
