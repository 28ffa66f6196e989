"""Numbers and types of the fields of the messages of all groups but the core one; written by hack/protobuf_tables.py, not by hand.

One message per paragraph: its name, then `number name type`, where `*` marks a field whose zero is a value (that of another is
none), `^` one whose own fields appear in its place, `[type]` a list and `{type}` a map with strings for keys.
"""

TABLES = """\
admissionregistration.v1.AuditAnnotation: 1 key *string; 2 valueExpression *string
admissionregistration.v1.ExpressionWarning: 2 fieldRef *string; 3 warning *string
admissionregistration.v1.MatchCondition: 1 name *string; 2 expression *string
admissionregistration.v1.MatchResources: 1 namespaceSelector *meta.v1.LabelSelector;
  2 objectSelector *meta.v1.LabelSelector; 3 resourceRules [admissionregistration.v1.NamedRuleWithOperations];
  4 excludeResourceRules [admissionregistration.v1.NamedRuleWithOperations]; 7 matchPolicy *string
admissionregistration.v1.MutatingWebhook: 1 name *string;
  2 clientConfig *admissionregistration.v1.WebhookClientConfig; 3 rules [admissionregistration.v1.RuleWithOperations];
  4 failurePolicy *string; 5 namespaceSelector *meta.v1.LabelSelector; 6 sideEffects *string; 7 timeoutSeconds *int32;
  8 admissionReviewVersions *[string]; 9 matchPolicy *string; 10 reinvocationPolicy *string;
  11 objectSelector *meta.v1.LabelSelector; 12 matchConditions [admissionregistration.v1.MatchCondition]
admissionregistration.v1.MutatingWebhookConfiguration: 1 metadata meta.v1.ObjectMeta;
  2 webhooks [admissionregistration.v1.MutatingWebhook]
admissionregistration.v1.NamedRuleWithOperations: 1 resourceNames [string];
  2 ruleWithOperations *^admissionregistration.v1.RuleWithOperations
admissionregistration.v1.ParamKind: 1 apiVersion string; 2 kind string
admissionregistration.v1.ParamRef: 1 name string; 2 namespace string; 3 selector *meta.v1.LabelSelector;
  4 parameterNotFoundAction *string
admissionregistration.v1.Rule: 1 apiGroups [string]; 2 apiVersions [string]; 3 resources [string]; 4 scope *string
admissionregistration.v1.RuleWithOperations: 1 operations [string]; 2 rule *^admissionregistration.v1.Rule
admissionregistration.v1.ServiceReference: 1 namespace *string; 2 name *string; 3 path *string; 4 port *int32
admissionregistration.v1.TypeChecking: 1 expressionWarnings [admissionregistration.v1.ExpressionWarning]
admissionregistration.v1.ValidatingAdmissionPolicy: 1 metadata meta.v1.ObjectMeta;
  2 spec admissionregistration.v1.ValidatingAdmissionPolicySpec;
  3 status admissionregistration.v1.ValidatingAdmissionPolicyStatus
admissionregistration.v1.ValidatingAdmissionPolicyBinding: 1 metadata meta.v1.ObjectMeta;
  2 spec admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec
admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec: 1 policyName string;
  2 paramRef *admissionregistration.v1.ParamRef; 3 matchResources *admissionregistration.v1.MatchResources;
  4 validationActions [string]
admissionregistration.v1.ValidatingAdmissionPolicySpec: 1 paramKind *admissionregistration.v1.ParamKind;
  2 matchConstraints *admissionregistration.v1.MatchResources; 3 validations [admissionregistration.v1.Validation];
  4 failurePolicy *string; 5 auditAnnotations [admissionregistration.v1.AuditAnnotation];
  6 matchConditions [admissionregistration.v1.MatchCondition]; 7 variables [admissionregistration.v1.Variable]
admissionregistration.v1.ValidatingAdmissionPolicyStatus: 1 observedGeneration int64;
  2 typeChecking *admissionregistration.v1.TypeChecking; 3 conditions [meta.v1.Condition]
admissionregistration.v1.ValidatingWebhook: 1 name *string;
  2 clientConfig *admissionregistration.v1.WebhookClientConfig; 3 rules [admissionregistration.v1.RuleWithOperations];
  4 failurePolicy *string; 5 namespaceSelector *meta.v1.LabelSelector; 6 sideEffects *string; 7 timeoutSeconds *int32;
  8 admissionReviewVersions *[string]; 9 matchPolicy *string; 10 objectSelector *meta.v1.LabelSelector;
  11 matchConditions [admissionregistration.v1.MatchCondition]
admissionregistration.v1.ValidatingWebhookConfiguration: 1 metadata meta.v1.ObjectMeta;
  2 webhooks [admissionregistration.v1.ValidatingWebhook]
admissionregistration.v1.Validation: 1 expression *string; 2 message string; 3 reason *string;
  4 messageExpression string
admissionregistration.v1.Variable: 1 name *string; 2 expression *string
admissionregistration.v1.WebhookClientConfig: 1 service *admissionregistration.v1.ServiceReference; 2 caBundle bytes;
  3 url *string
apiextensions.v1.CustomResourceColumnDefinition: 1 name *string; 2 type *string; 3 format string;
  4 description string; 5 priority int32; 6 jsonPath *string
apiextensions.v1.CustomResourceConversion: 1 strategy *string; 2 webhook *apiextensions.v1.WebhookConversion
apiextensions.v1.CustomResourceDefinition: 1 metadata meta.v1.ObjectMeta;
  2 spec *apiextensions.v1.CustomResourceDefinitionSpec; 3 status apiextensions.v1.CustomResourceDefinitionStatus
apiextensions.v1.CustomResourceDefinitionCondition: 1 type *string; 2 status *string; 3 lastTransitionTime Time;
  4 reason string; 5 message string; 6 observedGeneration int64
apiextensions.v1.CustomResourceDefinitionNames: 1 plural *string; 2 singular string; 3 shortNames [string];
  4 kind *string; 5 listKind string; 6 categories [string]
apiextensions.v1.CustomResourceDefinitionSpec: 1 group *string;
  3 names *apiextensions.v1.CustomResourceDefinitionNames; 4 scope *string;
  7 versions *[apiextensions.v1.CustomResourceDefinitionVersion];
  9 conversion *apiextensions.v1.CustomResourceConversion; 10 preserveUnknownFields bool
apiextensions.v1.CustomResourceDefinitionStatus: 1 conditions *[apiextensions.v1.CustomResourceDefinitionCondition];
  2 acceptedNames *apiextensions.v1.CustomResourceDefinitionNames; 3 storedVersions *[string];
  4 observedGeneration int64
apiextensions.v1.CustomResourceDefinitionVersion: 1 name *string; 2 served *bool; 3 storage *bool;
  4 schema *apiextensions.v1.CustomResourceValidation; 5 subresources *apiextensions.v1.CustomResourceSubresources;
  6 additionalPrinterColumns [apiextensions.v1.CustomResourceColumnDefinition]; 7 deprecated bool;
  8 deprecationWarning *string; 9 selectableFields [apiextensions.v1.SelectableField]
apiextensions.v1.CustomResourceSubresourceScale: 1 specReplicasPath *string; 2 statusReplicasPath *string;
  3 labelSelectorPath *string
apiextensions.v1.CustomResourceSubresourceStatus:
apiextensions.v1.CustomResourceSubresources: 1 status *apiextensions.v1.CustomResourceSubresourceStatus;
  2 scale *apiextensions.v1.CustomResourceSubresourceScale
apiextensions.v1.CustomResourceValidation: 1 openAPIV3Schema *apiextensions.v1.JSONSchemaProps
apiextensions.v1.ExternalDocumentation: 1 description string; 2 url string
apiextensions.v1.JSONSchemaProps: 1 id string; 2 $schema string; 3 $ref *string; 4 description string; 5 type string;
  6 format string; 7 title string; 8 default *JSON; 9 maximum *double; 10 exclusiveMaximum bool; 11 minimum *double;
  12 exclusiveMinimum bool; 13 maxLength *int64; 14 minLength *int64; 15 pattern string; 16 maxItems *int64;
  17 minItems *int64; 18 uniqueItems bool; 19 multipleOf *double; 20 enum [JSON]; 21 maxProperties *int64;
  22 minProperties *int64; 23 required [string]; 24 items *JSONSchemaPropsOrArray;
  25 allOf [apiextensions.v1.JSONSchemaProps]; 26 oneOf [apiextensions.v1.JSONSchemaProps];
  27 anyOf [apiextensions.v1.JSONSchemaProps]; 28 not *apiextensions.v1.JSONSchemaProps;
  29 properties {apiextensions.v1.JSONSchemaProps}; 30 additionalProperties *JSONSchemaPropsOrBool;
  31 patternProperties {apiextensions.v1.JSONSchemaProps}; 32 dependencies {JSONSchemaPropsOrStringArray};
  33 additionalItems *JSONSchemaPropsOrBool; 34 definitions {apiextensions.v1.JSONSchemaProps};
  35 externalDocs *apiextensions.v1.ExternalDocumentation; 36 example *JSON; 37 nullable bool;
  38 x-kubernetes-preserve-unknown-fields *bool; 39 x-kubernetes-embedded-resource bool;
  40 x-kubernetes-int-or-string bool; 41 x-kubernetes-list-map-keys [string]; 42 x-kubernetes-list-type *string;
  43 x-kubernetes-map-type *string; 44 x-kubernetes-validations [apiextensions.v1.ValidationRule]
apiextensions.v1.SelectableField: 1 jsonPath *string
apiextensions.v1.ServiceReference: 1 namespace *string; 2 name *string; 3 path *string; 4 port *int32
apiextensions.v1.ValidationRule: 1 rule *string; 2 message string; 3 messageExpression string; 4 reason *string;
  5 fieldPath string; 6 optionalOldSelf *bool
apiextensions.v1.WebhookClientConfig: 1 service *apiextensions.v1.ServiceReference; 2 caBundle bytes; 3 url *string
apiextensions.v1.WebhookConversion: 2 clientConfig *apiextensions.v1.WebhookClientConfig;
  3 conversionReviewVersions *[string]
apps.v1.ControllerRevision: 1 metadata meta.v1.ObjectMeta; 2 data *RawExtension; 3 revision *int64
apps.v1.DaemonSet: 1 metadata meta.v1.ObjectMeta; 2 spec apps.v1.DaemonSetSpec; 3 status apps.v1.DaemonSetStatus
apps.v1.DaemonSetCondition: 1 type *string; 2 status *string; 3 lastTransitionTime Time; 4 reason string;
  5 message string
apps.v1.DaemonSetSpec: 1 selector *meta.v1.LabelSelector; 2 template *core.v1.PodTemplateSpec;
  3 updateStrategy apps.v1.DaemonSetUpdateStrategy; 4 minReadySeconds int32; 6 revisionHistoryLimit *int32
apps.v1.DaemonSetStatus: 1 currentNumberScheduled *int32; 2 numberMisscheduled *int32;
  3 desiredNumberScheduled *int32; 4 numberReady *int32; 5 observedGeneration int64; 6 updatedNumberScheduled int32;
  7 numberAvailable int32; 8 numberUnavailable int32; 9 collisionCount *int32;
  10 conditions [apps.v1.DaemonSetCondition]
apps.v1.DaemonSetUpdateStrategy: 1 type string; 2 rollingUpdate *apps.v1.RollingUpdateDaemonSet
apps.v1.Deployment: 1 metadata meta.v1.ObjectMeta; 2 spec apps.v1.DeploymentSpec; 3 status apps.v1.DeploymentStatus
apps.v1.DeploymentCondition: 1 type *string; 2 status *string; 4 reason string; 5 message string;
  6 lastUpdateTime Time; 7 lastTransitionTime Time
apps.v1.DeploymentSpec: 1 replicas *int32; 2 selector *meta.v1.LabelSelector; 3 template *core.v1.PodTemplateSpec;
  4 strategy apps.v1.DeploymentStrategy; 5 minReadySeconds int32; 6 revisionHistoryLimit *int32; 7 paused bool;
  9 progressDeadlineSeconds *int32
apps.v1.DeploymentStatus: 1 observedGeneration int64; 2 replicas int32; 3 updatedReplicas int32;
  4 availableReplicas int32; 5 unavailableReplicas int32; 6 conditions [apps.v1.DeploymentCondition];
  7 readyReplicas int32; 8 collisionCount *int32; 9 terminatingReplicas *int32
apps.v1.DeploymentStrategy: 1 type string; 2 rollingUpdate *apps.v1.RollingUpdateDeployment
apps.v1.ReplicaSet: 1 metadata meta.v1.ObjectMeta; 2 spec apps.v1.ReplicaSetSpec; 3 status apps.v1.ReplicaSetStatus
apps.v1.ReplicaSetCondition: 1 type *string; 2 status *string; 3 lastTransitionTime Time; 4 reason string;
  5 message string
apps.v1.ReplicaSetSpec: 1 replicas *int32; 2 selector *meta.v1.LabelSelector; 3 template core.v1.PodTemplateSpec;
  4 minReadySeconds int32
apps.v1.ReplicaSetStatus: 1 replicas *int32; 2 fullyLabeledReplicas int32; 3 observedGeneration int64;
  4 readyReplicas int32; 5 availableReplicas int32; 6 conditions [apps.v1.ReplicaSetCondition];
  7 terminatingReplicas *int32
apps.v1.RollingUpdateDaemonSet: 1 maxUnavailable *IntOrString; 2 maxSurge *IntOrString
apps.v1.RollingUpdateDeployment: 1 maxUnavailable *IntOrString; 2 maxSurge *IntOrString
apps.v1.RollingUpdateStatefulSetStrategy: 1 partition *int32; 2 maxUnavailable *IntOrString
apps.v1.StatefulSet: 1 metadata meta.v1.ObjectMeta; 2 spec apps.v1.StatefulSetSpec; 3 status apps.v1.StatefulSetStatus
apps.v1.StatefulSetCondition: 1 type *string; 2 status *string; 3 lastTransitionTime Time; 4 reason string;
  5 message string
apps.v1.StatefulSetOrdinals: 1 start *int32
apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy: 1 whenDeleted string; 2 whenScaled string
apps.v1.StatefulSetSpec: 1 replicas *int32; 2 selector *meta.v1.LabelSelector; 3 template *core.v1.PodTemplateSpec;
  4 volumeClaimTemplates [core.v1.PersistentVolumeClaim]; 5 serviceName *string; 6 podManagementPolicy string;
  7 updateStrategy apps.v1.StatefulSetUpdateStrategy; 8 revisionHistoryLimit *int32; 9 minReadySeconds int32;
  10 persistentVolumeClaimRetentionPolicy *apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy;
  11 ordinals *apps.v1.StatefulSetOrdinals
apps.v1.StatefulSetStatus: 1 observedGeneration int64; 2 replicas *int32; 3 readyReplicas int32;
  4 currentReplicas int32; 5 updatedReplicas int32; 6 currentRevision string; 7 updateRevision string;
  9 collisionCount *int32; 10 conditions [apps.v1.StatefulSetCondition]; 11 availableReplicas *int32
apps.v1.StatefulSetUpdateStrategy: 1 type string; 2 rollingUpdate *apps.v1.RollingUpdateStatefulSetStrategy
authentication.v1.AttestationValue: 1 items [string]
authentication.v1.BoundObjectReference: 1 kind string; 2 apiVersion string; 3 name string; 4 uid string
authentication.v1.ExtraValue: 1 items [string]
authentication.v1.SelfSubjectReview: 1 metadata meta.v1.ObjectMeta; 2 status authentication.v1.SelfSubjectReviewStatus
authentication.v1.SelfSubjectReviewStatus: 1 userInfo authentication.v1.UserInfo
authentication.v1.TokenRequest: 1 metadata meta.v1.ObjectMeta; 2 spec *authentication.v1.TokenRequestSpec;
  3 status authentication.v1.TokenRequestStatus
authentication.v1.TokenRequestSpec: 1 audiences *[string]; 3 boundObjectRef *authentication.v1.BoundObjectReference;
  4 expirationSeconds *int64; 5 attestations {authentication.v1.AttestationValue}
authentication.v1.TokenRequestStatus: 1 token *string; 2 expirationTimestamp *Time
authentication.v1.TokenReview: 1 metadata meta.v1.ObjectMeta; 2 spec *authentication.v1.TokenReviewSpec;
  3 status authentication.v1.TokenReviewStatus
authentication.v1.TokenReviewSpec: 1 token string; 2 audiences [string]
authentication.v1.TokenReviewStatus: 1 authenticated bool; 2 user authentication.v1.UserInfo; 3 error string;
  4 audiences [string]
authentication.v1.UserInfo: 1 username string; 2 uid string; 3 groups [string]; 4 extra {authentication.v1.ExtraValue}
authorization.v1.ExtraValue: 1 items [string]
authorization.v1.FieldSelectorAttributes: 1 rawSelector string; 2 requirements [meta.v1.FieldSelectorRequirement]
authorization.v1.LabelSelectorAttributes: 1 rawSelector string; 2 requirements [meta.v1.LabelSelectorRequirement]
authorization.v1.LocalSubjectAccessReview: 1 metadata meta.v1.ObjectMeta;
  2 spec *authorization.v1.SubjectAccessReviewSpec; 3 status authorization.v1.SubjectAccessReviewStatus
authorization.v1.NonResourceAttributes: 1 path string; 2 verb string
authorization.v1.NonResourceRule: 1 verbs *[string]; 2 nonResourceURLs [string]
authorization.v1.ResourceAttributes: 1 namespace string; 2 verb string; 3 group string; 4 version string;
  5 resource string; 6 subresource string; 7 name string; 8 fieldSelector *authorization.v1.FieldSelectorAttributes;
  9 labelSelector *authorization.v1.LabelSelectorAttributes
authorization.v1.ResourceRule: 1 verbs *[string]; 2 apiGroups [string]; 3 resources [string]; 4 resourceNames [string]
authorization.v1.SelfSubjectAccessReview: 1 metadata meta.v1.ObjectMeta;
  2 spec *authorization.v1.SelfSubjectAccessReviewSpec; 3 status authorization.v1.SubjectAccessReviewStatus
authorization.v1.SelfSubjectAccessReviewSpec: 1 resourceAttributes *authorization.v1.ResourceAttributes;
  2 nonResourceAttributes *authorization.v1.NonResourceAttributes
authorization.v1.SelfSubjectRulesReview: 1 metadata meta.v1.ObjectMeta;
  2 spec *authorization.v1.SelfSubjectRulesReviewSpec; 3 status authorization.v1.SubjectRulesReviewStatus
authorization.v1.SelfSubjectRulesReviewSpec: 1 namespace string
authorization.v1.SubjectAccessReview: 1 metadata meta.v1.ObjectMeta; 2 spec *authorization.v1.SubjectAccessReviewSpec;
  3 status authorization.v1.SubjectAccessReviewStatus
authorization.v1.SubjectAccessReviewSpec: 1 resourceAttributes *authorization.v1.ResourceAttributes;
  2 nonResourceAttributes *authorization.v1.NonResourceAttributes; 3 user string; 4 groups [string];
  5 extra {authorization.v1.ExtraValue}; 6 uid string
authorization.v1.SubjectAccessReviewStatus: 1 allowed *bool; 2 reason string; 3 evaluationError string; 4 denied bool
authorization.v1.SubjectRulesReviewStatus: 1 resourceRules *[authorization.v1.ResourceRule];
  2 nonResourceRules *[authorization.v1.NonResourceRule]; 3 incomplete *bool; 4 evaluationError string
autoscaling.v1.Scale: 1 metadata meta.v1.ObjectMeta; 2 spec autoscaling.v1.ScaleSpec;
  3 status autoscaling.v1.ScaleStatus
autoscaling.v1.ScaleSpec: 1 replicas int32
autoscaling.v1.ScaleStatus: 1 replicas *int32; 2 selector string
batch.v1.CronJob: 1 metadata meta.v1.ObjectMeta; 2 spec batch.v1.CronJobSpec; 3 status batch.v1.CronJobStatus
batch.v1.CronJobSpec: 1 schedule *string; 2 startingDeadlineSeconds *int64; 3 concurrencyPolicy string;
  4 suspend *bool; 5 jobTemplate *batch.v1.JobTemplateSpec; 6 successfulJobsHistoryLimit *int32;
  7 failedJobsHistoryLimit *int32; 8 timeZone *string
batch.v1.CronJobStatus: 1 active [core.v1.ObjectReference]; 4 lastScheduleTime *Time; 5 lastSuccessfulTime *Time
batch.v1.Job: 1 metadata meta.v1.ObjectMeta; 2 spec batch.v1.JobSpec; 3 status batch.v1.JobStatus
batch.v1.JobCondition: 1 type *string; 2 status *string; 3 lastProbeTime Time; 4 lastTransitionTime Time;
  5 reason string; 6 message string
batch.v1.JobSchedulingConfiguration: 1 schedulingPolicy *scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy;
  2 schedulingConstraints *scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints;
  3 disruptionMode *scheduling.v1alpha3.WorkloadPodGroupDisruptionMode;
  4 resourceClaims [scheduling.v1alpha3.WorkloadPodGroupResourceClaim]
batch.v1.JobSpec: 1 parallelism *int32; 2 completions *int32; 3 activeDeadlineSeconds *int64;
  4 selector *meta.v1.LabelSelector; 5 manualSelector *bool; 6 template *core.v1.PodTemplateSpec;
  7 backoffLimit *int32; 8 ttlSecondsAfterFinished *int32; 9 completionMode *string; 10 suspend *bool;
  11 podFailurePolicy *batch.v1.PodFailurePolicy; 12 backoffLimitPerIndex *int32; 13 maxFailedIndexes *int32;
  14 podReplacementPolicy *string; 15 managedBy *string; 16 successPolicy *batch.v1.SuccessPolicy;
  17 scheduling *batch.v1.JobSchedulingConfiguration
batch.v1.JobStatus: 1 conditions [batch.v1.JobCondition]; 2 startTime *Time; 3 completionTime *Time; 4 active int32;
  5 succeeded int32; 6 failed int32; 7 completedIndexes string;
  8 uncountedTerminatedPods *batch.v1.UncountedTerminatedPods; 9 ready *int32; 10 failedIndexes *string;
  11 terminating *int32
batch.v1.JobTemplateSpec: 1 metadata meta.v1.ObjectMeta; 2 spec batch.v1.JobSpec
batch.v1.PodFailurePolicy: 1 rules *[batch.v1.PodFailurePolicyRule]
batch.v1.PodFailurePolicyOnExitCodesRequirement: 1 containerName *string; 2 operator *string; 3 values *[int32]
batch.v1.PodFailurePolicyOnPodConditionsPattern: 1 type *string; 2 status *string
batch.v1.PodFailurePolicyRule: 1 action *string; 2 onExitCodes *batch.v1.PodFailurePolicyOnExitCodesRequirement;
  3 onPodConditions [batch.v1.PodFailurePolicyOnPodConditionsPattern]
batch.v1.SuccessPolicy: 1 rules *[batch.v1.SuccessPolicyRule]
batch.v1.SuccessPolicyRule: 1 succeededIndexes *string; 2 succeededCount *int32
batch.v1.UncountedTerminatedPods: 1 succeeded [string]; 2 failed [string]
coordination.v1.Lease: 1 metadata meta.v1.ObjectMeta; 2 spec coordination.v1.LeaseSpec
coordination.v1.LeaseSpec: 1 holderIdentity *string; 2 leaseDurationSeconds *int32; 3 acquireTime *MicroTime;
  4 renewTime *MicroTime; 5 leaseTransitions *int32; 6 strategy *string; 7 preferredHolder *string
events.v1.Event: 1 metadata *meta.v1.ObjectMeta; 2 eventTime *MicroTime; 3 series *events.v1.EventSeries;
  4 reportingController string; 5 reportingInstance string; 6 action string; 7 reason string;
  8 regarding core.v1.ObjectReference; 9 related *core.v1.ObjectReference; 10 note string; 11 type string;
  12 deprecatedSource core.v1.EventSource; 13 deprecatedFirstTimestamp Time; 14 deprecatedLastTimestamp Time;
  15 deprecatedCount int32
events.v1.EventSeries: 1 count *int32; 2 lastObservedTime *MicroTime
meta.v1.Condition: 1 type *string; 2 status *string; 3 observedGeneration int64; 4 lastTransitionTime *Time;
  5 reason *string; 6 message *string
meta.v1.CreateOptions: 1 dryRun [string]; 3 fieldManager string; 4 fieldValidation string
meta.v1.DeleteOptions: 1 gracePeriodSeconds *int64; 2 preconditions *meta.v1.Preconditions; 3 orphanDependents *bool;
  4 propagationPolicy *string; 5 dryRun [string]; 6 ignoreStoreReadErrorWithClusterBreakingPotential *bool
meta.v1.FieldSelectorRequirement: 1 key *string; 2 operator *string; 3 values [string]
meta.v1.LabelSelector: 1 matchLabels {string}; 2 matchExpressions [meta.v1.LabelSelectorRequirement]
meta.v1.LabelSelectorRequirement: 1 key *string; 2 operator *string; 3 values [string]
meta.v1.ManagedFieldsEntry: 1 manager string; 2 operation string; 3 apiVersion string; 4 time *Time;
  6 fieldsType string; 7 fieldsV1 *FieldsV1; 8 subresource string
meta.v1.ObjectMeta: 1 name string; 2 generateName string; 3 namespace string; 4 selfLink string; 5 uid string;
  6 resourceVersion string; 7 generation int64; 8 creationTimestamp Time; 9 deletionTimestamp *Time;
  10 deletionGracePeriodSeconds *int64; 11 labels {string}; 12 annotations {string};
  13 ownerReferences [meta.v1.OwnerReference]; 14 finalizers [string]; 17 managedFields [meta.v1.ManagedFieldsEntry]
meta.v1.OwnerReference: 1 kind *string; 3 name *string; 4 uid *string; 5 apiVersion *string; 6 controller *bool;
  7 blockOwnerDeletion *bool
meta.v1.Preconditions: 1 uid *string; 2 resourceVersion *string
policy.v1.Eviction: 1 metadata meta.v1.ObjectMeta; 2 deleteOptions *meta.v1.DeleteOptions
policy.v1.PodDisruptionBudget: 1 metadata meta.v1.ObjectMeta; 2 spec policy.v1.PodDisruptionBudgetSpec;
  3 status policy.v1.PodDisruptionBudgetStatus
policy.v1.PodDisruptionBudgetSpec: 1 minAvailable *IntOrString; 2 selector *meta.v1.LabelSelector;
  3 maxUnavailable *IntOrString; 4 unhealthyPodEvictionPolicy *string
policy.v1.PodDisruptionBudgetStatus: 1 observedGeneration int64; 2 disruptedPods {Time}; 3 disruptionsAllowed *int32;
  4 currentHealthy *int32; 5 desiredHealthy *int32; 6 expectedPods *int32; 7 conditions [meta.v1.Condition]
rbac.v1.AggregationRule: 1 clusterRoleSelectors [meta.v1.LabelSelector]
rbac.v1.ClusterRole: 1 metadata meta.v1.ObjectMeta; 2 rules *[rbac.v1.PolicyRule];
  3 aggregationRule *rbac.v1.AggregationRule
rbac.v1.ClusterRoleBinding: 1 metadata meta.v1.ObjectMeta; 2 subjects [rbac.v1.Subject]; 3 roleRef *rbac.v1.RoleRef
rbac.v1.PolicyRule: 1 verbs *[string]; 2 apiGroups [string]; 3 resources [string]; 4 resourceNames [string];
  5 nonResourceURLs [string]
rbac.v1.Role: 1 metadata meta.v1.ObjectMeta; 2 rules *[rbac.v1.PolicyRule]
rbac.v1.RoleBinding: 1 metadata meta.v1.ObjectMeta; 2 subjects [rbac.v1.Subject]; 3 roleRef *rbac.v1.RoleRef
rbac.v1.RoleRef: 1 apiGroup *string; 2 kind *string; 3 name *string
rbac.v1.Subject: 1 kind *string; 2 apiGroup string; 3 name *string; 4 namespace string
resource.v1.AllocatedDeviceStatus: 1 driver *string; 2 pool *string; 3 device *string;
  4 conditions *[meta.v1.Condition]; 5 data *RawExtension; 6 networkData *resource.v1.NetworkDeviceData;
  7 shareID *string
resource.v1.AllocationResult: 1 devices resource.v1.DeviceAllocationResult; 3 nodeSelector *core.v1.NodeSelector;
  5 allocationTimestamp *Time
resource.v1.CELDeviceSelector: 1 expression *string
resource.v1.CapacityRequestPolicy: 1 default *Quantity; 3 validValues [Quantity];
  4 validRange *resource.v1.CapacityRequestPolicyRange
resource.v1.CapacityRequestPolicyRange: 1 min *Quantity; 2 max *Quantity; 3 step *Quantity
resource.v1.CapacityRequirements: 1 requests {Quantity}
resource.v1.Counter: 1 value *Quantity
resource.v1.CounterSet: 1 name *string; 2 counters {resource.v1.Counter}
resource.v1.Device: 1 name *string; 2 attributes {resource.v1.DeviceAttribute};
  3 capacity {resource.v1.DeviceCapacity}; 4 consumesCounters [resource.v1.DeviceCounterConsumption];
  5 nodeName *string; 6 nodeSelector *core.v1.NodeSelector; 7 allNodes *bool; 8 taints [resource.v1.DeviceTaint];
  9 bindsToNode *bool; 10 bindingConditions [string]; 11 bindingFailureConditions [string];
  12 allowMultipleAllocations *bool; 14 nodeAllocatableResources {resource.v1.NodeAllocatableResource}
resource.v1.DeviceAllocationConfiguration: 1 source *string; 2 requests [string];
  3 deviceConfiguration *^resource.v1.DeviceConfiguration
resource.v1.DeviceAllocationResult: 1 results [resource.v1.DeviceRequestAllocationResult];
  2 config [resource.v1.DeviceAllocationConfiguration]
resource.v1.DeviceAttribute: 2 int *int64; 3 bool *bool; 4 string *string; 5 version *string; 6 ints [int64];
  7 bools [bool]; 8 strings [string]; 9 versions [string]
resource.v1.DeviceCapacity: 1 value *Quantity; 2 requestPolicy *resource.v1.CapacityRequestPolicy
resource.v1.DeviceClaim: 1 requests *[resource.v1.DeviceRequest]; 2 constraints [resource.v1.DeviceConstraint];
  3 config [resource.v1.DeviceClaimConfiguration]
resource.v1.DeviceClaimConfiguration: 1 requests [string]; 2 deviceConfiguration *^resource.v1.DeviceConfiguration
resource.v1.DeviceClass: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.DeviceClassSpec
resource.v1.DeviceClassConfiguration: 1 deviceConfiguration *^resource.v1.DeviceConfiguration
resource.v1.DeviceClassSpec: 1 selectors [resource.v1.DeviceSelector];
  2 config [resource.v1.DeviceClassConfiguration]; 4 extendedResourceName *string
resource.v1.DeviceConfiguration: 1 opaque *resource.v1.OpaqueDeviceConfiguration
resource.v1.DeviceConstraint: 1 requests [string]; 2 matchAttribute *string; 3 distinctAttribute *string
resource.v1.DeviceCounterConsumption: 1 counterSet *string; 2 counters {resource.v1.Counter};
  3 compatibilityGroups [string]
resource.v1.DeviceDerivedAttribute: 1 name *string; 2 expression *string
resource.v1.DeviceRequest: 1 name *string; 2 exactly *resource.v1.ExactDeviceRequest;
  3 firstAvailable [resource.v1.DeviceSubRequest]
resource.v1.DeviceRequestAllocationResult: 1 request *string; 2 driver *string; 3 pool *string; 4 device *string;
  5 adminAccess *bool; 6 tolerations [resource.v1.DeviceToleration]; 7 bindingConditions [string];
  8 bindingFailureConditions [string]; 9 shareID *string; 10 consumedCapacity {Quantity};
  11 skipNodeOperations [string]
resource.v1.DeviceSelector: 1 cel *resource.v1.CELDeviceSelector
resource.v1.DeviceSubRequest: 1 name *string; 2 deviceClassName *string; 3 selectors [resource.v1.DeviceSelector];
  4 allocationMode string; 5 count int64; 6 tolerations [resource.v1.DeviceToleration];
  7 capacity *resource.v1.CapacityRequirements; 8 derivedAttributes [resource.v1.DeviceDerivedAttribute]
resource.v1.DeviceTaint: 1 key *string; 2 value string; 3 effect *string; 4 timeAdded *Time
resource.v1.DeviceTaintRule: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.DeviceTaintRuleSpec;
  3 status resource.v1.DeviceTaintRuleStatus
resource.v1.DeviceTaintRuleSpec: 1 deviceSelector *resource.v1.DeviceTaintSelector; 2 taint resource.v1.DeviceTaint
resource.v1.DeviceTaintRuleStatus: 1 conditions [meta.v1.Condition]
resource.v1.DeviceTaintSelector: 2 driver *string; 3 pool *string; 4 device *string
resource.v1.DeviceToleration: 1 key string; 2 operator string; 3 value string; 4 effect string;
  5 tolerationSeconds *int64
resource.v1.ExactDeviceRequest: 1 deviceClassName *string; 2 selectors [resource.v1.DeviceSelector];
  3 allocationMode string; 4 count int64; 5 adminAccess *bool; 6 tolerations [resource.v1.DeviceToleration];
  7 capacity *resource.v1.CapacityRequirements; 8 derivedAttributes [resource.v1.DeviceDerivedAttribute]
resource.v1.NetworkDeviceData: 1 interfaceName string; 2 ips [string]; 3 hardwareAddress string
resource.v1.NodeAllocatableMapping: 1 capacityKey *string; 2 capacityMultiplier *Quantity;
  3 deviceMultiplier *Quantity
resource.v1.NodeAllocatableOverhead: 1 perPod *Quantity; 2 perContainer *Quantity
resource.v1.NodeAllocatableResource: 3 mapping *resource.v1.NodeAllocatableMapping;
  4 overhead *resource.v1.NodeAllocatableOverhead
resource.v1.OpaqueDeviceConfiguration: 1 driver *string; 2 parameters *RawExtension
resource.v1.ResourceClaim: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.ResourceClaimSpec;
  3 status resource.v1.ResourceClaimStatus
resource.v1.ResourceClaimConsumerReference: 1 apiGroup string; 3 resource *string; 4 name *string; 5 uid *string
resource.v1.ResourceClaimSpec: 1 devices *resource.v1.DeviceClaim
resource.v1.ResourceClaimStatus: 1 allocation *resource.v1.AllocationResult;
  2 reservedFor [resource.v1.ResourceClaimConsumerReference]; 4 devices [resource.v1.AllocatedDeviceStatus]
resource.v1.ResourceClaimTemplate: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.ResourceClaimTemplateSpec
resource.v1.ResourceClaimTemplateSpec: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.ResourceClaimSpec
resource.v1.ResourcePool: 1 name *string; 2 generation *int64; 3 resourceSliceCount *int64
resource.v1.ResourceSlice: 1 metadata meta.v1.ObjectMeta; 2 spec *resource.v1.ResourceSliceSpec
resource.v1.ResourceSliceSpec: 1 driver *string; 2 pool *resource.v1.ResourcePool; 3 nodeName *string;
  4 nodeSelector *core.v1.NodeSelector; 5 allNodes *bool; 6 devices [resource.v1.Device];
  7 perDeviceNodeSelection *bool; 8 sharedCounters [resource.v1.CounterSet]; 9 partitionTypeAttribute *string;
  10 skipNodeOperations [string]
scheduling.v1.PriorityClass: 1 metadata meta.v1.ObjectMeta; 2 value *int32; 3 globalDefault bool;
  4 description string; 5 preemptionPolicy *string
scheduling.v1alpha3.TopologyConstraint: 1 key *string
scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode:
scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy:
scheduling.v1alpha3.WorkloadPodGroupDisruptionMode:
  1 single *scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode;
  2 all *scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode
scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy: 1 minCount *int32
scheduling.v1alpha3.WorkloadPodGroupResourceClaim: 1 name *string; 2 resourceClaimName *string;
  3 resourceClaimTemplateName *string
scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints: 1 topology [scheduling.v1alpha3.TopologyConstraint]
scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy:
  1 basic *scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy;
  2 gang *scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy
scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode:
storage.v1.CSIDriver: 1 metadata meta.v1.ObjectMeta; 2 spec *storage.v1.CSIDriverSpec
storage.v1.CSIDriverSpec: 1 attachRequired *bool; 2 podInfoOnMount *bool; 3 volumeLifecycleModes [string];
  4 storageCapacity *bool; 5 fsGroupPolicy *string; 6 tokenRequests [storage.v1.TokenRequest];
  7 requiresRepublish *bool; 8 seLinuxMount *bool; 9 nodeAllocatableUpdatePeriodSeconds *int64;
  10 serviceAccountTokenInSecrets *bool; 11 preventPodSchedulingIfMissing *bool
storage.v1.CSINode: 1 metadata meta.v1.ObjectMeta; 2 spec *storage.v1.CSINodeSpec; 3 status storage.v1.CSINodeStatus
storage.v1.CSINodeDriver: 1 name *string; 2 nodeID *string; 3 topologyKeys *[string];
  4 allocatable *storage.v1.VolumeNodeResources
storage.v1.CSINodeSpec: 1 drivers *[storage.v1.CSINodeDriver]
storage.v1.CSINodeStatus: 1 storageHealth [storage.v1.StorageHealth]
storage.v1.CSIStorageCapacity: 1 metadata meta.v1.ObjectMeta; 2 nodeTopology *meta.v1.LabelSelector;
  3 storageClassName *string; 4 capacity *Quantity; 5 maximumVolumeSize *Quantity
storage.v1.StorageClass: 1 metadata meta.v1.ObjectMeta; 2 provisioner *string; 3 parameters {string};
  4 reclaimPolicy *string; 5 mountOptions [string]; 6 allowVolumeExpansion *bool; 7 volumeBindingMode *string;
  8 allowedTopologies [core.v1.TopologySelectorTerm]
storage.v1.StorageHealth: 1 name *string; 2 healthConditions [storage.v1.StorageHealthCondition]
storage.v1.StorageHealthCondition: 1 status *string; 2 reason *string; 3 message string; 4 accessMode *string;
  5 volumeMode *string; 6 lastTransitionTime Time
storage.v1.TokenRequest: 1 audience *string; 2 expirationSeconds *int64
storage.v1.VolumeAttachment: 1 metadata meta.v1.ObjectMeta; 2 spec *storage.v1.VolumeAttachmentSpec;
  3 status storage.v1.VolumeAttachmentStatus
storage.v1.VolumeAttachmentSource: 1 persistentVolumeName *string; 2 inlineVolumeSpec *core.v1.PersistentVolumeSpec
storage.v1.VolumeAttachmentSpec: 1 attacher *string; 2 source *storage.v1.VolumeAttachmentSource; 3 nodeName *string
storage.v1.VolumeAttachmentStatus: 1 attached *bool; 2 attachmentMetadata {string};
  3 attachError *storage.v1.VolumeError; 4 detachError *storage.v1.VolumeError
storage.v1.VolumeError: 1 time Time; 2 message string; 3 errorCode *int32
storage.v1.VolumeNodeResources: 1 count *int32
"""
