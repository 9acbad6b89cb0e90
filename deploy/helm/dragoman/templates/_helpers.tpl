{{- define "dragoman.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "dragoman.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "dragoman.selector" -}}
app.kubernetes.io/name: {{ include "dragoman.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "dragoman.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "dragoman.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "dragoman.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "dragoman.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "dragoman.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* A variable out of a Secret: name of the variable, and {name, key}. */ -}}
{{- define "dragoman.fromSecret" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .from.name }}
      key: {{ .from.key }}
{{- end -}}

{{- define "dragoman.env" -}}
- name: DRAGOMAN_DRAIN_SECONDS
  value: {{ .Values.drainSeconds | quote }}
{{- if or .Values.state.url .Values.state.urlFromSecret.name }}
{{- if not .Values.state.keyFromSecret.name }}
{{- fail "a store wants a key of its own: kubectl create secret generic dragoman-state --from-literal=key=$(openssl rand -hex 32), and set state.keyFromSecret.name" }}
{{- end }}
{{- if .Values.state.urlFromSecret.name }}
{{ include "dragoman.fromSecret" (dict "variable" "DRAGOMAN_STATE" "from" .Values.state.urlFromSecret) }}
{{- else }}
- name: DRAGOMAN_STATE
  value: {{ .Values.state.url | quote }}
{{- end }}
- name: DRAGOMAN_NAMESPACE
  value: {{ default (printf "%s.%s" .Release.Namespace .Release.Name | trunc 64) .Values.state.namespace | quote }}
{{ include "dragoman.fromSecret" (dict "variable" "DRAGOMAN_STATE_KEY" "from" .Values.state.keyFromSecret) }}
{{- end }}
{{- if .Values.recordings.urlFromSecret.name }}
{{ include "dragoman.fromSecret" (dict "variable" "DRAGOMAN_RECORDINGS_URL" "from" .Values.recordings.urlFromSecret) }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}
