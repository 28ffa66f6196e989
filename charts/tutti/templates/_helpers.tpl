{{/* The image with its tag or digest. */}}
{{- define "tutti.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}
{{- end -}}

{{/* Settings that admission and controllers share. */}}
{{- define "tutti.sharedSettings" -}}
{{- $settings := deepCopy .Values.settings.shared -}}
{{- if .Values.profiles -}}
{{- $names := list -}}
{{- range .Values.profiles -}}{{- $names = append $names .scheduler_name -}}{{- end -}}
{{- $settings = set $settings "profile_names" $names -}}
{{- end -}}
{{- if ne .Values.defaultProvider "embedded" -}}
{{- $settings = set $settings "default_provider" .Values.defaultProvider -}}
{{- end -}}
{{- if ne .Release.Namespace "tutti-system" -}}
{{- $settings = set $settings "system_namespace" .Release.Namespace -}}
{{- end -}}
{{- toYaml $settings -}}
{{- end -}}

{{/* Settings of the scheduler. */}}
{{- define "tutti.schedulerSettings" -}}
{{- $settings := deepCopy .Values.settings.scheduler -}}
{{- if .Values.profiles -}}
{{- $settings = set $settings "profiles" .Values.profiles -}}
{{- end -}}
{{- if ne .Release.Namespace "tutti-system" -}}
{{- $settings = set $settings "system_namespace" .Release.Namespace -}}
{{- end -}}
{{- toYaml $settings -}}
{{- end -}}

{{/* Not empty when anything differs from what the processes do by themselves. */}}
{{- define "tutti.hasSettings" -}}
{{- if or (ne (include "tutti.sharedSettings" .) "{}") (ne (include "tutti.schedulerSettings" .) "{}") -}}true{{- end -}}
{{- end -}}

{{/* As kustomize does it: other settings, another name, and so other pods. */}}
{{- define "tutti.settingsName" -}}
{{- $content := cat (include "tutti.sharedSettings" .) (include "tutti.schedulerSettings" .) -}}
{{- printf "tutti-scheduler-settings-%s" (sha256sum $content | trunc 10) -}}
{{- end -}}
