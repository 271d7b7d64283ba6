{{- define "flagmeter.name" -}}
{{- if contains "flagmeter" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-flagmeter{{ end }}
{{- end }}

{{- define "flagmeter.selector" -}}
app.kubernetes.io/name: flagmeter
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "flagmeter.labels" -}}
{{ include "flagmeter.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "flagmeter.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* The server refuses to listen on all addresses without it. `config` has flag names or configuration keys. */}}
{{- define "flagmeter.auth-url" -}}
{{- $url := coalesce (get .Values.config "auth-url") (get .Values.config "authUrl") }}
{{- required "config.auth-url: the public URL that browsers use, such as https://flags.example.com" $url }}
{{- end }}

{{- define "flagmeter.base-url" -}}
{{- coalesce (get .Values.config "base-url") (get .Values.config "baseUrl") (include "flagmeter.auth-url" .) }}
{{- end }}

{{- define "flagmeter.config" -}}
{{- $_ := include "flagmeter.auth-url" . }}
{{- $set := dict "data" "/var/lib/flagmeter" "listen" "0.0.0.0:8080" "grpc-listen" "0.0.0.0:8081" }}
{{- if .Values.postgres.existingSecret }}
{{- $set = merge $set (dict "postgres-file" "/run/secrets/postgres/url" "postgres-key-file" "/run/secrets/postgres/key") }}
{{- /* Kubernetes still sends requests to a stopping pod for a moment. */}}
{{- if not (or (hasKey .Values.config "shutdown-delay") (hasKey .Values.config "shutdownDelay")) }}
{{- $set = merge $set (dict "shutdown-delay" 5) }}
{{- end }}
{{- end }}
{{- with int .Values.ops.port }}
{{- $set = merge $set (dict "ops-listen" (printf "0.0.0.0:%d" .)) }}
{{- end }}
{{- toJson (merge $set .Values.config) }}
{{- end }}

{{- /* The port of the probes: the ops port, without TLS, if there is one. */}}
{{- define "flagmeter.probed" -}}
{{- if int .Values.ops.port }}port: ops{{ else if or (hasKey .Values.config "tls-cert") (hasKey .Values.config "tlsCert") }}port: http, scheme: HTTPS{{ else }}port: http{{ end }}
{{- end }}
