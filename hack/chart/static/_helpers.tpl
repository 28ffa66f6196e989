{{/* The image with its tag or digest. */}}
{{- define "tutti.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}
{{- end -}}

{{/* Settings of admission, or of the controllers: what both share, then their own. */}}
{{- define "tutti.settingsWith" -}}
{{- $settings := mergeOverwrite (deepCopy .root.Values.settings.shared) (deepCopy .own) -}}
{{- with .root -}}
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
{{- end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- define "tutti.controllersSettings" -}}
{{- include "tutti.settingsWith" (dict "root" . "own" .Values.settings.controllers) -}}
{{- end -}}

{{- define "tutti.webhooksSettings" -}}
{{- include "tutti.settingsWith" (dict "root" . "own" .Values.settings.webhooks) -}}
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

{{/* All of them; other text, another name of the ConfigMap. */}}
{{- define "tutti.allSettings" -}}
{{- cat (include "tutti.controllersSettings" .) (include "tutti.webhooksSettings" .) (include "tutti.schedulerSettings" .) -}}
{{- end -}}

{{/* Not empty when anything differs from what the processes do by themselves. */}}
{{- define "tutti.hasSettings" -}}
{{- if ne (include "tutti.allSettings" .) "{} {} {}" -}}true{{- end -}}
{{- end -}}

{{/* As kustomize does it: other settings, another name, and so other pods. */}}
{{- define "tutti.settingsName" -}}
{{- printf "tutti-scheduler-settings-%s" (sha256sum (include "tutti.allSettings" .) | trunc 10) -}}
{{- end -}}
