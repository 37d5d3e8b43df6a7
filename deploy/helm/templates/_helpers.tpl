{{- define "svc.labels" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "svc.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Spreads the pods of each part across machines, if there are enough. */}}
{{- define "svc.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { {{ include "svc.labels" . | replace "\n" ", " }} } }
{{- end }}

{{- define "svc.hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "svc.secret" -}}
valueFrom: { secretKeyRef: { name: {{ .root.Values.secret }}, key: {{ .key }} } }
{{- end }}

{{/* A URL for each NATS server: if one is down, the client tries the next. */}}
{{- define "svc.natsUrls" -}}
{{- $urls := list }}
{{- range $number := until (int .Values.nats.replicas) }}
{{- $urls = append $urls (printf "nats://chat:$(NATS_PASSWORD)@%s-nats-%d.%s-nats:4222" $.Release.Name $number $.Release.Name) }}
{{- end }}
{{- join "," $urls }}
{{- end }}

{{- define "svc.sfuHosts" -}}
{{- $hosts := list }}
{{- range $number := until (int .Values.sfu.replicas) }}
{{- $hosts = append $hosts (printf "%s-sfu-%d.%s-sfu:5005" $.Release.Name $number $.Release.Name) }}
{{- end }}
{{- join "," $hosts }}
{{- end }}

{{/* A folder inside the volume, because the volume itself belongs to root and its group can open it. */}}
{{- define "svc.data" -}}
- { name: DATA_DIR, value: /data/svc }
{{- end }}

{{- define "svc.bucket" -}}
- { name: STORAGE_BACKEND, value: s3 }
- name: S3_ENDPOINT
  value: {{ .Values.minio.enabled | ternary (printf "http://%s-minio:9000" .Release.Name) .Values.s3.endpoint | quote }}
- { name: S3_BUCKET, value: {{ .Values.s3.bucket | quote }} }
- { name: S3_REGION, value: {{ .Values.s3.region | quote }} }
- { name: S3_FORCE_PATH_STYLE, value: {{ .Values.minio.enabled | quote }} }
- { name: S3_ACCESS_KEY_ID, {{ include "svc.secret" (dict "root" . "key" "s3AccessKey") }} }
- { name: S3_SECRET_ACCESS_KEY, {{ include "svc.secret" (dict "root" . "key" "s3SecretKey") }} }
{{- end }}
